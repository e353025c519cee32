import { describe, expect, it } from "vitest";

import { written } from "./copyTable";

const rows = [["Group", "aes"], ["AMD | EPYC", "1.2"], ["=cmd()", "-3"]];

describe("a copied table", () => {
  it("is plain for a spreadsheet, and no name becomes a formula", () => {
    expect(written(rows, "tsv")).toBe("Group\taes\nAMD | EPYC\t1.2\n'=cmd()\t-3");
    expect(written([["a\tb"]], "tsv")).toBe("a b");
  });

  it("is a table in Markdown, and names stay names", () => {
    expect(written(rows, "markdown").split("\n")).toEqual([
      "| Group | aes |", "|---|---|", "| AMD \\| EPYC | 1.2 |", "| =cmd() | -3 |",
    ]);
    expect(written([["<b>*x*"]], "markdown")).toContain("\\<b\\>\\*x\\*");
  });
});
