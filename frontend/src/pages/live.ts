/** What is left to do when htmx swaps the page's main part (attributes in core/base.html): for a
 * form or link that applies at once, for one that saves, and when the page polls for news. */

import htmx, { type HtmxBeforeSwapDetails, type HtmxRequestConfig, type HtmxResponseInfo } from "htmx.org";
import { Idiomorph } from "idiomorph/htmx";

import { drawCharts, keepsChart } from "./charts";
import { tickAgain } from "./ticks";

/** What a drawn chart adds to its figure. */
const DRAWN = ["data-drawn", "style"];

Object.assign(htmx.config, {
  allowEval: false,
  defaultSettleDelay: 0,
  includeIndicatorStyles: false,
  // A refused filter is a page too.
  responseHandling: [{ code: ".*", swap: true }],
  scrollIntoViewOnBoost: false,
});
Idiomorph.defaults.callbacks.beforeNodeMorphed = (old, fresh) => !keepsChart(old, fresh);
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, element, type) =>
  !stays(name, element as HTMLInputElement, type);

/** What the reader has set up in the page and wants to find again. */
function stays(name: string, field: HTMLInputElement, type: "update" | "remove"): boolean {
  if (name === "value" && "defaultValue" in field) {
    // Newer than what the server was asked, or not yet sent.
    return field.form?.matches("[hx-boost]")
      ? field.type === "search" && field === document.activeElement
      : field.value !== field.defaultValue;
  }
  return name === "open" || (type === "remove" && DRAWN.includes(name));
}

/** Hosts of runs that are being processed, by the ids of their statuses. */
let pending = new Map<string, string>();

export function initLive(): void {
  on<HtmxRequestConfig>("htmx:configRequest", ({ verb, formData, triggeringEvent }) => {
    if (verb !== "get") return;
    const changed = triggeringEvent?.target as HTMLElement | null;
    const dropped = changed?.dataset?.["clears"]?.split(" ") ?? [];
    for (const [name, value] of [...formData]) {
      if (value === "" || dropped.includes(name)) formData.delete(name);
    }
  });
  on<HtmxResponseInfo>("htmx:beforeRequest", (request, event) => {
    // To give up a request is nothing for the console.
    Object.assign(request, { error: "" });
    const again = request.boosted && placeOf(request.pathInfo.finalRequestPath) === placeOf();
    if (again || (isPoll(request) && document.hidden)) event.preventDefault();
  });
  on<HtmxResponseInfo>("htmx:sendError", (request) => {
    if (!isPoll(request)) showWhole(request);
  });
  on<HtmxBeforeSwapDetails>("htmx:beforeSwap", (answer) => {
    const { verb, path } = answer.requestConfig;
    const { responseURL, status } = answer.xhr;
    const asked = new URL(verb === "get" ? path : location.href, location.href).pathname;
    pending = new Map(statuses().map(({ id, dataset }) => [id, dataset["pending"] ?? ""]));
    // The reader stays where they are, whatever the address names.
    answer.pathInfo.anchor = "";
    const here = new URL(responseURL).pathname === asked && status < 500;
    const polled = isPoll(answer);
    if (here && answer.serverResponse.includes('id="main"') && (status === 200 || !polled)) return;
    // Signed out, or an answer of another shape.
    answer.shouldSwap = false;
    if (status === 200 || !polled) showWhole(answer);
  });
  on<HtmxResponseInfo & { history: { type: string; path: string } }>(
    "htmx:beforeHistoryUpdate",
    ({ history, requestConfig }) => {
      // One entry of the history for a search, not one for each letter.
      if (requestConfig.triggeringEvent?.type === "input") history.type = "replace";
    },
  );
  on<{ path: string }>("htmx:historyCacheMiss", ({ path }, event) => {
    event.preventDefault();
    htmx.ajax("get", path, { event, source: "#main" }).catch(() => {});
  });
  on<HtmxResponseInfo>("htmx:afterSwap", (answer) => {
    const { elt, verb } = answer.requestConfig;
    drawCharts();
    tickAgain();
    if (verb === "post") elt.closest("details")?.removeAttribute("open");
    if (isPoll(answer)) tellDone();
    else tell(verb === "post" ? "Saved." : (document.getElementById("summary")?.textContent ?? ""));
  });
  document.addEventListener("click", clearCiphers);
  // Opens another window.
  const leave = (event: MouseEvent): void => {
    if (event.shiftKey && (event.target as Element).closest("a")) event.stopPropagation();
  };
  document.addEventListener("click", leave, true);
}

function on<Detail>(name: string, listen: (detail: Detail, event: Event) => void): void {
  document.addEventListener(name, (event) => listen((event as CustomEvent<Detail>).detail, event));
}

function placeOf(address = location.href): string {
  const { pathname, search } = new URL(address, location.href);
  return pathname + search;
}

/** Let the browser ask itself, and show the answer or its own words. */
function showWhole({ pathInfo, requestConfig: { elt, verb } }: HtmxResponseInfo): void {
  if (verb === "post") (elt as HTMLFormElement).submit();
  else location.assign(pathInfo.finalRequestPath);
}

/** Whether a timer began it, not the reader. */
function isPoll({ requestConfig }: HtmxResponseInfo): boolean {
  const event = requestConfig.triggeringEvent as Event | undefined;
  return !event || event.type === "visibilitychange";
}

function statuses(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-pending]")];
}

function tellDone(): void {
  const waiting = new Set(statuses().map(({ id }) => id));
  const words = [...pending]
    .filter(([id]) => !waiting.has(id))
    .map(([id, host]) => `The run of ${host} is ${document.getElementById(id)?.textContent ?? "done"}.`);
  if (words.length > 0) tell(words.join(" "));
}

/** "None": clears the boxes and waits for the first choice, because no cipher means the default. */
function clearCiphers(event: Event): void {
  const button = (event.target as Element).closest("[data-clear-ciphers]");
  const boxes = button?.closest("form")?.querySelectorAll<HTMLInputElement>("input[name=cipher]");
  if (!boxes) return;
  for (const box of boxes) box.checked = false;
  boxes[0]?.focus();
  tell("Select a cipher.");
}

function tell(message: string): void {
  const status = document.getElementById("announcer");
  if (status) status.textContent = message.replace(/\s+/g, " ").trim();
}
