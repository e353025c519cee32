/** Takes a part of a freshly fetched page into this one, so that the reader notices only news. */

import { drawCharts } from "./charts";
import { tickAgain } from "./ticks";

/** What the reader has set up in the page and wants to find again. */
interface Place {
  focus: string | null;
  open: Map<string, boolean>;
  scroll: Map<string, number>;
  /** The text field in use: its text now is newer than what the server was asked. */
  typed: { id: string; value: string; from: number | null; to: number | null } | null;
}

/** Fetch `address` and replace the children of each element with `data-live` by its new ones. */
export async function replaceFrom(address: string, signal?: AbortSignal): Promise<void> {
  const response = await fetch(address, {
    headers: { Accept: "text/html" },
    credentials: "same-origin",
    ...(signal ? { signal } : {}),
  });
  const arrived = new DOMParser().parseFromString(await response.text(), "text/html");
  const regions = [...document.querySelectorAll<HTMLElement>("[data-live]")];
  const fresh = regions.map(({ id }) => arrived.getElementById(id));
  if (response.redirected || fresh.some((region) => region === null)) {
    // Signed out, or an answer of another shape: let the browser show it whole.
    location.assign(address);
    return;
  }
  // Reading a long page is one turn's work, and laying it out another's.
  await nextFrame();
  if (signal?.aborted) return;
  const place = remember();
  regions.forEach((region, index) => {
    region.replaceChildren(...(fresh[index]?.childNodes ?? []));
  });
  document.title = arrived.title;
  restore(place);
  drawCharts();
  tickAgain();
}

/** After the next picture, and what the reader did meanwhile. */
function nextFrame(): Promise<void> {
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    // A page in the background has no frames.
    if (document.hidden) setTimeout(done);
  });
}

function remember(): Place {
  const active = document.activeElement;
  const inUse = active instanceof HTMLInputElement && active.type === "search" ? active : null;
  return {
    focus: active?.id || null,
    typed: inUse && {
      id: inUse.id,
      value: inUse.value,
      from: inUse.selectionStart,
      to: inUse.selectionEnd,
    },
    open: new Map(
      [...document.querySelectorAll<HTMLDetailsElement>("details[id]")].map((d) => [d.id, d.open]),
    ),
    scroll: new Map(
      [...document.querySelectorAll<HTMLElement>("[data-keep-scroll]")].map((e) => [
        e.id,
        e.scrollTop,
      ]),
    ),
  };
}

function restore({ focus, open, scroll, typed }: Place): void {
  for (const [id, state] of open) {
    const details = document.getElementById(id);
    if (details instanceof HTMLDetailsElement) details.open = state;
  }
  for (const [id, top] of scroll) {
    const element = document.getElementById(id);
    if (element) element.scrollTop = top;
  }
  const focused = focus ? document.getElementById(focus) : null;
  focused?.focus({ preventScroll: true });
  // A chart takes the focus when it is drawn.
  const figure = focused?.closest<HTMLElement>("figure");
  if (figure && focused !== document.activeElement) figure.dataset["refocus"] = "";
  const field = typed && document.getElementById(typed.id);
  if (typed && field instanceof HTMLInputElement) {
    field.value = typed.value;
    field.setSelectionRange(typed.from, typed.to);
  }
}
