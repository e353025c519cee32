/** Zooming by wheel, drag and keys; loaded when a reader first reaches for a chart. */

import { Chart } from "chart.js";
import zoom, { resetZoom, zoom as zoomBy, zoomScale } from "chartjs-plugin-zoom";
import type { ZoomPluginOptions } from "chartjs-plugin-zoom/types/options";

import type { Theme } from "./theme";

Chart.register(zoom);

export { resetZoom, zoomBy, zoomScale };

/**
 * Dragging a stretch, or the wheel with Ctrl: the plain wheel and the finger scroll the page.
 *
 * Limits at the ends of the whole axis, so that one can get lost in no direction; `minRange` is the
 * shortest stretch of x, in its unit.
 */
export function zoomOptions(
  mode: "x" | "y" | "xy",
  theme: Theme,
  onZoomComplete: () => void,
  minRange = 0,
): ZoomPluginOptions {
  const whole = { min: "original", max: "original" } as const;
  return {
    limits: { x: { ...whole, minRange }, y: whole },
    zoom: {
      mode,
      wheel: { enabled: true, modifierKey: "ctrl", speed: 0.15 },
      drag: {
        enabled: true,
        threshold: 8,
        backgroundColor: `${theme.accent}33`,
        borderColor: theme.accent,
        borderWidth: 1,
      },
      onZoomComplete,
    },
  };
}
