import { describe, expect, it } from "vitest";

import { answerProblem, endWords, progressWords, sizeProblem } from "./words";

describe("what the upload page says", () => {
  it("tells how far it is", () => {
    expect(progressWords(12, 40, "read")).toBe("12 of 40 read");
  });

  it.each([
    [{ done: 1, failed: 0, cancelled: false }, "1 text read."],
    [{ done: 38, failed: 2, cancelled: false }, "38 texts read, 2 could not be."],
    [{ done: 12, failed: 0, cancelled: true }, "Cancelled: 12 texts read."],
  ])("tells how it ended: %j", (outcome, words) => {
    expect(endWords(outcome, "read")).toBe(words);
  });

  it("names the limit that a file exceeds", () => {
    expect(sizeProblem(4 * 2 ** 20, 4 * 2 ** 20)).toBe("");
    expect(sizeProblem(50 * 2 ** 20, 4 * 2 ** 20)).toBe(
      "This has 50.0 MiB; 4 are read at most.",
    );
  });

  it("has a sentence for every answer that is no card", () => {
    expect(answerProblem(200, true)).toContain("signed out");
    expect(answerProblem(413, false)).toContain("size");
    expect(answerProblem(403, false)).toContain("Load it again");
    expect(answerProblem(429, false)).toContain("in a minute");
    expect(answerProblem(503, false)).toContain("database");
    expect(answerProblem(500, false)).toContain("500");
  });
});
