import { describe, expect, it } from "vitest";

import { valueStart } from "./rowLabels";

const area = { left: 100, right: 600 };

describe("the value of a bar", () => {
  it("is right after its bar, also where a long whisker goes on behind it", () => {
    expect(valueStart(area, 200, 50, [])).toBe(208);
    expect(valueStart(area, 200, 50, [400])).toBe(208);
  });

  it("is beyond the cap of the whisker and the rings that it would cover", () => {
    expect(valueStart(area, 200, 50, [203])).toBe(211);
    expect(valueStart(area, 200, 50, [230])).toBe(238);
    expect(valueStart(area, 200, 50, [290, 250])).toBe(298);
    expect(valueStart(area, 200, 50, [150])).toBe(208);
  });

  it("stays inside of the chart", () => {
    expect(valueStart(area, 900, 50, [910])).toBe(608);
    expect(valueStart(area, 590, 50, [610])).toBe(598);
    expect(valueStart(area, 20, 50, [])).toBe(108);
    expect(valueStart(area, 20, 50, [60])).toBe(108);
    expect(valueStart(area, 20, 50, [110])).toBe(118);
  });
});
