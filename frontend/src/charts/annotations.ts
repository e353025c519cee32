/** What rows are labelled with: group headings, values at the ends, rings for single machines. */

import type { Chart, Plugin } from "chart.js";

import type { Unit } from "../comparison";
import { quantity } from "../format";
import { headingParts } from "./fit";
import { ROW_HEIGHT, type BarRow, type HeadingRow, type RowLayout } from "./rows";
import type { Theme } from "./theme";
import { doubtSign } from "./words";

const POINT_RADIUS = 4;
const HERE = "measured here";

/** How far a row's shape reaches, and which machines are drawn as rings. */
export interface Reach {
  high: (row: BarRow) => number;
  points: (row: BarRow) => number[];
  /** Whether lines run behind the values, which then need a rim. */
  halo: boolean;
}

export function annotations(layout: RowLayout, unit: Unit, theme: Theme, reach: Reach): Plugin {
  return {
    id: "annotations",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea, width } = chart;
      const rows = chart.scales["y"];
      const seen = ({ y }: { y: number }): boolean =>
        rows !== undefined && y > rows.min - ROW_HEIGHT && y < rows.max + ROW_HEIGHT;
      ctx.save();
      ctx.beginPath();
      ctx.rect(0, chartArea.top, width, chartArea.bottom - chartArea.top);
      ctx.clip();
      for (const heading of layout.headings.filter(seen)) drawHeading(chart, heading, theme, reach.halo);
      for (const row of layout.bars.filter(seen)) drawRow(chart, row, unit, theme, reach);
      ctx.restore();
    },
  };
}

function pixel(chart: Chart, axis: "x" | "y", value: number): number {
  return chart.scales[axis]?.getPixelForValue(value) ?? 0;
}

function drawHeading(chart: Chart, heading: HeadingRow, theme: Theme, halo: boolean): void {
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
  const write = (text: string, at: number): void => {
    if (halo) haloed(ctx, text, at, y, theme);
    else ctx.fillText(text, at, y);
  };
  let x = left + measured(bold)(parts.label) + 8;
  ctx.fillStyle = theme.text;
  ctx.font = bold;
  write(parts.label, left);
  ctx.font = plain;
  if (parts.badge) x = drawBadge(ctx, x, y, theme);
  ctx.fillStyle = theme.muted;
  write(parts.note, x);
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
  const { ctx, chartArea } = chart;
  const y = pixel(chart, "y", row.y);
  for (const value of reach.points(row)) drawRing(chart, pixel(chart, "x", value), y, row, theme);
  // Of a zoomed axis the end may lie outside: then the value stands at the edge.
  const end = Math.min(chartArea.right, Math.max(chartArea.left, pixel(chart, "x", reach.high(row))));
  ctx.font = `11px ${theme.fontFamily}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillStyle = theme.text;
  const value = quantity(row.summary.median, unit) + doubtSign(row.summary);
  if (reach.halo) haloed(ctx, value, end + POINT_RADIUS + 4, y, theme);
  else ctx.fillText(value, end + POINT_RADIUS + 4, y);
}

function haloed(
  ctx: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  theme: Theme,
): void {
  ctx.lineWidth = 4;
  ctx.lineJoin = "round";
  ctx.strokeStyle = theme.surface;
  ctx.strokeText(text, x, y);
  ctx.fillText(text, x, y);
}

/** One machine is a point, not a distribution: a disc in the cipher's colour, ringed. */
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
