/** Forms that apply at once: each change fetches the page that it leads to. The address is the
 * state, so links, "back" and a reload show the same; the server renders all of it. */

import { formQuery } from "./query";
import { replaceFrom } from "./replace";

const FORM = "form[data-live-form]";

/** A pause of this length ends a word. */
const TYPING_MS = 250;

export function initLiveForms(): void {
  if (document.querySelector(FORM)) new LiveForms().start();
}

class LiveForms {
  private running: AbortController | null = null;
  private typing: ReturnType<typeof setTimeout> | undefined;
  private shown = placeOf(location);

  start(): void {
    document.addEventListener("change", ({ target }) => {
      const field = target as HTMLInputElement;
      if (field.form?.matches(FORM)) this.go(addressOf(field.form, field.name));
    });
    document.addEventListener("input", ({ target }) => this.type(target as HTMLInputElement));
    document.addEventListener("submit", (event) => {
      const form = event.target as HTMLFormElement;
      if (!form.matches(FORM)) return;
      event.preventDefault();
      this.go(addressOf(form, null));
    });
    document.addEventListener("click", (event) => {
      const link = (event.target as Element).closest<HTMLAnchorElement>("a[data-apply]");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.go(link.href);
    });
    document.addEventListener("click", clearCiphers);
    addEventListener("popstate", () => {
      // A link within the page changes nothing that the server would show otherwise.
      if (placeOf(location) !== this.shown) void this.show(location.href);
    });
  }

  private type(field: HTMLInputElement): void {
    const { form } = field;
    if (field.type !== "search" || !form?.matches(FORM)) return;
    clearTimeout(this.typing);
    // One entry of the history for a search, not one for each letter.
    this.typing = setTimeout(() => {
      const address = addressOf(form, field.name);
      history.replaceState(null, "", address);
      void this.show(address);
    }, TYPING_MS);
  }

  private go(address: string): void {
    clearTimeout(this.typing);
    if (placeOf(new URL(address, location.href)) === this.shown) return;
    history.pushState(null, "", address);
    void this.show(address);
  }

  private async show(address: string): Promise<void> {
    this.running?.abort();
    const mine = new AbortController();
    this.running = mine;
    this.shown = placeOf(new URL(address, location.href));
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
      if (this.running === mine) setBusy(false);
    }
  }
}

function placeOf({ pathname, search }: Location | URL): string {
  return pathname + search;
}

/** Where the form leads when the field called `changed` has changed. */
function addressOf(form: HTMLFormElement, changed: string | null): string {
  const { pathname, hash } = new URL(form.action);
  return `${pathname}?${formQuery(texts(new FormData(form)), changed)}${hash}`;
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
  for (const region of document.querySelectorAll("[data-live]:not(form)")) {
    region.setAttribute("aria-busy", String(busy));
  }
}

function tell(message: string): void {
  const status = document.getElementById("announcer");
  if (status) status.textContent = message.replace(/\s+/g, " ").trim();
}
