/** Puts a chart of a comparison into a figure and keeps it true to theme, size and keyboard. */

import { Chart, LinearScale, LogarithmicScale, Tooltip } from "chart.js";

import type { AnyView } from "../comparison";
import { configurationOf, shownRows, type AnyChart, type BuiltChart, type Room } from "./built";
import { pixelRatio } from "./fit";
import { nextIndex } from "./selection";
import { readTheme, type Theme } from "./theme";

Chart.register(LinearScale, LogarithmicScale, Tooltip);

/** A drawn chart; `destroy` frees its canvas and its listeners. */
export interface DrawnChart {
  redraw: () => void;
  destroy: () => void;
}

/** Makes a chart of a view, in a theme, for the room that there is. Pure. */
export type Build = (view: AnyView, theme: Theme, room: Room) => BuiltChart;

type Zoom = typeof import("./zoom");

/** Loads what only some readers reach for; only the entry may do that (vite.config.ts). */
export interface Later {
  zoom: () => Promise<Zoom>;
  picture: () => Promise<typeof import("./picture")>;
  svg: () => Promise<typeof import("./svgContext")>;
}

/** Draws the view into the figure; `data-drawn` on the figure says how many marks it has. */
export function drawFigure(
  figure: HTMLElement,
  view: AnyView,
  build: Build,
  later: Later,
): DrawnChart | null {
  const canvas = figure.querySelector("canvas");
  const box = figure.querySelector<HTMLElement>(".chart-box");
  const stage = canvas?.parentElement;
  if (!canvas || !box || !stage) return null;
  return new Figure(figure, canvas, box, stage, view, build, later);
}

class Figure implements DrawnChart {
  private chart!: AnyChart;
  private built!: BuiltChart;
  private zoom: Zoom | null = null;
  private width = 0;
  private readonly listening = new AbortController();
  private readonly resizing = new ResizeObserver(() => this.fit());

  constructor(
    private readonly figure: HTMLElement,
    private readonly canvas: HTMLCanvasElement,
    private readonly box: HTMLElement,
    private readonly stage: HTMLElement,
    private readonly view: AnyView,
    private readonly build: Build,
    private readonly later: Later,
  ) {
    this.draw();
    this.listen();
    this.resizing.observe(box);
  }

  /** What was selected stays so: zooming may arrive while a reader walks over the marks. */
  redraw(): void {
    const selected = this.selected();
    this.chart.destroy();
    this.draw();
    if (selected >= 0) this.select(selected);
  }

  destroy(): void {
    this.resizing.disconnect();
    this.listening.abort();
    this.chart.destroy();
  }

  private draw(): void {
    // Shown before it is measured: a hidden box has no width.
    this.figure.dataset["drawn"] = "";
    const theme = readTheme(this.figure);
    const printing = document.documentElement.classList.contains("printing");
    this.width = this.box.clientWidth;
    const room = { width: this.width, rows: Number.POSITIVE_INFINITY };
    let built = this.build(this.view, theme, room);
    const all = built.rowsHeight;
    const shown = all === null ? null : shownRows(all, window.innerHeight, printing);
    if (shown !== null && all !== null && shown < all) {
      built = this.build(this.view, theme, { ...room, rows: shown });
    }
    this.built = built;
    const hidden = all === null || shown === null ? 0 : all - shown;
    const height = built.height - hidden;
    this.layOut(height, hidden);
    this.chart = new Chart(this.canvas, this.configuration(theme, height));
    if (hidden) this.scrollRows();
    this.figure.dataset["drawn"] = String(built.marks.length);
    this.showZoom();
  }

  /** The box as high as what is seen; what is hidden hangs below the stage, which sticks. */
  private layOut(height: number, hidden: number): void {
    this.stage.style.height = `${height}px`;
    this.stage.style.marginBottom = `${hidden}px`;
    this.box.style.height = `${height}px`;
    this.box.classList.toggle("scrolls", hidden > 0);
  }

  private configuration(theme: Theme, height: number): BuiltChart["configuration"] {
    const { configuration, zoom } = this.built;
    const ratio = pixelRatio(window.devicePixelRatio, this.width, height);
    const plugins = {
      ...configuration.options?.plugins,
      ...(this.zoom && zoom
        ? { zoom: this.zoom.zoomOptions(zoom, theme, () => this.showZoom()) }
        : {}),
    };
    return configurationOf({
      ...configuration,
      options: { ...configuration.options, plugins, devicePixelRatio: ratio },
    });
  }

  /** Where the number of columns hangs on the width, the chart is laid out anew. */
  private fit(): void {
    if (this.width === 0 || this.built.rowsHeight !== null) return;
    if (Math.abs(this.box.clientWidth - this.width) > 24) this.redraw();
  }

  private listen(): void {
    const { signal } = this.listening;
    this.canvas.addEventListener("keydown", (event) => this.steer(event), { signal });
    this.box.addEventListener("scroll", () => this.scrollRows(), { signal, passive: true });
    const reach = (): void => void this.bringZoom();
    this.figure.addEventListener("pointerenter", reach, { signal, once: true });
    this.figure.addEventListener("focusin", reach, { signal, once: true });
    for (const button of this.figure.querySelectorAll<HTMLElement>("[data-zoom]")) {
      const way = button.dataset["zoom"] ?? "";
      button.addEventListener("click", () => void this.zoomTo(way), { signal });
    }
    for (const button of this.figure.querySelectorAll<HTMLElement>("[data-picture]")) {
      const format = button.dataset["picture"] === "svg" ? "svg" : "png";
      button.addEventListener("click", () => void this.save(format), { signal });
    }
  }

  /** The rows that the box is scrolled to. */
  private scrollRows(): void {
    const rows = this.chart.options.scales?.["y"];
    const { rowsHeight } = this.built;
    if (!rows || rowsHeight === null || !this.box.classList.contains("scrolls")) return;
    const shown = this.chart.chartArea.bottom - this.chart.chartArea.top;
    const top = Math.min(this.box.scrollTop, rowsHeight - shown);
    if (rows.min === top) return;
    rows.min = top;
    rows.max = top + shown;
    this.chart.update("none");
  }

  private steer(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const way = { "+": "in", "=": "in", "-": "out", "0": "reset" }[event.key];
    if (way && this.built.zoom) {
      event.preventDefault();
      void this.zoomTo(way);
      return;
    }
    const next = nextIndex(event.key, this.selected(), this.built.marks.length, this.built.columns);
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

  /** Selects a mark, shows its tooltip and tells a screen reader what it says. */
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
    this.tell(mark?.words.join("; ") ?? "");
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

  private tell(words: string): void {
    const status = this.figure.querySelector("[role=status]");
    if (status) status.textContent = words;
  }

  /** Loads zooming once; the chart is drawn anew with it, at the same place. */
  private async bringZoom(): Promise<void> {
    if (this.zoom || !this.built.zoom) return;
    const arrived = await this.later.zoom();
    if (this.zoom || this.listening.signal.aborted) return;
    this.zoom = arrived;
    this.redraw();
  }

  private async zoomTo(way: string): Promise<void> {
    await this.bringZoom();
    if (!this.zoom || this.listening.signal.aborted) return;
    // What was selected may now lie outside.
    this.select(-1);
    if (way === "reset") this.zoom.resetZoom(this.chart as unknown as Chart, "none");
    else this.zoom.zoomBy(this.chart as unknown as Chart, way === "in" ? 1.4 : 1 / 1.4, "none");
    this.showZoom();
    this.tell(way === "reset" ? "The whole axis is shown." : `Zoomed ${way}.`);
  }

  private showZoom(): void {
    const whole = this.figure.querySelector<HTMLElement>("[data-zoom=reset]");
    const zoomed = this.zoom !== null && this.chart?.isZoomedOrPanned?.() === true;
    if (!whole || whole.hidden === !zoomed) return;
    // Focus must not fall off the page with the button that had it.
    if (!zoomed && whole === document.activeElement) this.canvas.focus();
    whole.hidden = !zoomed;
  }

  private async save(format: "png" | "svg"): Promise<void> {
    const { savePicture } = await this.later.picture();
    const svg = format === "svg" ? await this.later.svg() : null;
    await savePicture(this.figure, this.view, this.build, svg);
  }
}
