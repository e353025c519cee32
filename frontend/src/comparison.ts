/** The comparison as the API sends it (`/api/v1/comparison/`), and what the page adds to it. */

export type Unit = "B/s" | "s/GB" | "ratio";
export type Scale = "linear" | "log";

/** One cipher in one group: statistics over its machines, one vote each. */
export interface Summary {
  median: number;
  q1: number;
  q3: number;
  min: number;
  max: number;
  n: number;
}

export interface Group {
  key: string;
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

/** What a page hands to the chart: the comparison and how to draw it. */
export interface ChartView {
  comparison: Comparison;
  /** Colour slot of each cipher, such as "aes-gcm-1": a custom property of the style sheet. */
  colours: Record<string, string>;
  /** Short names of ciphers for the axis. */
  names: Record<string, string>;
  /** Keys of groups with a machine that an agent measured. */
  measured_here: string[];
  scale: Scale;
  /** What stands beside a group's label instead of its number of machines. */
  notes?: Record<string, string>;
}
