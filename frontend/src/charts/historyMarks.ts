/** Vertical lines where a history changes, each with a short label that does not overlap. */

import type { Chart, Plugin } from "chart.js";

import type { HistoryMark, HistoryView, MarkKind } from "../history";
import type { Theme } from "./theme";

const LABEL_ROWS = 2;
const ROW_HEIGHT = 14;
const GAP = 8;

const DASHES: Record<MarkKind, number[]> = {
  change: [],
  break: [4, 4],
  note: [1, 3],
};

/** The position of a label: its left end and its row, 0 at the top. */
export interface Placed {
  mark: HistoryMark;
  x: number;
  left: number;
  row: number;
}

/** Labels from left to right; those that do not fit appear only in the list of changes. */
export function placeLabels(
  marks: readonly { mark: HistoryMark; x: number; width: number }[],
  room: number,
): Placed[] {
  const ends: number[] = Array.from({ length: LABEL_ROWS }, () => -Infinity);
  const placed: Placed[] = [];
  for (const { mark, x, width } of [...marks].sort((a, b) => a.x - b.x)) {
    const left = Math.max(0, Math.min(x - width / 2, room - width));
    const row = ends.findIndex((end) => end + GAP <= left);
    if (row < 0) continue;
    ends[row] = left + width;
    placed.push({ mark, x, left, row });
  }
  return placed;
}

/** `whole`: the ends of the axis. */
export function historyMarks(
  view: HistoryView,
  theme: Theme,
  whole: readonly [number, number],
): Plugin<"line"> {
  return {
    id: "historyMarks",
    beforeDatasetsDraw(chart) {
      const { ctx, chartArea } = chart;
      ctx.save();
      for (const { mark, x } of placedMarks(chart, view, whole)) {
        ctx.beginPath();
        ctx.setLineDash(DASHES[mark.kind]);
        ctx.strokeStyle = mark.kind === "change" ? theme.muted : theme.accent;
        ctx.lineWidth = mark.kind === "break" ? 2 : 1;
        ctx.moveTo(x, chartArea.top - 4);
        ctx.lineTo(x, chartArea.bottom);
        ctx.stroke();
      }
      ctx.restore();
    },
    afterDatasetsDraw(chart) {
      const { ctx, width } = chart;
      ctx.save();
      ctx.font = `600 11px ${theme.fontFamily}`;
      ctx.textBaseline = "top";
      ctx.fillStyle = theme.text;
      const sized = placedMarks(chart, view, whole).map((placed) => ({
        ...placed,
        width: ctx.measureText(placed.mark.label).width,
      }));
      for (const { mark, left, row } of placeLabels(sized, width)) {
        ctx.fillText(mark.label, left, row * ROW_HEIGHT);
      }
      ctx.restore();
    },
  };
}

/** The marks with their positions. */
export function placedMarks(
  chart: Chart<"line">,
  view: HistoryView,
  [first, last]: readonly [number, number],
): { mark: HistoryMark; x: number }[] {
  const scale = chart.scales["x"];
  if (!scale) return [];
  return view.marks.map((mark) => {
    // A note may be older or newer than all runs: it is drawn at the end of the whole axis.
    const at = mark.at === undefined ? between(view, mark.index) : mark.at;
    return { mark, x: scale.getPixelForValue(Math.min(last, Math.max(first, at))) };
  });
}

/** Half way between the previous run and the first changed one. */
function between(view: HistoryView, index: number): number {
  const at = view.points[index]?.at ?? 0;
  return (at + (view.points[index - 1]?.at ?? at)) / 2;
}
