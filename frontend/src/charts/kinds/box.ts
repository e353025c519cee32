/** Box plots, ready to be drawn. */

import { BoxAndWiskers, BoxPlotController } from "@sgratzl/chartjs-chart-boxplot";
import { Chart } from "chart.js";

export { boxChart as build } from "../boxChart";

Chart.register(BoxPlotController, BoxAndWiskers);
