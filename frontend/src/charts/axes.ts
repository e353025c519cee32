/** Axes and tooltips that the charts share. */

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

export interface ValueAxis {
  unit: Unit;
  scale: Scale;
  /** The smallest value that is drawn; a logarithmic axis begins at the decade below it. */
  lowest: number;
  theme: Theme;
  ticks?: number;
}

/** An axis of values, linear from zero or logarithmic. */
export function valueAxis({ unit, scale, lowest, theme, ticks = 7 }: ValueAxis): AxisOptions {
  const common = {
    border: { display: false },
    grid: {
      color: (context: { tick?: Tick }) =>
        unit === "ratio" && context.tick?.value === 1 ? theme.muted : theme.grid,
      tickLength: 4,
    },
    ticks: {
      color: theme.muted,
      font: { family: theme.fontFamily, size: 11 },
      maxRotation: 0,
      maxTicksLimit: ticks,
      autoSkipPadding: 16,
      callback: (value: string | number) => tick(Number(value), unit),
    },
  };
  if (scale === "linear") return { ...common, type: "linear", beginAtZero: true };
  return {
    ...common,
    type: "logarithmic",
    min: logFloor(lowest),
    afterBuildTicks: (axis) => {
      const room = axis.isHorizontal() ? axis.chart.width : axis.chart.height * 2;
      axis.ticks = axis.ticks.filter(({ value }) => isLogTick(value, room));
    },
  };
}

/** The value axis of charts made of rows: on top, of fixed height. */
export function topAxis(options: ValueAxis): AxisOptions {
  const fit = {
    position: "top" as const,
    afterFit: (axis: Measured) => {
      axis.height = AXIS_HEIGHT;
    },
  };
  return { ...valueAxis(options), ...fit } as AxisOptions;
}

const NARROW = 600;

/** Whether a logarithmic axis labels this value: 1, 2, 5 of each decade, on a phone 1 and 3. */
export function isLogTick(value: number, room: number): boolean {
  const leading = Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9));
  return (room < NARROW ? [1, 3] : [1, 2, 5]).includes(leading);
}

/** The power of ten below the smallest value, so that every bar has a length. */
export function logFloor(lowest: number): number {
  if (!Number.isFinite(lowest) || lowest <= 0) return 1;
  return 10 ** Math.floor(Math.log10(lowest * 0.999));
}

/** A vertical axis in pixels of rows, with a label at the middle of each row. */
export interface RowAxis {
  labels: readonly { y: number; name: string }[];
  /** Pixels of rows that are seen at once. */
  shown: number;
  theme: Theme;
  /** The widest that labels may be, for the chart's width. */
  widest: (chartWidth: number) => number;
  cut: (text: string, width: number, context: CanvasRenderingContext2D) => string;
}

export function rowAxis({ labels, shown, theme, widest, cut }: RowAxis): AxisOptions {
  const names = new Map(labels.map(({ y, name }) => [y, name]));
  const font = { family: theme.fontFamily, size: 12 };
  const each = [...new Set(labels.map(({ name }) => name))];
  return {
    type: "linear",
    reverse: true,
    // Bars ask for half a row of air at both ends; the layout has its own.
    offset: false,
    min: 0,
    max: shown,
    border: { display: false },
    grid: { display: false },
    ticks: {
      color: theme.muted,
      font,
      autoSkip: false,
      callback(value) {
        return cut(names.get(Number(value)) ?? "", widest(this.chart.width), this.ctx);
      },
    },
    afterBuildTicks: (axis) => {
      axis.ticks = labels
        .filter(({ y }) => y >= axis.min && y <= axis.max)
        .map(({ y }) => ({ value: y }));
    },
    // The same width wherever the rows are scrolled to.
    afterFit: (axis) => {
      axis.ctx.font = `${font.size}px ${font.family}`;
      const width = Math.max(0, ...each.map((name) => axis.ctx.measureText(name).width));
      axis.width = Math.ceil(Math.min(width, widest(axis.chart.width))) + 12;
    },
  } as AxisOptions;
}

type TooltipOptions = NonNullable<
  NonNullable<NonNullable<Configuration["options"]>["plugins"]>["tooltip"]
>;

/** A tooltip that says the words of the mark under the pointer. */
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

/** What every chart is set to: no movement, the size of its box, our own legend. */
export const STILL = {
  animation: false,
  responsive: true,
  maintainAspectRatio: false,
} as const;
