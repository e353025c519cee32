import "./main.css";

import { initCharts } from "./pages/charts";
import { initCopyCommand } from "./pages/copyCommand";
import { initCopyTable } from "./pages/copyTable";
import { initLive } from "./pages/live";
import { initLiveForms } from "./pages/liveForm";
import { initPageTools } from "./pages/pageTools";
import { initPostForms } from "./pages/postForm";
import { initTheme } from "./pages/theme";
import { initTicks } from "./pages/ticks";
import { initUpload } from "./upload/page";

// Each finds its element or returns. A module runs when the document has been read.
for (const init of [
  initCharts,
  initLiveForms,
  initPostForms,
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
