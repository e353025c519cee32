/** Bars with whiskers, ready to be drawn. */

import { Chart } from "chart.js";
import { BarWithErrorBar, BarWithErrorBarsController } from "chartjs-chart-error-bars";

export { comparisonChart as build } from "../comparisonChart";

Chart.register(BarWithErrorBarsController, BarWithErrorBar);
