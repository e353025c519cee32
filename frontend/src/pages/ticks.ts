/** Keeps hosts or runs selected while their list is searched, sorted and paged. */

const FORM = "form[data-ticks]";
const FEWEST = 2;
const MOST = 4;

/** Selected keys, in the order of selection: the first host is the reference. */
const chosen = new Set<string>();

export function initTicks(): void {
  const form = document.querySelector<HTMLFormElement>(FORM);
  if (!form) return;
  // Going back restores the checkboxes after the page has been shown.
  addEventListener("pageshow", () => {
    for (const box of boxes(form)) if (box.checked) chosen.add(box.value);
    announce(form);
  });
  document.addEventListener("change", ({ target }) => {
    const box = target as HTMLInputElement;
    if (box.form !== form) return;
    if (box.checked) chosen.add(box.value);
    else chosen.delete(box.value);
    announce(form);
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
  announce(form);
}

/** Restores the selection in a replaced list. */
export function tickAgain(): void {
  const form = document.querySelector<HTMLFormElement>(FORM);
  if (!form) return;
  for (const box of boxes(form)) box.checked = chosen.has(box.value);
  announce(form);
}

function boxes(form: HTMLFormElement): HTMLInputElement[] {
  return [...form.elements].filter(
    (box): box is HTMLInputElement => box instanceof HTMLInputElement && box.type === "checkbox",
  );
}

function announce(form: HTMLFormElement): void {
  const status = form.querySelector("[data-ticked]");
  const clear = form.querySelector<HTMLElement>("[data-untick]");
  const kind = form.dataset["ticks"] ?? "";
  const count = chosen.size;
  const needed = `${FEWEST} to ${MOST}`;
  const enough = count >= FEWEST && count <= MOST;
  const button = form.querySelector<HTMLButtonElement>("button[type=submit]");
  if (button) button.disabled = !enough;
  if (status) {
    if (count === 0) status.textContent = `Select ${needed} ${kind}s.`;
    else if (enough) status.textContent = `${count} selected.`;
    else status.textContent = `${count} selected. Select ${needed} ${kind}s.`;
  }
  if (clear) clear.hidden = count === 0;
}
