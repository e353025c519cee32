/** Puts a history into a figure, true to theme, size and keyboard. */

import { Chart, LinearScale, LineController, LineElement, PointElement, Tooltip } from "chart.js";

import type { HistoryView } from "../history";
import type { DrawnChart } from "./chartFigure";
import { historyChart, lineOf, nearestPoint, pointLines } from "./historyChart";
import { nextIndex } from "./selection";
import { readTheme } from "./theme";

Chart.register(LineController, LineElement, PointElement, LinearScale, Tooltip);

/** Draws the history that the figure's JSON holds; `data-drawn` on the figure says it is there. */
export function drawHistory(figure: HTMLElement): DrawnChart | null {
  const canvas = figure.querySelector("canvas");
  const source = document.getElementById(figure.dataset["history"] ?? "");
  if (!canvas || !source?.textContent) return null;
  const view = JSON.parse(source.textContent) as HistoryView;
  const listening = new AbortController();
  let chart = draw(figure, canvas, view);
  const steer = (event: KeyboardEvent): void => {
    const next = nextPoint(event.key, chart, view);
    if (next === null) return;
    event.preventDefault();
    const [line, index] = next;
    select(chart, line, index);
    announce(figure, pointLines(view, line, index));
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

/** Line and index that a key leads to: from run to run, up and down from line to line. */
function nextPoint(key: string, chart: Chart, view: HistoryView): [number, number] | null {
  const now = chart.getActiveElements()[0];
  const line = now?.datasetIndex ?? 0;
  const step = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (step && now && view.lines.length > 1) {
    const next = Math.min(Math.max(line + step, 0), view.lines.length - 1);
    const at = lineOf(view, line).points[now.index]?.at ?? 0;
    return [next, nearestPoint(lineOf(view, next).points, at)];
  }
  const index = nextIndex(key, now?.index ?? -1, lineOf(view, line).points.length);
  return index === null ? null : [line, index];
}

function draw(figure: HTMLElement, canvas: HTMLCanvasElement, view: HistoryView): Chart {
  // Shown before it is measured: a hidden box has no width.
  figure.dataset["drawn"] = "";
  const chart = new Chart(canvas, historyChart(view, readTheme(figure)));
  figure.dataset["drawn"] = String(
    view.lines.reduce((sum, { points }) => sum + points.length, 0),
  );
  return chart as unknown as Chart;
}

function select(chart: Chart, datasetIndex: number, index: number): void {
  const active = index < 0 ? [] : [{ datasetIndex, index }];
  const element = chart.getDatasetMeta(datasetIndex).data[index];
  chart.setActiveElements(active);
  chart.tooltip?.setActiveElements(active, { x: element?.x ?? 0, y: element?.y ?? 0 });
  chart.update("none");
}

function announce(figure: HTMLElement, lines: string[]): void {
  const status = figure.querySelector("[role=status]");
  if (status) status.textContent = lines.join("; ");
}
