/** Grey bars over a chart whose successor is slow to come; the page keeps its layout. */

/** An answer that comes sooner replaces the chart without a flicker between. */
const SLOW_MS = 120;

let timer: ReturnType<typeof setTimeout> | undefined;

/** Covers the charts of the page's live parts, soon, or uncovers them. */
export function showSkeletons(wanted: boolean): void {
  clearTimeout(timer);
  if (wanted) timer = setTimeout(cover, SLOW_MS);
  else for (const one of document.querySelectorAll(".skeleton")) one.remove();
}

function cover(): void {
  for (const box of document.querySelectorAll<HTMLElement>("[data-live] .chart-box")) {
    const figure = box.parentElement;
    if (!figure || figure.querySelector(".skeleton")) continue;
    const skeleton = document.createElement("div");
    skeleton.className = "skeleton";
    skeleton.setAttribute("aria-hidden", "true");
    skeleton.style.top = `${box.offsetTop}px`;
    skeleton.style.height = `${box.offsetHeight}px`;
    figure.append(skeleton);
  }
}
