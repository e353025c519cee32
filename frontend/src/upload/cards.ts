/** Cards of the upload page: asked for from the server, put into the page, taken out of it. */

import { postWhenFree } from "./postWhenFree";
import { answerProblem, UNREACHABLE } from "./words";

/** Cards that came with the page are counted from 1, and a form has at most a hundred files. */
let cardsSoFar = 1000;

/** A number for a card's elements that no other card of this page has. */
export function nextCardNumber(): string {
  cardsSoFar += 1;
  return String(cardsSoFar);
}

/** The card that the server answers a form with; of a failure, one that says what happened. */
export async function fetchCard(
  address: string,
  form: FormData,
  name: string,
  signal: AbortSignal,
): Promise<HTMLElement> {
  try {
    const response = await postWhenFree(address, {
      method: "POST",
      body: form,
      credentials: "same-origin",
      headers: { "X-Ciphermark-Fragment": "1" },
      signal,
    });
    const html = new DOMParser().parseFromString(await response.text(), "text/html");
    const card = response.redirected ? null : html.querySelector<HTMLElement>(".upload-card");
    return card ?? problemCard(name, answerProblem(response.status, response.redirected));
  } catch (error) {
    // Without a network, or with a file that vanished, `fetch` fails; and so it does when cancelled.
    if (error instanceof TypeError || error instanceof DOMException) {
      return problemCard(name, UNREACHABLE);
    }
    throw error;
  }
}

/** A card that says why a text could not be read. */
export function problemCard(name: string, problem: string): HTMLElement {
  const template = document.querySelector<HTMLTemplateElement>("#upload-problem");
  const card = template?.content.firstElementChild?.cloneNode(true);
  if (!(card instanceof HTMLElement)) throw new Error("the page has no template for a problem");
  put(card, "h2 bdi", name);
  put(card, "[data-problem]", problem);
  return card;
}

function put(card: HTMLElement, selector: string, words: string): void {
  const element = card.querySelector(selector);
  if (element) element.textContent = words;
}

/** The form of a card as the server takes it, the text as a file: fields have a smaller limit. */
export function cardForm(form: HTMLFormElement): FormData {
  const data = new FormData(form);
  const packed = data.get("packed");
  if (typeof packed === "string") data.set("packed", new Blob([packed]), "packed");
  return data;
}

/**
 * Put the answer in a card's place. An answer without the text would lose what the reader typed:
 * then the card stays, and says what went wrong. Returns what stands there now.
 */
export function takePlace(card: HTMLElement, answer: HTMLElement): HTMLElement {
  card.querySelector("[data-problem]")?.remove();
  if (answer.dataset["card"] === "saved" || answer.querySelector("form")) {
    card.replaceWith(answer);
    return answer;
  }
  const problem = answer.querySelector("[data-problem]");
  if (problem) card.querySelector(".upload-head")?.after(problem);
  return card;
}

/** The name that a card shows. */
export function cardName(card: HTMLElement): string {
  return card.querySelector("h2")?.textContent?.trim() ?? "";
}

/** Cards in one state, in their order. */
export function cardsIn(state: "ready" | "bad" | "saved"): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(`.upload-card[data-card="${state}"]`)];
}

/** Bring a card to the reader who asked for it: the field that needs an answer, or its start. */
export function focusCard(card: HTMLElement): void {
  if (!focusFault(card)) card.querySelector<HTMLElement>("h2")?.focus();
}

/** Bring the first field with a fault to the reader; whether there is one. */
export function focusFault(among: HTMLElement): boolean {
  const field = among.querySelector<HTMLElement>('[aria-invalid="true"]');
  field?.focus();
  return field !== null;
}
