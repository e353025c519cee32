import "./main.css";

import { initCharts } from "./pages/charts";
import { initCopyCommand } from "./pages/copyCommand";
import { initCopyTable } from "./pages/copyTable";
import { initLive } from "./pages/live";
import { initPageTools } from "./pages/pageTools";
import { initTheme } from "./pages/theme";
import { initTicks } from "./pages/ticks";
import { initUpload } from "./upload/page";

// Each finds its element or returns. A module runs when the document has been read.
for (const init of [
  initCharts,
  initLive,
  initCopyCommand,
  initCopyTable,
  initPageTools,
  initTheme,
  initTicks,
  initUpload,
]) {
  init();
}
