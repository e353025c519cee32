/** The upload page: texts are read one after the other as they come, and saved so. */

import { UploadBar } from "./bar";
import {
  cardForm,
  cardName,
  cardsIn,
  fetchCard,
  focusCard,
  focusFault,
  nextCardNumber,
  problemCard,
  takePlace,
} from "./cards";
import { takeDrops } from "./drop";
import { sizeProblem } from "./words";

/** More cards than this at once come folded, so that the page keeps a shape. */
const OPEN_CARDS = 3;
const PASTED = "Pasted text";

/** Calls `lookSoon` after each saved text, because the server is then processing its runs. */
export function initUpload(lookSoon: () => void): void {
  const form = document.querySelector<HTMLFormElement>("#upload-form");
  if (form) new UploadPage(form, lookSoon).start();
}

function element<Kind extends HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the upload page has no #${id}`);
  return found as Kind;
}

class UploadPage {
  private readonly text = element<HTMLTextAreaElement>("text");
  private readonly files = element<HTMLInputElement>("files");
  private readonly cards = element("upload-cards");
  private readonly status = element("upload-status");
  private readonly saveAll = element<HTMLButtonElement>("upload-save-all");
  private readonly bar: UploadBar;
  /** The card of what stands in the text area, until it is saved. */
  private pasted: HTMLElement | null = null;

  constructor(
    private readonly form: HTMLFormElement,
    private readonly lookSoon: () => void,
  ) {
    const progress = element<HTMLProgressElement>("upload-progress");
    const cancel = element<HTMLButtonElement>("upload-cancel");
    const { status, saveAll } = this;
    const parts = { bar: element("upload-bar"), status, progress, cancel, saveAll };
    this.bar = new UploadBar(parts, () => cardsIn("ready").length);
  }

  start(): void {
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.readPasted().then(() => this.pasted && focusCard(this.pasted));
    });
    this.files.addEventListener("change", () => this.takeChosen());
    this.text.addEventListener("paste", (event) => this.takePasted(event));
    takeDrops(document.documentElement, this.form, (dropped) => void this.readFiles(dropped));
    this.cards.addEventListener("submit", (event) => void this.submitCard(event));
    this.cards.addEventListener("click", (event) => this.discard(event));
    this.saveAll.addEventListener("click", () => void this.saveEvery());
  }

  private takeChosen(): void {
    const chosen = [...(this.files.files ?? [])];
    // Chosen files are read now; the button would read them a second time.
    this.files.value = "";
    void this.readFiles(chosen);
  }

  /** Text is read once it stands in the field; pasted files are files. */
  private takePasted(event: ClipboardEvent): void {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0) {
      setTimeout(() => void this.readPasted(), 0);
      return;
    }
    event.preventDefault();
    void this.readFiles(files);
  }

  private readFiles(files: readonly File[]): Promise<void> {
    const folded = files.length > OPEN_CARDS;
    return this.bar.run("read", files, async (file, signal) => {
      const card = await this.readCard("files", file, file.name, folded, signal);
      if (!signal.aborted) this.cards.append(card);
      return card.dataset["card"] === "ready";
    });
  }

  private readPasted(): Promise<void> {
    return this.bar.run("read", [this.text.value], async (text, signal) => {
      const card = await this.readCard("text", new Blob([text]), PASTED, false, signal);
      if (signal.aborted) return false;
      if (this.pasted?.isConnected) this.pasted.replaceWith(card);
      else this.cards.append(card);
      this.pasted = card;
      return card.dataset["card"] === "ready";
    });
  }

  /** The card of a text, which goes as a file in any case: fields have a smaller limit. */
  private async readCard(
    field: "text" | "files",
    content: Blob,
    name: string,
    folded: boolean,
    signal: AbortSignal,
  ): Promise<HTMLElement> {
    const problem = sizeProblem(content.size, Number(this.form.dataset["mostBytes"]));
    if (problem) return problemCard(name, problem);
    const form = new FormData(this.form);
    form.delete("files");
    form.delete("text");
    form.set(field, content, name);
    form.set("card", nextCardNumber());
    if (folded) form.set("folded", "1");
    return fetchCard(this.form.action, form, name, signal);
  }

  private async submitCard(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const card = (event.target as Element).closest<HTMLElement>(".upload-card");
    if (!card) return;
    const again = event.submitter?.hasAttribute("data-again") ?? false;
    let fresh = card;
    await this.bar.run(again ? "read" : "saved", [card], async (shown, signal) => {
      fresh = await this.exchange(shown, again, signal);
      return fresh !== shown && fresh.dataset["card"] === (again ? "ready" : "saved");
    });
    focusCard(fresh);
  }

  private async saveEvery(): Promise<void> {
    await this.bar.run("saved", cardsIn("ready"), async (card, signal) => {
      const fresh = await this.exchange(card, false, signal);
      return fresh.dataset["card"] === "saved";
    });
    if (!focusFault(this.cards)) this.status.focus();
  }

  /** Send a card's form. The card that stands there afterwards: the answer, or the card itself. */
  private async exchange(
    card: HTMLElement,
    again: boolean,
    signal: AbortSignal,
  ): Promise<HTMLElement> {
    const form = card.querySelector("form");
    if (!form) return card;
    const address = again ? this.form.action : form.action;
    const answer = await fetchCard(address, cardForm(form), cardName(card), signal);
    if (signal.aborted) return card;
    const fresh = takePlace(card, answer);
    if (fresh === answer) this.lookSoon();
    if (card === this.pasted) this.keepPasted(fresh);
    return fresh;
  }

  /** What is saved is no longer "what stands in the text area": the next text gets a new card. */
  private keepPasted(fresh: HTMLElement): void {
    const saved = fresh.dataset["card"] === "saved";
    this.pasted = saved ? null : fresh;
    if (saved) this.text.value = "";
  }

  private discard(event: MouseEvent): void {
    const button = (event.target as Element).closest("[data-discard]");
    const card = button?.closest<HTMLElement>(".upload-card");
    if (!card) return;
    const next = card.nextElementSibling ?? card.previousElementSibling;
    card.remove();
    if (next instanceof HTMLElement) focusCard(next);
    else this.text.focus();
    this.bar.rest("");
  }
}
