import { describe, expect, it } from "vitest";

import { nextIndex } from "./selection";
import { clean, ellipsize, headingParts, pixelRatio } from "./fit";

const tenEach = (text: string): number => Array.from(text).length * 10;

describe("making things fit", () => {
  it("leaves text that fits alone", () => {
    expect(ellipsize("AMD EPYC", 80, tenEach)).toBe("AMD EPYC");
  });

  it("cuts long text with an ellipsis within the width", () => {
    const cut = ellipsize("x".repeat(500), 100, tenEach);
    expect(cut).toBe(`${"x".repeat(9)}…`);
    expect(tenEach(cut)).toBeLessThanOrEqual(100);
  });

  it("never cuts a character in two", () => {
    expect(ellipsize("🚀🚀🚀🚀", 30, tenEach)).toBe("🚀🚀…");
  });

  it("keeps a heading's label before its badge and its note", () => {
    const heading = { label: "OpenSSL 3.0.19", note: "63 hosts" };
    const parts = (room: number) => headingParts(heading, 50, room, tenEach, tenEach);
    expect(parts(400)).toEqual({ ...heading, badge: true });
    expect(parts(270)).toEqual({ label: heading.label, note: "63 hos…", badge: true });
    expect(parts(200)).toEqual({ label: heading.label, note: "", badge: true });
    expect(parts(170)).toEqual({ label: heading.label, note: "", badge: false });
  });

  it("has no character that turns the text or breaks the file", () => {
    expect(clean("a\u202eb\u0000c")).toBe("a b c");
  });

  it("survives having no room at all", () => {
    expect(ellipsize("abc", 0, tenEach)).toBe("…");
  });

  it("keeps the screen's sharpness for ordinary charts and lowers it for huge ones", () => {
    expect(pixelRatio(2, 800, 600)).toBe(2);
    const ratio = pixelRatio(3, 390, 11_000);
    expect(390 * ratio * 11_000 * ratio).toBeLessThanOrEqual(16_000_001);
    expect(ratio).toBeGreaterThan(1);
  });
});

describe("walking over bars by keyboard", () => {
  it("goes down and up and stops at the ends", () => {
    expect(nextIndex("ArrowDown", -1, 3)).toBe(0);
    expect(nextIndex("ArrowDown", 2, 3)).toBe(2);
    expect(nextIndex("ArrowUp", 0, 3)).toBe(0);
    expect(nextIndex("Home", 2, 3)).toBe(0);
    expect(nextIndex("End", 0, 3)).toBe(2);
  });

  it("lets go on Escape and leaves other keys to the page", () => {
    expect(nextIndex("Escape", 1, 3)).toBe(-1);
    expect(nextIndex("Tab", 1, 3)).toBeNull();
    expect(nextIndex("ArrowDown", -1, 0)).toBeNull();
  });
});
