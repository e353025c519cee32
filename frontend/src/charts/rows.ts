/** Where each bar and each group heading of the comparison chart stands, in CSS pixels. */

import type { ChartView, Summary } from "../comparison";
import { count } from "../format";
import { chosenGroup, type ChosenGroup } from "./choices";

export const ROW_HEIGHT = 18;
export const HEADING_HEIGHT = 30;
export const BAR_THICKNESS = 12;
/** Above the first heading, for the names of network links. */
export const LINKS_HEIGHT = 22;

export interface BarRow {
  y: number;
  chosen: ChosenGroup;
  group: string;
  cipher: string;
  name: string;
  slot: string;
  summary: Summary;
}

export interface HeadingRow {
  y: number;
  chosen: ChosenGroup;
  label: string;
  note: string;
  here: boolean;
}

export interface RowLayout {
  bars: BarRow[];
  headings: HeadingRow[];
  height: number;
}

/** One heading per group and below it a row per cipher that the group has; gaps take no room. */
export function layoutRows(view: ChartView): RowLayout {
  const here = new Set(view.measured_here);
  const bars: BarRow[] = [];
  const headings: HeadingRow[] = [];
  let y = view.links?.length ? LINKS_HEIGHT : 0;
  for (const group of view.comparison.groups) {
    const chosen = chosenGroup(group);
    headings.push({
      y: y + HEADING_HEIGHT - 11,
      chosen,
      label: group.label,
      note: view.notes?.[group.key] ?? count(group.hosts, "host"),
      here: here.has(group.key),
    });
    y += HEADING_HEIGHT;
    for (const cipher of view.comparison.ciphers) {
      const summary = group.values[cipher];
      if (!summary) continue;
      bars.push({
        y: y + ROW_HEIGHT / 2,
        chosen,
        group: group.label,
        cipher,
        name: view.names[cipher] ?? cipher,
        slot: view.colours[cipher] ?? "other-2",
        summary,
      });
      y += ROW_HEIGHT;
    }
  }
  return { bars, headings, height: y + 2 };
}
