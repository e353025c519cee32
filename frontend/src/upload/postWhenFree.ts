/** The server parses a few texts at a time and answers 429 to the rest: retry those. */

const BUSY = 429;
const TRIES = 20;
/** A longer Retry-After means a rate limit, not a busy parser: show that error instead. */
const MOST_SECONDS = 10;

/** `fetch` that waits for Retry-After and tries again while the server is busy parsing. */
export async function postWhenFree(address: string, request: RequestInit): Promise<Response> {
  for (let left = TRIES; ; left -= 1) {
    const response = await fetch(address, request);
    const seconds = Number(response.headers.get("Retry-After"));
    const isSoon = seconds > 0 && seconds <= MOST_SECONDS;
    if (response.status !== BUSY || !isSoon || left === 1) return response;
    await new Promise((done) => setTimeout(done, 1000 * seconds));
  }
}
