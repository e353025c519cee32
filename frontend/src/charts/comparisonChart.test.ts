import { describe, expect, it } from "vitest";

import { logFloor, logTicks, relativeTicks } from "./axes";
import { comparisonChart, point } from "./comparisonChart";
import { laptop, one, server, several, theme, view } from "./fixtures";
import { layoutRows, type BarRow } from "./rows";
import { doubtSign, summaryLines } from "./words";

function row(summary: BarRow["summary"]): BarRow {
  return { y: 10, group: "G", cipher: "c", name: "c", slot: "other-2", summary };
}

describe("the comparison chart", () => {
  it("draws medians as bar lengths, in the unit of the comparison", () => {
    const { configuration } = comparisonChart(view(), theme);
    expect(configuration.data.datasets[0]?.data).toMatchObject([
      { x: 328.37e6 },
      { x: 159e6 },
      { x: 409e6 },
    ]);
  });

  it("draws quartiles as whiskers only where there are several machines", () => {
    expect(point(row(several))).toEqual({
      x: 159e6,
      y: 10,
      xMin: [123e6, 123e6],
      xMax: [194e6, 194e6],
    });
    expect(point(row(one(5)))).toEqual({ x: 5, y: 10 });
  });

  it("colours each bar by its cipher", () => {
    const { configuration } = comparisonChart(view(), theme);
    expect(configuration.data.datasets[0]?.backgroundColor).toEqual([
      "colour of aes-gcm-1",
      "colour of aes-ctr-1",
      "colour of aes-ctr-1",
    ]);
  });

  it("lies on its side, so that labels have room", () => {
    expect(comparisonChart(view(), theme).configuration.options?.indexAxis).toBe("y");
  });

  it("starts a linear axis at zero and a logarithmic one at the decade below", () => {
    const linear = comparisonChart(view(), theme).configuration.options?.scales?.["x"];
    expect(linear).toMatchObject({ type: "linear", beginAtZero: true });
    const log = comparisonChart(view({ scale: "log" }), theme).configuration.options?.scales?.["x"];
    expect(log).toMatchObject({ type: "logarithmic", min: 1e8 });
  });

  it("has one value axis for all rows, up to the longest whisker, whichever rows are seen", () => {
    const bars = comparisonChart(view(), theme, 50).configuration.options?.scales?.["x"];
    expect(bars).toMatchObject({ suggestedMax: 409e6 });
    const wide = { ...several, q3: 500e6, max: 700e6 };
    const group = { ...laptop, values: { "aes128-ctr": wide } };
    const whiskers = view({ comparison: { ...view().comparison, groups: [group, server] } });
    const quartiles = comparisonChart(whiskers, theme, 50).configuration.options?.scales?.["x"];
    expect(quartiles).toMatchObject({ suggestedMax: 500e6 });
  });

  it("finds the power of ten below the smallest value, never at it", () => {
    expect(logFloor(250)).toBe(100);
    expect(logFloor(100)).toBe(10);
    expect(logFloor(9)).toBe(1);
    expect(logFloor(0)).toBe(1);
    expect(logFloor(Number.POSITIVE_INFINITY)).toBe(1);
  });

  it("labels few values of a logarithmic axis, fewer on a phone", () => {
    expect(logTicks(1e6, 1e7, 8)).toEqual([1e6, 2e6, 5e6, 1e7]);
    expect(logTicks(1e6, 1e7, 3)).toEqual([1e6, 3e6, 1e7]);
    expect(logTicks(1e6, 2e8, 3)).toEqual([1e6, 1e7, 1e8]);
    expect(logTicks(4e6, 6e6, 8)).toEqual([5e6]);
  });

  it("has a mark with words for each bar, in the order of the table", () => {
    expect(comparisonChart(view(), theme).marks.map(({ words }) => words)).toEqual([
      ["Intel Core i7-2635QM", "aes128-gcm@openssh.com", "328 MB/s, 1 host"],
      ["Intel Core i7-2635QM", "aes128-ctr", ...summaryLines(several, "B/s")],
      ["AMD EPYC", "aes128-ctr", "409 MB/s, 1 host"],
    ]);
  });


  it("shows as many rows as there is room for", () => {
    const whole = comparisonChart(view(), theme);
    expect(whole.configuration.options?.scales?.["y"]).toMatchObject({ max: whole.rowsHeight });
    const part = comparisonChart(view(), theme, 50);
    expect(part.configuration.options?.scales?.["y"]).toMatchObject({ min: 0, max: 50 });
  });

  it("says in words what a bar shows", () => {
    expect(summaryLines(one(328.37e6), "B/s")).toEqual(["328 MB/s, 1 host"]);
    expect(summaryLines(several, "B/s")).toEqual([
      "median 159 MB/s, 4 hosts",
      "quartiles 123 MB/s to 194 MB/s",
      "range 87.0 MB/s to 230 MB/s",
    ]);
  });
});

describe("the chart of differences", () => {
  const relative = (ratio: number, low: number, high: number) => ({
    median: ratio, q1: low, q3: high, min: low, max: high, n: 8,
  });

  it("draws bars from 0 % with intervals as whiskers, none where too few hosts tell", () => {
    const shown = view();
    shown.comparison.unit = "relative";
    const known = { ratio: 0.93, low: 0.92, high: 0.94, n: 8 };
    const broken = { ...known, tool_changed: true };
    const related = { "aes128-gcm@openssh.com": broken, "aes128-ctr": known };
    shown.comparison.groups = [{ ...laptop, relative: related }, server];
    const { configuration } = comparisonChart(shown, theme);
    expect(configuration.data.datasets[0]).toMatchObject({ base: 1, data: [{ x: 0.93 }] });
    expect(configuration.options?.scales?.["x"]).toMatchObject({ type: "logarithmic" });
    expect(point(row(relative(0.93, 0.92, 0.94)))).toMatchObject({ xMin: [0.92, 0.92] });
    expect(point(row(relative(0.93, 0.93, 0.93)))).toEqual({ x: 0.93, y: 10 });
  });

  it("says whether a difference is beyond the noise", () => {
    expect(summaryLines(relative(0.93, 0.92, 0.94), "relative")).toEqual([
      "−7.0 %, 8 hosts", "−8.0 % to −6.0 % (95 % confidence)", "beyond the noise",
    ]);
    expect(summaryLines(relative(1.01, 0.99, 1.02), "relative")[2]).toBe("within the noise");
    expect(summaryLines(relative(1.01, 1.01, 1.01), "relative")[1]).toContain("too few hosts");
  });

  it("draws grey and says why where a difference is within the noise", () => {
    const shown = view();
    shown.comparison.unit = "relative";
    const [few, noise, sure] = [[null, null], [0.9, 1.1], [0.9, 0.95]].map(([low, high]) => ({
      ratio: 0.93, low: low ?? null, high: high ?? null, n: 8,
    }));
    shown.comparison.ciphers = ["a", "b", "c"];
    shown.comparison.groups = [{ ...laptop, relative: { a: few!, b: noise!, c: sure! } }];
    const { configuration } = comparisonChart(shown, theme);
    const [a, b, c] = configuration.data.datasets[0]?.backgroundColor as string[];
    expect([a, b, c]).toEqual([theme.vague, theme.vague, "colour of other-2"]);
    const labels = layoutRows(shown).bars.map(({ summary }) => doubtSign(summary));
    expect(labels).toEqual([", few hosts", ", noise", ""]);
  });

  it("labels whole steps in per cent, 0 % among them", () => {
    const percent = (...range: Parameters<typeof relativeTicks>) =>
      relativeTicks(...range).map((tick) => Math.round((tick - 1) * 100));
    expect(percent(0.9, 1.1, 6)).toEqual([-10, -5, 0, 5, 10]);
    expect(percent(0.12, 2.1, 14)).toEqual([-85, -80, -70, -50, -30, 0, 50, 100]);
    expect(percent(0.12, 2.1, 3)).toEqual([-70, 0]);
  });

  it("labels nothing closer together than labels have room", () => {
    for (const [low, high] of [[0.95, 1.05], [0.3, 1.2], [0.5, 2.9], [0.12, 2.1], [0.1, 40]] as const) {
      for (const labels of [3, 7, 14]) {
        const places = relativeTicks(low, high, labels).map(Math.log);
        expect(places).toContain(0);
        const room = Math.log(high / low) / labels;
        places.slice(1).forEach((place, at) => expect(place - (places[at] ?? 0)).toBeGreaterThanOrEqual(room * 0.999));
      }
    }
  });
});
