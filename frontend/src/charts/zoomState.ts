/** Which stretch of its axes a chart shows, as the fragment of the address says it. */

export interface Range {
  min: number;
  max: number;
}

/** By axis: "x", "y". An axis that is shown whole is not there. */
export type Ranges = Readonly<Record<string, Range>>;

/** The stretches of one chart in "#chart-view=x:0:5e8,y:1:2"; what makes no sense is left out. */
export function rangesIn(hash: string, chart: string): Ranges {
  const text = entries(hash).find(([name]) => name === chart)?.[1] ?? "";
  const read = text.split(",").map((one) => one.split(":"));
  return Object.fromEntries(
    read
      .map(([axis, min, max]) => [axis ?? "", { min: number(min), max: number(max) }] as const)
      .filter(([axis, { min, max }]) => axis !== "" && min < max),
  );
}

/** The fragment with one chart's stretches in place of those that it had; "" when none is left. */
export function hashWith(hash: string, chart: string, ranges: Ranges): string {
  const others = entries(hash).filter(([name]) => name !== chart);
  const own = Object.entries(ranges).map(([axis, { min, max }]) => `${axis}:${short(min)}:${short(max)}`);
  const all = own.length > 0 ? [...others, [chart, own.join(",")] as const] : others;
  return all.length > 0 ? `#${all.map((one) => one.join("=")).join("&")}` : "";
}

/** What the fragment says of charts; one that names a place of the page says nothing. */
function entries(hash: string): (readonly [string, string])[] {
  return hash
    .replace(/^#/, "")
    .split("&")
    .map((one) => one.split("="))
    .flatMap(([name, text]) => (name && text ? [[name, text] as const] : []));
}

function number(text: string | undefined): number {
  return text ? Number(text) : Number.NaN;
}

/** Nine digits: much less than a pixel of any chart. */
function short(value: number): string {
  return String(Number(value.toPrecision(9)));
}
