/** All charts of the document: drawn when a page or a part of it arrives, redrawn on a new theme. */

import { drawFigure, type DrawnChart } from "../charts/chartFigure";
import { drawHistory } from "../charts/historyFigure";

const drawn = new Map<HTMLElement, DrawnChart>();

/** Draw the figures that are in the document now; forget those that have left it. */
export function drawCharts(): void {
  for (const [figure, chart] of drawn) {
    if (figure.isConnected) continue;
    chart.destroy();
    drawn.delete(figure);
  }
  const figures = "figure[data-chart], figure[data-history]";
  for (const figure of document.querySelectorAll<HTMLElement>(figures)) {
    if (drawn.has(figure)) continue;
    const chart = "history" in figure.dataset ? drawHistory(figure) : drawFigure(figure);
    if (chart) drawn.set(figure, chart);
  }
}

export function initCharts(): void {
  drawCharts();
  const redraw = (): void => {
    for (const chart of drawn.values()) chart.redraw();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // Paper is white: the light colours, in force before the browser takes its picture.
  const forPaper = (printing: boolean) => (): void => {
    document.documentElement.classList.toggle("printing", printing);
    redraw();
  };
  addEventListener("beforeprint", forPaper(true));
  addEventListener("afterprint", forPaper(false));
}
