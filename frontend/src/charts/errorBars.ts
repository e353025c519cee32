/** Bars with whiskers: loaded only with the chart of a comparison. */

import { Chart } from "chart.js";
import { BarWithErrorBar, BarWithErrorBarsController } from "chartjs-chart-error-bars";

Chart.register(BarWithErrorBarsController, BarWithErrorBar);
