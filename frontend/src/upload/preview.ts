/** The preview: select all of a section, join sections, count, and save without leaving the page. */

import { answerProblem, resultsOf, saveWords, announce, UNREACHABLE } from "./words";

const FORM = "form#preview-form";
const BOXES = "input[type=checkbox][name]";
const TOKEN = "input[name=csrfmiddlewaretoken]";

export function initPreview(): void {
  document.addEventListener("change", ({ target }) => {
    const field = target as HTMLInputElement;
    if (!field.form?.matches(FORM)) return;
    if (field.matches("[data-all]")) {
      for (const box of boxesOf(field.closest("[data-section]"))) box.checked = field.checked;
    }
    refresh();
  });
  document.addEventListener("submit", (event) => {
    const form = event.target as HTMLFormElement;
    if (!form.matches(FORM) || event.submitter?.hasAttribute("formaction")) return;
    event.preventDefault();
    void save(form, event.submitter as HTMLButtonElement);
  });
  // Going back restores the checkboxes after the page has been shown.
  addEventListener("pageshow", refresh);
}

function boxesOf(part: Element | null): HTMLInputElement[] {
  return [...(part?.querySelectorAll<HTMLInputElement>(BOXES) ?? [])];
}

/** Update the page for the checkboxes and joins. */
function refresh(): void {
  const form = document.querySelector<HTMLFormElement>(FORM);
  for (const section of form?.querySelectorAll<HTMLElement>("[data-section]") ?? []) {
    const boxes = boxesOf(section);
    const ticked = boxes.filter((box) => box.checked).length;
    const all = section.querySelector<HTMLInputElement>("[data-all]");
    if (all) {
      all.checked = ticked === boxes.length;
      all.indeterminate = ticked > 0 && ticked < boxes.length;
    }
    const facts = section.querySelector<HTMLElement>("[data-facts]");
    if (facts) facts.hidden = Boolean(section.querySelector<HTMLSelectElement>("select")?.value);
  }
  const button = form?.querySelector<HTMLButtonElement>("[data-save]");
  if (!form || !button) return;
  const ticked = boxesOf(form).filter((box) => box.checked);
  const results = ticked.map((box) => resultsOf(box.value, box.dataset["results"]));
  button.textContent = saveWords(results.reduce((sum, number) => sum + number, 0));
  button.disabled = ticked.length === 0;
}

/** Save by `fetch`, so that a failure keeps all input in the page. */
async function save(form: HTMLFormElement, button: HTMLButtonElement): Promise<void> {
  button.disabled = true;
  announce("Saving …");
  try {
    let answer = await post(form, button);
    if (answer.status === 403 && (await renewToken(form))) answer = await post(form, button);
    await show(form, answer);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    announce(UNREACHABLE);
  } finally {
    button.disabled = false;
  }
}

function post(form: HTMLFormElement, button: HTMLButtonElement): Promise<Response> {
  const body = new FormData(form);
  body.set(button.name, button.value);
  return fetch(form.action, { method: "POST", body, credentials: "same-origin" });
}

/** Signing in again in another tab changes the token. */
async function renewToken(form: HTMLFormElement): Promise<boolean> {
  const page = parse(await (await fetch(location.pathname)).text());
  const replacement = page.querySelector<HTMLInputElement>(TOKEN);
  const token = form.querySelector<HTMLInputElement>(TOKEN);
  if (replacement && token) token.value = replacement.value;
  return replacement !== null;
}

async function show(form: HTMLFormElement, answer: Response): Promise<void> {
  if (new URL(answer.url).searchParams.has("saved")) return location.assign(answer.url);
  const page = parse(await answer.text());
  const replacement = answer.redirected ? null : page.querySelector(FORM);
  if (replacement) {
    form.replaceWith(replacement);
    refresh();
    const fault = replacement.querySelector<HTMLElement>("[aria-invalid=true]");
    (fault ?? replacement.querySelector<HTMLElement>("#upload-problem"))?.focus();
    return;
  }
  const problem = answer.redirected ? null : page.getElementById("upload-problem");
  announce(problem?.textContent ?? answerProblem(answer.status, answer.redirected));
}

function parse(html: string): Document {
  return new DOMParser().parseFromString(html, "text/html");
}
