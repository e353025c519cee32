/** Labels of rows: group headings, values at the ends of bars, rings for single hosts. */

import type { Chart, Plugin } from "chart.js";

import type { Unit } from "../comparison";
import { quantity } from "../format";
import { headingParts } from "./fit";
import { ROW_HEIGHT, type BarRow, type HeadingRow, type RowLayout } from "./rows";
import type { Theme } from "./theme";
import { doubtSign } from "./words";

const POINT_RADIUS = 4;
const HERE = "agent";

/** End of a row's shape, and the hosts drawn as rings. */
export interface Reach {
  /** The end of the bar, where its value is. */
  end: (row: BarRow) => number;
  /** The upper end of the whisker, or of the bar without one. */
  whisker: (row: BarRow) => number;
  points: (row: BarRow) => number[];
}

export function rowLabels(layout: RowLayout, unit: Unit, theme: Theme, reach: Reach): Plugin {
  return {
    id: "rowLabels",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea, width } = chart;
      const rows = chart.scales["y"];
      const seen = ({ y }: { y: number }): boolean =>
        rows !== undefined && y > rows.min - ROW_HEIGHT && y < rows.max + ROW_HEIGHT;
      ctx.save();
      ctx.beginPath();
      ctx.rect(0, chartArea.top, width, chartArea.bottom - chartArea.top);
      ctx.clip();
      for (const heading of layout.headings.filter(seen)) drawHeading(chart, heading, theme);
      for (const row of layout.bars.filter(seen)) drawRow(chart, row, unit, theme, reach);
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
  const left = (chart.scales["y"]?.left ?? 0) + 2;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  const measured = (font: string) => (text: string) => {
    ctx.font = font;
    return ctx.measureText(text).width;
  };
  const [bold, plain] = [`600 13px ${theme.fontFamily}`, `12px ${theme.fontFamily}`];
  const badge = heading.here ? measured(plain)(HERE) + 22 : 0;
  const parts = headingParts(heading, badge, width - 2 * left, measured(bold), measured(plain));
  let x = left + measured(bold)(parts.label) + 8;
  ctx.fillStyle = theme.text;
  ctx.font = bold;
  ctx.fillText(parts.label, left, y);
  ctx.font = plain;
  if (parts.badge) x = drawBadge(ctx, x, y, theme);
  ctx.fillStyle = theme.muted;
  ctx.fillText(parts.note, x, y);
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

function drawRow(chart: Chart, row: BarRow, unit: Unit, theme: Theme, reach: Reach): void {
  const { ctx } = chart;
  const y = pixel(chart, "y", row.y);
  const rings = reach.points(row).map((value) => pixel(chart, "x", value));
  const value = quantity(row.summary.median, unit) + doubtSign(row.summary);
  ctx.font = `11px ${theme.fontFamily}`;
  const width = ctx.measureText(value).width;
  const cap = pixel(chart, "x", reach.whisker(row));
  const x = valueStart(chart.chartArea, pixel(chart, "x", reach.end(row)), width, [...rings, cap]);
  drawPlate(ctx, x, y, width, theme);
  for (const ring of rings) drawRing(chart, ring, y, row, theme);
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillStyle = theme.text;
  ctx.fillText(value, x, y);
}

/**
 * Where the value begins: right after the end of its bar, or after the rings of hosts and the cap of
 * the whisker that it would cover; at the edge where the end lies outside.
 */
export function valueStart(
  { left, right }: { left: number; right: number },
  end: number,
  width: number,
  marks: readonly number[],
): number {
  const gap = POINT_RADIUS + 4;
  const from = Math.min(right, Math.max(left, end));
  let start = from + gap;
  for (const mark of [...marks].sort((a, b) => a - b)) {
    if (mark > from && mark <= right && mark < start + width + gap) start = mark + gap;
  }
  return start;
}

const PLATE = 12;

/** Keeps a long whisker away from the letters of a value. */
function drawPlate(
  ctx: CanvasRenderingContext2D,
  x: number,
  y: number,
  width: number,
  theme: Theme,
): void {
  ctx.fillStyle = theme.surface;
  ctx.fillRect(x - 2, y - PLATE / 2, width + 4, PLATE);
}

/** A single host: a disc with a ring, in the cipher's colour. */
function drawRing(chart: Chart, x: number, y: number, row: BarRow, theme: Theme): void {
  const { ctx, chartArea } = chart;
  if (x < chartArea.left - 1 || x > chartArea.right + 1) return;
  ctx.beginPath();
  ctx.arc(x, y, POINT_RADIUS, 0, 2 * Math.PI);
  ctx.fillStyle = theme.surface;
  ctx.fill();
  ctx.lineWidth = 2;
  ctx.strokeStyle = theme.cipher(row.slot);
  ctx.stroke();
}
