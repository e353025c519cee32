/** Machines by both tools: a cipher's own speed across, what ssh delivers of it upwards. */

import type { AnnotationOptions } from "chartjs-plugin-annotation";

import type { BothTools, ScatterView } from "../comparison";
import { quantity } from "../format";
import { STILL, tooltip, valueAxis, type AxisOptions } from "./axes";
import { configurationOf, type BuiltChart, type Mark, type Room } from "./built";
import { linkLines } from "./linkLines";
import { pointRadius, pointStyle } from "./points";
import type { Theme } from "./theme";
import { DOUBTFUL } from "./words";

const HEIGHT = 520;
const NARROW_HEIGHT = 400;

export function scatterChart(view: ScatterView, theme: Theme, room: Room): BuiltChart {
  const marks = marksOf(view);
  const links = linkLines(view.links, ["y"], theme);
  const annotations = [...Object.values(links.annotations ?? {}), bound(view, theme)];
  return {
    height: room.width < 600 ? NARROW_HEIGHT : HEIGHT,
    rowsHeight: null,
    marks,
    columns: 1,
    zoom: "xy",
    configuration: configurationOf({
      type: "scatter",
      data: { datasets: view.ciphers.map((cipher) => dataset(view, cipher, theme)) },
      options: {
        ...STILL,
        layout: { padding: { right: 12, top: 14 } },
        interaction: { mode: "nearest", intersect: false },
        scales: {
          x: axis(view, theme, ({ openssl }) => openssl.median, alone(view), "bottom"),
          y: axis(view, theme, ({ ssh }) => ssh.median, "over SSH", "left"),
        },
        plugins: {
          legend: { display: false },
          tooltip: tooltip(marks, theme),
          annotation: { annotations },
        },
      },
    }),
  };
}

function alone({ block_size }: ScatterView): string {
  return `OpenSSL alone${block_size ? `, ${block_size} blocks` : ""}`;
}

/** The marks in the order of the table: machine by machine. */
function marksOf(view: ScatterView): Mark[] {
  const next = new Map<string, number>();
  return view.points.map((point) => {
    const index = next.get(point.cipher) ?? 0;
    next.set(point.cipher, index + 1);
    const datasetIndex = view.ciphers.indexOf(point.cipher);
    const { key, host: label, cipher } = point;
    const chosen = { group: { key, label }, cipher };
    return { datasetIndex, index, words: pointWords(point), chosen };
  });
}

/** "nas", "aes128-ctr", "OpenSSL alone 1.20 GB/s, 1 environment", ... */
export function pointWords({ host, cipher, own, openssl, ssh, doubtful }: BothTools): string[] {
  return [
    host,
    cipher,
    `over SSH ${quantity(ssh.median, "B/s")}${several(ssh.n)}`,
    `${own} alone ${quantity(openssl.median, "B/s")}${several(openssl.n)}`,
    `${share(ssh.median / openssl.median)} of its own speed`,
    ...(doubtful ? [DOUBTFUL] : []),
  ];
}

function several(n: number): string {
  return n > 1 ? `, median of ${n} environments` : "";
}

/** A fraction in per cent, as the table has it. */
function share(fraction: number): string {
  const value = fraction * 100;
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} %`;
}

function dataset(view: ScatterView, cipher: string, theme: Theme): object {
  const slot = view.colours[cipher] ?? "other-2";
  const points = view.points.filter((point) => point.cipher === cipher);
  return {
    label: cipher,
    data: points.map(({ openssl, ssh }) => ({ x: openssl.median, y: ssh.median })),
    backgroundColor: points.map(({ doubtful }) => (doubtful ? theme.surface : theme.cipher(slot))),
    borderColor: points.map(({ doubtful }) => (doubtful ? theme.cipher(slot) : theme.surface)),
    borderWidth: points.map(({ doubtful }) => (doubtful ? 2 : 1)),
    pointStyle: pointStyle(slot),
    radius: pointRadius(slot),
    hoverRadius: pointRadius(slot) + 2,
    hoverBorderColor: theme.text,
  };
}

function axis(
  view: ScatterView,
  theme: Theme,
  value: (point: BothTools) => number,
  title: string,
  position: "left" | "bottom",
): AxisOptions {
  const rates = view.points.map(value).filter((rate) => rate > 0);
  const highest = Math.max(...rates);
  return {
    ...valueAxis({ unit: view.unit, scale: view.scale, lowest: Math.min(...rates), theme }),
    // Half of a point on the very edge would be cut off.
    ...(view.scale === "log" ? { max: highest * 1.3 } : { suggestedMax: highest * 1.06 }),
    position,
    title: {
      display: true,
      text: title,
      color: theme.muted,
      font: { family: theme.fontFamily, size: 12, weight: 600 },
    },
  } as AxisOptions;
}

/** The line on which ssh would be as fast as the cipher alone. */
function bound(view: ScatterView, theme: Theme): AnnotationOptions<"line"> {
  const reach = Math.max(...view.points.map(({ ssh, openssl }) => Math.min(ssh.median, openssl.median)));
  const from = Math.min(...view.points.map(({ ssh }) => ssh.median), reach) / 10;
  return {
    type: "line",
    xMin: from,
    yMin: from,
    xMax: reach,
    yMax: reach,
    adjustScaleRange: false,
    drawTime: "beforeDatasetsDraw",
    borderColor: theme.muted,
    borderWidth: 1.25,
    label: {
      display: true,
      content: "SSH = OpenSSL",
      // Where no point can be: of a linear axis above the line, of a logarithmic beside it.
      position: view.scale === "log" ? "35%" : "end",
      rotation: 0,
      xAdjust: view.scale === "log" ? -62 : 40,
      yAdjust: view.scale === "log" ? 0 : -14,
      backgroundColor: theme.surface,
      color: theme.muted,
      font: { family: theme.fontFamily, size: 11, weight: 600 },
      padding: { x: 4, y: 2 },
    },
  };
}
