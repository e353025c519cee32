/** A host's history of one series, as its page hands it to the chart (`pages/hosts/history.py`). */

import type { Unit } from "./comparison";

export interface HistoryPoint {
  /** When the run started, in milliseconds since 1970. */
  at: number;
  median: number;
  /** Of the tries, a fraction. */
  spread: number | null;
  n: number;
  noisy: boolean;
  /** How many things may make the run doubtful. */
  conditions: number;
  environment: string;
  /** The tool changed before it: no line leads here. */
  apart?: true;
}

/** One line: a series of the host, or the same series of another. */
export interface HistoryLine {
  label: string;
  /** Colour slot. */
  slot: string;
  /** Lengths of strokes and gaps; empty for a whole line. */
  dash: number[];
  points: HistoryPoint[];
}

export type MarkKind = "change" | "unconfirmed" | "break" | "note";

/** Something that begins at the point `index` of the first line. */
export interface HistoryMark {
  index: number;
  /** Of a note: its own time, in milliseconds since 1970. */
  at?: number;
  kind: MarkKind;
  label: string;
  words: string;
}

export interface HistoryView {
  unit: Unit;
  lines: HistoryLine[];
  /** Of the first line. */
  marks: HistoryMark[];
}
