/** A host's history of one series, as its page hands it to the chart (`hosts/history_section.py`). */

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

export type MarkKind = "change" | "break" | "note";

/** Something that begins at the point `index`. */
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
  /** Colour slot. */
  slot: string;
  points: HistoryPoint[];
  marks: HistoryMark[];
}
