/** A run that is being processed shows itself when it is ready. */

import { replaceFrom } from "./replace";

const EVERY_MS = 1500;

export function initLiveRun(): void {
  const run = document.getElementById("run");
  if (!run?.querySelector("[data-pending]")) return;
  const look = async (): Promise<void> => {
    try {
      await replaceFrom(location.href);
    } catch (error) {
      // The server is away for a moment: look again later.
      if (!(error instanceof TypeError)) throw error;
    }
    if (run.querySelector("[data-pending]")) setTimeout(() => void look(), EVERY_MS);
  };
  setTimeout(() => void look(), EVERY_MS);
}
