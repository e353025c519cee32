/** Complete htmx's swaps of the page's main part (attributes in core/base.html): for forms and
 * links that apply at once, for forms that save, and for polls. */

import htmx, { type HtmxBeforeSwapDetails, type HtmxRequestConfig, type HtmxResponseInfo } from "htmx.org";
import { Idiomorph } from "idiomorph/htmx";

import { drawCharts, keepsChart } from "./charts";
import { tickAgain } from "./ticks";

/** Attributes that a drawn chart adds to its figure. */
const DRAWN = ["data-drawn", "style"];

Object.assign(htmx.config, {
  allowEval: false,
  defaultSettleDelay: 0,
  includeIndicatorStyles: false,
  // An error response is also a page.
  responseHandling: [{ code: ".*", swap: true }],
  scrollIntoViewOnBoost: false,
});
Idiomorph.defaults.callbacks.beforeNodeMorphed = (oldNode, newNode) => !keepsChart(oldNode, newNode);
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, element, type) =>
  !stays(name, element as HTMLInputElement, type);

/** Whether an attribute is a choice of the user, which a swap must not change. */
function stays(name: string, field: HTMLInputElement, type: "update" | "remove"): boolean {
  if (name === "value" && "defaultValue" in field) {
    // The value is newer than the request, or not submitted yet.
    return field.form?.matches("[hx-boost]")
      ? field.type === "search" && field === document.activeElement
      : field.value !== field.defaultValue;
  }
  return name === "open" || (type === "remove" && DRAWN.includes(name));
}

/** Hosts of runs that are being processed, by the IDs of their status elements. */
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
    // Do not log aborted requests to the console.
    Object.assign(request, { error: "" });
    const again = request.boosted && placeOf(request.pathInfo.finalRequestPath) === placeOf();
    if (again || (isPoll(request) && document.hidden)) event.preventDefault();
  });
  on<HtmxResponseInfo>("htmx:sendError", (request) => {
    if (!isPoll(request)) showWhole(request);
  });
  on<HtmxBeforeSwapDetails>("htmx:beforeSwap", (response) => {
    const { verb, path } = response.requestConfig;
    const { responseURL, status } = response.xhr;
    const requestedPath = new URL(verb === "get" ? path : location.href, location.href).pathname;
    pending = new Map(statuses().map(({ id, dataset }) => [id, dataset["pending"] ?? ""]));
    // Keep the scroll position, whatever the anchor of the URL.
    response.pathInfo.anchor = "";
    const here = new URL(responseURL).pathname === requestedPath && status < 500;
    const polled = isPoll(response);
    if (here && response.serverResponse.includes('id="main"') && (status === 200 || !polled)) return;
    // The user was signed out, or the response has no main part.
    response.shouldSwap = false;
    if (status === 200 || !polled) showWhole(response);
  });
  on<HtmxResponseInfo & { history: { type: string; path: string } }>(
    "htmx:beforeHistoryUpdate",
    ({ history, requestConfig }) => {
      // Add one history entry for a search, not one for each letter.
      if (requestConfig.triggeringEvent?.type === "input") history.type = "replace";
    },
  );
  on<{ path: string }>("htmx:historyCacheMiss", ({ path }, event) => {
    event.preventDefault();
    htmx.ajax("get", path, { event, source: "#main" }).catch(() => {});
  });
  on<HtmxResponseInfo>("htmx:afterSwap", (response) => {
    const { elt, verb } = response.requestConfig;
    drawCharts();
    tickAgain();
    if (verb === "post") elt.closest("details")?.removeAttribute("open");
    if (isPoll(response)) announceFinishedRuns();
    else announce(verb === "post" ? "Saved." : (document.getElementById("summary")?.textContent ?? ""));
  });
  document.addEventListener("click", clearCiphers);
  // Shift-click opens another window.
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

/** Let the browser send the request, and show the response or its own error page. */
function showWhole({ pathInfo, requestConfig: { elt, verb } }: HtmxResponseInfo): void {
  if (verb === "post") (elt as HTMLFormElement).submit();
  else location.assign(pathInfo.finalRequestPath);
}

/** Whether a timer, not the user, sent the request. */
function isPoll({ requestConfig }: HtmxResponseInfo): boolean {
  const event = requestConfig.triggeringEvent as Event | undefined;
  return !event || event.type === "visibilitychange";
}

function statuses(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-pending]")];
}

function announceFinishedRuns(): void {
  const waiting = new Set(statuses().map(({ id }) => id));
  const words = [...pending]
    .filter(([id]) => !waiting.has(id))
    .map(([id, host]) => `The run on ${host} is ${document.getElementById(id)?.textContent ?? "done"}.`);
  if (words.length > 0) announce(words.join(" "));
}

/** Clear all boxes ("None") without submitting, because no cipher means the default. */
function clearCiphers(event: Event): void {
  const button = (event.target as Element).closest("[data-clear-ciphers]");
  const boxes = button?.closest("form")?.querySelectorAll<HTMLInputElement>("input[name=cipher]");
  if (!boxes) return;
  for (const box of boxes) box.checked = false;
  boxes[0]?.focus();
  announce("Select at least one cipher.");
}

function announce(message: string): void {
  const status = document.getElementById("announcer");
  if (status) status.textContent = message.replace(/\s+/g, " ").trim();
}
