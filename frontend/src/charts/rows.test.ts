import { describe, expect, it } from "vitest";

import { server, view } from "./fixtures";
import { HEADING_HEIGHT, ROW_HEIGHT, layoutRows } from "./rows";

describe("rows of the comparison chart", () => {
  it("gives each group a heading and a row for every cipher that it has", () => {
    const { bars, headings } = layoutRows(view());
    expect(headings.map(({ label }) => label)).toEqual(["Intel Core i7-2635QM", "AMD EPYC"]);
    expect(bars.map(({ group, name }) => [group, name])).toEqual([
      ["Intel Core i7-2635QM", "aes128-gcm"],
      ["Intel Core i7-2635QM", "aes128-ctr"],
      ["AMD EPYC", "aes128-ctr"],
    ]);
  });

  it("never lets two rows overlap", () => {
    const { bars, headings, height } = layoutRows(view());
    const places = [...bars, ...headings].map(({ y }) => y).sort((a, b) => a - b);
    places.slice(1).forEach((y, index) => {
      expect(y - (places[index] ?? 0)).toBeGreaterThanOrEqual(ROW_HEIGHT);
    });
    expect(height).toBe(2 * HEADING_HEIGHT + 3 * ROW_HEIGHT + 2);
  });

  it("marks groups measured with the agent and shows their number of hosts", () => {
    const { headings } = layoutRows(view());
    expect(headings.map(({ here }) => here)).toEqual([false, true]);
    expect(headings.map(({ note }) => note)).toEqual(["4 hosts", "1 host"]);
  });

  it("lets a page say something else beside the label", () => {
    const { headings } = layoutRows(view({ notes: { "amd-epyc": "latest run" } }));
    expect(headings[1]?.note).toBe("latest run");
  });

  it("keeps a cipher's colour when others are filtered away", () => {
    const all = layoutRows(view());
    const { comparison } = view();
    const alone = layoutRows(
      view({ comparison: { ...comparison, ciphers: ["aes128-ctr"], groups: [server] } }),
    );
    expect(alone.bars[0]?.slot).toBe("aes-ctr-1");
    expect(alone.bars[0]?.slot).toBe(all.bars[2]?.slot);
  });

  it("has no rows for no groups", () => {
    const { comparison } = view();
    expect(layoutRows(view({ comparison: { ...comparison, groups: [] } })).bars).toEqual([]);
  });
});
