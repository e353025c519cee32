import { describe, expect, it } from "vitest";

import { inTurn } from "./queue";

const never = new AbortController().signal;

describe("work done in turn", () => {
  it("does one after the other, in order, and tells each step", async () => {
    const log: string[] = [];
    const work = async (item: string): Promise<boolean> => {
      log.push(`${item} begun`);
      await new Promise((done) => setTimeout(done, 1));
      log.push(`${item} ended`);
      return true;
    };
    const steps: number[] = [];
    const outcome = await inTurn(["a", "b"], work, (step) => steps.push(step), never);
    expect(log).toEqual(["a begun", "a ended", "b begun", "b ended"]);
    expect(steps).toEqual([1, 2]);
    expect(outcome).toEqual({ done: 2, failed: 0, cancelled: false });
  });

  it("continues after a failure", async () => {
    const outcome = await inTurn(
      [1, 2, 3],
      async (item) => item !== 2,
      () => undefined,
      never,
    );
    expect(outcome).toEqual({ done: 2, failed: 1, cancelled: false });
  });

  it("ends when it is cancelled, not counting what was under way", async () => {
    const stop = new AbortController();
    const seen: number[] = [];
    const work = async (item: number): Promise<boolean> => {
      seen.push(item);
      if (item === 2) stop.abort();
      return true;
    };
    const outcome = await inTurn([1, 2, 3], work, () => undefined, stop.signal);
    expect(seen).toEqual([1, 2]);
    expect(outcome).toEqual({ done: 1, failed: 0, cancelled: true });
  });

  it("has nothing to do for nothing", async () => {
    const outcome = await inTurn([], async () => true, () => undefined, never);
    expect(outcome).toEqual({ done: 0, failed: 0, cancelled: false });
  });
});
