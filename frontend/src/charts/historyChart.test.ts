import type { Chart } from "chart.js";
import { describe, expect, it } from "vitest";

import type { HistoryPoint, HistoryView } from "../history";
import { theme } from "./fixtures";
import { historyChart, pointLines, span, timeLabel, timeTicks } from "./historyChart";
import { placedMarks, placeLabels } from "./historyMarks";

const DAY = 86_400_000;
const MARCH = Date.UTC(2025, 2, 1, 6);

function point(day: number, changes: Partial<HistoryPoint> = {}): HistoryPoint {
  const at = MARCH + day * DAY;
  return { at, median: 4e8, spread: 0.01, n: 5, noisy: false, conditions: 0, environment: "E", ...changes };
}

const POINTS = [point(0), point(1, { noisy: true }), point(2, { apart: true }), point(3)];

function view(points = POINTS): HistoryView {
  return {
    unit: "B/s",
    slot: "aes-gcm-1",
    points,
    marks: [{ index: 2, kind: "break", label: "tool changed", words: "The tool changed." }],
  };
}

describe("the chart of a history", () => {
  it("has a dot for each run, hollow where it is doubtful", () => {
    const [line] = historyChart(view(), theme).data.datasets;
    expect(line?.data).toHaveLength(4);
    expect(line?.pointBackgroundColor).toEqual([
      "colour of aes-gcm-1",
      theme.surface,
      "colour of aes-gcm-1",
      "colour of aes-gcm-1",
    ]);
  });

  it("begins near values within a factor of 2, else at zero", () => {
    const scale = (median: number): unknown => historyChart(view([point(0), point(1, { median })]), theme).options?.scales?.["y"];
    expect(scale(3.8e8)).toMatchObject({ suggestedMin: 3.42e8, suggestedMax: 4.2e8 });
    expect(scale(1e8)).toMatchObject({ beginAtZero: true });
  });

  it("draws no line across a change of the tool", () => {
    const { segment } = historyChart(view(), theme).data.datasets[0] ?? {};
    const colour = typeof segment === "object" ? segment.borderColor : undefined;
    const at = (p1DataIndex: number): unknown =>
      typeof colour === "function" ? colour({ p1DataIndex } as never, {}) : null;
    expect([at(1), at(2), at(3)]).toEqual(["colour of aes-gcm-1", "transparent", "colour of aes-gcm-1"]);
  });

  it("keeps only the telling dots of a long history", () => {
    const points = Array.from({ length: 200 }, (_, day) => point(day));
    const radii = historyChart(view(points), theme).data.datasets[0]?.pointRadius as number[];
    expect(radii.map((radius, index) => (radius > 0 ? index : -1)).filter((i) => i >= 0)).toEqual([
      0, 2, 199,
    ]);
  });
});

describe("what a run says in words", () => {
  it("names time, rate, noise, marks and environment", () => {
    expect(pointLines(view(), 2)).toEqual([
      "2025-03-03 06:00 UTC",
      "400 MB/s, 5 tries, spread 1.0 %",
      "The tool changed.",
      "E",
    ]);
  });

  it("says what makes it doubtful", () => {
    const points = [point(0, { noisy: true, conditions: 2, n: 1, spread: 0 })];
    expect(pointLines(view(points), 0)[1]).toBe("400 MB/s, one try, noisy");
    expect(pointLines(view(points), 0)[2]).toBe("the run was disturbed");
    expect(pointLines(view(), -1)).toEqual([]);
  });
});

describe("the axis of time", () => {
  it("has a day before a single run, and hardly anything after it", () => {
    const [first, last] = span([point(0)]);
    expect(point(0).at - first).toBeCloseTo(1.02 * DAY, -1);
    expect(last - point(0).at).toBeCloseTo(0.02 * DAY, -1);
  });

  it("labels whole days of a long history", () => {
    const ticks = timeTicks(MARCH, MARCH + 40 * DAY, 550);
    expect(ticks.length).toBeGreaterThan(2);
    expect(ticks.length).toBeLessThan(7);
    expect(ticks.every((at) => at % DAY === 0)).toBe(true);
    expect(timeLabel(ticks[0] ?? 0, 40 * DAY)).toBe("2025-03-02");
  });

  it("repeats no date within a week, nor a time within a day", () => {
    for (const days of [1, 3, 4.5, 7]) {
      const labels = timeTicks(MARCH, MARCH + days * DAY, 1100).map((at) => timeLabel(at, days * DAY));
      expect(labels.length).toBeGreaterThan(3);
      expect(new Set(labels).size).toBe(labels.length);
    }
  });

  it("labels the hours of a short one", () => {
    expect(timeLabel(MARCH, DAY)).toBe("03-01 06:00");
  });

  it("has an end however short it is", () => {
    expect(timeTicks(MARCH, MARCH + 0.0005, 1100).length).toBeLessThan(12);
    expect(timeTicks(MARCH, MARCH, 1100).length).toBeLessThan(12);
  });
});

describe("marks", () => {
  /** A chart of 100 pixels over a stretch of days. */
  const chart = (first: number, last: number): Chart<"line"> =>
    ({
      chartArea: { left: 0, right: 100 },
      scales: {
        x: { getPixelForValue: (at: number) => (100 * (at - point(first).at)) / ((last - first) * DAY) },
      },
    }) as never;
  const note = { index: 0, at: point(30).at, kind: "note", label: "BIOS", words: "" } as const;
  const marked = { ...view(), marks: [...view().marks, note] };
  const places = (first: number, last: number): [string, number][] =>
    placedMarks(chart(first, last), marked, [point(0).at, point(3).at]).map(({ mark, x }) => [
      mark.label,
      Math.round(x),
    ]);

  it("stand between two runs, a note beyond all runs at the end", () => {
    expect(places(0, 3)).toEqual([
      ["tool changed", 50],
      ["BIOS", 100],
    ]);
  });

});

describe("labels of marks", () => {
  const mark = { index: 0, kind: "change", label: "+12 %", words: "" } as const;

  it("take a second row, and stay away where there is no room", () => {
    const placed = placeLabels(
      [10, 20, 30, 200].map((x) => ({ mark, x, width: 40 })),
      300,
    );
    expect(placed.map(({ row, left }) => [row, left])).toEqual([
      [0, 0],
      [1, 0],
      [0, 180],
    ]);
  });

  it("never leave the chart", () => {
    const [only] = placeLabels([{ mark, x: 298, width: 40 }], 300);
    expect(only?.left).toBe(260);
  });
});
