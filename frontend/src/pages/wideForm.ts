/** On a wide screen the choices stand open beside the chart; on a phone they stay folded. The style
 * sheet shows them until this has run, so that nothing moves when it does. */

export function initWideForm(): void {
  if (matchMedia("(min-width: 62rem)").matches) {
    for (const fold of document.querySelectorAll<HTMLDetailsElement>("details[data-open-wide]")) {
      fold.open = true;
    }
  }
  document.documentElement.classList.add("started");
}
