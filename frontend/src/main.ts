import "./main.css";

import { initCharts } from "./pages/charts";
import { initCompareForm } from "./pages/compareForm";
import { initCopyCommand } from "./pages/copyCommand";
import { initHistoryForm } from "./pages/historyForm";
import { initLiveRun } from "./pages/liveRun";
import { initPageTools } from "./pages/pageTools";
import { initUpload } from "./upload/page";
import { initWideForm } from "./pages/wideForm";

// Each finds its element or returns. A module runs when the document has been read.
for (const init of [
  initWideForm,
  initCharts,
  initCompareForm,
  initHistoryForm,
  initLiveRun,
  initCopyCommand,
  initPageTools,
  initUpload,
]) {
  init();
}
