/** The comparison as the API sends it (`/api/v1/comparison/`), and what the page adds to it. */

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
  /** Of these hosts, how many have a figure that is noisy or of a disturbed run; absent: none. */
  doubtful?: number;
}

export interface Group {
  key: string;
  /** Of a comparison that is split: the key without that of the split, and that of the split. */
  own?: string;
  split?: string;
  label: string;
  hosts: number;
  values: Record<string, Summary>;
}

export interface Comparison {
  tool: string;
  group_by: string;
  metric: string;
  unit: Unit;
  profile: string | null;
  ciphers: string[];
  groups: Group[];
  excluded: Record<string, number>;
}

/** A network link and the bytes per second that it carries: a line across the chart. */
export interface Link {
  name: string;
  rate: number;
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

/** A line of a mark's menu (`Choice` in backend/pages/compare/choices.py). */
export interface Choice {
  label: string;
  /** With "%1F" in the place of the mark's key, unless it `leaves_out`. */
  address: string;
  /** The filter that the address has for all groups: the mark's own value is taken away. */
  leaves_out?: string;
  /** Keys for which it is not offered. */
  besides?: string[];
}

/** What is offered for the group of a mark and for its cipher. */
export interface Choices {
  group?: Choice[];
  cipher?: Choice[];
}

/** One summary for each group and cipher. */
export interface ChartView {
  /** Colour slot of each cipher, such as "aes-gcm-1": a custom property of the style sheet. */
  colours: Record<string, string>;
  /** Short names of ciphers for the axis. */
  names: Record<string, string>;
  scale: Scale;
  links?: Link[];
  picture?: PictureWords;
  choices?: Choices;
  comparison: Comparison;
  /** Of a chart that is a part of another: all groups, which it shares its axis with. */
  whole?: Group[];
  /** Keys of groups with a host that an agent measured. */
  measured_here: string[];
  /** What stands beside a group's label instead of its number of hosts. */
  notes?: Record<string, string>;
}
