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
  // Without https a page has no clipboard: then the text is shown to be copied.
  if ("clipboard" in navigator) {
    await navigator.clipboard.writeText(text);
    sayCopied(menu?.querySelector("summary"));
  } else {
    prompt("The table:", text);
  }
  if (menu) menu.open = false;
}

/** On what opens the menu, which closes. */
function sayCopied(opener: HTMLElement | null | undefined): void {
  if (!opener) return;
  const words = (opener.dataset["words"] ??= opener.textContent);
  opener.textContent = "Copied";
  opener.focus();
  setTimeout(() => {
    opener.textContent = words;
  }, SAID_MS);
}

/** Rows of a table, its groups in a first column of their own; plain numbers for a spreadsheet. */
function rowsOf(table: HTMLTableElement, form: Form): string[][] {
  const titled = [...(table.tHead?.rows[0]?.cells ?? [])].filter(isData);
  const head = titled.map(textOf);
  const unit = table.dataset["unit"] ?? "";
  const grouped = table.querySelector("th[scope=rowgroup]") !== null;
  const reference = table.dataset["reference"];
  const titles = form === "tsv" ? head.flatMap((one, place) => (place ? columns(one, unit, reference) : [one])) : head;
  const full = form === "tsv" ? titled.flatMap(parts) : head;
  const rows = [grouped ? ["Group", ...full] : titles];
  for (const body of table.tBodies) {
    const group = body.querySelector("th[scope=rowgroup] bdi")?.textContent?.trim() ?? "";
    for (const row of body.rows) {
      if (row.querySelector("th[scope=rowgroup]")) continue;
      const cells = [...row.cells].filter(isData).flatMap((cell) => said(cell, form, grouped ? undefined : reference));
      rows.push(grouped ? [group, ...cells] : cells);
    }
  }
  return rows;
}

function isData(cell: Element): boolean {
  return !cell.classList.contains("bar-cell");
}

/** Titles of a spreadsheet's columns for one column of the page. */
function columns(title: string, unit: string, reference?: string): string[] {
  const ratio = `${title} / ${reference}`;
  return [`${title} (${unit})`, ...(reference === undefined ? [] : [ratio, `${ratio}, from`, `${ratio}, to`])];
}

/** The same for a column of differences beside other columns. */
function parts(title: HTMLElement): string[] {
  const text = textOf(title);
  return isDifference(title) ? [`${text} (ratio)`, `${text}, from`, `${text}, to`] : [text];
}

function isDifference(cell: Element): boolean {
  return cell.classList.contains("ratio");
}

/** A ratio and its interval for a spreadsheet, else "−6.1 % (−11 % to −4.6 %)". */
function difference(cell: HTMLElement, form: Form): string[] {
  if (form === "tsv") {
    const { ratio = "", low = "", high = "" } = cell.querySelector<HTMLElement>("[data-ratio]")?.dataset ?? {};
    return [ratio, low, high];
  }
  const [by = "", ...more] = [...cell.children].map((one) => textOf(one as HTMLElement));
  return [more.length > 0 ? `${by} (${more.join(", ")})` : by];
}

/** A cell's texts: with a reference a spreadsheet has the ratio and its interval in cells of their own. */
function said(cell: HTMLElement, form: Form, reference?: string): string[] {
  if (isDifference(cell)) return difference(cell, form);
  const exact = cell.dataset["value"];
  const ratio = cell.querySelector<HTMLElement>("b[data-ratio]");
  if (form === "tsv" && reference !== undefined && cell.tagName === "TD") {
    const { ratio: by = "", low = "", high = "" } = ratio?.dataset ?? {};
    return [exact ?? "", by, low, high];
  }
  if (exact === undefined) return [textOf(cell)];
  if (form === "tsv") return [exact];
  const figure = (cell.firstChild?.textContent ?? "").trim() || textOf(cell);
  return [ratio ? `${figure}, ${textOf(ratio)}${noise(ratio)}` : figure];
}

function noise({ dataset: { low, high } }: HTMLElement): string {
  if (low === undefined || high === undefined) return " (too few hosts to tell)";
  return Number(low) <= 1 && Number(high) >= 1 ? " (within the noise)" : "";
}

function textOf(cell: HTMLElement): string {
  return (cell.textContent ?? "").replace(/\s+/g, " ").trim();
}

/** Cells that begin like a formula get an apostrophe: names of hosts come from outside. */
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
