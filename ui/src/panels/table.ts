// A real table that can be sorted by any column, used with keys, and copied; of large ones only the rows that are seen exist.
// Talks to: none. Used by: all panels.
import type { CellValue, Unit } from "../api";
import { h } from "../dom";
import { cellText, compare } from "./cells";
import { ColumnsBeside } from "./columnsBeside";
import { copyButton } from "./copy";
import { nameOfTable, orderOf, ordersVersion, REORDERED, sorted } from "./orders";

export interface Column<T> {
  readonly title: string;
  readonly description?: string;
  readonly unit?: Unit;
  /** What it is sorted by, and what is copied. */
  value(row: T): CellValue;
  text?(row: T): string;
  draw?(row: T): Node | string;
  /** It takes the room that is left (the last one that does); or so many characters, else as many as its texts need. */
  readonly grow?: boolean;
  readonly width?: number;
  /** Rows that come last, however it is sorted by this column; of several such, the largest number is the last one. */
  isLast?(row: T): boolean | number;
  /** Its values are numbers, though without a unit. */
  readonly isNumber?: boolean;
}
export interface TableOptions<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  origin(): string | null;
  /** A click, or Enter. */
  pick?(row: T): void;
  /** A double click, Shift and Enter, or Enter where it was picked before. */
  open?(row: T): void;
  /** A click with Ctrl, ⌘ or Shift, or Ctrl and Enter: something beside what was picked. */
  beside?(row: T): void;
  /** Rows that stand out. */
  mark?(row: T): string | null;
  /** The column that it is sorted by at first, and whether the largest are on top. */
  readonly sort?: readonly [column: number, isDown: boolean];
  /** The end of the rows is near: there may be more. */
  nearEnd?(): void;
}
const ROW = 21, SPARE = 10, SAMPLE = 400, NEAR_END = 60;
/** Of columns, in pixels. */
const MAX_WIDTH = 330, PADDING = 13, SIGN = 14;
let tables = 0;
const pen = document.createElement("canvas").getContext("2d")!;
function widthOf(text: string, isBold: boolean): number {
  pen.font = `${isBold ? "600 " : ""}12px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

export class DataTable<T> {
  private rows: readonly T[] = [];
  private sorted: readonly T[] = [];
  private column: number | null = null;
  private isDown = false;
  /** Of the orders that it has seen. */
  private version = -1;
  private active = -1;
  private picked: T | null = null;
  private frame = 0;
  private isPressed = false;
  /** The row in which it was. */
  private pressed: HTMLElement | null = null;
  /** It would have been drawn anew while a button was pressed. */
  private isDue = false;
  private readonly id = `table-${tables += 1}`;
  private readonly name: string;
  private readonly cols = h("colgroup");
  private readonly heads: HTMLTableCellElement[];
  private readonly tbody = h("tbody");
  private readonly table: HTMLTableElement;
  readonly element: HTMLElement;
  private readonly beside: ColumnsBeside;
  /** What copies the table; before that, where columns are out of sight, what shows them. */
  readonly copy: HTMLElement;

  constructor(private readonly options: TableOptions<T>) {
    this.name = nameOfTable(options.label);
    this.takeOrder();
    this.heads = options.columns.map((column, place) => h("th", { scope: "col", class: isNumber(column) ? "number" : null, title: column.description ?? null },
      h("button", { type: "button", onclick: () => this.sortBy(place) }, column.title)));
    const canPick = options.pick !== undefined;
    this.table = h("table", { "aria-label": options.label, role: canPick ? "grid" : null, tabindex: canPick ? 0 : null }, this.cols, h("thead", {}, h("tr", {}, ...this.heads)), this.tbody);
    this.element = h("div", { class: `table${canPick ? " pickable" : ""}`, tabindex: canPick ? null : 0 }, this.table);
    this.beside = new ColumnsBeside(this.element, this.heads);
    this.copy = h("span", { class: "table-acts" }, this.beside.element,
      copyButton("copy", "Copy this table (tabs between the columns, exact numbers)", () => this.tsv()));
    this.element.addEventListener(REORDERED, () => this.draw());
    this.element.addEventListener("scroll", () => this.drawSoon(), { passive: true });
    this.element.addEventListener("keydown", (event) => this.key(event));
    const isBeside = (event: MouseEvent) => options.beside !== undefined && (event.ctrlKey || event.metaKey || event.shiftKey);
    // With Shift, it would select text.
    this.tbody.addEventListener("mousedown", (event) => { if (isBeside(event)) event.preventDefault(); });
    this.tbody.addEventListener("pointerdown", (event) => this.press(lineOf(event)));
    this.tbody.addEventListener("click", (event) => {
      if (isBeside(event)) this.use(event, options.beside);
      else if (getSelection()?.isCollapsed ?? true) this.use(event, options.pick);
    });
    this.tbody.addEventListener("dblclick", (event) => { if (!isBeside(event)) this.use(event, options.open); });
    new ResizeObserver(() => this.drawSoon()).observe(this.element);
  }
  get count(): number { return this.rows.length; }
  set(rows: readonly T[]): void {
    this.rows = rows;
    this.rearrange();
    this.measure();
    this.draw();
  }
  /** Makes a row the active one, and shows it. */
  activate(row: T | null): void {
    this.active = row === null ? -1 : this.sorted.indexOf(row);
    if (this.active >= 0) this.see(this.active);
    this.draw();
  }
  /** The place of the active row in the order that is seen; −1 if there is none. */
  get place(): number { return this.active; }
  /** The active row. */
  get current(): T | undefined { return this.sorted[this.active]; }
  /** Makes the next row the active one, or the one before; after the last comes the first. */
  step(by: number): T | undefined {
    const count = this.sorted.length;
    if (count === 0) return undefined;
    this.activate(this.sorted[this.active < 0 ? (by > 0 ? 0 : count - 1) : (this.active + by + count) % count]!);
    return this.sorted[this.active];
  }
  redraw(): void { this.draw(); }
  get first(): T | undefined { return this.sorted[0]; }

  private sortBy(place: number): void {
    const column = this.options.columns[place]!;
    this.isDown = this.column === place ? !this.isDown : isNumber(column);
    this.column = place;
    sorted(this.name, { column: column.title, isDown: this.isDown });
    this.rearrange();
    this.element.scrollTop = 0;
    this.draw();
  }
  /** The order of the address, else its own; of a column that it does not have, its own. */
  private takeOrder(): void {
    const order = orderOf(this.name), place = this.options.columns.findIndex((column) => column.title === order?.column);
    [this.column, this.isDown] = order !== undefined && place >= 0 ? [place, order.isDown] : this.options.sort ?? [null, false];
    this.version = ordersVersion();
  }
  private rearrange(): void {
    const kept = this.sorted[this.active];
    this.arrange();
    this.active = kept === undefined ? -1 : this.sorted.indexOf(kept);
  }
  private arrange(): void {
    const column = this.column === null ? undefined : this.options.columns[this.column];
    this.sorted = column === undefined ? this.rows : [...this.rows].sort((a, b) => Number(column.isLast?.(a) ?? false) - Number(column.isLast?.(b) ?? false) || compare(column.value(a), column.value(b), this.isDown));
    this.heads.forEach((head, place) => head.setAttribute("aria-sort", place === this.column ? (this.isDown ? "descending" : "ascending") : "none"));
    this.table.setAttribute("aria-rowcount", String(this.rows.length + 1));
  }
  private text(column: Column<T>, row: T): string { return column.text?.(row) ?? cellText(column.value(row), column.unit ?? "none", this.options.origin()); }
  /** Widths by the texts, so that nothing moves when other rows are seen. */
  private measure(): void {
    const step = Math.max(1, Math.ceil(this.rows.length / SAMPLE));
    let all = 0;
    const grows = this.options.columns.map((column) => column.grow === true).lastIndexOf(true), widths = this.options.columns.map((column, place) => {
      let needed = column.width === undefined ? 0 : widthOf("0".repeat(column.width), false);
      if (column.width === undefined) for (let at = 0; at < this.rows.length; at += step) needed = Math.max(needed, widthOf(this.text(column, this.rows[at]!), false));
      // In its head there is room for the sign of the order, too.
      const width = Math.ceil(Math.min(Math.max(needed, widthOf(column.title, true) + SIGN), MAX_WIDTH)) + PADDING;
      all += width;
      return place === grows ? "" : `${width}px`;
    });
    this.cols.replaceChildren(...widths.map((width) => { const col = h("col"); col.style.width = width; return col; }));
    this.table.style.minWidth = `${all}px`;
  }
  private drawSoon(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.drawOrWait());
  }
  /** A click is of the row in which the button was pressed: until it is released, rows stay. */
  private drawOrWait(): void {
    this.frame = 0;
    if (this.isPressed) this.isDue = true;
    else this.draw();
  }
  private press(line: HTMLElement | null): void {
    this.isPressed = true;
    this.pressed = line;
    const release = () => setTimeout(() => {
      this.isPressed = false;
      if (this.isDue) this.drawSoon();
    });
    for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, release, { once: true });
  }
  private draw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.isDue = false;
    if (this.version !== ordersVersion()) { this.takeOrder(); this.rearrange(); }
    const { scrollTop, clientHeight } = this.element, all = this.sorted.length;
    const first = Math.max(0, Math.floor(scrollTop / ROW) - SPARE), last = Math.min(all, Math.ceil((scrollTop + clientHeight) / ROW) + SPARE);
    const lines: HTMLElement[] = [];
    if (first > 0) lines.push(gap(first * ROW, this.heads.length));
    for (let place = first; place < last; place += 1) lines.push(this.line(place));
    if (last < all) lines.push(gap((all - last) * ROW, this.heads.length));
    this.tbody.replaceChildren(...lines);
    this.beside.tell();
    if (this.active >= first && this.active < last) this.table.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
    else this.table.removeAttribute("aria-activedescendant");
    if (last > all - NEAR_END) this.options.nearEnd?.();
  }
  private line(place: number): HTMLElement {
    const row = this.sorted[place]!, mark = this.options.mark?.(row) ?? null;
    return h("tr", { id: `${this.id}-${place}`, "data-at": place, "aria-rowindex": place + 2, class: mark, "aria-selected": place === this.active ? "true" : null },
      ...this.options.columns.map((column) => {
        const text = this.text(column, row), value = column.value(row);
        const exact = typeof value === "number" && text !== String(value) && column.unit !== undefined && column.unit !== "time" ? `${value}${column.unit === "ns" ? " ns" : ""}` : text;
        return h("td", { class: isNumber(column) ? "number" : null, title: exact }, column.draw?.(row) ?? text);
      }));
  }
  private use(event: Event, act: ((row: T) => void) | undefined): void {
    // What has moved meanwhile is still the row in which the button was pressed.
    const line = lineOf(event) ?? this.pressed;
    if (line === null || act === undefined) return;
    this.active = Number(line.dataset.at);
    this.picked = this.sorted[this.active]!;
    act(this.picked);
    this.draw();
  }
  private key(event: KeyboardEvent): void {
    if (["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown"].includes(event.key)) event.stopPropagation();
    if (event.target !== this.table || this.options.pick === undefined || this.sorted.length === 0) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 2), by = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity }[event.key];
    if (by !== undefined) {
      this.active = Math.max(0, Math.min(this.sorted.length - 1, this.active + by));
      this.see(this.active);
      this.draw();
    } else if (event.key === "Enter" && this.active >= 0) {
      const row = this.sorted[this.active]!, isOpened = event.shiftKey || row === this.picked, { pick, open = pick, beside } = this.options;
      this.picked = row;
      ((event.ctrlKey || event.metaKey) && beside !== undefined ? beside : isOpened ? open : pick)(row);
      this.draw();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
  private see(place: number): void {
    const { scrollTop, clientHeight } = this.element, top = place * ROW, head = ROW + 4;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + ROW > scrollTop + clientHeight - head) this.element.scrollTop = top + ROW + head - clientHeight;
  }
  /** Tabs between the columns; durations in ns, instants in ns since 1970, as the commands give them. */
  private tsv(): string {
    const { columns } = this.options, origin = BigInt(this.options.origin() ?? "0");
    const cell = (value: CellValue, unit: Unit | undefined) => (value === null ? "" : unit === "time" && typeof value === "number" ? String(origin + BigInt(Math.round(value))) : String(value).replace(/[\t\n]/g, " "));
    const lines = this.sorted.map((row) => columns.map((column) => cell(column.value(row), column.unit)).join("\t"));
    return [columns.map(({ title, unit }) => (unit === "ns" ? `${title} (ns)` : unit === "time" ? `${title} (unix ns)` : title)).join("\t"), ...lines].join("\n");
  }
}
/** The row that an event is in. */
function lineOf({ target }: Event): HTMLElement | null { return (target as HTMLElement).closest<HTMLElement>("tr[data-at]"); }
function isNumber<T>(column: Column<T>): boolean { return column.isNumber ?? (column.unit !== undefined && column.unit !== "none"); }
function gap(height: number, columns: number): HTMLElement {
  const cell = h("td", { colspan: columns });
  cell.style.height = `${height}px`;
  return h("tr", { class: "gap", "aria-hidden": "true" }, cell);
}
/** A table with its title, its count, and what copies it. */
export function titled(title: string, table: { element: HTMLElement; copy: HTMLElement }, ...beside: (HTMLElement | string)[]): HTMLElement {
  return h("section", { class: "block" }, h("div", { class: "block-head" }, title === "" ? null : h("h3", {}, title), ...beside, table.copy), table.element);
}
