/** Positions of bars and group headings of the comparison chart, in CSS pixels. */

import { groupId, groupName, type ChartView, type Group, type Summary } from "../comparison";
import { count } from "../format";

export const ROW_HEIGHT = 18;
export const HEADING_HEIGHT = 30;
/** Distance from the middle of a heading to its end. */
export const HEADING_BASE = 11;
export const BAR_THICKNESS = 12;

export interface BarRow {
  y: number;
  group: string;
  cipher: string;
  name: string;
  slot: string;
  summary: Summary;
}

export interface HeadingRow {
  y: number;
  label: string;
  note: string;
  here: boolean;
}

export interface RowLayout {
  bars: BarRow[];
  headings: HeadingRow[];
  height: number;
}

/** Drawn value of a cipher: its result, or its ratio with the interval as quartiles. */
function drawn(group: Group, cipher: string, relative: boolean): Summary | undefined {
  const value = group.values[cipher];
  if (!relative) return value && { ...value, doubtful: group.doubtful?.[cipher] ?? 0 };
  const found = group.relative?.[cipher];
  if (!found || found.tool_changed) return undefined;
  const { ratio: median, n } = found;
  const [low, high] = [found.low ?? median, found.high ?? median];
  const summary = { median, q1: low, q3: high, min: low, max: high, n };
  if (found.low === null) return { ...summary, vague: "few hosts" };
  return low > 1 || high < 1 ? summary : { ...summary, vague: "noise" };
}

/** One heading per group and below it a row per cipher that the group has; gaps take no space. */
export function layoutRows(view: ChartView): RowLayout {
  const here = new Set(view.measured_here);
  const bars: BarRow[] = [];
  const headings: HeadingRow[] = [];
  let y = 0;
  for (const group of view.comparison.groups) {
    headings.push({
      y: y + HEADING_HEIGHT - HEADING_BASE,
      label: groupName(group),
      note: view.notes?.[groupId(group)] ?? count(group.hosts, "host"),
      here: here.has(groupId(group)),
    });
    y += HEADING_HEIGHT;
    for (const cipher of view.comparison.ciphers) {
      const summary = drawn(group, cipher, view.comparison.unit === "relative");
      if (!summary) continue;
      bars.push({
        y: y + ROW_HEIGHT / 2,
        group: groupName(group),
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
