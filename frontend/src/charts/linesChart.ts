/** Speed over block sizes: a small chart for each group, all with the same axes. */

import type { Chart, Plugin } from "chart.js";

import type { LinesView, Panel, Summary } from "../comparison";
import { STILL, tooltip, valueAxis, type AxisOptions } from "./axes";
import { configurationOf, type BuiltChart, type Mark, type Room } from "./built";
import { headingParts } from "./fit";
import { linkLines } from "./linkLines";
import { pointRadius, pointStyle } from "./points";
import type { Theme } from "./theme";
import { blockSize, summaryLines } from "./words";

const PANEL_WIDTH = 260;
const PANEL_HEIGHT = 150;
const HEADING = 34;
const GUTTER = 22;
const MOST_COLUMNS = 6;
const BOTTOM = 26;
/** Room for the values, the same for every row of panels. */
const LABELS = 68;

export interface Grid {
  columns: number;
  rows: number;
}

/** How many small charts stand side by side. */
export function gridOf(panels: number, width: number): Grid {
  const fit = Math.max(1, Math.floor(width / PANEL_WIDTH));
  const columns = Math.max(1, Math.min(fit, MOST_COLUMNS, panels));
  return { columns, rows: Math.ceil(panels / columns) };
}

interface Line {
  panel: number;
  cipher: string;
  summaries: (Summary | null)[];
}

export function linesChart(view: LinesView, theme: Theme, room: Room): BuiltChart {
  const grid = gridOf(view.groups.length, room.width);
  const lines = view.groups.flatMap((group, panel) =>
    view.ciphers.flatMap((cipher): Line[] => {
      const summaries = group.values[cipher];
      return summaries ? [{ panel, cipher, summaries }] : [];
    }),
  );
  const marks = lines.flatMap((line, datasetIndex) => marksOf(view, line, datasetIndex));
  const height = grid.rows * (PANEL_HEIGHT + HEADING) + BOTTOM;
  return {
    height: grid.rows === 1 ? height + 90 : height,
    rowsHeight: null,
    marks,
    columns: 1,
    zoom: "y",
    configuration: configurationOf({
      type: "line",
      data: { datasets: lines.map((line) => dataset(view, line, grid, theme)) },
      options: {
        ...STILL,
        layout: { padding: { right: rightOf(view) } },
        interaction: { mode: "nearest", intersect: false },
        scales: scales(view, grid, theme, room),
        plugins: {
          legend: { display: false },
          tooltip: tooltip(marks, theme),
          annotation: besidePanels(linkLines(view.links, rowNames(grid), theme)),
        },
      },
      plugins: [headings(view.groups, grid, theme)],
    }),
  };
}

function marksOf(view: LinesView, { panel, cipher, summaries }: Line, datasetIndex: number): Mark[] {
  const { key = "", label = "" } = view.groups[panel] ?? {};
  return view.sizes.flatMap((size, index): Mark[] => {
    const summary = summaries[index];
    if (!summary) return [];
    const words = [label, `${cipher}, ${blockSize(size)} blocks`, ...summaryLines(summary, view.unit)];
    return [{ datasetIndex, index, words, chosen: { group: { key, label }, cipher } }];
  });
}

function dataset(view: LinesView, line: Line, grid: Grid, theme: Theme): object {
  const slot = view.colours[line.cipher] ?? "other-2";
  const colour = theme.cipher(slot);
  return {
    label: line.cipher,
    // A size that was not measured is a gap, and the line does not claim to know what is there.
    data: view.sizes.map((x, index) => ({ x, y: line.summaries[index]?.median ?? Number.NaN })),
    xAxisID: `x${line.panel % grid.columns}`,
    yAxisID: `y${Math.floor(line.panel / grid.columns)}`,
    borderColor: colour,
    borderWidth: 1.75,
    // With segments Chart.js draws each line by itself, not through Path2D, which no SVG takes.
    segment: {},
    pointStyle: pointStyle(slot),
    pointRadius: pointRadius(slot) - 1.25,
    pointHoverRadius: pointRadius(slot) + 1,
    pointBackgroundColor: colour,
    pointBorderColor: theme.surface,
    pointBorderWidth: 1,
    pointHoverBorderColor: theme.text,
  };
}

/** Room for the last block size, and for the names of network links. */
function rightOf({ links }: LinesView): number {
  return links?.length ? 58 : 22;
}

/** Inside a small chart the names would hide its lines. */
function besidePanels(options: ReturnType<typeof linkLines>): ReturnType<typeof linkLines> {
  for (const line of Object.values(options.annotations ?? {})) {
    if ("label" in line && line.label) Object.assign(line.label, { position: "end", xAdjust: 56 });
  }
  return options;
}

function rowNames({ rows }: Grid): string[] {
  return Array.from({ length: rows }, (_, row) => `y${row}`);
}

/** Panels as stacked axes, with hidden axes between them for headings and gutters. */
function scales(
  view: LinesView,
  grid: Grid,
  theme: Theme,
  room: Room,
): Record<string, AxisOptions> {
  const gutters = (grid.columns - 1) * GUTTER;
  const width = (room.width - LABELS - rightOf(view) - gutters) / grid.columns;
  const found: Record<string, AxisOptions> = {};
  const [low, high] = valueRange(view);
  // The first of a stack of vertical axes stands at the bottom.
  for (let row = grid.rows - 1; row >= 0; row -= 1) {
    found[`y${row}`] = {
      ...valueAxis({ unit: view.unit, scale: view.scale, lowest: low, theme, ticks: 5 }),
      position: "left",
      stack: "rows",
      stackWeight: PANEL_HEIGHT,
      max: view.scale === "log" ? high * 1.2 : roundUp(high),
      afterFit: (axis: { width: number }) => {
        axis.width = LABELS;
      },
    } as AxisOptions;
    found[`heading${row}`] = spacer("left", HEADING);
  }
  for (let column = 0; column < grid.columns; column += 1) {
    if (column > 0) found[`gutter${column}`] = spacer("bottom", GUTTER);
    found[`x${column}`] = sizeAxis(view, theme, width);
  }
  return found;
}

function valueRange(view: LinesView): [number, number] {
  const medians = (view.whole ?? view.groups).flatMap(({ values }) =>
    Object.values(values).flatMap((line) => line.flatMap((one) => (one ? [one.median] : []))),
  );
  return [Math.min(...medians.filter((value) => value > 0)), Math.max(...medians)];
}

/** A round number not below this one: where a linear axis ends. */
export function roundUp(value: number): number {
  const decade = 10 ** Math.floor(Math.log10(value));
  return (ROUND.find((step) => step * decade >= value) ?? 10) * decade;
}

const ROUND = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

function spacer(position: "left" | "bottom", size: number): AxisOptions {
  return {
    type: "linear",
    position,
    stack: position === "left" ? "rows" : "columns",
    stackWeight: size,
    border: { display: false },
    grid: { display: false },
    ticks: { display: false },
    min: 0,
    max: 1,
  } as AxisOptions;
}

function sizeAxis(view: LinesView, theme: Theme, width: number): AxisOptions {
  const [first = 1, last = 2] = [view.sizes[0], view.sizes.at(-1)];
  return {
    type: "logarithmic",
    position: "bottom",
    stack: "columns",
    stackWeight: width,
    min: first / 1.3,
    max: last * 1.3,
    border: { color: theme.grid },
    grid: { display: false },
    ticks: {
      color: theme.muted,
      font: { family: theme.fontFamily, size: 11 },
      autoSkip: false,
      maxRotation: 0,
      callback: (value) => blockSize(Number(value)),
    },
    afterBuildTicks: (axis) => {
      axis.ticks = sizeTicks(view.sizes, width).map((value) => ({ value }));
    },
  } as AxisOptions;
}

const TICK_WIDTH = 52;

/** The sizes that can be labelled on a logarithmic axis of this width, the largest always. */
export function sizeTicks(sizes: readonly number[], width: number): number[] {
  const [first = 1, last = 2] = [sizes[0], sizes.at(-1)];
  const scale = width / (Math.log(last / first) + 2 * Math.log(1.3));
  const shown: number[] = [];
  for (const size of [...sizes].reverse()) {
    const after = shown[0];
    if (after === undefined || Math.log(after / size) * scale >= TICK_WIDTH) shown.unshift(size);
  }
  return shown;
}

function headings(groups: readonly Panel[], grid: Grid, theme: Theme): Plugin {
  return {
    id: "panelHeadings",
    afterDraw(chart) {
      chart.ctx.save();
      groups.forEach((group, panel) => heading(chart, group, panel, grid, theme));
      chart.ctx.restore();
    },
  };
}

function heading(chart: Chart, group: Panel, panel: number, grid: Grid, theme: Theme): void {
  const { ctx } = chart;
  const x = chart.scales[`x${panel % grid.columns}`];
  const y = chart.scales[`y${Math.floor(panel / grid.columns)}`];
  if (!x || !y) return;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  const [bold, plain] = [`600 13px ${theme.fontFamily}`, `12px ${theme.fontFamily}`];
  const measured = (font: string) => (text: string) => {
    ctx.font = font;
    return ctx.measureText(text).width;
  };
  const { label, note } = headingParts(group, 0, x.width, measured(bold), measured(plain));
  const end = x.left + measured(bold)(label) + 8;
  ctx.fillStyle = theme.text;
  ctx.fillText(label, x.left, y.top - 12);
  ctx.font = plain;
  ctx.fillStyle = theme.muted;
  ctx.fillText(note, end, y.top - 12);
}
