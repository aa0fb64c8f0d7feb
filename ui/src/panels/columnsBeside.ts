// Columns of a wide table that are out of sight: says how many, and scrolls there. Talks to: none. Used by: tables.
import { button } from "../dom";

export class ColumnsBeside {
  readonly element = button("columns", "Scroll to the columns that are out of sight", () => this.turn(), { class: "columns-beside", hidden: true });
  constructor(private readonly table: HTMLElement, private readonly heads: readonly HTMLElement[]) {}

  /** Says what is out of sight now. */
  tell(): void {
    const count = this.hidden.length, isCut = count > 0;
    this.table.classList.toggle("cut", isCut);
    this.element.hidden = !isCut && this.table.scrollLeft < 1;
    this.element.textContent = isCut ? `${count} more ${count === 1 ? "column" : "columns"} ▸` : "◂ first columns";
  }
  /** The columns right of what is seen. The first one always is. */
  private get hidden(): HTMLElement[] {
    const right = this.table.scrollLeft + this.table.clientWidth;
    return this.heads.slice(1).filter((head) => this.leftOf(head) + head.offsetWidth > right + 1);
  }
  /** Where a column is, from the left of all of them. */
  private leftOf(head: HTMLElement): number { return head.getBoundingClientRect().left - this.table.getBoundingClientRect().left + this.table.scrollLeft; }
  private turn(): void {
    const [next] = this.hidden, { clientWidth, scrollLeft } = this.table, first = this.heads[0]!.offsetWidth;
    if (next === undefined) { this.table.scrollTo({ left: 0 }); return; }
    // One that is wider than the room is seen part after part.
    const left = this.leftOf(next) - first;
    this.table.scrollTo({ left: left > scrollLeft + 1 ? left : scrollLeft + clientWidth - first });
  }
}
