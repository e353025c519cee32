/** The comparison as horizontal bars: length is the median, whiskers are the quartiles. */

import type { ChartConfiguration, Plugin } from "chart.js";

import type { ChartView } from "../comparison";
import { rowLabels, type Reach } from "./rowLabels";
import { AXIS_HEIGHT, rowAxis, STILL, tooltip, topAxis } from "./axes";
import type { BuiltChart, Configuration, Mark } from "./built";
import { BAR_THICKNESS, HEADING_BASE, HEADING_HEIGHT, layoutRows, type BarRow, type RowLayout } from "./rows";
import type { Theme } from "./theme";
import { summaryLines } from "./words";

/** A bar; without `xMin` and `xMax` (one machine) no whisker is drawn. */
export interface BarPoint {
  x: number;
  y: number;
  /** Each quartile twice: a line, and below it a halo that keeps it visible on its bar. */
  xMin?: [number, number];
  xMax?: [number, number];
}

type BarConfiguration = ChartConfiguration<"barWithErrorBars", BarPoint[], string>;

const VALUE_LABEL_WIDTH = 78;
/** The same of "−3.5 %, few hosts". */
const VAGUE_LABEL_WIDTH = 112;

/**
 * The chart of a view, in a theme. Pure: no document, no measuring. `seen`: visible height of the
 * rows in CSS pixels; the rest scrolls.
 */
export function comparisonChart(
  view: ChartView,
  theme: Theme,
  seen = Number.POSITIVE_INFINITY,
): BuiltChart {
  const layout = layoutRows(view);
  const dataset = bars(layout, theme);
  if (view.comparison.unit === "relative") return differences(view, layout, theme, seen, dataset);
  return rowsChart(view, layout, theme, seen, {
    dataset,
    low: ({ summary: { median, q1, n } }) => (n > 1 ? Math.min(q1, median) : median),
    end: ({ summary }) => summary.median,
    whisker: ({ summary: { median, q3, n } }) => (n > 1 ? Math.max(q3, median) : median),
    points: ({ summary: { median, n } }) => (n === 1 ? [median] : []),
  });
}

/** Bars from 0 % to the left and right; whiskers are intervals, none for too few hosts. */
function differences(
  view: ChartView,
  layout: RowLayout,
  theme: Theme,
  seen: number,
  dataset: object,
): BuiltChart {
  return rowsChart(view, layout, theme, seen, {
    dataset: { ...dataset, base: 1, minBarLength: 2 },
    low: ({ summary }) => Math.min(summary.q1, 1),
    end: ({ summary }) => Math.max(summary.q3, 1),
    whisker: ({ summary }) => Math.max(summary.q3, 1),
    points: () => [],
  });
}

/** Start and end of bars, which differ for bars from zero and from a reference. */
interface Shapes extends Reach {
  dataset: object;
  /** Lowest drawn value. */
  low: (row: BarRow) => number;
}

/** Bars under the headings of their groups. */
function rowsChart(
  view: ChartView,
  layout: RowLayout,
  theme: Theme,
  seen: number,
  shapes: Shapes,
): BuiltChart {
  const { unit } = view.comparison;
  const marks = layout.bars.map((row, index) => mark(view, row, index));
  const all = view.whole
    ? layoutRows({ ...view, comparison: { ...view.comparison, groups: view.whole } }).bars
    : layout.bars;
  const lows = all.map(shapes.low).filter((value) => value > 0);
  const [lowest, highest] = [Math.min(...lows), Math.max(...all.map(shapes.whisker))];
  const shown = Math.min(layout.height, seen);
  return {
    height: layout.height + AXIS_HEIGHT,
    rowsHeight: layout.height,
    groups: layout.headings.map(({ y }) => y - HEADING_HEIGHT + HEADING_BASE),
    marks,
    configuration: {
      type: "barWithErrorBars",
      data: { datasets: [shapes.dataset] },
      options: {
        ...STILL,
        indexAxis: "y",
        layout: { padding: { right: all.some(isVague) ? VAGUE_LABEL_WIDTH : VALUE_LABEL_WIDTH } },
        interaction: { mode: "nearest", axis: "y", intersect: false },
        scales: {
          x: topAxis({ unit, scale: view.scale, lowest, highest, theme }),
          y: rowAxis({ labels: layout.bars, shown, theme }),
        },
        plugins: {
          legend: { display: false },
          tooltip: tooltip(marks, theme),
        },
      },
      plugins: [rowLabels(layout, unit, theme, shapes) as Plugin],
    } as object as Configuration,
  };
}

function mark(view: ChartView, row: BarRow, index: number): Mark {
  const words = [row.group, row.cipher, ...summaryLines(row.summary, view.comparison.unit)];
  return { datasetIndex: 0, index, words };
}

function isVague({ summary }: BarRow): boolean {
  return summary.vague !== undefined;
}

function bars(layout: RowLayout, theme: Theme): BarConfiguration["data"]["datasets"][number] {
  const colours = layout.bars.map((row) => (isVague(row) ? theme.vague : theme.cipher(row.slot)));
  return {
    data: layout.bars.map(point),
    backgroundColor: colours,
    hoverBackgroundColor: colours,
    hoverBorderColor: theme.text,
    hoverBorderWidth: 1,
    barThickness: BAR_THICKNESS,
    borderRadius: 2,
    errorBarColor: { v: [theme.text, theme.surface] },
    errorBarLineWidth: { v: [1.25, 3.25] },
    errorBarWhiskerColor: { v: [theme.text, theme.surface] },
    errorBarWhiskerLineWidth: { v: [1.25, 3.25] },
    errorBarWhiskerRatio: 0,
    errorBarWhiskerSize: { v: [8, 10] },
  };
}

/** Quartiles need at least two hosts. */
export function point(row: BarRow): BarPoint {
  const { median, q1, q3, n } = row.summary;
  return n > 1 && q1 < q3 ? { x: median, y: row.y, xMin: [q1, q1], xMax: [q3, q3] } : { x: median, y: row.y };
}
