// Next and previous of what a panel lists, "3 of 106", and marks on the strip of all that is listed.
// Talks to: view, the panel's table. Used by: the panels of matches, events, messages, losses.
import type { Time } from "../api";
import { button, h } from "../dom";
import { formatCount } from "../format";
import type { View } from "../view";
import type { DataTable } from "./table";

/** How many there are: exactly, at least so many; "listed": more, of which so many are listed. */
export interface Total { readonly count: number; readonly kind: "all" | "at least" | "listed" }
/** It is not said that there are none: what is cleared is not known to be empty. */
const NONE: Total = { count: 0, kind: "listed" };

/** "3 of 106", "– of at least 500". */
export function placeText(place: number, { count, kind }: Total): string {
  if (count === 0) return kind === "all" ? "none" : "";
  const of = formatCount(count);
  return `${place < 0 ? "–" : formatCount(place + 1)} of ${kind === "all" ? of : kind === "listed" ? `${of} listed` : `${kind} ${of}`}`;
}
/** Says so where the marks on the strip are not all. */
export function markedText(marked: number, { count, kind }: Total): string {
  return marked === 0 || (kind === "all" && marked >= count) ? "" : `on the strip: these ${formatCount(marked)} only`;
}

export class Stepper<T> {
  private readonly place = h("span", { class: "place", role: "status" });
  private readonly marked = h("span", { class: "marked" });
  readonly elements: readonly HTMLElement[];
  private total = NONE;
  /** What was gone to last, as text: a list that is asked for again has it as another object. */
  private last: string | null = null;
  /** `at`: the instant of a mark; null: what is listed has none. */
  constructor(
    private readonly view: View, private readonly table: DataTable<T>, name: string,
    private readonly at: ((it: T) => Time) | null, private readonly go: (it: T) => void,
  ) {
    const previous = button("◀", `Previous ${name} (N)`, () => this.step(-1)), next = button("▶", `Next ${name} (n)`, () => this.step(1));
    this.elements = [previous, this.place, next, this.marked];
    // What is picked or sorted there has another place.
    for (const kind of ["click", "keydown"]) table.element.addEventListener(kind, () => this.moved());
  }
  /** Shows a list, and marks it; where the page was in it, it is again. */
  set(items: readonly T[], total: Total, areMarked = true): void {
    this.total = total;
    this.table.set(items);
    const again = this.table.place >= 0 || this.last === null ? undefined : items.find((it) => JSON.stringify(it) === this.last);
    if (again !== undefined) this.table.activate(again);
    const { at } = this;
    this.view.set({ marks: areMarked && at !== null ? items.map((it) => at(it)) : null });
    this.marked.textContent = this.marked.title = markedText(areMarked && at !== null ? items.length : 0, total);
    this.tell();
  }
  /** Nothing is listed any more. */
  clear(): void { this.set([], NONE, false); }
  step(by: number): void {
    const it = this.table.step(by);
    if (it === undefined) return;
    this.moved();
    this.go(it);
  }
  private moved(): void {
    const { current } = this.table;
    if (current !== undefined) this.last = JSON.stringify(current);
    this.tell();
  }
  private tell(): void { this.place.textContent = placeText(this.table.place, this.total); }
}
