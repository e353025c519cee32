/** The machines behind each group as box plots: lowest, quartiles, median, highest. */

import type { ChartView, Summary } from "../comparison";
import { type BuiltChart, type Room } from "./built";
import { rowsChart } from "./comparisonChart";
import { BAR_THICKNESS, layoutRows, type BarRow } from "./rows";
import type { Theme } from "./theme";

/** Up to so many machines each is drawn; more would be a smear. */
export const FEW = 5;

export function boxChart(view: ChartView, theme: Theme, room: Room): BuiltChart {
  const layout = layoutRows(view);
  const ink = layout.bars.map((row) => (row.summary.n > 1 ? theme.text : "transparent"));
  return rowsChart(view, layout, theme, room, {
    type: "boxplot",
    labels: layout.bars.map(({ y }) => y),
    datasets: [
      {
        data: layout.bars.map(({ summary }) => box(summary)),
        backgroundColor: layout.bars.map((row) => boxColour(row, theme)),
        borderColor: ink,
        medianColor: ink,
        borderWidth: 1.25,
        barThickness: BAR_THICKNESS,
        itemRadius: 0,
        outlierRadius: 0,
        meanRadius: 0,
      },
    ],
    low: ({ summary }) => summary.min,
    end: ({ summary }) => summary.q3,
    whisker: ({ summary }) => summary.max,
    points: ({ summary }) => machines(summary),
  });
}

function boxColour({ slot, summary }: BarRow, theme: Theme): string {
  return summary.n > 1 ? theme.cipher(slot) : "transparent";
}

/** The summary as the plug-in takes it: whiskers to the ends, because there are no outliers. */
export function box({ median, q1, q3, min, max }: Summary): Record<string, unknown> {
  return { median, q1, q3, min, max, whiskerMin: min, whiskerMax: max, items: [], outliers: [] };
}

/**
 * Every machine's value where there are up to five, ascending; none where there are more.
 *
 * Five numbers tell so many exactly: quartiles interpolate between the closest ranks, so that of
 * four machines the lower quartile lies three quarters of the way from the first to the second.
 */
export function machines({ min, q1, median, q3, max, n }: Summary): number[] {
  if (n === 1) return [median];
  if (n === 2) return [min, max];
  if (n === 3) return [min, median, max];
  if (n === 4) return [min, min + (q1 - min) / 0.75, max - (max - q3) / 0.75, max];
  return n === FEW ? [min, q1, median, q3, max] : [];
}
