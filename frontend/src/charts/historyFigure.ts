/** Shows a history in a figure and follows theme, size and keyboard. */

import { Chart, LinearScale, LineController, LineElement, PointElement, Tooltip } from "chart.js";

import type { HistoryView } from "../history";
import type { DrawnChart } from "./chartFigure";
import { historyChart, pointLines } from "./historyChart";
import { nextIndex } from "./selection";
import { readTheme } from "./theme";

Chart.register(LineController, LineElement, PointElement, LinearScale, Tooltip);

/** Draws the history of the figure's JSON, then sets `data-drawn` on the figure. */
export function drawHistory(figure: HTMLElement): DrawnChart | null {
  const canvas = figure.querySelector("canvas");
  const source = document.getElementById(figure.dataset["history"] ?? "");
  if (!canvas || !source?.textContent) return null;
  const view = JSON.parse(source.textContent) as HistoryView;
  const listening = new AbortController();
  let chart = draw(figure, canvas, view);
  const steer = (event: KeyboardEvent): void => {
    const now = chart.getActiveElements()[0]?.index ?? -1;
    const index = nextIndex(event.key, now, view.points.length);
    if (index === null) return;
    event.preventDefault();
    select(chart, index);
    announce(figure, pointLines(view, index));
  };
  canvas.addEventListener("keydown", steer, { signal: listening.signal });
  return {
    // A short line is drawn at once.
    step: () => false,
    redraw: () => {
      chart.destroy();
      chart = draw(figure, canvas, view);
    },
    destroy: () => {
      listening.abort();
      chart.destroy();
    },
  };
}

function draw(figure: HTMLElement, canvas: HTMLCanvasElement, view: HistoryView): Chart {
  // Show the box before measuring it, because a hidden box has no width.
  figure.dataset["drawn"] = "";
  const chart = new Chart(canvas, historyChart(view, readTheme(figure)));
  figure.dataset["drawn"] = String(view.points.length);
  return chart as unknown as Chart;
}

function select(chart: Chart, index: number): void {
  const active = index < 0 ? [] : [{ datasetIndex: 0, index }];
  const element = chart.getDatasetMeta(0).data[index];
  chart.setActiveElements(active);
  chart.tooltip?.setActiveElements(active, { x: element?.x ?? 0, y: element?.y ?? 0 });
  chart.update("none");
}

function announce(figure: HTMLElement, lines: string[]): void {
  const status = figure.querySelector("[role=status]");
  if (status) status.textContent = lines.join("; ");
}
