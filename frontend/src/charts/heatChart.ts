/** The comparison as a heat map: groups down, ciphers across, the stronger the colour the higher. */

import type { Chart, Plugin } from "chart.js";

import type { ChartView, Group, Summary, Unit } from "../comparison";
import { quantity } from "../format";
import { rowAxis, STILL, tooltip, type AxisOptions } from "./axes";
import { configurationOf, type BuiltChart, type Mark, type Room } from "./built";
import { chosenGroup, type Chosen } from "./choices";
import { contrasting, mix } from "./colour";
import { ellipsize, wrapped } from "./fit";
import type { Theme } from "./theme";
import { doubtSign, summaryLines } from "./words";

/** Of a row whose name takes one line, and of one where names may take two. */
const ONE_LINE = 26;
const TWO_LINES = 36;
const GAP = 2;
/** Air on both sides of a value in its cell, together. */
const AIR = 2;
const SHARE_OF_NAMES = { narrow: 0.26, wide: 0.3 };
/** Room for the names of ciphers in two lines, and upright where cells are too narrow for that. */
const NAMES_HEIGHT = 40;
const UPRIGHT_HEIGHT = 146;
const LETTER_WIDTH = 7;
const NARROW = 600;

interface Cell {
  x: number;
  y: number;
  summary: Summary;
  colour: string;
}

export function heatChart(view: ChartView, theme: Theme, room: Room): BuiltChart {
  const { ciphers, groups, unit } = view.comparison;
  const cellHeight = heightOfRows(groups.map(({ label }) => label), room);
  const rowsHeight = groups.length * cellHeight;
  const shade = shades(view, theme);
  const cells = groups.flatMap((group, row) =>
    ciphers.flatMap((cipher, column): Cell[] => {
      const summary = group.values[cipher];
      const y = (row + 0.5) * cellHeight;
      return summary ? [{ x: column + 0.5, y, summary, colour: shade(summary.median, cipher) }] : [];
    }),
  );
  const marks = cells.map(({ x, y, summary }, index): Mark => {
    const group = groups[Math.floor(y / cellHeight)];
    const cipher = ciphers[Math.floor(x)] ?? "";
    const words = [group?.label ?? "", cipher, ...summaryLines(summary, unit)];
    return { datasetIndex: 0, index, words, chosen: { ...chosenOf(group), cipher } };
  });
  const upright = areUpright(view, room);
  return {
    height: rowsHeight + (upright ? UPRIGHT_HEIGHT : NAMES_HEIGHT),
    rowsHeight,
    marks,
    headings: groups.map((group, row) => ({
      y: (row + 0.5) * cellHeight,
      half: cellHeight / 2,
      chosen: chosenOf(group),
      across: false,
    })),
    columns: ciphers.length,
    zoom: null,
    configuration: configurationOf({
      type: "matrix",
      data: { datasets: [cellsOf(cells, ciphers.length, cellHeight, theme)] },
      options: {
        ...STILL,
        layout: { padding: { right: 2 } },
        interaction: { mode: "nearest", intersect: true },
        scales: {
          x: cipherAxis(view, theme, upright),
          y: rowAxis({
            labels: groups.map(({ label }, row) => ({ y: (row + 0.5) * cellHeight, name: label })),
            shown: Math.min(rowsHeight, room.rows),
            theme,
            widest: widestName,
            cut: (text, width, context) =>
              wrapped(text, width, cellHeight === TWO_LINES ? 2 : 1, (part) => context.measureText(part).width),
          }),
        },
        plugins: { legend: { display: false }, tooltip: tooltip(marks, theme) },
      },
      plugins: [values(cells, cellHeight, view, theme)],
    }),
  };
}

function chosenOf(group: Group | undefined): Chosen {
  return group ? { group: chosenGroup(group) } : {};
}

function widestName(width: number): number {
  return Math.min(260, width * SHARE_OF_NAMES[width < NARROW ? "narrow" : "wide"]);
}

/** On a phone most names need two lines; on a wide screen a rare long one is cut instead. */
function heightOfRows(labels: readonly string[], { width }: Room): number {
  const narrow = width < NARROW;
  const long = labels.some(({ length }) => length * LETTER_WIDTH > widestName(width));
  return narrow && long ? TWO_LINES : ONE_LINE;
}

/** "chacha20-poly1305" in two lines; most names take one. */
export function nameLines(name: string): string[] {
  if (name.length <= 11) return [name];
  const middle = name.indexOf("-", 4);
  return middle < 0 ? [name] : [name.slice(0, middle + 1), name.slice(middle + 1)];
}

function areUpright({ comparison: { ciphers }, names }: ChartView, room: Room): boolean {
  const parts = ciphers.flatMap((cipher) => nameLines(names[cipher] ?? cipher));
  const longest = Math.max(...parts.map(({ length }) => length)) * LETTER_WIDTH;
  return longest > (room.width * 0.7) / ciphers.length;
}

/** The colour of a cipher's value: from the lowest to the highest, evenly or by its logarithm. */
export function shades(view: ChartView, theme: Theme): (value: number, cipher: string) => string {
  const groups = view.whole ?? view.comparison.groups;
  const along = view.scale === "log" ? (value: number) => Math.log10(Math.max(value, 1e-9)) : Number;
  const rangeOf = (ciphers: readonly string[]): { low: number; span: number } => {
    const medians = groups.flatMap(({ values }) => ciphers.flatMap((one) => values[one]?.median ?? []));
    const low = view.scale === "log" ? along(Math.min(...medians)) : 0;
    return { low, span: along(Math.max(...medians)) - low };
  };
  const { ciphers } = view.comparison;
  const all = rangeOf(ciphers);
  const ranges = new Map(ciphers.map((one) => [one, view.by_cipher ? rangeOf([one]) : all]));
  return (value, cipher) => {
    const { low, span } = ranges.get(cipher) ?? all;
    return mix(theme.heatLow, theme.heatHigh, span > 0 ? (along(value) - low) / span : 1);
  };
}

function cellsOf(
  cells: readonly Cell[],
  columns: number,
  cellHeight: number,
  theme: Theme,
): object {
  const colours = cells.map(({ colour }) => colour);
  return {
    data: cells.map(({ x, y, summary }) => ({ x, y, v: summary.median })),
    backgroundColor: colours,
    hoverBackgroundColor: colours,
    hoverBorderColor: theme.text,
    borderWidth: 0,
    hoverBorderWidth: 2,
    borderRadius: 3,
    width: ({ chart }: { chart: Chart }) =>
      Math.max(1, (chart.chartArea?.width ?? 0) / columns - GAP),
    height: cellHeight - GAP,
  };
}

function cipherAxis(view: ChartView, theme: Theme, upright: boolean): AxisOptions {
  const { ciphers } = view.comparison;
  return {
    type: "linear",
    position: "top",
    offset: false,
    min: 0,
    max: ciphers.length,
    border: { display: false },
    grid: { display: false },
    ticks: {
      color: theme.muted,
      font: { family: theme.fontFamily, size: 12 },
      autoSkip: false,
      minRotation: upright ? 90 : 0,
      maxRotation: upright ? 90 : 0,
      // Turned labels begin at the middle of their line, not of their letters.
      labelOffset: upright ? 7 : 0,
      callback(value) {
        const name = view.names[ciphers[Math.floor(Number(value))] ?? ""] ?? "";
        if (!upright) return nameLines(name);
        return ellipsize(name, UPRIGHT_HEIGHT - 16, (part) => this.ctx.measureText(part).width);
      },
    },
    afterBuildTicks: (axis) => {
      axis.ticks = ciphers.map((_, column) => ({ value: column + 0.5 }));
    },
    afterFit: (axis) => {
      axis.height = upright ? UPRIGHT_HEIGHT : NAMES_HEIGHT;
    },
  } as AxisOptions;
}

/** The values as they fit cells of this width: with their unit, in short, or not at all. */
export function cellWords(
  summaries: readonly Summary[],
  unit: Unit,
  width: number,
  measure: (text: string) => number,
): string[] | null {
  const full = summaries.map((one) => quantity(one.median, unit) + doubtSign(one));
  const short = [0, 1].map((less) =>
    summaries.map((one) => inShort(one.median, unit, less) + doubtSign(one).trim()),
  );
  const fits = (words: string[]): boolean => words.every((text) => measure(text) <= width - AIR);
  return [full, ...short].find(fits) ?? null;
}

/** "3.84G" for 3.84 GB/s, or with a decimal less "3.8G": the unit is in the legend and the table. */
function inShort(value: number, unit: Unit, less: number): string {
  const [digits = "", named = ""] = quantity(value, unit).split(" ");
  const decimals = digits.split(".")[1]?.length ?? 0;
  const number = decimals > 0 ? Number(digits).toFixed(decimals - less) : digits;
  return unit === "B/s" ? number + named.replace("B/s", "") : number;
}

/** Each cell's value, where all have the room. */
function values(cells: readonly Cell[], cellHeight: number, view: ChartView, theme: Theme): Plugin {
  const columns = view.comparison.ciphers.length;
  const summaries = cells.map(({ summary }) => summary);
  return {
    id: "cellValues",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea } = chart;
      const [x, y] = [chart.scales["x"], chart.scales["y"]];
      if (!x || !y) return;
      ctx.save();
      const width = chartArea.width / columns - GAP;
      ctx.font = `${width < 50 ? 10 : 11}px ${theme.fontFamily}`;
      const { unit } = view.comparison;
      const words = cellWords(summaries, unit, width, (text) => ctx.measureText(text).width) ?? [];
      ctx.beginPath();
      ctx.rect(chartArea.left, chartArea.top, chartArea.width, chartArea.height);
      ctx.clip();
      ctx.textAlign = "center";
      ctx.textBaseline = "middle";
      words.forEach((text, index) => {
        const cell = cells[index];
        if (!cell || cell.y < y.min - cellHeight || cell.y > y.max + cellHeight) return;
        ctx.fillStyle = contrasting(cell.colour);
        ctx.fillText(text, x.getPixelForValue(cell.x), y.getPixelForValue(cell.y));
      });
      ctx.restore();
    },
  };
}
