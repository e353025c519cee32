/** Histories as lines over time: one dot a run, a vertical line where something changed. */

import type { ChartConfiguration, ChartDataset, TooltipItem } from "chart.js";

import { quantity, tick } from "../format";
import type { HistoryLine, HistoryMark, HistoryPoint, HistoryView } from "../history";
import { historyMarks } from "./historyMarks";
import type { Theme } from "./theme";

const DAY_MS = 86_400_000;
/** Above this many runs the dots would hide the line: only telling ones keep theirs. */
const MANY = 120;

export type HistoryConfiguration = ChartConfiguration<"line", { x: number; y: number }[]>;

/** The chart of a view, in a theme. Pure: no document, no measuring. */
export function historyChart(view: HistoryView, theme: Theme): HistoryConfiguration {
  const points = view.lines.flatMap((one) => one.points).sort((a, b) => a.at - b.at);
  return {
    type: "line",
    data: { datasets: view.lines.map((_, place) => line(view, place, theme)) },
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

function line(
  view: HistoryView,
  place: number,
  theme: Theme,
): ChartDataset<"line", { x: number; y: number }[]> {
  const { slot, dash, points } = lineOf(view, place);
  const colour = theme.cipher(slot);
  const marked = new Set(place === 0 ? view.marks.map(({ index }) => index) : []);
  return {
    data: points.map(({ at, median }) => ({ x: at, y: median })),
    borderColor: colour,
    borderWidth: view.lines.length > 1 ? 2 : 1.5,
    borderDash: dash,
    // A line across a change of the tool would claim that the two ends can be compared.
    segment: {
      borderColor: ({ p1DataIndex }) => (points[p1DataIndex]?.apart ? "transparent" : colour),
    },
    pointRadius: points.map((point, index) => radius(view, points, point, index, marked)),
    pointHoverRadius: 6,
    pointBackgroundColor: points.map((point) => (isDoubtful(point) ? theme.surface : colour)),
    pointBorderColor: colour,
    pointBorderWidth: view.lines.length > 1 ? 1 : 2,
    pointHoverBorderColor: theme.text,
  };
}

const NO_LINE: HistoryLine = { label: "", slot: "other-2", dash: [], points: [] };

export function lineOf(view: HistoryView, place: number): HistoryLine {
  return view.lines[place] ?? NO_LINE;
}

/** Noisy, or the run was disturbed: drawn hollow. */
export function isDoubtful({ noisy, conditions }: HistoryPoint): boolean {
  return noisy || conditions > 0;
}

function radius(
  view: HistoryView,
  points: readonly HistoryPoint[],
  point: HistoryPoint,
  index: number,
  marked: ReadonlySet<number>,
): number {
  const dots = view.lines.reduce((sum, { points: of }) => sum + of.length, 0);
  if (dots <= MANY) return view.lines.length > 1 ? 3 : 4;
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
      // The air behind the last run is no time: nothing of it is labelled.
      const known = points.at(-1)?.at ?? last;
      const ticks = timeTicks(axis.min, axis.max, axis.chart.width).filter((at) => at <= known);
      axis.ticks = ticks.map((value) => ({ value }));
    },
  };
}

/** First and last moment of the axis; before a single run lies a day, and after it nothing. */
export function span(points: readonly HistoryPoint[]): [number, number] {
  const last = points.at(-1)?.at ?? 0;
  const range = last - (points[0]?.at ?? 0) || DAY_MS;
  return [last - range * 1.02, last + range * 0.02];
}

const PIXELS_A_TICK = 110;

/** Moments to label, evenly apart; whole days where the history is longer than some days. */
export function timeTicks(first: number, last: number, width: number): number[] {
  const wanted = Math.max(2, Math.floor(width / PIXELS_A_TICK));
  const raw = (last - first) / wanted;
  const step = raw > DAY_MS ? Math.ceil(raw / DAY_MS) * DAY_MS : raw;
  const start = raw > DAY_MS ? Math.ceil(first / DAY_MS) * DAY_MS : first + step / 2;
  const count = Math.min(wanted + 1, Math.floor((last - start) / step) + 1);
  return Array.from({ length: count }, (_, place) => start + place * step);
}

/** A moment in UTC: a date, with the time of day where the whole axis is shorter than days. */
export function timeLabel(at: number, range: number): string {
  const text = new Date(at).toISOString();
  return range > 4 * DAY_MS ? text.slice(0, 10) : text.slice(5, 16).replace("T", " ");
}

function valueAxis(view: HistoryView, theme: Theme): Scales["y"] {
  return {
    type: "linear",
    beginAtZero: true,
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

function tooltip(
  view: HistoryView,
  theme: Theme,
): NonNullable<NonNullable<HistoryConfiguration["options"]>["plugins"]>["tooltip"] & object {
  return {
    displayColors: view.lines.length > 1,
    backgroundColor: theme.text,
    titleColor: theme.surface,
    bodyColor: theme.surface,
    titleFont: { family: theme.fontFamily },
    bodyFont: { family: theme.fontFamily },
    padding: 10,
    callbacks: {
      title: ([item]) => (item ? (wordsOf(view, item)[0] ?? "") : ""),
      // Beside others a run is its figure alone: the keyboard reads the rest.
      label: (item) => wordsOf(view, item).slice(1, view.lines.length > 1 ? 2 : undefined).map(shorten),
    },
  };
}

function wordsOf(view: HistoryView, item: TooltipItem<"line">): string[] {
  return pointLines(view, item.datasetIndex, item.dataIndex);
}

/** What a point says in words: the tooltip's lines, and what a screen reader is told. */
export function pointLines(view: HistoryView, place: number, index: number): string[] {
  const { label, points } = lineOf(view, place);
  const point = points[index];
  if (!point) return [];
  const name = view.lines.length > 1 ? `${label}: ` : "";
  const marks = place === 0 ? marksAt(view, index) : [];
  const doubts = point.conditions > 0 ? ["the run was disturbed"] : [];
  return [
    `${new Date(point.at).toISOString().slice(0, 16).replace("T", " ")} UTC`,
    `${name}${quantity(point.median, view.unit)}, ${spreadWords(point)}${point.noisy ? ", noisy" : ""}`,
    ...doubts,
    ...marks.map(({ words }) => words),
    point.environment,
  ];
}

function spreadWords({ spread, n }: HistoryPoint): string {
  if (n === 1) return "one try";
  return spread === null ? `${n} tries` : `${n} tries, spread ${(spread * 100).toFixed(1)} %`;
}

export function marksAt(view: HistoryView, index: number): HistoryMark[] {
  return view.marks.filter((mark) => mark.index === index);
}

function shorten(text: string): string {
  const letters = Array.from(text);
  return letters.length > 64 ? `${letters.slice(0, 63).join("")}…` : text;
}

/** The point of a line that is nearest to a moment. */
export function nearestPoint(points: readonly HistoryPoint[], at: number): number {
  let nearest = 0;
  points.forEach((point, index) => {
    const best = points[nearest];
    if (best && Math.abs(point.at - at) < Math.abs(best.at - at)) nearest = index;
  });
  return nearest;
}
