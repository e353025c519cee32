/** Lines for network links across a chart, as options of chartjs-plugin-annotation. */

import type { AnnotationOptions, AnnotationPluginOptions } from "chartjs-plugin-annotation";

import type { Link } from "../comparison";
import type { Theme } from "./theme";

/** A line for each link on each of these axes; the name stands on the first axis alone. */
export function linkLines(
  links: readonly Link[] | undefined,
  scales: readonly string[],
  theme: Theme,
): AnnotationPluginOptions {
  const all = links ?? [];
  const lines = all.flatMap((link) =>
    scales.map((scaleID, index) => line(link, scaleID, index === 0 ? all : [], theme)),
  );
  // Names may stand in the margin.
  return { annotations: lines, clip: false };
}

function line(
  { name, rate }: Link,
  scaleID: string,
  named: readonly Link[],
  theme: Theme,
): AnnotationOptions<"line"> {
  return {
    type: "line",
    scaleID,
    value: rate,
    // A link far beyond every bar must not squeeze the bars.
    adjustScaleRange: false,
    display: ({ chart }) => within(chart.scales[scaleID], rate),
    drawTime: "beforeDatasetsDraw",
    borderColor: theme.muted,
    borderWidth: 1.25,
    borderDash: [5, 4],
    label: {
      display: ({ chart }) => {
        const scale = chart.scales[scaleID];
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

const APART = { across: 54, upwards: 15 } as const;

interface PixelScale {
  min: number;
  max: number;
  isHorizontal: () => boolean;
  getPixelForValue: (value: number) => number;
}

/** Whether the link's name has room: names of faster links go first. */
export function isNamed(rate: number, links: readonly Link[], scale: PixelScale): boolean {
  const apart = scale.isHorizontal() ? APART.across : APART.upwards;
  const named: number[] = [];
  for (const link of [...links].sort((a, b) => b.rate - a.rate)) {
    if (!within(scale, link.rate)) continue;
    const pixel = scale.getPixelForValue(link.rate);
    const free = named.every((other) => Math.abs(other - pixel) >= apart);
    if (free) named.push(pixel);
    if (link.rate === rate) return free;
  }
  return false;
}

export function within(scale: { min: number; max: number } | undefined, value: number): boolean {
  return scale !== undefined && value >= scale.min && value <= scale.max;
}
