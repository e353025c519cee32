import { expect, test } from "vitest";

import { hashWith, rangesIn } from "./zoomState";

test("what is written is read again", () => {
  const ranges = { x: { min: 0, max: 1_234_567_891 }, y: { min: 1e-7, max: 0.25 } };
  const hash = hashWith("", "chart-view", ranges);
  expect(hash).toBe("#chart-view=x:0:1234567890,y:1e-7:0.25");
  expect(rangesIn(hash, "chart-view")).toEqual({
    x: { min: 0, max: 1_234_567_890 },
    y: { min: 1e-7, max: 0.25 },
  });
});

test("each chart has its own, and a place of the page gives way", () => {
  const both = hashWith("#one=x:1:2", "two", { x: { min: 3, max: 4 } });
  expect(both).toBe("#one=x:1:2&two=x:3:4");
  expect(rangesIn(both, "one")).toEqual({ x: { min: 1, max: 2 } });
  expect(hashWith(both, "one", {})).toBe("#two=x:3:4");
  expect(hashWith("#history", "two", {})).toBe("");
  expect(hashWith("#two=x:3:4", "two", {})).toBe("");
});

test("nonsense is no stretch", () => {
  for (const hash of ["", "#chart-view", "#chart-view=", "#chart-view=x:5:1", "#chart-view=x:a:b",
    "#chart-view=x:1", "#chart-view=:1:2", "#chart-view=x::2", "#%", "#chart-view=x:NaN:1"]) {
    expect(rangesIn(hash, "chart-view")).toEqual({});
  }
});
