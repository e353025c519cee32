/** Work done one after the other: with progress, past failures, until cancelled. */

export interface Outcome {
  done: number;
  failed: number;
  cancelled: boolean;
}

/**
 * Do `work` for each item in turn. It says whether it succeeded; `onStep` hears how many items are
 * through. An aborted `signal` ends it after the item at hand.
 */
export async function inTurn<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<boolean>,
  onStep: (through: number) => void,
  signal: AbortSignal,
): Promise<Outcome> {
  const outcome: Outcome = { done: 0, failed: 0, cancelled: false };
  for (const item of items) {
    if (signal.aborted) break;
    const succeeded = await work(item);
    // What was under way when it was cancelled counts neither way.
    if (signal.aborted) break;
    if (succeeded) outcome.done += 1;
    else outcome.failed += 1;
    onStep(outcome.done + outcome.failed);
  }
  return { ...outcome, cancelled: signal.aborted };
}
