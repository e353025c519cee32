import { describe, expect, it } from "vitest";

import { shownRows, TALLEST } from "./built";
import { comparisonChart } from "./comparisonChart";
import { laptop, server, theme, view } from "./fixtures";
import { parts, pictureOf } from "./picture";

describe("a chart's room", () => {
  it("is scrolled inside only when the chart is very tall, and never on paper", () => {
    expect(shownRows(TALLEST, 800, false)).toBe(TALLEST);
    expect(shownRows(18_000, 900, false)).toBe(702);
    expect(shownRows(18_000, 900, true)).toBe(18_000);
  });
});

describe("the picture", () => {
  const picture = { title: "T", subtitle: "S", source: "Figures: agent", date: "2026-11-21", file: "f" };

  it("is the chart with a head, a foot and a key for each cipher", () => {
    const made = pictureOf(view({ picture }), theme, "h");
    expect(made.height).toBeGreaterThan(comparisonChart(view(), theme).height);
    expect(made.configuration.options?.responsive).toBe(false);
  });

  it("has some groups, and further groups are further files on the same axis", () => {
    const found = parts(view({ picture: { ...picture, groups: 1 } }));
    expect(found.map((one) => one.comparison.groups)).toEqual([[laptop], [server]]);
    expect(found.map((one) => one.picture?.file)).toEqual(["f-1-of-2", "f-2-of-2"]);
    expect(found[1]?.picture?.title).toBe("T (2 of 2)");
    const ends = found.map((one) => comparisonChart(one, theme).configuration.options?.scales?.["x"]);
    expect(ends).toMatchObject([{ suggestedMax: 409e6 }, { suggestedMax: 409e6 }]);
    expect(parts(view({ picture: { ...picture, groups: 2 } }))).toHaveLength(1);
  });
});
