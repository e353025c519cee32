/** A history as a line over time: one dot a run, a vertical line where something changed. */

import type { ChartConfiguration, ChartDataset, TooltipItem } from "chart.js";

import { quantity, tick } from "../format";
import type { HistoryPoint, HistoryView } from "../history";
import { historyMarks } from "./historyMarks";
import type { Theme } from "./theme";

const DAY_MS = 86_400_000;
/** Above this many runs the dots would hide the line: only important ones keep theirs. */
const MANY = 120;

export type HistoryConfiguration = ChartConfiguration<"line", { x: number; y: number }[]>;

/** The chart of a view, in a theme. Pure: no document, no measuring. */
export function historyChart(view: HistoryView, theme: Theme): HistoryConfiguration {
  const { points } = view;
  return {
    type: "line",
    data: { datasets: [line(view, theme)] },
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      // Room for the marks' labels above the first grid line, and for the last dot.
      layout: { padding: { top: 34, right: 12 } },
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: { x: timeAxis(points, theme), y: valueAxis(view, theme) },
      plugins: { legend: { display: false }, tooltip: tooltip(view, theme) },
    },
    plugins: [historyMarks(view, theme, span(points))],
  };
}

function line(view: HistoryView, theme: Theme): ChartDataset<"line", { x: number; y: number }[]> {
  const { slot, points, marks } = view;
  const colour = theme.cipher(slot);
  const marked = new Set(marks.map(({ index }) => index));
  return {
    data: points.map(({ at, median }) => ({ x: at, y: median })),
    borderColor: colour,
    borderWidth: 1.5,
    // A line across a change of the tool would suggest that results are comparable.
    segment: {
      borderColor: ({ p1DataIndex }) => (points[p1DataIndex]?.apart ? "transparent" : colour),
    },
    pointRadius: points.map((point, index) => radius(points, point, index, marked)),
    pointHoverRadius: 6,
    pointBackgroundColor: points.map((point) => (isDoubtful(point) ? theme.surface : colour)),
    pointBorderColor: colour,
    pointBorderWidth: 2,
    pointHoverBorderColor: theme.text,
  };
}

/** Noisy, or the run was disturbed: drawn hollow. */
export function isDoubtful({ noisy, conditions }: HistoryPoint): boolean {
  return noisy || conditions > 0;
}

function radius(
  points: readonly HistoryPoint[],
  point: HistoryPoint,
  index: number,
  marked: ReadonlySet<number>,
): number {
  if (points.length <= MANY) return 4;
  const ends = index === 0 || index === points.length - 1;
  return ends || point.noisy || marked.has(index) ? 3 : 0;
}

type Scales = NonNullable<NonNullable<HistoryConfiguration["options"]>["scales"]>;

function timeAxis(points: readonly HistoryPoint[], theme: Theme): Scales["x"] {
  const [first, last] = span(points);
  return {
    type: "linear",
    min: first,
    max: last,
    border: { color: theme.grid },
    grid: { display: false },
    ticks: {
      color: theme.muted,
      font: { family: theme.fontFamily, size: 11 },
      maxRotation: 0,
      autoSkipPadding: 16,
      callback(value) {
        return timeLabel(Number(value), this.max - this.min);
      },
    },
    afterBuildTicks: (axis) => {
      // Do not label the padding after the last run.
      const known = points.at(-1)?.at ?? last;
      const ticks = timeTicks(axis.min, axis.max, axis.chart.width).filter((at) => at <= known);
      axis.ticks = ticks.map((value) => ({ value }));
    },
  };
}

/** First and last time of the axis, which begins a day before a single run. */
export function span(points: readonly HistoryPoint[]): [number, number] {
  const last = points.at(-1)?.at ?? 0;
  const range = last - (points[0]?.at ?? 0) || DAY_MS;
  return [last - range * 1.02, last + range * 0.02];
}

const PIXELS_A_TICK = 110;
/** Labels are dates above this number of days, else they include the time. */
const DATED_FROM_MS = 4 * DAY_MS;

/** Labelled times, evenly spaced; whole days where labels are dates. */
export function timeTicks(first: number, last: number, width: number): number[] {
  const wanted = Math.max(2, Math.floor(width / PIXELS_A_TICK));
  const raw = (last - first) / wanted;
  const dated = last - first > DATED_FROM_MS;
  const step = dated ? Math.ceil(raw / DAY_MS) * DAY_MS : raw;
  const start = dated ? Math.ceil(first / DAY_MS) * DAY_MS : first + step / 2;
  const count = Math.min(wanted + 1, Math.floor((last - start) / step) + 1);
  return Array.from({ length: count }, (_, place) => start + place * step);
}

/** A time in UTC: a date, with the time of day on short axes. */
export function timeLabel(at: number, range: number): string {
  const text = new Date(at).toISOString();
  return range > DATED_FROM_MS ? text.slice(0, 10) : text.slice(5, 16).replace("T", " ");
}

function valueAxis(view: HistoryView, theme: Theme): Scales["y"] {
  return {
    type: "linear",
    ...valueRange(view.points.map(({ median }) => median)),
    border: { display: false },
    grid: { color: theme.grid },
    ticks: {
      color: theme.muted,
      font: { family: theme.fontFamily, size: 11 },
      maxTicksLimit: 6,
      callback: (value) => tick(Number(value), view.unit),
    },
  };
}

/** From zero, or near the values if all are within a factor of 2: then steps of 5 % are visible. */
function valueRange(values: readonly number[]): object {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return most > 2 * least ? { beginAtZero: true } : { suggestedMin: least * 0.9, suggestedMax: most * 1.05 };
}

function tooltip(
  view: HistoryView,
  theme: Theme,
): NonNullable<NonNullable<HistoryConfiguration["options"]>["plugins"]>["tooltip"] & object {
  const words = (item: TooltipItem<"line">): string[] => pointLines(view, item.dataIndex);
  return {
    displayColors: false,
    backgroundColor: theme.text,
    titleColor: theme.surface,
    bodyColor: theme.surface,
    titleFont: { family: theme.fontFamily },
    bodyFont: { family: theme.fontFamily },
    padding: 10,
    callbacks: {
      title: ([item]) => (item ? (words(item)[0] ?? "") : ""),
      label: (item) => words(item).slice(1).map(shorten),
    },
  };
}

/** Texts of a point: lines of the tooltip, and the description for screen readers. */
export function pointLines(view: HistoryView, index: number): string[] {
  const point = view.points[index];
  if (!point) return [];
  const marks = view.marks.filter((mark) => mark.index === index);
  const doubts = point.conditions > 0 ? ["the run was disturbed"] : [];
  return [
    `${new Date(point.at).toISOString().slice(0, 16).replace("T", " ")} UTC`,
    `${quantity(point.median, view.unit)}, ${spreadWords(point)}${point.noisy ? ", noisy" : ""}`,
    ...doubts,
    ...marks.map(({ words }) => words),
    point.environment,
  ];
}

function spreadWords({ spread, n }: HistoryPoint): string {
  if (n === 1) return "one try";
  return spread === null ? `${n} tries` : `${n} tries, spread ${(spread * 100).toFixed(1)} %`;
}

function shorten(text: string): string {
  const letters = Array.from(text);
  return letters.length > 64 ? `${letters.slice(0, 63).join("")}…` : text;
}
