/** Axes and tooltips of the chart of a comparison. */

import type { Tick, TooltipItem } from "chart.js";

import type { Scale, Unit } from "../comparison";
import { tick } from "../format";
import type { Configuration, Mark } from "./built";
import type { Theme } from "./theme";
import { shorten } from "./words";

type Scales = NonNullable<NonNullable<Configuration["options"]>["scales"]>;
export type AxisOptions = NonNullable<Scales[string]>;
type Measured = { width: number; height: number };

/** Height of a value axis that lies on top of rows: fixed, so that rows keep theirs. */
export const AXIS_HEIGHT = 26;

interface ValueAxis {
  unit: Unit;
  scale: Scale;
  /** The smallest value that is drawn; a logarithmic axis begins at the decade below it. */
  lowest: number;
  theme: Theme;
}

/** An axis of values, linear from zero or logarithmic. */
function valueAxis({ unit, scale, lowest, theme }: ValueAxis): AxisOptions {
  const common = {
    border: { display: false },
    grid: {
      color: (context: { tick?: Tick }) =>
        (unit === "ratio" || unit === "relative") && context.tick?.value === 1 ? theme.muted : theme.grid,
      tickLength: 4,
    },
    ticks: {
      color: theme.muted,
      font: { family: theme.fontFamily, size: 11 },
      maxRotation: 0,
      maxTicksLimit: 7,
      autoSkipPadding: 16,
      callback: (value: string | number) => tick(Number(value), unit),
    },
  };
  // The ticks chosen below fit; beyond a limit, Chart.js would omit grid lines.
  const chosen = { ...common.ticks, autoSkip: false, maxTicksLimit: Number.POSITIVE_INFINITY };
  if (unit === "relative") return { ...common, ...relativeAxis(lowest), ticks: chosen };
  if (scale === "linear") return { ...common, type: "linear", beginAtZero: true };
  return {
    ...common,
    type: "logarithmic",
    min: logFloor(lowest),
    ticks: chosen,
    afterBuildTicks: (axis) => {
      // Before the first layout an axis has no length of its own.
      const length = axis.width || axis.chart.width;
      axis.ticks = logTicks(axis.min, axis.max, length / ACROSS).map((value) => ({ value }));
    },
  };
}

/**
 * The value axis of charts made of rows: on top, of fixed height, up to the highest value of all
 * rows. By default Chart.js fits it to the rows that are scrolled to, so equal speeds would differ.
 */
export function topAxis(options: ValueAxis & { highest: number }): AxisOptions {
  const fit = {
    position: "top" as const,
    afterFit: (axis: Measured) => {
      axis.height = AXIS_HEIGHT;
    },
  };
  return { ...valueAxis(options), suggestedMax: options.highest, ...fit } as AxisOptions;
}

/** Ratios to a reference, as their logarithms: half as fast is as far from 0 % as twice as fast. */
function relativeAxis(lowest: number): object {
  return {
    type: "logarithmic",
    min: Math.min(lowest, NARROWEST[0]) * 0.995,
    suggestedMax: NARROWEST[1],
    afterBuildTicks: (axis: LogAxis) => {
      const length = axis.width || axis.chart.width;
      axis.ticks = relativeTicks(axis.min, axis.max, length / PERCENT_ACROSS).map((value) => ({ value }));
    },
  };
}

type LogAxis = { min: number; max: number; width: number; chart: { width: number }; ticks: Tick[] };

/** Smaller differences do not fill the chart. */
const NARROWEST = [0.95, 1.05] as const;

/**
 * Labelled ratios: whole steps in per cent, else steps of decades, as many as fit with the distance
 * of `labels` evenly spaced labels.
 */
export function relativeTicks(min: number, max: number, labels: number): number[] {
  const least = (max / min) ** (1 / labels);
  // From a factor of three, ratios are shown as factors.
  const even = max > 3 ? [] : [1, 2, 5, 10, 20].map((step) => percentTicks(min, max, step));
  const uneven = [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]].map((steps) => decadeTicks(min, max, steps));
  const apart = (ticks: number[]): boolean =>
    ticks.every((tick, place) => place === 0 || tick / (ticks[place - 1] ?? 0) >= least);
  return [...even, ...uneven].find(apart) ?? [1];
}

function percentTicks(min: number, max: number, step: number): number[] {
  const found: number[] = [];
  const [first, last] = [min, max].map((end) => ((end - 1) * 100) / step) as [number, number];
  for (let place = Math.ceil(first - 1e-9); place <= last + 1e-9; place += 1) {
    if (place * step > -100) found.push(1 + (place * step) / 100);
  }
  return found;
}

/** Pixels between labels. */
const ACROSS = 72;
/** The same for "−10 %", which is shorter than a throughput. */
const PERCENT_ACROSS = 46;

/**
 * The values that a logarithmic axis labels: 1, 2 and 5 of each decade if they fit,
 * else 1 and 3, else the decades.
 */
export function logTicks(min: number, max: number, labels: number): number[] {
  const decades = Math.log10(max / min);
  // Labels are not evenly apart: 1 and 2, 5 and 10 are closer together than a third of a decade.
  const steps = labels >= decades * 3.4 ? [1, 2, 5] : labels >= decades * 2.1 ? [1, 3] : [1];
  return decadeTicks(min, max, steps);
}

function decadeTicks(min: number, max: number, steps: readonly number[]): number[] {
  const found: number[] = [];
  for (let power = Math.floor(Math.log10(min) - 1e-9); power <= Math.log10(max); power += 1) {
    found.push(...steps.map((step) => step * 10 ** power));
  }
  return found.filter((value) => value >= min * 0.999 && value <= max * 1.001);
}

/** The power of ten below the smallest value, so that every bar has a length. */
export function logFloor(lowest: number): number {
  if (!Number.isFinite(lowest) || lowest <= 0) return 1;
  return 10 ** Math.floor(Math.log10(lowest * 0.999));
}

/** A vertical axis in pixels of rows, with a label at the middle of each row. */
interface RowAxis {
  labels: readonly { y: number; name: string }[];
  /** Visible height of the rows in pixels. */
  shown: number;
  theme: Theme;
}

export function rowAxis({ labels, shown, theme }: RowAxis): AxisOptions {
  const names = new Map(labels.map(({ y, name }) => [y, name]));
  const font = { family: theme.fontFamily, size: 12 };
  const each = [...new Set(labels.map(({ name }) => name))];
  return {
    type: "linear",
    reverse: true,
    // Chart.js adds half a row at both ends; the layout has its own padding.
    offset: false,
    min: 0,
    max: shown,
    border: { display: false },
    grid: { display: false },
    ticks: {
      color: theme.muted,
      font,
      autoSkip: false,
      // `afterFit` measures each name once instead of the label of every row.
      sampleSize: 1,
      callback: (value: string | number) => names.get(Number(value)) ?? "",
    },
    afterBuildTicks: (axis) => {
      axis.ticks = labels
        .filter(({ y }) => y >= axis.min && y <= axis.max)
        .map(({ y }) => ({ value: y }));
    },
    // Keep the width while the rows scroll.
    afterFit: (axis) => {
      axis.ctx.font = `${font.size}px ${font.family}`;
      const width = Math.max(0, ...each.map((name) => axis.ctx.measureText(name).width));
      axis.width = Math.ceil(width) + 12;
      // Labels end inside their rows: padding for them would press the rows together.
      Object.assign(axis, { paddingTop: 0, paddingBottom: 0 });
    },
  } as AxisOptions;
}

type TooltipOptions = NonNullable<
  NonNullable<NonNullable<Configuration["options"]>["plugins"]>["tooltip"]
>;

/** A tooltip with the texts of the mark under the pointer. */
export function tooltip(marks: readonly Mark[], theme: Theme): TooltipOptions {
  const words = new Map(marks.map((mark) => [key(mark), mark.words]));
  const of = (item: TooltipItem<"bar"> | undefined) =>
    (item && words.get(key({ datasetIndex: item.datasetIndex, index: item.dataIndex }))) ?? [];
  return {
    displayColors: false,
    backgroundColor: theme.text,
    titleColor: theme.surface,
    bodyColor: theme.surface,
    titleFont: { family: theme.fontFamily },
    bodyFont: { family: theme.fontFamily },
    padding: 10,
    callbacks: {
      title: (items) => shorten(of(items[0])[0] ?? ""),
      label: (item) => of(item).slice(1).map(shorten),
    },
  };
}

function key({ datasetIndex, index }: { datasetIndex: number; index: number }): string {
  return `${datasetIndex} ${index}`;
}

/** Options of all charts: no animation, the size of the box, our own legend. */
export const STILL = {
  animation: false,
  responsive: true,
  maintainAspectRatio: false,
} as const;
