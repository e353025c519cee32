/** A host's history of one series, from the JSON of its page. */

import type { Unit } from "./comparison";

export interface HistoryPoint {
  /** Start of the run, in milliseconds since 1970. */
  at: number;
  median: number;
  /** Spread of the tries, a fraction. */
  spread: number | null;
  n: number;
  noisy: boolean;
  /** Number of conditions that may have disturbed the run. */
  conditions: number;
  environment: string;
  /** The tool changed before this run: no line leads here. */
  apart?: true;
}

export type MarkKind = "change" | "break" | "note";

/** Event at the point `index`. */
export interface HistoryMark {
  index: number;
  /** Time of a note, in milliseconds since 1970. */
  at?: number;
  kind: MarkKind;
  label: string;
  words: string;
}

export interface HistoryView {
  unit: Unit;
  /** Colour slot. */
  slot: string;
  points: HistoryPoint[];
  marks: HistoryMark[];
}
