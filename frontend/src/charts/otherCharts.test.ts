import { describe, expect, it } from "vitest";

import type { AnyView, ChartView, ScatterView } from "../comparison";
import { box, boxChart, machines } from "./boxChart";
import { shownRows, TALLEST } from "./built";
import { clean } from "./fit";
import { contrasting, luminance, mix } from "./colour";
import { laptop, linesView, room, scatterView, server, several, theme, view } from "./fixtures";
import { cellWords, heatChart, shades } from "./heatChart";
import { gridOf, linesChart, roundUp, sizeTicks } from "./linesChart";
import { comparisonChart } from "./comparisonChart";
import { parts, pictureOf } from "./picture";
import { scatterChart } from "./scatterChart";
import { fontParts } from "./svgContext";

function summary(values: number[]): Parameters<typeof machines>[0] {
  const ordered = [...values].sort((a, b) => a - b);
  const at = (fraction: number): number => {
    const rank = fraction * (ordered.length - 1);
    const below = Math.floor(rank);
    const [low = 0, high = low] = [ordered[below], ordered[Math.min(below + 1, ordered.length - 1)]];
    return low + (high - low) * (rank - below);
  };
  const n = values.length;
  return { min: at(0), q1: at(0.25), median: at(0.5), q3: at(0.75), max: at(1), n };
}

describe("the box plot", () => {
  it("finds every machine's value again where there are up to five", () => {
    for (const values of [[7], [3, 9], [1, 4, 30], [2, 3, 5, 80], [1, 2, 4, 8, 16]]) {
      machines(summary(values)).forEach((value, index) => {
        expect(value).toBeCloseTo(values[index] ?? Number.NaN, 9);
      });
      expect(machines(summary(values))).toHaveLength(values.length);
    }
    expect(machines(summary([1, 2, 3, 4, 5, 6]))).toEqual([]);
  });

  it("reaches from the lowest to the highest machine", () => {
    expect(box(several)).toMatchObject({ whiskerMin: several.min, whiskerMax: several.max });
    expect(boxChart(view(), theme, room).configuration).toMatchObject({ type: "boxplot" });
  });

  it("draws no box for a single machine", () => {
    const [dataset] = boxChart(view(), theme, room).configuration.data.datasets;
    expect(dataset?.backgroundColor).toEqual(["transparent", "colour of aes-ctr-1", "transparent"]);
  });
});

describe("the heat map", () => {
  it("has a cell for each figure and none where nothing was measured", () => {
    const { marks, columns, configuration } = heatChart(view(), theme, room);
    expect(columns).toBe(2);
    expect(marks.map(({ words }) => words.slice(0, 2))).toEqual([
      ["Intel Core i7-2635QM", "aes128-gcm@openssh.com"],
      ["Intel Core i7-2635QM", "aes128-ctr"],
      ["AMD EPYC", "aes128-ctr"],
    ]);
    expect(configuration.data.datasets[0]?.data).toHaveLength(3);
  });

  it("says of a figure how many of its hosts are doubtful", () => {
    const shown = view();
    const [group] = shown.comparison.groups;
    const doubtful = { "aes128-ctr": { ...several, doubtful: 2 } };
    const groups = group ? [{ ...group, values: doubtful }] : [];
    const { marks } = heatChart({ ...shown, comparison: { ...shown.comparison, groups } }, theme, room);
    expect(marks[0]?.words.at(-1)).toBe("2 of 4 low confidence (noisy or disturbed run)");
  });

  it("writes the figures as they fit their cells", () => {
    const tenEach = (text: string): number => text.length * 10;
    const cells = [several, { ...several, doubtful: 1 }];
    expect(cellWords(cells, "B/s", 120, tenEach)).toEqual(["159 MB/s", "159 MB/s ?"]);
    expect(cellWords(cells, "B/s", 60, tenEach)).toEqual(["159M", "159M?"]);
    expect(cellWords(cells, "B/s", 50, tenEach)).toBeNull();
    expect(cellWords([{ ...several, median: 26.8e6 }], "B/s", 40, tenEach)).toEqual(["27M"]);
    expect(cellWords([{ ...several, median: 3.43 }], "ratio", 60, tenEach)).toEqual(["3.43"]);
  });

  it("shades from zero on a linear scale and from the lowest on a logarithmic one", () => {
    const linear = shades(view(), theme);
    expect(linear(409e6, "aes128-ctr")).toBe(theme.heatHigh);
    expect(linear(0, "aes128-ctr")).toBe(theme.heatLow);
    expect(shades(view({ scale: "log" }), theme)(159e6, "aes128-ctr")).toBe(theme.heatLow);
  });

  it("shades each cipher by itself where that is asked for", () => {
    const gcm = "aes128-gcm@openssh.com";
    expect(shades(view(), theme)(328.37e6, gcm)).not.toBe(theme.heatHigh);
    const byCipher = shades(view({ by_cipher: true }), theme);
    expect(byCipher(328.37e6, gcm)).toBe(theme.heatHigh);
    expect(byCipher(159e6, "aes128-ctr")).toBe(shades(view(), theme)(159e6, "aes128-ctr"));
  });

  it("writes on each shade in ink that can be read", () => {
    for (let step = 0; step <= 20; step += 1) {
      const shade = mix("#e8f3f1", "#064a41", step / 20);
      const [low = 0, high = 0] = [luminance(shade), luminance(contrasting(shade))].sort((a, b) => a - b);
      expect((high + 0.05) / (low + 0.05)).toBeGreaterThanOrEqual(4.5);
    }
  });
});

describe("the lines over block sizes", () => {
  it("have a small chart for each group, side by side as the width allows", () => {
    expect(gridOf(20, 350)).toEqual({ columns: 1, rows: 20 });
    expect(gridOf(20, 950)).toEqual({ columns: 3, rows: 7 });
    expect(gridOf(2, 2200)).toEqual({ columns: 2, rows: 1 });
  });

  it("leave a gap where a size was not measured", () => {
    const { configuration, marks } = linesChart(linesView(), theme, room);
    const ys = configuration.data.datasets[1]?.data.map((point) => (point as unknown as { y: number }).y);
    expect(ys).toEqual([3e7, Number.NaN, 3.1e7]);
    expect(marks).toHaveLength(6);
    expect(marks[0]?.words).toEqual(["AMD EPYC", "aes-128-gcm, 16 B blocks", "400 MB/s, 1 host"]);
  });

  it("share one axis of values, so that groups can be compared", () => {
    const scales = linesChart(linesView(), theme, { ...room, width: 320 }).configuration.options?.scales;
    expect(scales?.["y0"]?.max).toBe(4.8e9);
    expect(scales?.["y1"]?.max).toBe(4.8e9);
  });

  it("end a linear axis at a round number", () => {
    expect([7.7e9, 1.16e9, 4e9, 9.1].map(roundUp)).toEqual([8e9, 1.2e9, 4e9, 10]);
  });

  it("label the sizes that have room, the largest always", () => {
    expect(sizeTicks([16, 64, 256, 1024, 8192, 16384], 700)).toContain(16384);
    expect(sizeTicks([16, 64, 256, 1024, 8192, 16384], 260)).not.toContain(8192);
    expect(sizeTicks([8192, 16384], 60)).toEqual([16384]);
  });
});

describe("the scatter plot", () => {
  it("has each machine's cipher at its own speed across and over ssh upwards", () => {
    const { configuration, marks } = scatterChart(scatterView(), theme, room);
    expect(configuration.data.datasets[1]?.data).toEqual([
      { x: 3.4e7, y: 3.2e7 },
      { x: 4e7, y: 1e6 },
    ]);
    expect(marks.map(({ datasetIndex, index }) => [datasetIndex, index])).toEqual([
      [1, 0],
      [0, 0],
      [1, 1],
    ]);
    expect(marks[2]?.words).toContain("2.5 % of its own speed");
  });
});

describe("a chart's room", () => {
  it("is scrolled inside only when the chart is very tall, and never on paper", () => {
    expect(shownRows(TALLEST, 800, false)).toBe(TALLEST);
    expect(shownRows(18_000, 900, false)).toBe(702);
    expect(shownRows(18_000, 900, true)).toBe(18_000);
  });
});

describe("the picture", () => {
  const picture = { title: "T", subtitle: "S", source: "Figures: agent", date: "2026-11-21", file: "f" };

  it("is the chart with a head, a foot and where it needs one a legend", () => {
    const plain = pictureOf(view({ kind: "heatmap", picture }), theme, (one) => heatChart(one as ChartView, theme, room), "h");
    const keyed = pictureOf(scatterView({ picture }), theme, (one) => scatterChart(one as ScatterView, theme, room), "h");
    expect(plain.height).toBeGreaterThan(heatChart(view(), theme, room).height);
    expect(plain.configuration.options?.responsive).toBe(false);
    expect(keyed.height).toBeGreaterThan(520 + plain.height - heatChart(view(), theme, room).height);
  });

  it("has a key for each cipher of bars", () => {
    const build = (one: AnyView) => comparisonChart(one as ChartView, theme, room);
    const heat = (one: AnyView) => heatChart(one as ChartView, theme, room);
    const keyed = pictureOf(view({ picture }), theme, build, "h").height - build(view()).height;
    const shown = view({ kind: "heatmap", picture });
    expect(keyed).toBeGreaterThan(pictureOf(shown, theme, heat, "h").height - heat(shown).height);
  });

  it("has some groups, and further groups are further files on the same axis", () => {
    const shown = view({ picture: { ...picture, groups: 1 } });
    const found = parts(shown) as ChartView[];
    expect(found.map((one) => one.comparison.groups)).toEqual([[laptop], [server]]);
    expect(found.map((one) => one.picture?.file)).toEqual(["f-1-of-2", "f-2-of-2"]);
    expect(found[1]?.picture?.title).toBe("T (2 of 2)");
    const ends = found.map((one) => comparisonChart(one, theme, room).configuration.options?.scales?.["x"]);
    expect(ends).toMatchObject([{ suggestedMax: 409e6 }, { suggestedMax: 409e6 }]);
    expect(parts(view({ picture: { ...picture, groups: 2 } }))).toHaveLength(1);
    expect(parts(scatterView({ picture: { ...picture, groups: 1 } }))).toHaveLength(1);
  });

  it("has no character that turns the text or breaks the file", () => {
    expect(clean("a\u202eb\u0000c")).toBe("a b c");
  });

  it("takes fonts apart as charts write them", () => {
    expect(fontParts("600 13px system-ui, sans-serif")).toEqual({
      style: "normal",
      weight: "600",
      size: "13px",
      family: "system-ui, sans-serif",
    });
    expect(fontParts("normal 12px Arial")).toMatchObject({ size: "12px", family: "Arial" });
  });
});
