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
  const lines = (links ?? []).flatMap(({ name, rate }) =>
    scales.map((scaleID, index) => line(name, rate, scaleID, index === 0, theme)),
  );
  return { annotations: lines };
}

function line(
  name: string,
  rate: number,
  scaleID: string,
  named: boolean,
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
      display: named,
      content: name,
      position: "end",
      backgroundColor: theme.surface,
      color: theme.muted,
      font: { family: theme.fontFamily, size: 11, weight: 600 },
      padding: { x: 4, y: 2 },
      drawTime: "afterDatasetsDraw",
    },
  };
}

export function within(scale: { min: number; max: number } | undefined, value: number): boolean {
  return scale !== undefined && value >= scale.min && value <= scale.max;
}
