/** On a wide screen the choices stand open beside the chart; on a phone they stay folded. */

export function initWideForm(): void {
  if (!matchMedia("(min-width: 62rem)").matches) return;
  for (const fold of document.querySelectorAll<HTMLDetailsElement>("details[data-open-wide]")) {
    fold.open = true;
  }
}
