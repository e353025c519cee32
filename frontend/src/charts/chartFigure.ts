/** Shows a comparison chart in a figure and follows theme, size and keyboard. */

import { Chart, LinearScale, LogarithmicScale, Tooltip } from "chart.js";

import type { ChartView } from "../comparison";
import { AXIS_HEIGHT } from "./axes";
import { shownRows, type AnyChart, type BuiltChart } from "./built";
import { comparisonChart } from "./comparisonChart";
import { pixelRatio } from "./fit";
import { Pace } from "./pace";
import { nextIndex } from "./selection";
import { readTheme, type Theme } from "./theme";

Chart.register(LinearScale, LogarithmicScale, Tooltip);

/** A chart in its figure; `destroy` frees its canvas and its listeners. */
export interface DrawnChart {
  /** Executes the next step of the first drawing; false when it is complete. */
  step: () => boolean;
  redraw: () => void;
  destroy: () => void;
}

/** Loads code that only some readers need; only the entry may import it (vite.config.ts). */
export type LoadPicture = () => Promise<typeof import("./picture")>;

/**
 * Draws a chart of the view in the figure, in steps; `data-drawn` on the figure becomes the number
 * of its marks.
 */
export function drawFigure(
  figure: HTMLElement,
  view: ChartView,
  loadPicture: LoadPicture,
): DrawnChart | null {
  const canvas = figure.querySelector("canvas");
  const box = figure.querySelector<HTMLElement>(".chart-box");
  const stage = canvas?.parentElement;
  const track = stage?.parentElement;
  if (!canvas || !box || !stage || !track) return null;
  return new Figure(figure, canvas, box, stage, track, view, loadPicture);
}

function isPrinting(): boolean {
  return document.documentElement.classList.contains("printing");
}

class Figure implements DrawnChart {
  private chart!: AnyChart;
  private built!: BuiltChart;
  /** Remaining steps of a drawing. */
  private drawing: Iterator<void> | null;
  private width = 0;
  private height = 0;
  private readonly listening = new AbortController();

  constructor(
    private readonly figure: HTMLElement,
    private readonly canvas: HTMLCanvasElement,
    private readonly box: HTMLElement,
    private readonly stage: HTMLElement,
    /** As high as all rows, so that the stage sticks to the top of the box. */
    private readonly track: HTMLElement,
    private readonly view: ChartView,
    private readonly loadPicture: LoadPicture,
  ) {
    this.drawing = this.begin();
  }

  step(): boolean {
    if (this.drawing?.next().done) this.drawing = null;
    return this.drawing !== null;
  }

  /** Keeps the selection. */
  redraw(): void {
    this.finish();
    const selected = this.selected();
    this.figure.querySelector(".chart-paper")?.remove();
    this.chart.destroy();
    this.drawing = this.draw();
    this.finish();
    if (isPrinting()) this.cut();
    if (selected >= 0) this.select(selected);
  }

  destroy(): void {
    this.drawing = null;
    this.listening.abort();
    this.chart?.destroy();
  }

  private finish(): void {
    while (this.step());
  }

  private *begin(): Generator<void, void> {
    yield* this.draw();
    this.listen();
  }

  /** Draws in steps, so that a slow machine stays responsive. */
  private *draw(): Generator<void, void> {
    const theme = readTheme(this.figure);
    this.width = this.box.clientWidth;
    yield;
    const hidden = this.layOut(theme);
    yield;
    const pace = new Pace();
    this.chart = new Chart(this.canvas, this.configuration(pace));
    yield;
    pace.layOutAxes(this.chart);
    yield;
    pace.layOutMarks(this.chart);
    yield;
    pace.paint(this.chart);
    if (hidden) this.scrollRows();
    this.figure.dataset["drawn"] = String(this.built.marks.length);
  }

  /** Builds the chart, sets the visible height of the box, and returns the hidden height. */
  private layOut(theme: Theme): number {
    let built = comparisonChart(this.view, theme);
    const all = built.rowsHeight;
    const shown = shownRows(all, window.innerHeight, isPrinting());
    if (shown < all) built = comparisonChart(this.view, theme, shown);
    this.built = built;
    const hidden = all - shown;
    const height = built.height - hidden;
    this.height = height;
    this.stage.style.height = `${height}px`;
    // A sticky element stays inside its parent: only a parent of this height lets it stick all the way.
    this.track.style.height = `${height + hidden}px`;
    this.box.style.height = `${height}px`;
    this.box.classList.toggle("scrolls", hidden > 0);
    // Now the stage takes the strut's place, at the same height.
    this.figure.dataset["drawn"] ??= "";
    return hidden;
  }

  /** A canvas for each group, so that page breaks fall between them. */
  private cut(): void {
    const paper = document.createElement("div");
    paper.className = "chart-paper";
    const scale = this.canvas.height / this.height;
    let top = 0;
    for (const end of [...this.built.groups.slice(1), this.built.rowsHeight]) {
      const bottom = Math.round((AXIS_HEIGHT + end) * scale);
      const piece = document.createElement("canvas");
      Object.assign(piece, { width: this.canvas.width, height: bottom - top });
      piece.getContext("2d")?.drawImage(this.canvas, 0, -top);
      paper.append(piece);
      top = bottom;
    }
    this.box.after(paper);
  }

  private configuration(pace: Pace): BuiltChart["configuration"] {
    const { configuration } = this.built;
    const ratio = pixelRatio(window.devicePixelRatio, this.width, this.height);
    return {
      ...configuration,
      options: { ...configuration.options, devicePixelRatio: ratio },
      plugins: [...(configuration.plugins ?? []), pace.plugin],
    };
  }

  private listen(): void {
    const { signal } = this.listening;
    this.canvas.addEventListener("keydown", (event) => this.steer(event), { signal });
    this.box.addEventListener("scroll", () => this.scrollRows(), { signal, passive: true });
    const save = (): void => void this.save();
    this.figure.querySelector("[data-picture]")?.addEventListener("click", save, { signal });
  }

  /** The rows that the box is scrolled to. */
  private scrollRows(): void {
    const rows = this.chart.options.scales?.["y"];
    const { rowsHeight } = this.built;
    if (!rows || !this.box.classList.contains("scrolls")) return;
    const shown = this.chart.chartArea.bottom - this.chart.chartArea.top;
    const top = Math.min(this.box.scrollTop, rowsHeight - shown);
    if (rows.min === top) return;
    rows.min = top;
    rows.max = top + shown;
    this.chart.update("none");
  }

  private steer(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = nextIndex(event.key, this.selected(), this.built.marks.length);
    if (next === null) return;
    event.preventDefault();
    this.select(next);
  }

  private selected(): number {
    const active = this.chart.getActiveElements()[0];
    if (!active) return -1;
    return this.built.marks.findIndex(
      ({ datasetIndex, index }) => datasetIndex === active.datasetIndex && index === active.index,
    );
  }

  /** Selects a mark, shows its tooltip and announces it to screen readers. */
  private select(number: number): void {
    const mark = this.built.marks[number];
    const active = mark ? [{ datasetIndex: mark.datasetIndex, index: mark.index }] : [];
    const place = (): { x: number; y: number } => {
      const element = mark && this.chart.getDatasetMeta(mark.datasetIndex).data[mark.index];
      return { x: element?.x ?? 0, y: element?.y ?? 0 };
    };
    if (mark) this.scrollTo(place().y);
    this.chart.setActiveElements(active);
    this.chart.tooltip?.setActiveElements(active, place());
    this.chart.update("none");
    this.announce(mark?.words.join("; ") ?? "");
  }

  /** Scrolls the rows so that this height of the canvas is well inside. */
  private scrollTo(y: number): void {
    if (!this.box.classList.contains("scrolls")) return;
    const { top, bottom } = this.chart.chartArea;
    const margin = 40;
    if (y > bottom - margin) this.box.scrollTop += y - bottom + 3 * margin;
    else if (y < top + margin) this.box.scrollTop -= top + 3 * margin - y;
    else return;
    this.scrollRows();
  }

  private announce(words: string): void {
    const status = this.figure.querySelector("[role=status]");
    if (status) status.textContent = words;
  }

  private async save(): Promise<void> {
    const { savePicture } = await this.loadPicture();
    await savePicture(this.figure, this.view);
  }
}
