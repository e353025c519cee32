/** The comparison as a heat map: groups down, ciphers across, the stronger the colour the higher. */

import type { Chart, Plugin } from "chart.js";

import type { ChartView, Summary } from "../comparison";
import { quantity } from "../format";
import { rowAxis, STILL, tooltip, type AxisOptions } from "./axes";
import { configurationOf, type BuiltChart, type Mark, type Room } from "./built";
import { contrasting, mix } from "./colour";
import { ellipsize } from "./fit";
import type { Theme } from "./theme";
import { doubtSign, summaryLines } from "./words";

const CELL_HEIGHT = 26;
const GAP = 2;
/** A cell of less width has no room for its value in words. */
const WORDS_WIDTH = 64;
/** Room for the names of ciphers in two lines, and upright where cells are too narrow for that. */
const NAMES_HEIGHT = 40;
const UPRIGHT_HEIGHT = 132;
const LETTER_WIDTH = 7;

interface Cell {
  x: number;
  y: number;
  summary: Summary;
  colour: string;
}

export function heatChart(view: ChartView, theme: Theme, room: Room): BuiltChart {
  const { ciphers, groups, unit } = view.comparison;
  const rowsHeight = groups.length * CELL_HEIGHT;
  const shade = shades(view, theme);
  const cells = groups.flatMap((group, row) =>
    ciphers.flatMap((cipher, column): Cell[] => {
      const summary = group.values[cipher];
      const y = (row + 0.5) * CELL_HEIGHT;
      return summary ? [{ x: column + 0.5, y, summary, colour: shade(summary.median) }] : [];
    }),
  );
  const marks = cells.map(({ x, y, summary }, index): Mark => {
    const group = groups[Math.floor(y / CELL_HEIGHT)]?.label ?? "";
    const words = [group, ciphers[Math.floor(x)] ?? "", ...summaryLines(summary, unit)];
    return { datasetIndex: 0, index, words };
  });
  const upright = areUpright(view, room);
  return {
    height: rowsHeight + (upright ? UPRIGHT_HEIGHT : NAMES_HEIGHT),
    rowsHeight,
    marks,
    columns: ciphers.length,
    zoom: null,
    configuration: configurationOf({
      type: "matrix",
      data: { datasets: [cellsOf(cells, ciphers.length, theme)] },
      options: {
        ...STILL,
        layout: { padding: { right: 2 } },
        interaction: { mode: "nearest", intersect: true },
        scales: {
          x: cipherAxis(view, theme, upright),
          y: rowAxis({
            labels: groups.map(({ label }, row) => ({ y: (row + 0.5) * CELL_HEIGHT, name: label })),
            shown: Math.min(rowsHeight, room.rows),
            theme,
            widest: (width) => Math.min(260, width * 0.3),
            cut: (text, width, context) =>
              ellipsize(text, width, (part) => context.measureText(part).width),
          }),
        },
        plugins: { legend: { display: false }, tooltip: tooltip(marks, theme) },
      },
      plugins: [values(cells, view, theme)],
    }),
  };
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

/** The colour of a value: from the lowest to the highest, evenly or by its logarithm. */
export function shades(view: ChartView, theme: Theme): (value: number) => string {
  const medians = view.comparison.groups.flatMap(({ values }) =>
    Object.values(values).map(({ median }) => median),
  );
  const along = view.scale === "log" ? (value: number) => Math.log10(Math.max(value, 1e-9)) : Number;
  const low = view.scale === "log" ? along(Math.min(...medians)) : 0;
  const span = along(Math.max(...medians)) - low;
  return (value) => mix(theme.heatLow, theme.heatHigh, span > 0 ? (along(value) - low) / span : 1);
}

function cellsOf(cells: readonly Cell[], columns: number, theme: Theme): object {
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
    height: CELL_HEIGHT - GAP,
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

/** Each cell's value in words, where it has the room. */
function values(cells: readonly Cell[], view: ChartView, theme: Theme): Plugin {
  const columns = view.comparison.ciphers.length;
  return {
    id: "cellValues",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea } = chart;
      const [x, y] = [chart.scales["x"], chart.scales["y"]];
      if (!x || !y || chartArea.width / columns < WORDS_WIDTH) return;
      ctx.save();
      ctx.beginPath();
      ctx.rect(chartArea.left, chartArea.top, chartArea.width, chartArea.height);
      ctx.clip();
      ctx.font = `11px ${theme.fontFamily}`;
      ctx.textAlign = "center";
      ctx.textBaseline = "middle";
      for (const cell of cells) {
        if (cell.y < y.min - CELL_HEIGHT || cell.y > y.max + CELL_HEIGHT) continue;
        ctx.fillStyle = contrasting(cell.colour);
        const words = quantity(cell.summary.median, view.comparison.unit) + doubtSign(cell.summary);
        ctx.fillText(words, x.getPixelForValue(cell.x), y.getPixelForValue(cell.y));
      }
      ctx.restore();
    },
  };
}
