/** Keyboard navigation over the marks of a chart. */

/**
 * Index selected by a key; -1 for no selection, null for other keys.
 *
 */
export function nextIndex(key: string, now: number, length: number): number | null {
  if (length === 0) return null;
  const forward = { ArrowDown: 1, ArrowRight: 1 }[key];
  if (forward) return now < 0 ? 0 : Math.min(now + forward, length - 1);
  const back = { ArrowUp: 1, ArrowLeft: 1 }[key];
  if (back) return Math.max(now - back, 0);
  if (key === "Home") return 0;
  if (key === "End") return length - 1;
  if (key === "Escape") return -1;
  return null;
}
