/** Puts a comparison chart into a figure and keeps it true to theme, size and keyboard. */

import { Chart, LinearScale, LogarithmicScale, Tooltip } from "chart.js";
import { BarWithErrorBar, BarWithErrorBarsController } from "chartjs-chart-error-bars";

import type { ChartView } from "../comparison";
import { comparisonChart, summaryLines, type ComparisonChart } from "./comparisonChart";
import { pixelRatio } from "./fit";
import { nextIndex } from "./selection";
import { readTheme } from "./theme";

Chart.register(BarWithErrorBarsController, BarWithErrorBar, LinearScale, LogarithmicScale, Tooltip);

/** A drawn chart; `destroy` frees its canvas and its listeners. */
export interface DrawnChart {
  redraw: () => void;
  destroy: () => void;
}

/** Draws the view that the figure's JSON holds; `data-drawn` on the figure says it is there. */
export function drawFigure(figure: HTMLElement): DrawnChart | null {
  const canvas = figure.querySelector("canvas");
  const box = figure.querySelector<HTMLElement>(".chart-box");
  const source = document.getElementById(figure.dataset["chart"] ?? "");
  if (!canvas || !box || !source?.textContent) return null;
  const view = JSON.parse(source.textContent) as ChartView;
  let drawn = draw(figure, canvas, box, view);
  const steer = (event: KeyboardEvent): void => {
    if (moveSelection(drawn, event.key)) {
      event.preventDefault();
      announce(figure, drawn, view);
    }
  };
  canvas.addEventListener("keydown", steer);
  return {
    redraw: () => {
      drawn.chart.destroy();
      drawn = draw(figure, canvas, box, view);
    },
    destroy: () => {
      canvas.removeEventListener("keydown", steer);
      drawn.chart.destroy();
    },
  };
}

interface Drawn extends ComparisonChart {
  chart: Chart;
}

function draw(
  figure: HTMLElement,
  canvas: HTMLCanvasElement,
  box: HTMLElement,
  view: ChartView,
): Drawn {
  figure.dataset["drawn"] = "";
  const built = comparisonChart(view, readTheme(figure));
  box.style.height = `${built.layout.height}px`;
  const ratio = pixelRatio(window.devicePixelRatio, box.clientWidth, built.layout.height);
  const options = { ...built.configuration.options, devicePixelRatio: ratio };
  const chart = new Chart(canvas, { ...built.configuration, options });
  // The axis takes its room from the rows: give it back, so that a row is as high as it was laid out.
  const rowsArea = chart.chartArea.bottom - chart.chartArea.top;
  box.style.height = `${Math.ceil(built.layout.height + chart.height - rowsArea)}px`;
  chart.resize();
  figure.dataset["drawn"] = String(chart.getDatasetMeta(0).data.length);
  return { ...built, chart: chart as unknown as Chart };
}

/** Arrow keys, Home and End walk over the bars; Escape lets go. True when the key was taken. */
function moveSelection({ chart, layout }: Drawn, key: string): boolean {
  const now = chart.getActiveElements()[0]?.index ?? -1;
  const next = nextIndex(key, now, layout.bars.length);
  if (next === null) return false;
  const active = next < 0 ? [] : [{ datasetIndex: 0, index: next }];
  const element = chart.getDatasetMeta(0).data[next];
  chart.setActiveElements(active);
  chart.tooltip?.setActiveElements(active, { x: element?.x ?? 0, y: element?.y ?? 0 });
  chart.update("none");
  return true;
}

/** Tells a screen reader the selected bar; also what tests read from the drawn chart. */
function announce(figure: HTMLElement, { chart, layout }: Drawn, view: ChartView): void {
  const status = figure.querySelector("[role=status]");
  const row = layout.bars[chart.getActiveElements()[0]?.index ?? -1];
  if (!status) return;
  status.textContent = row
    ? [row.group, row.cipher, ...summaryLines(row.summary, view.comparison.unit)].join("; ")
    : "";
}
