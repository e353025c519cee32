/** The server reads a few texts at a time: a form that comes too early is sent again. */

const BUSY = 429;
const TRIES = 20;
/** Longer waits are for who sent too many requests: the reader is told instead. */
const MOST_SECONDS = 10;

/** As `fetch`; while the server is busy with other texts it waits as long as it is told to. */
export async function postWhenFree(address: string, request: RequestInit): Promise<Response> {
  for (let left = TRIES; ; left -= 1) {
    const response = await fetch(address, request);
    const seconds = Number(response.headers.get("Retry-After"));
    const isSoon = seconds > 0 && seconds <= MOST_SECONDS;
    if (response.status !== BUSY || !isSoon || left === 1) return response;
    await new Promise((done) => setTimeout(done, 1000 * seconds));
  }
}
