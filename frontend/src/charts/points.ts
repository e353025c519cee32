/** Points of lines and scatter plots. */

const STYLES = ["circle", "rect", "triangle"] as const;

/** The shape of a cipher's points: by key size, so that colour is not the only sign. */
export function pointStyle(slot: string): (typeof STYLES)[number] {
  return STYLES[Number(slot.at(-1)) - 1] ?? "circle";
}

/** Radii at which the shapes look alike in size. */
export function pointRadius(slot: string): number {
  return pointStyle(slot) === "circle" ? 4.5 : 5.75;
}
