/** Bars with whiskers: loaded with the chart of a comparison, which a history has no use for. */

import { Chart } from "chart.js";
import { BarWithErrorBar, BarWithErrorBarsController } from "chartjs-chart-error-bars";

Chart.register(BarWithErrorBarsController, BarWithErrorBar);
