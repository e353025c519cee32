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
}

export type MarkKind = "change" | "unconfirmed" | "break" | "note";

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
  label: string;
  unit: Unit;
  /** Colour slot of the cipher. */
  slot: string;
  points: HistoryPoint[];
  marks: HistoryMark[];
}
