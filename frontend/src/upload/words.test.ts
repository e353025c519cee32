import { describe, expect, it } from "vitest";

import { answerProblem, resultsOf, saveWords, sizeProblem } from "./words";

describe("what the upload page says", () => {
  it.each([
    ["12.0", undefined, 1],
    ["12.0,12.1,12.2", undefined, 3],
    ["document", "40", 40],
  ])("counts the results of a tick box: %s", (value, stated, results) => {
    expect(resultsOf(value, stated)).toBe(results);
  });

  it("says how many results are saved", () => {
    expect([saveWords(1), saveWords(16)]).toEqual(["Save 1 result", "Save 16 results"]);
  });

  it("names the limit that files exceed", () => {
    expect(sizeProblem(16 * 2 ** 20, 16 * 2 ** 20)).toBe("");
    expect(sizeProblem(50 * 2 ** 20, 16 * 2 ** 20)).toBe(
      "Too large: 50.0 MiB. Upload at most 16 MiB at a time.",
    );
  });

  it("has a sentence for every answer that is no preview", () => {
    expect(answerProblem(200, true)).toContain("signed out");
    expect(answerProblem(413, false)).toContain("too large");
    expect(answerProblem(403, false)).toContain("permission");
    expect(answerProblem(429, false)).toContain("in a minute");
    expect(answerProblem(503, false)).toContain("database");
    expect(answerProblem(500, false)).toContain("500");
  });
});
