/** What the server is still working on (a run, a reference profile) shows itself as it goes on. */

import { replaceFrom } from "./replace";

const EVERY_MS = 1500;
const PENDING = "[data-live] [data-pending]";

export function initLiveRun(): void {
  const pending = (): boolean => document.querySelector(PENDING) !== null;
  if (!pending()) return;
  const look = async (): Promise<void> => {
    // A page that answers a form stands at the form's address, which cannot be fetched again.
    const region = document.querySelector(PENDING)?.closest<HTMLElement>("[data-source]");
    try {
      await replaceFrom(region?.dataset.source ?? location.href);
    } catch (error) {
      // The server is away for a moment: look again later.
      if (!(error instanceof TypeError)) throw error;
    }
    if (pending()) setTimeout(() => void look(), EVERY_MS);
  };
  setTimeout(() => void look(), EVERY_MS);
}
