/** Lines for network links across a chart, as options of chartjs-plugin-annotation. */

import type { AnnotationOptions, AnnotationPluginOptions } from "chartjs-plugin-annotation";

import type { Link } from "../comparison";
import type { Theme } from "./theme";

/** A line for each link; names may stand in the margin. */
export function linkLines(links: readonly Link[] = [], theme: Theme): AnnotationPluginOptions {
  return { annotations: links.map((link) => line(link, links, theme)), clip: false };
}

function line({ name, rate }: Link, named: readonly Link[], theme: Theme): AnnotationOptions<"line"> {
  return {
    type: "line",
    scaleID: "x",
    value: rate,
    // A link far beyond every bar must not squeeze the bars.
    adjustScaleRange: false,
    display: ({ chart }) => within(chart.scales["x"], rate),
    drawTime: "beforeDatasetsDraw",
    borderColor: theme.muted,
    borderWidth: 1.25,
    borderDash: [5, 4],
    label: {
      display: ({ chart }) => {
        const scale = chart.scales["x"];
        return scale ? isNamed(rate, named, scale) : false;
      },
      content: name,
      position: "start",
      backgroundColor: theme.surface,
      color: theme.muted,
      font: { family: theme.fontFamily, size: 11, weight: 600 },
      padding: { x: 4, y: 2 },
      drawTime: "afterDatasetsDraw",
    },
  };
}

/** Pixels between names. */
const APART = 54;

interface PixelScale {
  min: number;
  max: number;
  getPixelForValue: (value: number) => number;
}

/** Whether the link's name has room: names of faster links go first. */
function isNamed(rate: number, links: readonly Link[], scale: PixelScale): boolean {
  const named: number[] = [];
  for (const link of [...links].sort((a, b) => b.rate - a.rate)) {
    if (!within(scale, link.rate)) continue;
    const pixel = scale.getPixelForValue(link.rate);
    const free = named.every((other) => Math.abs(other - pixel) >= APART);
    if (free) named.push(pixel);
    if (link.rate === rate) return free;
  }
  return false;
}

function within(scale: { min: number; max: number } | undefined, value: number): boolean {
  return scale !== undefined && value >= scale.min && value <= scale.max;
}
