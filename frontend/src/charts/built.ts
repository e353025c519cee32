/** Result of building a chart, for the figure around it. */

import type { Chart, ChartConfiguration } from "chart.js";

/**
 * A configuration and a chart of any kind. Under one kind's name: the union of the types of all
 * kinds and plug-ins is more than the compiler can hold.
 */
export type Configuration = ChartConfiguration<"bar">;
export type AnyChart = Chart<"bar">;

/** A bar that the keyboard selects, in reading order. */
export interface Mark {
  datasetIndex: number;
  index: number;
  /** Texts of the tooltip; the first is its title. */
  words: string[];
}

export interface BuiltChart {
  configuration: Configuration;
  /** Height of the whole chart when nothing has to be scrolled, in CSS pixels. */
  height: number;
  /** Height of the rows alone: the vertical axis counts their pixels. */
  rowsHeight: number;
  /** Start of each group in the rows. */
  groups: number[];
  marks: Mark[];
}

/** Above this height a chart's rows are scrolled inside the figure. */
export const TALLEST = 3000;

/** Visible height of the rows: all of them up to `TALLEST`, else most of the window. */
export function shownRows(rowsHeight: number, windowHeight: number, whole: boolean): number {
  if (whole || rowsHeight <= TALLEST) return rowsHeight;
  return Math.min(rowsHeight, Math.max(380, Math.min(1100, Math.round(windowHeight * 0.78))));
}
