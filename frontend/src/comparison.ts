/** What charts read of a comparison (`/api/v1/comparison/`), and what the page adds to it. */

/** "relative": ratios to a reference, said in per cent. */
export type Unit = "B/s" | "s/GB" | "ratio" | "relative";
export type Scale = "linear" | "log";

/** One cipher in one group: statistics over its hosts, one vote each. */
export interface Summary {
  median: number;
  q1: number;
  q3: number;
  min: number;
  max: number;
  n: number;
  /** Of these hosts, how many have a figure that is noisy or of a disturbed run (`layoutRows`). */
  doubtful?: number;
  /** Why a difference is not shown as one, in few words. */
  vague?: string;
}

/** A figure by the reference's, with its 95 % interval where there is one. */
export interface Ratio {
  ratio: number;
  low: number | null;
  high: number | null;
  n: number;
  tool_changed?: boolean;
}

export interface Group {
  key: string;
  label: string;
  /** Of a comparison that is split. */
  split?: { key: string; label: string };
  hosts: number;
  values: Record<string, Summary>;
  /** Of a comparison with a reference, by cipher. */
  relative?: Record<string, Ratio>;
  /** By cipher: how many of these hosts have a figure that is noisy or of a disturbed run. */
  doubtful?: Record<string, number>;
}

/** What distinguishes it from all others of its comparison. */
export function groupId({ key, split }: Group): string {
  return split ? `${key} ${split.key}` : key;
}

export function groupName({ label, split }: Group): string {
  return split ? `${label} · ${split.label}` : label;
}

export interface Comparison {
  unit: Unit;
  ciphers: string[];
  groups: Group[];
}

/** What a picture of the chart says about itself. */
export interface PictureWords {
  title: string;
  subtitle: string;
  source: string;
  date: string;
  /** Without an ending. */
  file: string;
  /** What the marks mean. */
  reading?: string;
  /** Groups of one file, at most. */
  groups?: number;
}

/** One summary for each group and cipher. */
export interface ChartView {
  /** Colour slot of each cipher, such as "aes-gcm-1": a custom property of the style sheet. */
  colours: Record<string, string>;
  /** Short names of ciphers for the axis. */
  names: Record<string, string>;
  scale: Scale;
  picture?: PictureWords;
  comparison: Comparison;
  /** Of a chart that is a part of another: all groups, which it shares its axis with. */
  whole?: Group[];
  /** Ids of groups with a host that an agent measured. */
  measured_here: string[];
  /** The text beside a group's label instead of its number of hosts. */
  notes?: Record<string, string>;
}
