import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { postWhenFree } from "./postWhenFree";

function busy(seconds: string): Response {
  return new Response("", { status: 429, headers: { "Retry-After": seconds } });
}

describe("a form that the server has no room for", () => {
  const answers: Response[] = [];
  const sent = vi.fn(() => Promise.resolve(answers.shift() ?? busy("3")));

  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", sent);
    sent.mockClear();
    answers.length = 0;
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  it("is sent again when the server says", async () => {
    answers.push(busy("3"), busy("3"), new Response("a card"));
    const answer = postWhenFree("/upload/", {});
    await vi.advanceTimersByTimeAsync(2999);
    expect(sent).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(3001);
    expect(await (await answer).text()).toBe("a card");
    expect(sent).toHaveBeenCalledTimes(3);
  });

  it("is given up in the end", async () => {
    const answer = postWhenFree("/upload/", {});
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await answer).status).toBe(429);
    expect(sent).toHaveBeenCalledTimes(20);
  });

  it.each(["60", ""])("is not held back for longer, or for an unknown time: %j", async (wait) => {
    answers.push(busy(wait));
    expect((await postWhenFree("/upload/", {})).status).toBe(429);
    expect(sent).toHaveBeenCalledTimes(1);
  });
});
