/** Buttons that copy the page's table: for a spreadsheet, or as Markdown. */

const SAID_MS = 2000;

export type Form = "tsv" | "markdown";

export function initCopyTable(): void {
  document.addEventListener("click", ({ target }) => {
    const button = (target as Element).closest<HTMLButtonElement>("button[data-copy-table]");
    const table = document.querySelector<HTMLTableElement>("#comparison-table");
    if (button && table) void copy(button, table);
  });
}

async function copy(button: HTMLButtonElement, table: HTMLTableElement): Promise<void> {
  const form = button.dataset["copyTable"] as Form;
  const text = written(rowsOf(table, form), form);
  const menu = button.closest("details");
  // Without https there is no clipboard: show the text instead.
  if ("clipboard" in navigator) {
    await navigator.clipboard.writeText(text);
    sayCopied(menu?.querySelector("summary"));
  } else {
    prompt("Copy the table:", text);
  }
  if (menu) menu.open = false;
}

/** Shown on the button of the menu, which closes. */
function sayCopied(opener: HTMLElement | null | undefined): void {
  if (!opener) return;
  const words = (opener.dataset["words"] ??= opener.textContent);
  opener.textContent = "Copied";
  opener.focus();
  setTimeout(() => {
    opener.textContent = words;
  }, SAID_MS);
}

/** Rows of a table; plain numbers for a spreadsheet, with n and quartiles beside each value. */
function rowsOf(table: HTMLTableElement, form: Form): string[][] {
  const { unit = "", reference } = table.dataset;
  const head = [...(table.tHead?.rows[0]?.cells ?? [])];
  const isFigure = (cell: Element): boolean => cell.hasAttribute("title") && cell.tagName === "TH";
  const titles = head.flatMap((cell) =>
    form === "tsv" && isFigure(cell) ? columns(cell.title, unit, reference) : [cell.title || textOf(cell)],
  );
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
  return [titles, ...rows.map((row) => [...row.cells].flatMap((cell) => texts(cell, form, reference)))];
}

/** Titles of a spreadsheet's columns for one cipher. */
function columns(cipher: string, unit: string, reference?: string): string[] {
  const own = [`${cipher} (${unit})`, `${cipher}, n`, `${cipher}, q1`, `${cipher}, q3`];
  const ratio = `${cipher} / ${reference}`;
  return reference === undefined ? own : [...own, ratio, `${ratio}, from`, `${ratio}, to`];
}

function texts(cell: HTMLElement, form: Form, reference?: string): string[] {
  const { value, n = "", q1 = "", q3 = "" } = cell.dataset;
  const isFigure = value !== undefined || textOf(cell) === "–";
  if (!isFigure) return [textOf(cell.querySelector("bdi") ?? cell)];
  if (form === "markdown") return [textOf(cell)];
  const { ratio = "", low = "", high = "" } = cell.querySelector<HTMLElement>("[data-ratio]")?.dataset ?? {};
  return [value ?? "", n, q1, q3, ...(reference === undefined ? [] : [ratio, low, high])];
}

function textOf(cell: Element): string {
  return (cell.textContent ?? "").replace(/\s+/g, " ").trim();
}

/** Cells that begin like a formula get an apostrophe: host names are not trusted. */
export function written(rows: string[][], form: Form): string {
  if (form === "tsv") return rows.map((row) => row.map(inert).join("\t")).join("\n");
  const [head = [], ...rest] = rows.map((row) => `| ${row.map(escaped).join(" | ")} |`);
  return [head, `|${(rows[0] ?? []).map(() => "---|").join("")}`, ...rest].join("\n");
}

function inert(cell: string): string {
  const plain = cell.replace(/[\t\r\n]/g, " ");
  return /^[=+@]|^-(?![\d.])/.test(plain) ? `'${plain}` : plain;
}

function escaped(cell: string): string {
  return cell.replace(/[\\|<>`*_[\]]/g, "\\$&").replace(/[\r\n]/g, " ");
}
