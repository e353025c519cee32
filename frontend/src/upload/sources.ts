/** Files dropped anywhere on the page, or pasted, are previewed at once. */

import { announce, sizeProblem } from "./words";

export function initSources(form: HTMLFormElement): void {
  const chosen = form.querySelector<HTMLInputElement>("#files");
  if (!chosen) return;
  const send = (files: FileList): void => {
    chosen.files = files;
    form.requestSubmit();
  };
  takeDrops(form, send);
  form.addEventListener("paste", (event) => {
    const files = event.clipboardData?.files;
    if (!files?.length) return;
    event.preventDefault();
    send(files);
  });
  form.addEventListener("submit", (event) => {
    const bytes = [...(chosen.files ?? [])].reduce((sum, file) => sum + file.size, 0);
    const problem = sizeProblem(bytes, Number(form.dataset["mostBytes"]));
    if (problem) event.preventDefault();
    announce(problem || "Reading …");
  });
  // Going back shows the page as it was left.
  addEventListener("pageshow", () => announce(""));
}

/** A drop outside the form must not leave the page. */
function takeDrops(form: HTMLFormElement, send: (files: FileList) => void): void {
  const page = document.documentElement;
  page.addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    form.classList.add("dropping");
  });
  page.addEventListener("dragleave", (event) => {
    // Moving between elements of the page is not leaving it.
    if (event.relatedTarget === null) form.classList.remove("dropping");
  });
  page.addEventListener("drop", (event) => {
    form.classList.remove("dropping");
    if (!carriesFiles(event)) return;
    event.preventDefault();
    if (event.dataTransfer) send(event.dataTransfer.files);
  });
}

function carriesFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") ?? false;
}
