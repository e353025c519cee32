/** A comparison (`/api/v1/comparison/`) with the data that the page adds for charts. */

/** "relative": ratios to a reference, in per cent. */
export type Unit = "B/s" | "s/GB" | "ratio" | "relative";
export type Scale = "linear" | "log";

/** One cipher in one group: statistics over one result per host. */
export interface Summary {
  median: number;
  q1: number;
  q3: number;
  min: number;
  max: number;
  n: number;
  /** Number of these hosts with a noisy result or a disturbed run (`layoutRows`). */
  doubtful?: number;
  /** Short reason why a difference is not significant. */
  vague?: string;
}

/** Ratio to the reference, with its 95 % interval if known. */
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
  /** Only with a split. */
  split?: { key: string; label: string };
  hosts: number;
  values: Record<string, Summary>;
  /** Only with a reference; by cipher. */
  relative?: Record<string, Ratio>;
  /** By cipher, number of these hosts with a noisy result or a disturbed run. */
  doubtful?: Record<string, number>;
}

/** Unique key within the comparison. */
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

/** Texts of a picture of the chart. */
export interface PictureWords {
  title: string;
  subtitle: string;
  source: string;
  date: string;
  /** File name without extension. */
  file: string;
  /** Meaning of the marks. */
  reading?: string;
  /** Maximum number of groups per file. */
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
  /** For a part of a chart: all groups, which share the axis. */
  whole?: Group[];
  /** Ids of groups with a host that an agent measured. */
  measured_here: string[];
  /** Text beside a group's label, instead of its number of hosts. */
  notes?: Record<string, string>;
}
