/** What the bars are labelled with: group headings, values at the ends, points for one machine. */

import type { Chart, Plugin } from "chart.js";

import type { Unit } from "../comparison";
import { quantity } from "../format";
import { ellipsize } from "./fit";
import type { BarRow, HeadingRow, RowLayout } from "./rows";
import type { Theme } from "./theme";

const POINT_RADIUS = 4;
const HERE = "measured here";

export function annotations(layout: RowLayout, unit: Unit, theme: Theme): Plugin {
  return {
    id: "annotations",
    afterDatasetsDraw(chart) {
      const { ctx } = chart;
      ctx.save();
      for (const heading of layout.headings) drawHeading(chart, heading, theme);
      for (const row of layout.bars) drawValue(chart, row, unit, theme);
      ctx.restore();
    },
  };
}

function pixel(chart: Chart, axis: "x" | "y", value: number): number {
  return chart.scales[axis]?.getPixelForValue(value) ?? 0;
}

function drawHeading(chart: Chart, heading: HeadingRow, theme: Theme): void {
  const { ctx, width } = chart;
  const y = pixel(chart, "y", heading.y);
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  ctx.font = `12px ${theme.fontFamily}`;
  const noteWidth = ctx.measureText(heading.note).width;
  const badgeWidth = heading.here ? ctx.measureText(HERE).width + 24 : 0;
  ctx.font = `600 13px ${theme.fontFamily}`;
  const room = width - noteWidth - badgeWidth - 16;
  const label = ellipsize(heading.label, room, (text) => ctx.measureText(text).width);
  ctx.fillStyle = theme.text;
  ctx.fillText(label, 2, y);
  let x = 2 + ctx.measureText(label).width + 8;
  ctx.font = `12px ${theme.fontFamily}`;
  if (heading.here) x = drawBadge(ctx, x, y, theme);
  ctx.fillStyle = theme.muted;
  ctx.fillText(heading.note, x, y);
}

function drawBadge(ctx: CanvasRenderingContext2D, x: number, y: number, theme: Theme): number {
  const width = ctx.measureText(HERE).width + 14;
  ctx.fillStyle = theme.accent;
  ctx.beginPath();
  ctx.roundRect(x, y - 9, width, 17, 8.5);
  ctx.fill();
  ctx.fillStyle = theme.surface;
  ctx.fillText(HERE, x + 7, y);
  return x + width + 8;
}

function drawValue(chart: Chart, row: BarRow, unit: Unit, theme: Theme): void {
  const { ctx } = chart;
  const { median, q3, n } = row.summary;
  const y = pixel(chart, "y", row.y);
  if (n === 1) drawPoint(ctx, pixel(chart, "x", median), y, row, theme);
  const end = pixel(chart, "x", n > 1 ? Math.max(median, q3) : median);
  ctx.font = `11px ${theme.fontFamily}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillStyle = theme.text;
  ctx.fillText(quantity(median, unit), end + POINT_RADIUS + 4, y);
}

/** One machine is a point, not a distribution: a disc in the cipher's colour, ringed. */
function drawPoint(
  ctx: CanvasRenderingContext2D,
  x: number,
  y: number,
  row: BarRow,
  theme: Theme,
): void {
  ctx.beginPath();
  ctx.arc(x, y, POINT_RADIUS, 0, 2 * Math.PI);
  ctx.fillStyle = theme.surface;
  ctx.fill();
  ctx.lineWidth = 2;
  ctx.strokeStyle = theme.cipher(row.slot);
  ctx.stroke();
}
