/** Lines over block sizes, ready to be drawn. */

import { Chart, LineController, LineElement, PointElement } from "chart.js";

export { linesChart as build } from "../linesChart";

Chart.register(LineController, LineElement, PointElement);
