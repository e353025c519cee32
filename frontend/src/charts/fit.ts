/** Fits text into a width and a file name, and a canvas into browser limits. */

/** The longest beginning of `text` that fits `width`, with an ellipsis if it was cut. */
export function ellipsize(
  text: string,
  width: number,
  measure: (text: string) => number,
): string {
  if (measure(text) <= width) return text;
  const letters = Array.from(text);
  let low = 0;
  let high = letters.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(`${letters.slice(0, middle).join("")}…`) <= width) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join("").trimEnd()}…`;
}

type Measure = (text: string) => number;

/** Minimum width of a shortened note. */
const LEAST_NOTE = 56;
const GAP = 8;

/**
 * What of a heading has room, the label before its badge and both before the note: which group it
 * is, the chart must say; the rest is in the table too.
 */
export function headingParts(
  { label, note }: { label: string; note: string },
  badgeWidth: number,
  room: number,
  bold: Measure,
  plain: Measure,
): { label: string; note: string; badge: boolean } {
  const shown = ellipsize(label, room, bold);
  const afterLabel = room - bold(shown) - GAP;
  const badge = badgeWidth > 0 && badgeWidth <= afterLabel;
  const left = afterLabel - (badge ? badgeWidth : 0);
  const says = plain(note) <= left || left >= LEAST_NOTE;
  return { label: shown, note: says ? ellipsize(note, left, plain) : "", badge };
}

/** Phones reject canvases above about 16.7 million pixels. */
const MAX_CANVAS_PIXELS = 16_000_000;

/** The screen's pixel ratio, reduced for canvases that exceed the browser's limit. */
export function pixelRatio(screen: number, width: number, height: number): number {
  const area = Math.max(1, width * height);
  return Math.max(0.5, Math.min(screen, Math.sqrt(MAX_CANVAS_PIXELS / area)));
}

/** Removes characters that XML forbids or that change the text direction. */
export function clean(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g, " ");
}
