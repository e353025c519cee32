/** How long to wait between two looks at the server. */

const FIRST_MS = 1000;
const FACTOR = 1.6;
const MOST_BUSY_MS = 15_000;
const FIRST_IDLE_MS = 4000;
const MOST_IDLE_MS = 60_000;

/**
 * Milliseconds until the next look, after `quiet` looks in a row that brought nothing new.
 * `busy`: something is known to be under way; else something may only arrive.
 */
export function waitAfter(quiet: number, busy: boolean): number {
  const [first, most] = busy ? [FIRST_MS, MOST_BUSY_MS] : [FIRST_IDLE_MS, MOST_IDLE_MS];
  return Math.min(first * FACTOR ** quiet, most);
}
