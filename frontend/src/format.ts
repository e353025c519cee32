/** Formatted numbers. Mirrors `core/formatting.py`; the same examples test both. */

import type { Unit } from "./comparison";

const PREFIXES = ["", "k", "M", "G", "T"] as const;
const DIGITS = 3;

/** Three significant digits, never in exponent notation: 328, 1.34, 0.0125, 12300. */
export function threeDigits(value: number): string {
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(DIGITS));
  const exponent = Math.floor(Math.log10(Math.abs(rounded)) + 1e-12);
  return rounded.toFixed(Math.max(0, DIGITS - 1 - exponent));
}

/** Bytes per second with a decimal prefix: "328 MB/s", "1.34 GB/s". */
export function throughput(bytesPerSecond: number): string {
  let scaled = bytesPerSecond;
  let step = 0;
  // Compare after rounding, so that 999.6 MB/s becomes 1.00 GB/s and not 1000 MB/s.
  while (step < PREFIXES.length - 1 && Number(scaled.toPrecision(DIGITS)) >= 1000) {
    scaled /= 1000;
    step += 1;
  }
  return `${threeDigits(scaled)} ${PREFIXES[step] ?? ""}B/s`;
}

/** A value of the comparison in its unit. */
export function quantity(value: number, unit: Unit): string {
  if (unit === "B/s") return throughput(value);
  if (unit === "s/GB") return `${threeDigits(value)} s/GB`;
  if (unit === "relative") return difference(value);
  return `${threeDigits(value)} ×`;
}

const MOST_PERCENT = 3;

/** A ratio to a reference: "+7.3 %", "−25 %", from a factor of three "4.20 ×". */
export function difference(ratio: number): string {
  if (ratio >= MOST_PERCENT) return `${threeDigits(ratio)} ×`;
  const percent = (ratio - 1) * 100;
  const digits = Math.abs(percent) < 9.95 ? 1 : 0;
  const text = Math.abs(percent).toFixed(digits);
  const sign = Number(text) === 0 ? "" : percent > 0 ? "+" : "−";
  return `${sign}${text} %`;
}

/** An axis tick: like `quantity`, without trailing zeros ("200 MB/s", "1.5 GB/s"). */
export function tick(value: number, unit: Unit): string {
  return quantity(value, unit).replace(/(\.\d*?)0+(?= )/, "$1").replace(/\.(?= )/, "");
}

/** "1 machine", "3 machines". */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
