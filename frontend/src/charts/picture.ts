/** A chart as a file: with its title, its source and its date, in the colours of paper. */

import { BasicPlatform, Chart, type Plugin } from "chart.js";

import type { AnyView, ChartView, LinesView, PictureWords } from "../comparison";
import { configurationOf, type BuiltChart } from "./built";
import type { Build } from "./chartFigure";
import { clean, ellipsize, pixelRatio } from "./fit";
import { pointStyle } from "./points";
import { readTheme, type Theme } from "./theme";

const WIDTH = 1200;
const MARGIN = 32;
const HEAD = 116;
const FOOT = 52;
const LEGEND_LINE = 22;
const SHARPNESS = 2;

type Svg = typeof import("./svgContext");

/** Hands the reader the chart as SVG files, or where their drawing is not given as PNG. */
export async function savePicture(
  figure: HTMLElement,
  view: AnyView,
  build: Build,
  svg: Svg | null,
): Promise<void> {
  const theme = paperTheme(figure);
  for (const part of parts(view)) {
    const made = pictureOf(part, theme, build, location.host);
    const file = svg ? asSvg(made, svg) : await asPng(made, theme);
    download(file, `${part.picture?.file ?? "ciphermark-chart"}.${svg ? "svg" : "png"}`);
  }
}

/** The view in parts of as many groups as a picture has; their axis is that of the whole. */
export function parts(view: AnyView): AnyView[] {
  const { picture } = view;
  const most = picture?.groups ?? Number.POSITIVE_INFINITY;
  const total = view.kind === "scatter" ? 1 : groupsOf(view).length;
  const files = Math.ceil(total / most);
  if (!picture || files < 2) return [view];
  return Array.from({ length: files }, (_, index) => ({
    ...partOf(view, index * most, (index + 1) * most),
    picture: {
      ...picture,
      title: `${picture.title} (${index + 1} of ${files})`,
      file: `${picture.file}-${index + 1}-of-${files}`,
    },
  }));
}

function groupsOf(view: ChartView | LinesView): readonly unknown[] {
  return view.kind === "lines" ? view.groups : view.comparison.groups;
}

function partOf(view: AnyView, from: number, to: number): AnyView {
  if (view.kind === "scatter") return view;
  if (view.kind === "lines") return { ...view, whole: view.groups, groups: view.groups.slice(from, to) };
  const { comparison } = view;
  const groups = comparison.groups.slice(from, to);
  return { ...view, whole: comparison.groups, comparison: { ...comparison, groups } };
}

/** The light theme, whatever the screen has. */
function paperTheme(figure: HTMLElement): Theme {
  const { classList } = document.documentElement;
  const before = classList.contains("printing");
  classList.add("printing");
  const theme = readTheme(figure);
  // Values are read when they are asked for: those of ciphers now, not later.
  const slots = new Map<string, string>();
  const style = getComputedStyle(figure);
  for (const family of CIPHER_FAMILIES) {
    for (const step of ["1", "2", "3"]) {
      const slot = `${family}-${step}`;
      slots.set(slot, style.getPropertyValue(`--cipher-${slot}`).trim());
    }
  }
  classList.toggle("printing", before);
  const other = slots.get("other-2") ?? theme.muted;
  return { ...theme, cipher: (slot) => slots.get(slot) || other };
}

const CIPHER_FAMILIES = [
  "aes-gcm",
  "chacha20",
  "aes-ctr",
  "aes-cbc",
  "aes-other",
  "3des",
  "blowfish",
  "rc4",
  "cast",
  "camellia",
  "other",
];

export interface Made {
  configuration: BuiltChart["configuration"];
  width: number;
  height: number;
}

/** The chart with a head and a foot of words around it. Pure. */
export function pictureOf(view: AnyView, theme: Theme, build: Build, host: string): Made {
  const room = { width: WIDTH - 2 * MARGIN, rows: Number.POSITIVE_INFINITY };
  const built = build(view, theme, room);
  const legend = legendOf(view);
  const lines = Math.ceil(legend.length / PER_LINE);
  const head = HEAD + lines * LEGEND_LINE;
  const { configuration } = built;
  const padding = { top: head, bottom: FOOT, left: MARGIN, right: MARGIN + rightOf(configuration) };
  const words = around(view.picture, host, legend, theme);
  return {
    width: WIDTH,
    height: built.height + head + FOOT,
    configuration: configurationOf({
      ...configuration,
      options: {
        ...configuration.options,
        responsive: false,
        events: [],
        layout: { ...configuration.options?.layout, padding },
        // A picture has nothing to listen to.
        plugins: { ...configuration.options?.plugins, zoom: false, tooltip: false },
      },
      plugins: [...(configuration.plugins ?? []), words],
    }),
  };
}

function rightOf({ options }: BuiltChart["configuration"]): number {
  const padding = options?.layout?.padding as { right?: number } | undefined;
  return padding?.right ?? 0;
}

interface Key {
  name: string;
  slot: string;
  shape: ReturnType<typeof pointStyle>;
}

/** Which colour is which cipher; a heat map's colours are no ciphers. */
function legendOf(view: AnyView): Key[] {
  if (view.kind === "heatmap") return [];
  const points = view.kind === "lines" || view.kind === "scatter";
  const ciphers = points ? view.ciphers : view.comparison.ciphers;
  return ciphers.map((cipher) => {
    const slot = view.colours[cipher] ?? "other-2";
    return { name: view.names[cipher] ?? cipher, slot, shape: points ? pointStyle(slot) : "rect" };
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
      legend.forEach(({ name, slot, shape }, index) => {
        const x = MARGIN + (index % PER_LINE) * ((width - 2 * MARGIN) / PER_LINE);
        const y = 116 + Math.floor(index / PER_LINE) * LEGEND_LINE;
        drawKey(ctx, x + 6, y - 4, shape, theme.cipher(slot));
        write(name, x + 18, y, "12px", theme.text);
      });
      const source = `${words.source} · Ciphermark at ${host} · ${words.date}`;
      write(source, MARGIN, height - 20, "12px", theme.muted);
      ctx.restore();
    },
  };
}

function drawKey(
  ctx: CanvasRenderingContext2D,
  x: number,
  y: number,
  shape: Key["shape"],
  colour: string,
): void {
  ctx.fillStyle = colour;
  ctx.beginPath();
  if (shape === "circle") ctx.arc(x, y, 5, 0, 2 * Math.PI);
  else if (shape === "rect") ctx.rect(x - 4.5, y - 4.5, 9, 9);
  else {
    ctx.moveTo(x, y - 5);
    ctx.lineTo(x + 5, y + 4);
    ctx.lineTo(x - 5, y + 4);
    ctx.closePath();
  }
  ctx.fill();
}

async function asPng({ configuration, width, height }: Made, theme: Theme): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const devicePixelRatio = pixelRatio(SHARPNESS, width, height);
  const options = { ...configuration.options, devicePixelRatio };
  const chart = new Chart(canvas, { ...configuration, options });
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  chart.destroy();
  if (!blob) throw new Error(`The browser made no PNG of ${width} by ${height} (${theme.surface}).`);
  return blob;
}

function asSvg({ configuration, width, height }: Made, { svgContext }: Svg): Blob {
  const context = svgContext(width, height);
  const canvas = { width, height, getContext: () => context, style: {} };
  const options = { ...configuration.options, devicePixelRatio: 1 };
  const chart = new Chart(canvas as unknown as HTMLCanvasElement, {
    ...configuration,
    options,
    platform: BasicPlatform,
  });
  const text = context.getSerializedSvg();
  chart.destroy();
  return new Blob([text], { type: "image/svg+xml" });
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
