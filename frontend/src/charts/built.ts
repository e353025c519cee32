/** What a builder makes of a view, and what the figure around it needs to know. */

import type { Chart, ChartConfiguration } from "chart.js";

/**
 * A configuration and a chart of any kind. Under one kind's name: the union of the types of all
 * kinds and plug-ins is more than the compiler can hold.
 */
export type Configuration = ChartConfiguration<"bar">;
export type AnyChart = Chart<"bar">;

/** A bar that a reader can stop at, in the order of reading. */
export interface Mark {
  datasetIndex: number;
  index: number;
  /** What it is and what it says; the first is the tooltip's title. */
  words: string[];
}

export interface BuiltChart {
  configuration: Configuration;
  /** Height of the whole chart when nothing has to be scrolled, in CSS pixels. */
  height: number;
  /** Height of the rows alone: the vertical axis counts their pixels. */
  rowsHeight: number;
  /** Where its groups begin in the rows. */
  groups: number[];
  marks: Mark[];
}

/** Above this height a chart's rows are scrolled inside the figure. */
export const TALLEST = 3000;

/** How much of the rows is shown at once: all of them up to `TALLEST`, else most of the window. */
export function shownRows(rowsHeight: number, windowHeight: number, whole: boolean): number {
  if (whole || rowsHeight <= TALLEST) return rowsHeight;
  return Math.min(rowsHeight, Math.max(380, Math.min(1100, Math.round(windowHeight * 0.78))));
}
