/** Colours of cells: a way between two, and ink that can be read on one. */

type Rgb = readonly [number, number, number];

function channels(hex: string): Rgb {
  const at = (start: number): number => Number.parseInt(hex.slice(start, start + 2), 16);
  return [at(1), at(3), at(5)];
}

/** The colour a fraction of the way from one "#rrggbb" to another. */
export function mix(from: string, to: string, fraction: number): string {
  const share = Math.min(1, Math.max(0, fraction));
  const [start, end] = [channels(from), channels(to)];
  const mixed = start.map((value, index) => value + ((end[index] ?? value) - value) * share);
  return `#${mixed.map((value) => Math.round(value).toString(16).padStart(2, "0")).join("")}`;
}

/** Relative luminance (WCAG 2) of "#rrggbb", 0 to 1. */
export function luminance(hex: string): number {
  const [red, green, blue] = channels(hex).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Black or white, whichever stands out more from the colour. */
export function contrasting(hex: string): string {
  const light = luminance(hex);
  return (light + 0.05) / 0.05 > 1.05 / (light + 0.05) ? "#000000" : "#ffffff";
}
