/** Texts of charts: tooltips, and descriptions for screen readers. */

import type { Summary, Unit } from "../comparison";
import { count, quantity } from "../format";

export function summaryLines(summary: Summary, unit: Unit): string[] {
  const hosts = count(summary.n, "host");
  if (unit === "relative") return differenceLines(summary, hosts);
  if (summary.n === 1) return [`${quantity(summary.median, unit)}, ${hosts}`, ...doubts(summary)];
  return [
    `median ${quantity(summary.median, unit)}, ${hosts}`,
    `quartiles ${quantity(summary.q1, unit)} to ${quantity(summary.q3, unit)}`,
    `range ${quantity(summary.min, unit)} to ${quantity(summary.max, unit)}`,
    ...doubts(summary),
  ];
}

function differenceLines({ median, q1, q3 }: Summary, hosts: string): string[] {
  const words = `${quantity(median, "relative")}, ${hosts}`;
  if (q1 === q3) return [words, "too few hosts to rule out noise"];
  const noise = q1 > 1 || q3 < 1 ? "beyond the noise" : "within the noise";
  return [words, `${quantity(q1, "relative")} to ${quantity(q3, "relative")} (95 % confidence)`, noise];
}

/** Suffix of a value: low confidence, or why a difference is not significant. */
export function doubtSign({ doubtful, vague }: Summary): string {
  return vague ? `, ${vague}` : doubtful ? " ?" : "";
}

export const DOUBTFUL = "low confidence (noisy or disturbed run)";

function doubts({ doubtful, n }: Summary): string[] {
  if (!doubtful) return [];
  return [n === 1 ? DOUBTFUL : `${doubtful} of ${n} ${DOUBTFUL}`];
}

const MOST_LETTERS = 48;

/** A name that fits a tooltip. */
export function shorten(label: string): string {
  const letters = Array.from(label);
  return letters.length > MOST_LETTERS
    ? `${letters.slice(0, MOST_LETTERS - 1).join("")}…`
    : label;
}
