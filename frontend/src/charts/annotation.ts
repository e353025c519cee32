/** Lines across charts: loaded where a chart has any. */

import { Chart } from "chart.js";
import annotation from "chartjs-plugin-annotation";

Chart.register(annotation);
