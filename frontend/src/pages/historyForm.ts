/** The history's form applies at once; the address holds the choice. */

import { replaceFrom } from "./replace";

export function initHistoryForm(): void {
  const section = document.getElementById("history");
  if (!section) return;
  let running: AbortController | null = null;

  const show = async (address: string): Promise<void> => {
    running?.abort();
    const mine = new AbortController();
    running = mine;
    section.setAttribute("aria-busy", "true");
    try {
      await replaceFrom(address, mine.signal);
    } catch (error) {
      if (mine.signal.aborted) return;
      // The network failed: let the browser say so in its own words.
      if (error instanceof TypeError) location.assign(address);
      else throw error;
    } finally {
      if (running === mine) section.setAttribute("aria-busy", "false");
    }
  };

  const go = (form: HTMLFormElement): void => {
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (typeof value === "string" && value !== "") query.append(name, value);
    }
    const address = `${location.pathname}?${query}#history`;
    history.pushState(null, "", address);
    void show(address);
  };

  section.addEventListener("change", ({ target }) => {
    const form = (target as HTMLSelectElement).form;
    if (form) go(form);
  });
  section.addEventListener("submit", (event) => {
    event.preventDefault();
    go(event.target as HTMLFormElement);
  });
  addEventListener("popstate", () => void show(location.href));
}
