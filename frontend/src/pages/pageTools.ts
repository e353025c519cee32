/** Actions on the whole page: copy its link, print it, close menus. */

const SAID_MS = 2000;

export function initPageTools(): void {
  document.addEventListener("click", ({ target }) => {
    const button = (target as Element).closest<HTMLButtonElement>("button");
    if (button?.dataset["copyAddress"] !== undefined) void copyAddress(button);
    if (button?.dataset["print"] !== undefined) print();
    closeMenus((menu) => !menu.contains(target as Node));
  });
  document.addEventListener("keydown", ({ key, target }) => {
    if (key !== "Escape") return;
    const menu = (target as Element).closest<HTMLDetailsElement>("details.menu[open]");
    menu?.querySelector("summary")?.focus();
    closeMenus(() => true);
  });
  initPrinting();
}

/** Open all parts of a page for print. Older browsers cannot do this by CSS (print.css). */
const CLOSED = "details:not([open], .menu, .samples, .no-print)";

function initPrinting(): void {
  let opened: HTMLDetailsElement[] = [];
  const show = (open: boolean): void => {
    for (const part of opened) part.open = open;
  };
  addEventListener("beforeprint", () => {
    opened = [...opened, ...document.querySelectorAll<HTMLDetailsElement>(CLOSED)];
    show(true);
  });
  addEventListener("afterprint", () => {
    show(false);
    opened = [];
  });
}

function closeMenus(which: (menu: HTMLDetailsElement) => boolean): void {
  for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.menu[open]")) {
    if (which(menu)) menu.open = false;
  }
}

async function copyAddress(button: HTMLButtonElement): Promise<void> {
  const words = button.textContent;
  // Without https there is no clipboard: show the URL instead.
  if ("clipboard" in navigator) {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
  } else {
    prompt("Copy the link to this view:", location.href);
  }
  setTimeout(() => {
    button.textContent = words;
  }, SAID_MS);
}
