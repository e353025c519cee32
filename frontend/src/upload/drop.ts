/** Files dropped anywhere on the page; a drop beside the mark must not leave the page. */

export function takeDrops(
  everywhere: HTMLElement,
  marked: HTMLElement,
  take: (files: File[]) => void,
): void {
  everywhere.addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    marked.classList.add("dropping");
  });
  everywhere.addEventListener("dragleave", (event) => {
    // Leaving one element for another within the page is no leaving.
    if (event.relatedTarget === null) marked.classList.remove("dropping");
  });
  everywhere.addEventListener("drop", (event) => {
    marked.classList.remove("dropping");
    if (!carriesFiles(event)) return;
    event.preventDefault();
    take([...(event.dataTransfer?.files ?? [])]);
  });
}

function carriesFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") ?? false;
}
