/** The scatter plot, ready to be drawn. */

import { Chart, PointElement, ScatterController } from "chart.js";

export { scatterChart as build } from "../scatterChart";

Chart.register(ScatterController, PointElement);
