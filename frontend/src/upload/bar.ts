/** The bar of the upload page: what is under way, how far it is, and how to end it. */

import { inTurn } from "./queue";
import { type Deed, endWords, progressWords } from "./words";

interface Parts {
  bar: HTMLElement;
  status: HTMLElement;
  progress: HTMLProgressElement;
  cancel: HTMLButtonElement;
  saveAll: HTMLButtonElement;
}

type Work<Item> = (item: Item, signal: AbortSignal) => Promise<boolean>;

export class UploadBar {
  private stop = new AbortController();
  private last: Promise<unknown> = Promise.resolve();

  /** `ready` counts the cards that could be saved. */
  constructor(
    private readonly parts: Parts,
    private readonly ready: () => number,
  ) {
    parts.cancel.addEventListener("click", () => {
      this.stop.abort();
      this.stop = new AbortController();
    });
    this.rest("");
  }

  /** Do `one` for each item, after all that was begun before. */
  run<Item>(deed: Deed, items: readonly Item[], one: Work<Item>): Promise<void> {
    const { signal } = this.stop;
    const mine = this.last.then(() => this.work(deed, items, one, signal));
    // A fault in one piece of work is told by its own promise and must not stop the next.
    this.last = mine.catch(() => undefined);
    return mine;
  }

  private async work<Item>(
    deed: Deed,
    items: readonly Item[],
    one: Work<Item>,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return;
    const tell = (through: number): void => this.tell(deed, through, items.length);
    tell(0);
    const outcome = await inTurn(items, (item) => one(item, signal), tell, signal);
    this.rest(endWords(outcome, deed));
  }

  private tell(deed: Deed, through: number, total: number): void {
    const { bar, status, progress, cancel, saveAll } = this.parts;
    bar.hidden = progress.hidden = false;
    saveAll.hidden = true;
    cancel.hidden = total < 2;
    progress.max = total;
    progress.value = through;
    status.textContent = progressWords(through, total, deed);
  }

  /** Nothing is under way: say how it ended, and offer what can be done now. */
  rest(words: string): void {
    const { bar, status, progress, cancel, saveAll } = this.parts;
    const ready = this.ready();
    const focused = document.activeElement === cancel;
    status.textContent = words;
    progress.hidden = cancel.hidden = true;
    saveAll.hidden = ready < 2;
    saveAll.textContent = `Save all ${ready}`;
    bar.hidden = ready < 2 && words === "";
    if (focused) status.focus();
  }
}
