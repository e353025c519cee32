/** Walking over the bars of a chart by keyboard. */

/** The index a key leads to, -1 for none selected, null for a key that means nothing here. */
export function nextIndex(key: string, now: number, length: number): number | null {
  if (length === 0) return null;
  if (key === "ArrowDown") return Math.min(now + 1, length - 1);
  if (key === "ArrowUp") return Math.max(now - 1, 0);
  if (key === "Home") return 0;
  if (key === "End") return length - 1;
  if (key === "Escape") return -1;
  return null;
}
