import { expect, test } from "vitest";

import { waitAfter } from "./backOff";

test("work under way is looked at within a second, and ever more rarely", () => {
  const waits = [0, 1, 2, 3, 20].map((quiet) => waitAfter(quiet, true));
  expect(waits[0]).toBe(1000);
  expect(waits).toEqual([...waits].sort((a, b) => a - b));
  expect(waits.at(-1)).toBe(15_000);
});

test("what may only arrive is looked for less often", () => {
  expect(waitAfter(0, false)).toBeGreaterThan(waitAfter(0, true));
  expect(waitAfter(1000, false)).toBe(60_000);
});
