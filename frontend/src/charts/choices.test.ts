import { describe, expect, it } from "vitest";

import { comparisonChart } from "./comparisonChart";
import { addressFor, sections } from "./choices";
import { room, theme, view } from "./fixtures";

const only = { label: "Only this group", address: "?cpu=%1F&tool=ssh" };
const without = { label: "Leave it out", address: "?tool=ssh&cpu=a&cpu=b+c&cpu=d", leaves_out: "cpu" };

describe("the menu of a mark", () => {
  it("leads where the server says, with the mark's own key", () => {
    expect(addressFor(only, "b c&d")).toBe("?cpu=b%20c%26d&tool=ssh");
    expect(addressFor({ label: "", address: "?sort=cipher%3A%1F" }, "a")).toBe("?sort=cipher%3Aa");
    const both = { label: "", address: "?openssl_series=%1F&cpu=%1E" };
    expect(addressFor(both, "3.0", "b c")).toBe("?openssl_series=3.0&cpu=b%20c");
  });

  it("leaves one group out of all", () => {
    expect(addressFor(without, "b c")).toBe("?tool=ssh&cpu=a&cpu=d");
  });

  it("does not offer what means nothing for a group", () => {
    expect(addressFor({ ...only, besides: ["unknown"] }, "unknown")).toBeNull();
  });

  it("has a part for the group and one for the cipher, none where nothing is offered", () => {
    const chosen = { group: { key: "a", label: "A" }, cipher: "aes128-ctr" };
    const cipher = [{ label: "Only this cipher", address: "?cipher=%1F" }];
    expect(sections({ group: [only], cipher }, chosen)).toEqual([
      { title: "A", links: [{ label: "Only this group", address: "?cpu=a&tool=ssh" }] },
      { title: "aes128-ctr", links: [{ label: "Only this cipher", address: "?cipher=aes128-ctr" }] },
    ]);
    expect(sections({ group: [only], cipher: [] }, chosen)).toHaveLength(1);
    expect(sections(undefined, chosen)).toEqual([]);
  });

  it("belongs to bars and headings, of a split comparison to the group and its split", () => {
    const shown = view();
    const [first] = shown.comparison.groups;
    if (first) shown.comparison.groups = [{ ...first, key: "intel 3.0", own: "intel", split: "3.0" }];
    const { marks, headings } = comparisonChart(shown, theme, room);
    const group = { key: "intel", label: first?.label, split: "3.0" };
    expect(headings?.[0]?.chosen).toEqual({ group });
    expect(marks[1]?.chosen).toEqual({ group, cipher: "aes128-ctr" });
  });
});
