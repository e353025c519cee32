/** The menu of a mark: what can be done with its group and its cipher, as the server offers it. */

import type { Choice, Choices, Group } from "../comparison";
import type { AnyChart, BuiltChart } from "./built";
import { shorten } from "./words";

/** A group's key and its words; of a comparison that is split also the key of the split. */
export interface ChosenGroup {
  key: string;
  label: string;
  split?: string;
}

/** What a reader has chosen on a chart: a bar has both, a heading its group alone. */
export interface Chosen {
  group?: ChosenGroup;
  cipher?: string;
}

export function chosenGroup({ key, own = key, split, label }: Group): ChosenGroup {
  return { key: own, label, ...(split === undefined ? {} : { split }) };
}

/** Stand in an address for the two keys (`KEY`, `SPLIT_KEY` in backend/pages/compare/choices.py). */
const PLACE = /%1F/g;
const SPLIT_PLACE = /%1E/g;

/** Where a choice leads for these keys; null where it is not offered for the first. */
export function addressFor(
  { address, leaves_out, besides }: Choice,
  key: string,
  split = "",
): string | null {
  if (besides?.includes(key)) return null;
  if (!leaves_out) {
    return address
      .replace(PLACE, encodeURIComponent(key))
      .replace(SPLIT_PLACE, encodeURIComponent(split));
  }
  const query = new URLSearchParams(address);
  const kept = query.getAll(leaves_out).filter((one) => one !== key);
  query.delete(leaves_out);
  for (const one of kept) query.append(leaves_out, one);
  return `?${query}`;
}

/** Pixels that a pointer may be away from what it means. */
const NEAR = 18;

/** What a reader means who clicks here: a heading, or a row anywhere. */
export function chosenAt(
  chart: AnyChart,
  { headings, marks }: BuiltChart,
  x: number,
  y: number,
): Chosen | undefined {
  const rows = chart.scales["y"];
  if (!rows || y < chart.chartArea.top) return undefined;
  const heading = headings.find((one) => Math.abs(rows.getPixelForValue(one.y) - y) <= one.half);
  if (heading) return heading.chosen;
  const place = { type: "click", native: null, x, y } as unknown as Event;
  const [found] = chart.getElementsAtEventForMode(place, "nearest", { axis: "y" }, true);
  if (!found || Math.abs(found.element.y - y) > NEAR) return undefined;
  return marks.find(
    ({ datasetIndex, index }) => datasetIndex === found.datasetIndex && index === found.index,
  )?.chosen;
}

interface Section {
  title: string;
  links: { label: string; address: string }[];
}

/** The parts of the menu; empty where nothing is offered. */
export function sections(choices: Choices | undefined, { group, cipher }: Chosen): Section[] {
  const of = (
    offered: readonly Choice[] | undefined,
    key: string,
    title: string,
    split?: string,
  ): Section[] => {
    const links = (offered ?? []).flatMap((one) => {
      const address = addressFor(one, key, split);
      return address === null ? [] : [{ label: one.label, address }];
    });
    return links.length > 0 ? [{ title, links }] : [];
  };
  return [
    ...(group ? of(choices?.group, group.key, group.label, group.split) : []),
    ...(cipher === undefined ? [] : of(choices?.cipher, cipher, cipher)),
  ];
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** The menu of one figure, beside the mark; `back` has the focus before and after, `toggled` is called each time. */
export class ChoiceMenu {
  private shown: HTMLElement | null = null;

  constructor(
    private readonly figure: HTMLElement,
    private readonly back: HTMLElement,
    signal: AbortSignal,
    private readonly toggled: () => void,
  ) {
    document.addEventListener("pointerdown", (event) => {
      if (!this.shown?.contains(event.target as Node)) this.close();
    }, { signal });
  }

  get isOpen(): boolean {
    return this.shown !== null;
  }

  /** Opens beside a place of the figure, in CSS pixels; false where there is nothing to choose. */
  open(parts: readonly Section[], x: number, y: number): boolean {
    this.close();
    if (parts.length === 0) return false;
    const menu = drawMenu(parts);
    this.shown = menu;
    menu.addEventListener("keydown", (event) => this.steer(event));
    menu.addEventListener("click", ({ target }) => {
      if ((target as Element).closest("a")) this.close(true);
    });
    menu.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !menu.contains(relatedTarget as Node)) this.close();
    });
    this.figure.append(menu);
    const room = this.figure.clientWidth - menu.offsetWidth;
    menu.style.left = `${Math.max(0, Math.min(x, room))}px`;
    menu.style.top = `${y + 8}px`;
    this.toggled();
    menu.querySelector("a")?.focus({ preventScroll: true });
    menu.scrollIntoView({ block: "nearest" });
    return true;
  }

  close(focus = false): void {
    const menu = this.shown;
    if (!menu) return;
    this.shown = null;
    menu.remove();
    this.toggled();
    if (focus) this.back.focus({ preventScroll: true });
  }

  private steer(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    if (event.key === "Escape") this.close(true);
    else if (step) {
      const links = [...(this.shown?.querySelectorAll("a") ?? [])];
      const now = links.indexOf(document.activeElement as HTMLAnchorElement);
      links.at((now + step) % links.length)?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

function drawMenu(parts: readonly Section[]): HTMLElement {
  const menu = document.createElement("div");
  menu.className = "mark-menu no-print";
  menu.setAttribute("role", "group");
  menu.setAttribute("aria-label", parts.map(({ title }) => title).join(", "));
  for (const { title, links } of parts) {
    const list = document.createElement("ul");
    for (const { label, address } of links) {
      const link = document.createElement("a");
      link.href = address;
      link.textContent = label;
      // What stays on this page applies in place.
      if (address.startsWith("?")) link.dataset["apply"] = "";
      const item = document.createElement("li");
      item.append(link);
      list.append(item);
    }
    const heading = document.createElement("p");
    const name = document.createElement("bdi");
    name.textContent = shorten(title);
    heading.append(name);
    menu.append(heading, list);
  }
  return menu;
}
