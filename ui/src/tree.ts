// The names of the rows, left of the time graph: only those on the screen are elements. Keyboard and screen reader see a tree.
// Talks to: rows, layout, view, search (what to highlight). Used by: main, keys.
import { counterOf } from "./counterRows";
import { button, h } from "./dom";
import { formatCount, formatDuration } from "./format";
import { AXIS, LINE, type Layout } from "./layout";
import { PATH_HEAD, pathRow } from "./pathRows";
import type { Renewal } from "./renewal";
import { BUNDLE } from "./rowGroups";
import type { Line, Rows } from "./rows";
import { directoryOf } from "./sameNames";
import type { View } from "./view";

/** Rows above and below the screen that are elements, too. */
const MARGIN = 3;
const INDENT = 14;

/** An element of a line, and what it shows. */
interface Item { readonly line: Line; readonly marked: string; readonly isActive: boolean; readonly directory: string; readonly beside: string;
  readonly top: number; readonly element: HTMLElement }

export class Tree {
  private readonly list = h("div", { class: "lines", role: "tree", tabindex: 0, "aria-label": "Rows" });
  private readonly scrolling = h("div", { class: "scrolling", role: "presentation" });
  private readonly fixed = h("div", { class: "fixed", role: "presentation" });
  private readonly hiddenButton = button("", "Show the hidden rows again", () => this.rows.showHidden());
  private readonly sortButton: HTMLButtonElement;
  private readonly groupButton: HTMLButtonElement;
  readonly element: HTMLElement;
  /** Parts of names that were searched for. */
  marked: readonly string[] = [];
  /** The elements that there are, by the line's number. */
  private readonly items = new Map<number, Item>();
  /** The line that the keyboard is on: a row's number, or a fold. */
  active: number | null = null;
  /** The line from which rows are selected. */
  private anchor = 0;

  constructor(private readonly view: View, private readonly rows: Rows, private readonly layout: Layout, sort: () => void, group: () => void) {
    this.groupButton = button("services", "Put processes of one name together, those with most messages first; tracer, kernel and devices go to folds (S)", group, { "aria-pressed": "false" });
    this.sortButton = button("by activity", "Sort rows by their CPU time in the window; those with little of it go to a fold (o)", sort, { "aria-pressed": "false" });
    const head = h("div", { class: "tree-head" }, this.groupButton, this.sortButton, button("collapse", "Collapse or expand all hosts (X)", () => this.rows.collapseAll()), this.hiddenButton);
    head.style.height = `${AXIS}px`;
    this.list.append(this.scrolling, this.fixed);
    this.element = h("nav", { class: "tree", "aria-label": "Hosts, processes and threads" }, head, this.list);
    rows.watch(() => this.draw());
    layout.watch(() => this.draw());
    view.watch(() => { if (this.view.now.row !== null) this.active = this.view.now.row; this.draw(); }, "row", "experiment");
    this.list.addEventListener("wheel", (event) => {
      if (event.ctrlKey) return;
      event.preventDefault();
      this.layout.scrollBy(event.deltaY * (event.deltaMode === 1 ? LINE : 1));
    }, { passive: false });
    this.list.addEventListener("click", (event) => this.click(event));
    this.list.addEventListener("keydown", (event) => this.key(event));
    // The browser scrolls to what has the focus: lines are placed by us.
    this.list.addEventListener("scroll", () => { this.list.scrollTop = 0; });
  }
  focus(): void { this.list.focus(); }
  /** Goes some lines down (or up); ±Infinity: to the last or first. */
  move(by: number): void {
    const { lines } = this.rows;
    if (lines.length === 0) return;
    const now = this.active === null ? -1 : this.rows.placeOf(this.active) ?? this.rows.lineOf(this.active);
    // Without a line to begin from, it is the first that is seen.
    const from = now < 0 && Number.isFinite(by) ? this.layout.shown().first - Math.sign(by) : now;
    const place = Math.max(0, Math.min(from + by, lines.length - 1));
    this.choose(lines[place]!);
    this.layout.see(place);
  }
  /** Makes the selection one of the rows from where that began to a line further up or down. */
  extend(by: number): void {
    const { lines } = this.rows, from = this.active === null ? -1 : this.rows.placeOf(this.active) ?? -1, place = Math.max(0, Math.min(from + by, lines.length - 1));
    if (from < 0) { this.move(by); return; }
    if (this.view.now.area === null) this.anchor = from;
    const ids = lines.slice(Math.min(this.anchor, place), Math.max(this.anchor, place) + 1).flatMap((line) => this.rows.idsOf(line));
    this.active = lines[place]!.id;
    this.view.set({ area: new Set(ids), chosen: this.view.now.chosen + 1 });
    this.layout.see(place);
    this.draw();
  }
  choose(line: Line): void {
    this.active = line.id;
    const row = line.row === null ? pathRow(this.view.now.path, line.id)?.row ?? null : line.id;
    this.view.set({ row, selection: row === this.view.now.row ? this.view.now.selection : null });
    this.active = line.id;
    this.draw();
  }
  renew(renewal: Renewal): void {
    // Folds and the path have numbers of their own.
    if (this.active !== null) this.active = this.active >= 0 ? renewal.row(this.active) : null;
  }
  get activeLine(): Line | null { return this.active === null ? null : this.rows.lines[this.rows.placeOf(this.active) ?? -1] ?? null; }

  /** As in all trees: left closes a line or goes to the one around it, right opens it. Elsewhere these keys pan. */
  private key(event: KeyboardEvent): void {
    const line = this.activeLine;
    if (line === null || (event.key !== "ArrowLeft" && event.key !== "ArrowRight") || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    event.preventDefault();
    if (line.expandable && line.expanded !== (event.key === "ArrowRight")) this.rows.toggle(line.id);
    else if (event.key === "ArrowRight") this.move(1);
    else if (line.row !== null && line.row.parent !== null) this.move(this.rows.lineOf(line.row.parent) - this.rows.placeOf(line.id)!);
  }
  private click(event: MouseEvent): void {
    const target = event.target as HTMLElement, item = target.closest<HTMLElement>("[data-id]");
    if (item === null) return;
    const id = Number(item.dataset.id), what = target.closest<HTMLElement>("[data-do]")?.dataset.do;
    if (what === "pin") this.rows.pin(id);
    else if (what === "hide") this.rows.hide(id);
    else if (what === "toggle" || (id < 0 && id >= PATH_HEAD && counterOf(id) === null) || id <= BUNDLE) this.rows.toggle(id);
    else {
      const line = this.rows.lines[this.rows.placeOf(id) ?? -1];
      if (line !== undefined) this.choose(line);
    }
  }
  private draw(): void {
    const { first, last } = this.layout.shown(MARGIN), pinned = this.rows.pinnedCount, items: HTMLElement[] = [], before = new Map(this.items);
    this.items.clear();
    for (let place = first; place < last; place += 1) items.push(this.kept(place, before));
    replace(this.scrolling, items);
    replace(this.fixed, Array.from({ length: pinned }, (_, place) => this.kept(place, before)));
    this.fixed.style.height = `${this.layout.fixed}px`;
    const place = this.active === null ? undefined : this.rows.placeOf(this.active);
    if (place === undefined) this.list.removeAttribute("aria-activedescendant");
    else this.list.setAttribute("aria-activedescendant", `line${this.active}`);
    this.groupButton.setAttribute("aria-pressed", String(this.rows.isGrouped));
    this.sortButton.setAttribute("aria-pressed", String(this.rows.isSorted));
    this.hiddenButton.hidden = this.rows.hiddenCount === 0;
    this.hiddenButton.textContent = `${formatCount(this.rows.hiddenCount)} hidden`;
  }
  /** The element of a line: that of before, moved, where it looks the same. While rows are scrolled, most do. */
  private kept(place: number, before: ReadonlyMap<number, Item>): HTMLElement {
    const line = this.rows.lines[place]!, marked = this.marked.join("\n"), isActive = line.id === this.active;
    const beside = this.beside(line), directory = this.directory(line);
    const old = before.get(line.id);
    const isSame = old !== undefined && old.line === line && old.marked === marked && old.isActive === isActive && old.beside === beside && old.directory === directory;
    const element = isSame ? old.element : this.item(line, beside, directory), top = this.layout.top(place);
    if (!isSame || old.top !== top) element.style.transform = `translateY(${top}px)`;
    this.items.set(line.id, { line, marked, isActive, directory, beside, top, element });
    return element;
  }
  private item(line: Line, beside: string, directory: string): HTMLElement {
    const { row } = line;
    const item = h("div", {
      class: `line ${row?.kind ?? (line.id === PATH_HEAD ? "host path" : line.id <= BUNDLE ? (line.sources.length > 0 ? "group" : "fold") : line.id < PATH_HEAD ? "path" : counterOf(line.id) !== null ? "counter" : "fold")}`, role: "treeitem", id: `line${line.id}`, "data-id": line.id, "aria-level": line.depth + 1,
      "aria-expanded": line.expandable ? String(line.expanded) : null, "aria-selected": String(line.id === this.active),
    });
    item.style.paddingLeft = `${4 + line.depth * INDENT}px`;
    const name = h("span", { class: "name", title: this.title(line) });
    name.append(...this.highlighted(line.label));
    if (directory !== "") name.append(h("span", { class: "directory" }, directory));
    item.append(h("span", { class: "twist", "data-do": line.expandable ? "toggle" : null, "aria-hidden": "true" }, line.expandable ? (line.expanded ? "▾" : "▸") : ""), name);
    if (beside !== "") item.append(h("span", { class: "beside" }, beside));
    if (row !== null && row.kind !== "host") {
      item.append(h("span", { class: "acts", "aria-hidden": "true" },
        h("span", { "data-do": "pin", title: line.pinned ? "Unpin (p)" : "Pin to the top (p)" }, line.pinned ? "⊖" : "⊕"), h("span", { "data-do": "hide", title: "Hide (h)" }, "×")));
    }
    return item;
  }
  /** What tells a host from others of its name. */
  private directory(line: Line): string { return line.row?.kind === "host" ? directoryOf(this.view.now.experiment?.hosts ?? [], line.host) : ""; }
  private beside(line: Line): string {
    if (line.row?.kind !== "host") return "";
    const host = this.view.now.experiment?.hosts[line.host];
    if (host === undefined) return "";
    if (host.is_reference) return "reference";
    return host.likely_ns === null ? (host.sure_ns === null ? "unsynchronized" : `sure ± ${formatDuration(host.sure_ns)}`) : `± ${formatDuration(host.likely_ns)}`;
  }
  private title(line: Line): string {
    const { row } = line, host = this.view.now.experiment?.hosts[line.host];
    if (counterOf(line.id) !== null) return `${line.label} of ${host?.name ?? "this host"}: means over steps of about a pixel`;
    if (line.id <= BUNDLE) return line.sources.length > 0 ? `${line.label}: ${line.label.startsWith("container ") ? "processes of one pid namespace" : "processes of one name"} on ${host?.name ?? "this host"}, drawn over each other; ▸ shows each` : `${line.label} of ${host?.name ?? "this host"}`;
    if (line.id < PATH_HEAD) return `${line.label}: its steps of the critical path, by cause`;
    if (line.id === PATH_HEAD) return "The threads that the path goes through, in the order in which it comes to them; colours are causes";
    if (row === null) return `Processes and threads of ${host?.name ?? "this host"} that had little or no CPU time when rows were sorted`;
    if (row.kind === "host") {
      const clock = host?.is_reference ? "its clock is the common one" : `its clock is right to ± ${formatDuration(host?.likely_ns)} (likely), ± ${formatDuration(host?.sure_ns)} (surely)`;
      return [`${row.label}: ${clock}`, ...(host?.traces ?? [])].join("\n");
    }
    return [this.rows.fullName(row), row.pid === undefined ? "" : `process ${row.pid}`, row.tid === undefined ? "" : `thread ${row.tid}`].filter((text) => text !== "").join(", ");
  }
  private highlighted(text: string): (string | HTMLElement)[] {
    const lower = text.toLowerCase();
    let from = -1, word = "";
    for (const it of this.marked) {
      const at = lower.indexOf(it);
      if (it !== "" && at >= 0 && (from < 0 || at < from)) { from = at; word = it; }
    }
    if (from < 0) return [text];
    return [text.slice(0, from), h("mark", {}, text.slice(from, from + word.length)), text.slice(from + word.length)];
  }
}
/** Gives an element these children, in this order; those that it has already stay where they are. */
function replace(parent: HTMLElement, children: readonly HTMLElement[]): void {
  const wanted = new Set<Element>(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  let at = parent.firstElementChild;
  for (const child of children) {
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
  }
}
