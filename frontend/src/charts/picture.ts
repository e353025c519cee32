/** A chart as a file with title, source and date, in light colours. */

import { Chart, type Plugin } from "chart.js";

import type { ChartView, PictureWords } from "../comparison";
import type { BuiltChart } from "./built";
import { comparisonChart } from "./comparisonChart";
import { clean, ellipsize, pixelRatio } from "./fit";
import { readTheme, type Theme } from "./theme";

const WIDTH = 1200;
const MARGIN = 32;
const HEAD = 116;
const FOOT = 52;
const LEGEND_LINE = 22;
const SHARPNESS = 2;

/** Downloads the chart as PNG files. */
export async function savePicture(figure: HTMLElement, view: ChartView): Promise<void> {
  const theme = paperTheme(figure, view);
  for (const part of parts(view)) {
    const file = await asPng(pictureOf(part, theme, location.host));
    download(file, `${part.picture?.file ?? "ciphermark-chart"}.png`);
  }
}

/** Splits the view into parts of a picture each, which share the axis of the whole. */
export function parts(view: ChartView): ChartView[] {
  const { picture } = view;
  const { groups } = view.comparison;
  const most = picture?.groups ?? Number.POSITIVE_INFINITY;
  const files = Math.ceil(groups.length / most);
  if (!picture || files < 2) return [view];
  return Array.from({ length: files }, (_, index) => ({
    ...view,
    whole: groups,
    comparison: { ...view.comparison, groups: groups.slice(index * most, (index + 1) * most) },
    picture: {
      ...picture,
      title: `${picture.title} (${index + 1} of ${files})`,
      file: `${picture.file}-${index + 1}-of-${files}`,
    },
  }));
}

/** The light theme, regardless of the screen's. */
function paperTheme(figure: HTMLElement, { colours }: ChartView): Theme {
  const { classList } = document.documentElement;
  const before = classList.contains("printing");
  classList.add("printing");
  const theme = readTheme(figure);
  // Read the colours of ciphers now, because they are computed on access.
  const slots = new Map([...Object.values(colours), "other-2"].map((slot) => [slot, theme.cipher(slot)]));
  classList.toggle("printing", before);
  return { ...theme, cipher: (slot) => slots.get(slot) ?? theme.muted };
}

export interface Made {
  configuration: BuiltChart["configuration"];
  width: number;
  height: number;
}

/** The chart with header and footer. Pure. */
export function pictureOf(view: ChartView, theme: Theme, host: string): Made {
  const built = comparisonChart(view, theme);
  const legend = legendOf(view);
  const lines = Math.ceil(legend.length / PER_LINE);
  const head = HEAD + lines * LEGEND_LINE;
  const { configuration } = built;
  const padding = { top: head, bottom: FOOT, left: MARGIN, right: MARGIN + rightOf(configuration) };
  const words = around(view.picture, host, legend, theme);
  return {
    width: WIDTH,
    height: built.height + head + FOOT,
    configuration: {
      ...configuration,
      options: {
        ...configuration.options,
        responsive: false,
        events: [],
        layout: { ...configuration.options?.layout, padding },
        // A picture needs no events.
        plugins: { ...configuration.options?.plugins, tooltip: { enabled: false } },
      },
      plugins: [...(configuration.plugins ?? []), words],
    },
  };
}

function rightOf({ options }: BuiltChart["configuration"]): number {
  const padding = options?.layout?.padding as { right?: number } | undefined;
  return padding?.right ?? 0;
}

interface Key {
  name: string;
  slot: string;
}

/** Legend of the ciphers' colours. */
function legendOf(view: ChartView): Key[] {
  return view.comparison.ciphers.map((cipher) => {
    return { name: view.names[cipher] ?? cipher, slot: view.colours[cipher] ?? "other-2" };
  });
}

const PER_LINE = 5;

function around(
  words: PictureWords | undefined,
  host: string,
  legend: readonly Key[],
  theme: Theme,
): Plugin {
  return {
    id: "pictureWords",
    beforeDraw({ ctx, width, height }) {
      ctx.save();
      ctx.fillStyle = theme.surface;
      ctx.fillRect(0, 0, width, height);
      ctx.restore();
    },
    afterDraw({ ctx, width, height }) {
      if (!words) return;
      ctx.save();
      ctx.textBaseline = "alphabetic";
      ctx.textAlign = "left";
      const write = (text: string, x: number, y: number, font: string, colour: string): void => {
        ctx.font = `${font} ${theme.fontFamily}`;
        ctx.fillStyle = colour;
        const room = width - x - MARGIN;
        ctx.fillText(ellipsize(clean(text), room, (part) => ctx.measureText(part).width), x, y);
      };
      write(words.title, MARGIN, 44, "650 22px", theme.text);
      write(words.subtitle, MARGIN, 68, "13px", theme.muted);
      write(words.reading ?? "", MARGIN, 90, "13px", theme.muted);
      legend.forEach(({ name, slot }, index) => {
        const x = MARGIN + (index % PER_LINE) * ((width - 2 * MARGIN) / PER_LINE);
        const y = 116 + Math.floor(index / PER_LINE) * LEGEND_LINE;
        ctx.fillStyle = theme.cipher(slot);
        ctx.fillRect(x + 1.5, y - 8.5, 9, 9);
        write(name, x + 18, y, "12px", theme.text);
      });
      const source = `${words.source} · Ciphermark at ${host} · ${words.date}`;
      write(source, MARGIN, height - 20, "12px", theme.muted);
      ctx.restore();
    },
  };
}

async function asPng({ configuration, width, height }: Made): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const devicePixelRatio = pixelRatio(SHARPNESS, width, height);
  const options = { ...configuration.options, devicePixelRatio };
  const chart = new Chart(canvas, { ...configuration, options });
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  chart.destroy();
  if (!blob) throw new Error(`The chart is too large for a PNG file (${width} × ${height} pixels). Show fewer groups.`);
  return blob;
}

function download(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has taken the file by the next turn.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
