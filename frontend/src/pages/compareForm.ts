/** The compare form applies at once: each change fetches the page it leads to. */

import { formQuery } from "./query";
import { replaceFrom } from "./replace";

const FORM = "compare-form";

/** A pause of this length ends a word. */
const TYPING_MS = 250;

export function initCompareForm(): void {
  const page = document.getElementById("compare");
  if (!page) return;
  let running: AbortController | null = null;

  const show = async (address: string): Promise<void> => {
    running?.abort();
    const mine = new AbortController();
    running = mine;
    setBusy(true);
    try {
      await replaceFrom(address, mine.signal);
      tell(document.getElementById("summary")?.textContent ?? "");
    } catch (error) {
      if (mine.signal.aborted) return;
      // The network failed: let the browser say so in its own words.
      if (error instanceof TypeError) location.assign(address);
      else throw error;
    } finally {
      if (running === mine) setBusy(false);
    }
  };

  const go = (address: string): void => {
    clearTimeout(typing);
    if (address === `${location.pathname}${location.search}`) return;
    history.pushState(null, "", address);
    void show(address);
  };

  let typing: ReturnType<typeof setTimeout> | undefined;
  page.addEventListener("change", ({ target }) => {
    const field = target as HTMLInputElement;
    if (field.form?.id === FORM) go(addressOf(field.form, field.name));
  });
  page.addEventListener("input", ({ target }) => {
    const field = target as HTMLInputElement;
    const { form } = field;
    if (field.type !== "search" || form?.id !== FORM) return;
    clearTimeout(typing);
    // One entry of the history for a search, not one for each letter.
    typing = setTimeout(() => {
      const address = addressOf(form, field.name);
      history.replaceState(null, "", address);
      void show(address);
    }, TYPING_MS);
  });
  page.addEventListener("submit", (event) => {
    const form = event.target as HTMLFormElement;
    if (form.id !== FORM) return;
    event.preventDefault();
    go(addressOf(form, null));
  });
  page.addEventListener("click", (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>("a[data-apply]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(link.href);
  });
  page.addEventListener("click", clearCiphers);
  addEventListener("popstate", () => void show(location.href));
}

/** Where the form leads when the field called `changed` has changed. */
function addressOf(form: HTMLFormElement, changed: string | null): string {
  return `${location.pathname}?${formQuery(texts(new FormData(form)), changed)}`;
}

function texts(fields: FormData): [string, string][] {
  return [...fields].filter((field): field is [string, string] => typeof field[1] === "string");
}

/** "None": clears the boxes and waits for the first choice, because no cipher means the default. */
function clearCiphers(event: Event): void {
  const button = (event.target as Element).closest("[data-clear-ciphers]");
  const boxes = button?.closest("form")?.querySelectorAll<HTMLInputElement>("input[name=cipher]");
  if (!boxes) return;
  for (const box of boxes) box.checked = false;
  boxes[0]?.focus();
  tell("No cipher chosen yet: choose the first.");
}

function setBusy(busy: boolean): void {
  document.getElementById("results")?.setAttribute("aria-busy", String(busy));
}

function tell(message: string): void {
  const status = document.getElementById("announcer");
  if (status) status.textContent = message.replace(/\s+/g, " ").trim();
}
