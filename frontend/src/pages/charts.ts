/** All charts of the document, drawn when content arrives and redrawn when the theme changes. */

import type { DrawnChart, LoadPicture } from "../charts/chartFigure";
import type { ChartView } from "../comparison";
import { THEME_CHANGED } from "./theme";
import { idle, isNear, turn, whenNear } from "./idle";

/** Code that only some readers need. */
const loadPicture: LoadPicture = () => import("../charts/picture");

const FIGURES = "figure[data-chart], figure[data-history]";

const drawn = new Map<HTMLElement, DrawnChart>();

/** Number of page changes: a drawing that began before the last one is abandoned. */
let changes = 0;

/** Whether a figure of the document stays as it is drawn, because the fresh page has the same. */
export function keepsChart(old: Node, fresh: Node): boolean {
  if (!(old instanceof HTMLElement) || !old.matches(FIGURES)) return false;
  const id = sourceOf(old);
  const source = (fresh.getRootNode() as Element).querySelector(`[id="${id}"]`);
  if (source?.textContent === document.getElementById(id)?.textContent) return true;
  forget(old);
  return false;
}

function sourceOf({ dataset }: HTMLElement): string {
  return dataset["chart"] ?? dataset["history"] ?? "";
}

function forget(figure: HTMLElement): void {
  drawn.get(figure)?.destroy();
  drawn.delete(figure);
}

/** Draw the figures of the document; free those that were removed. */
export function drawCharts(): void {
  changes += 1;
  for (const figure of drawn.keys()) if (!figure.isConnected) forget(figure);
  for (const figure of figures()) {
    if (drawn.has(figure)) continue;
    // Replace a visible chart at once, so that it does not flicker. A chart of
    // hundreds of marks would delay the next click.
    if (isNear(figure)) void arrive(figure, isLong(figure) ? turn : null);
    else void arriveLater(figure);
  }
}

/** Length of the JSON in characters, about 400 bars. */
const LONG = 60_000;

function isLong(figure: HTMLElement): boolean {
  const source = document.getElementById(sourceOf(figure));
  return (source?.textContent?.length ?? 0) > LONG;
}

function figures(): Iterable<HTMLElement> {
  return document.querySelectorAll<HTMLElement>(FIGURES);
}

/** Draw an invisible chart when it comes near or the browser is idle. */
async function arriveLater(figure: HTMLElement): Promise<void> {
  const near = await whenNear(figure);
  if (figure.isConnected) await arrive(figure, near ? turn : idle);
}

type Wait = () => Promise<void>;

/**
 * Loads what the figure needs and draws it, with a wait between the pieces or all at once; a
 * failure is said where the chart would be.
 */
async function arrive(figure: HTMLElement, wait: Wait | null): Promise<void> {
  const change = changes;
  try {
    const draw = "history" in figure.dataset ? await loadHistory() : await loadChart(figure);
    if (wait) await wait();
    // The page may have changed in the meantime.
    if (change !== changes || drawn.has(figure)) return;
    const chart = draw(figure);
    if (!chart) return;
    drawn.set(figure, chart);
    while (chart.step()) if (wait) await wait();
  } catch (error) {
    const fault = figure.querySelector<HTMLElement>(".chart-fault");
    if (fault) fault.hidden = false;
    figure.dataset["fault"] = "";
    throw error;
  }
}

type Draw = (figure: HTMLElement) => DrawnChart | null;

async function loadHistory(): Promise<Draw> {
  const { drawHistory } = await import("../charts/historyFigure");
  return drawHistory;
}

async function loadChart(figure: HTMLElement): Promise<Draw> {
  const source = document.getElementById(figure.dataset["chart"] ?? "")?.textContent;
  if (!source) return () => null;
  const view = JSON.parse(source) as ChartView;
  const [{ drawFigure }] = await Promise.all([
    import("../charts/chartFigure"),
    import("../charts/errorBars"),
  ]);
  return (figure) => drawFigure(figure, view, loadPicture);
}

export function initCharts(): void {
  // Paint the text of the page first.
  for (const figure of figures()) void arriveLater(figure);
  const redraw = (): void => {
    for (const chart of drawn.values()) chart.redraw();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener(THEME_CHANGED, redraw);
  // Use light colours for print, before the browser renders the page.
  const forPaper = (printing: boolean) => (): void => {
    document.documentElement.classList.toggle("printing", printing);
    redraw();
  };
  addEventListener("beforeprint", forPaper(true));
  addEventListener("afterprint", forPaper(false));
}
