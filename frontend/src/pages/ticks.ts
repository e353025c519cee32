/** Hosts or runs ticked in a list stay chosen while the list is searched, sorted and turned. */

const FORM = "form[data-ticks]";
const FEWEST = 2;
const MOST = 4;

/** What is ticked, in the order of ticking: the first host is the baseline. */
const chosen = new Set<string>();

export function initTicks(): void {
  const form = document.querySelector<HTMLFormElement>(FORM);
  if (!form) return;
  // A browser that goes back ticks again what was ticked, once the page has been shown.
  addEventListener("pageshow", () => {
    for (const box of boxes(form)) if (box.checked) chosen.add(box.value);
    tell(form);
  });
  document.addEventListener("change", ({ target }) => {
    const box = target as HTMLInputElement;
    if (box.form !== form) return;
    if (box.checked) chosen.add(box.value);
    else chosen.delete(box.value);
    tell(form);
  });
  form.querySelector("[data-untick]")?.addEventListener("click", () => {
    chosen.clear();
    tickAgain();
    boxes(form)[0]?.focus();
  });
  form.addEventListener("formdata", ({ formData }) => {
    const name = form.dataset["ticks"] ?? "";
    formData.delete(name);
    for (const value of chosen) formData.append(name, value);
  });
  tell(form);
}

/** Ticks what is chosen in a list that has just been put in place. */
export function tickAgain(): void {
  const form = document.querySelector<HTMLFormElement>(FORM);
  if (!form) return;
  for (const box of boxes(form)) box.checked = chosen.has(box.value);
  tell(form);
}

function boxes(form: HTMLFormElement): HTMLInputElement[] {
  return [...form.elements].filter(
    (one): one is HTMLInputElement => one instanceof HTMLInputElement && one.type === "checkbox",
  );
}

function tell(form: HTMLFormElement): void {
  const said = form.querySelector("[data-ticked]");
  const clear = form.querySelector<HTMLElement>("[data-untick]");
  const kind = form.dataset["ticks"] ?? "";
  const count = chosen.size;
  const needed = `${FEWEST} to ${MOST}`;
  const enough = count >= FEWEST && count <= MOST;
  const button = form.querySelector<HTMLButtonElement>("button[type=submit]");
  if (button) button.disabled = !enough;
  if (said) {
    if (count === 0) said.textContent = `Tick ${needed} ${kind}s.`;
    else if (enough) said.textContent = `${count} ticked.`;
    else said.textContent = `${count} ticked, ${needed} needed.`;
  }
  if (clear) clear.hidden = count === 0;
}
