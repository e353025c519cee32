import { describe, expect, it } from "vitest";

import cases from "../../tests/pages/format_cases.json";
import type { Unit } from "./comparison";
import { count, quantity, throughput, tick } from "./format";

describe("numbers as people read them", () => {
  it.each(cases.throughput)("throughput %d reads $text", ({ value, text }) => {
    expect(throughput(value)).toBe(text);
  });

  it.each(cases.quantity)("$value in $unit reads $text", ({ value, unit, text }) => {
    expect(quantity(value, unit as Unit)).toBe(text);
  });

  it("leaves zeros that say nothing out of axis ticks", () => {
    expect(tick(200_000_000, "B/s")).toBe("200 MB/s");
    expect(tick(1_500_000_000, "B/s")).toBe("1.5 GB/s");
    expect(tick(2_000_000_000, "B/s")).toBe("2 GB/s");
    expect(tick(0.5, "ratio")).toBe("0.5 ×");
    expect(tick(0, "s/GB")).toBe("0 s/GB");
  });

  it("counts one machine and several", () => {
    expect(count(1, "machine")).toBe("1 machine");
    expect(count(3, "machine")).toBe("3 machines");
  });
});
