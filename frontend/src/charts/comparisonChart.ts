/** The comparison as horizontal bars: length is the median, whiskers are the quartiles. */

import type { ChartConfiguration, Plugin, TooltipItem } from "chart.js";

import type { ChartView, Summary, Unit } from "../comparison";
import { count, quantity, tick } from "../format";
import { annotations } from "./annotations";
import { BAR_THICKNESS, layoutRows, type BarRow, type RowLayout } from "./rows";
import type { Theme } from "./theme";

export type ChartKind = "barWithErrorBars";

/** A bar; without `xMin` and `xMax` (one machine) no whisker is drawn. */
export interface BarPoint {
  x: number;
  y: number;
  /** Each quartile twice: a line, and below it a halo that keeps it visible on its bar. */
  xMin?: [number, number];
  xMax?: [number, number];
}

export type ComparisonConfiguration = ChartConfiguration<ChartKind, BarPoint[], string>;

export interface ComparisonChart {
  layout: RowLayout;
  configuration: ComparisonConfiguration;
}

const VALUE_LABEL_WIDTH = 78;

/** The chart of a view, in a theme. Pure: no document, no measuring. */
export function comparisonChart(view: ChartView, theme: Theme): ComparisonChart {
  const layout = layoutRows(view);
  return {
    layout,
    configuration: {
      type: "barWithErrorBars",
      data: { datasets: [bars(layout, theme)] },
      options: {
        indexAxis: "y",
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        layout: { padding: { right: VALUE_LABEL_WIDTH } },
        interaction: { mode: "nearest", axis: "y", intersect: false },
        scales: { x: valueAxis(view, layout, theme), y: cipherAxis(layout, theme) },
        plugins: { legend: { display: false }, tooltip: tooltip(view, layout, theme) },
      },
      plugins: [annotations(layout, view.comparison.unit, theme) as Plugin<ChartKind>],
    },
  };
}

function bars(
  layout: RowLayout,
  theme: Theme,
): ComparisonConfiguration["data"]["datasets"][number] {
  return {
    data: layout.bars.map(point),
    backgroundColor: layout.bars.map((row) => theme.cipher(row.slot)),
    hoverBackgroundColor: layout.bars.map((row) => theme.cipher(row.slot)),
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

/** Quartiles only of two machines or more: one machine has no distribution. */
export function point(row: BarRow): BarPoint {
  const { median, q1, q3, n } = row.summary;
  return n > 1 ? { x: median, y: row.y, xMin: [q1, q1], xMax: [q3, q3] } : { x: median, y: row.y };
}

function valueAxis(
  view: ChartView,
  layout: RowLayout,
  theme: Theme,
): NonNullable<NonNullable<ComparisonConfiguration["options"]>["scales"]>["x"] {
  const { unit } = view.comparison;
  const common = {
    position: "top" as const,
    border: { display: false },
    grid: {
      color: (context: { tick?: { value: number } }) =>
        unit === "ratio" && context.tick?.value === 1 ? theme.muted : theme.grid,
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
  if (view.scale === "log") {
    return {
      ...common,
      type: "logarithmic",
      min: logFloor(layout.bars),
      afterBuildTicks: (axis) => {
        axis.ticks = axis.ticks.filter(({ value }) => isLogTick(value, axis.chart.width));
      },
    };
  }
  return { ...common, type: "linear", beginAtZero: true };
}

const NARROW = 600;

/** Whether a logarithmic axis labels this value: 1, 2, 5 of each decade, on a phone 1 and 3. */
export function isLogTick(value: number, chartWidth: number): boolean {
  const leading = Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9));
  return (chartWidth < NARROW ? [1, 3] : [1, 2, 5]).includes(leading);
}

/** The power of ten below the smallest value, so that every bar has a length. */
export function logFloor(rows: readonly BarRow[]): number {
  const smallest = Math.min(...rows.map(({ summary }) => lowEnd(summary)).filter((x) => x > 0));
  if (!Number.isFinite(smallest)) return 1;
  return 10 ** Math.floor(Math.log10(smallest * 0.999));
}

function lowEnd({ median, q1, n }: Summary): number {
  return n > 1 ? Math.min(q1, median) : median;
}

function cipherAxis(
  layout: RowLayout,
  theme: Theme,
): NonNullable<NonNullable<ComparisonConfiguration["options"]>["scales"]>["y"] {
  return {
    type: "linear",
    reverse: true,
    // Bars ask for half a row of air at both ends; the layout has its own.
    offset: false,
    min: 0,
    max: layout.height,
    border: { display: false },
    grid: { display: false },
    ticks: {
      color: theme.muted,
      font: { family: theme.fontFamily, size: 12 },
      autoSkip: false,
      callback: (_, index) => layout.bars[index]?.name ?? "",
    },
    afterBuildTicks: (axis) => {
      axis.ticks = layout.bars.map(({ y }) => ({ value: y }));
    },
  };
}

function tooltip(
  view: ChartView,
  layout: RowLayout,
  theme: Theme,
): NonNullable<NonNullable<ComparisonConfiguration["options"]>["plugins"]>["tooltip"] & object {
  const { unit } = view.comparison;
  return {
    displayColors: false,
    backgroundColor: theme.text,
    titleColor: theme.surface,
    bodyColor: theme.surface,
    titleFont: { family: theme.fontFamily },
    bodyFont: { family: theme.fontFamily },
    padding: 10,
    callbacks: {
      title: (shown: TooltipItem<ChartKind>[]) => {
        const row = layout.bars[shown[0]?.dataIndex ?? -1];
        return row ? shorten(row.group) : "";
      },
      label: (shown: TooltipItem<ChartKind>) => {
        const row = layout.bars[shown.dataIndex];
        return row ? [row.cipher, ...summaryLines(row.summary, unit)] : [];
      },
    },
  };
}

/** What a row says in words: the tooltip's lines, and what a screen reader is told. */
export function summaryLines(summary: Summary, unit: Unit): string[] {
  const systems = count(summary.n, "system");
  if (summary.n === 1) return [`${quantity(summary.median, unit)}, ${systems}`];
  return [
    `median ${quantity(summary.median, unit)}, ${systems}`,
    `quartiles ${quantity(summary.q1, unit)} to ${quantity(summary.q3, unit)}`,
    `range ${quantity(summary.min, unit)} to ${quantity(summary.max, unit)}`,
  ];
}

function shorten(label: string): string {
  const letters = Array.from(label);
  return letters.length > 48 ? `${letters.slice(0, 47).join("")}…` : label;
}
