/** The heat map, ready to be drawn. */

import { Chart } from "chart.js";
import { MatrixController, MatrixElement } from "chartjs-chart-matrix";

export { heatChart as build } from "../heatChart";

Chart.register(MatrixController, MatrixElement);
