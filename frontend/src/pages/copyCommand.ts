/** Buttons that copy the command beside them. */

export function initCopyCommand(): void {
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLButtonElement>("button[data-copy]");
    const source = document.getElementById(button?.dataset["copy"] ?? "");
    if (button && source) void copy(button, source);
  });
}

async function copy(button: HTMLButtonElement, source: HTMLElement): Promise<void> {
  // Without https there is no clipboard: select the text instead.
  if ("clipboard" in navigator) {
    await navigator.clipboard.writeText(source.textContent?.trim() ?? "");
    button.textContent = "Copied";
  } else {
    getSelection()?.selectAllChildren(source);
    button.textContent = "Selected";
  }
  setTimeout(() => {
    button.textContent = "Copy";
  }, 2000);
}
