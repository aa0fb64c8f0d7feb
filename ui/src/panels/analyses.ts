// Any analysis for the selected time, else the window: its tables, its notes, and the command that gives the same. Talks to: api, view. Used by: the drawer.
import { api, type Answer, type CellValue, type Table } from "../api";
import { button, h } from "../dom";
import { formatCount } from "../format";
import type { ViewState, Navigator, View } from "../view";
import { columnTitle } from "./cells";
import { notice, withCode } from "./notice";
import { AskingPanel } from "./panel";
import { DataTable, titled } from "./table";
import { endsOfLines, rowOfLine, toShown } from "./times";

const LIMIT = 1000, FIRST = "cputop";
type Line = readonly CellValue[];

export class AnalysesPanel extends AskingPanel {
  private all: readonly { name: string; about: string }[] = [];
  private chosen = FIRST;
  private readonly list = h("div", { class: "list", role: "listbox", "aria-label": "Analyses", tabindex: 0 });
  private readonly result = h("div", { class: "tables" });
  private readonly parts = h("div", { class: "analyses-parts" }, this.list, this.result);

  constructor(view: View, navigator: Navigator) {
    super("analyses", "Analyses", view, navigator, ["window", "selection", "clock"]);
    this.list.addEventListener("keydown", (event) => this.key(event));
  }
  protected override changed(_now: ViewState, changed: ReadonlySet<keyof ViewState>): void {
    if (this.view.now.selection !== null && !changed.has("selection") && !changed.has("clock")) return;
    this.askWhenQuick();
  }
  get kept(): string { return this.chosen === FIRST ? "" : this.chosen; }
  keep(text: string): void {
    this.chosen = text === "" ? FIRST : text;
    this.result.replaceChildren();
    this.drawList();
    if (this.isSeen) void this.ask();
  }
  protected forget(): void { this.result.replaceChildren(); }
  protected async load(signal: AbortSignal): Promise<void> {
    if (this.all.length === 0) {
      this.all = await api.analyses();
      this.drawList();
    }
    if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
    const covered = this.showRange(), { experiment } = this.view.now, isAll = covered.begin <= (experiment?.begin ?? 0) && covered.end >= (experiment?.end ?? 0);
    if (this.result.childElementCount === 0 || this.result.querySelector(".notice") !== null) this.result.replaceChildren(notice("loading", `${this.chosen} …`, "Analyses read the events of the range: of long traces, that takes a while."));
    const answer = await api.table({ analysis: this.chosen, begin: isAll ? null : covered.begin, end: isAll ? null : covered.end, limit: LIMIT, ask: this.progress.ask }, signal).catch((error: unknown) => {
      if (!(error instanceof Error) || error.name === "AbortError") throw error;
      return error;
    });
    if (answer instanceof Error) {
      this.command.set("");
      this.result.replaceChildren(notice("failed", `${this.chosen} has no answer`, answer.message, button("try again", "Ask again", () => void this.ask())));
      return;
    }
    this.command.set(answer.command);
    this.draw(answer);
  }
  private draw(answer: Answer): void {
    const about = this.all.find((it) => it.name === this.chosen)?.about ?? "", top = this.result.scrollTop, isSame = this.result.dataset.of === this.chosen;
    const tables = answer.tables.filter((it) => it.rows.length > 0), empty = answer.tables.filter((it) => it.rows.length === 0);
    this.result.dataset.of = this.chosen;
    this.result.replaceChildren(
      h("div", { class: "analysis-head" }, h("strong", {}, about), ...answer.notes.map((note) => h("p", { class: "muted" }, ...withCode(note))), empty.length === 0 ? null : h("p", { class: "muted" }, `Empty in this range: ${empty.map((it) => it.title).join(", ")}.`)),
      ...tables.map((it) => this.table(it)), ...(tables.length === 0 ? [notice("empty", "Nothing in this range", "Take more time, or see in the notes what the trace must have.")] : []));
    this.result.scrollTop = isSame ? top : 0;
  }
  private table(table: Table): HTMLElement {
    const names = table.columns.map((column) => column.name), [end, farEnd] = endsOfLines(names), far = (line: Line) => this.go(table, line, false, farEnd);
    // The name at the other end leads there.
    const places = farEnd === undefined ? [] : ["comm", "pid", "tid", "host"].map((name) => names.indexOf(`${farEnd}${name}`));
    const linked = places.find((place) => place >= 0) ?? -1;
    const shown = new DataTable<Line>({
      label: table.title, origin: () => this.origin,
      ...(isSomewhere(table) ? { pick: (line: Line) => this.go(table, line, false), open: (line: Line) => this.go(table, line, true) } : {}),
      ...(farEnd === undefined ? {} : { beside: far }),
      columns: table.columns.map((column, place) => ({
        title: columnTitle(column.name), description: column.name, unit: column.unit, isNumber: column.unit !== "none" || table.rows.every((row) => row[place] === null || typeof row[place] === "number"),
        value: (line: Line) => line[place] ?? null, grow: column.unit === "none" && table.rows.some((row) => String(row[place] ?? "").length > 24),
        ...(place !== linked ? {} : { draw: (line: Line) => (line[place] === null ? "–" : farLink(String(line[place]), () => far(line))) }),
      })),
    });
    const count = table.rows.length >= LIMIT ? `the first ${formatCount(LIMIT)} rows` : `${formatCount(table.rows.length)} ${table.rows.length === 1 ? "row" : "rows"}`;
    const word = (end: string | undefined) => (end === "" ? "the process of the line" : `“${end?.replace("_", "")}”`);
    const hint = farEnd === undefined ? "" : `; a click goes to ${word(end)}, the link (Ctrl + click, Ctrl + Enter) to ${word(farEnd)}`;
    const block = titled(table.title, shown, h("span", { class: "muted", title: `${count}${hint}` }, count, hint));
    // As high as its rows, up to a screen of the drawer.
    block.style.height = `${Math.min(26 + 26 + 21 * table.rows.length + 14, 440)}px`;
    shown.set(table.rows);
    return block;
  }
  /** Goes to what a line is about, at its first instant; `isZoomed`: shows its time alone; `end`: which of two ends, else the first. The list stays. */
  private go(table: Table, line: Line, isZoomed: boolean, end?: string): void {
    const times = table.columns.flatMap((column, place) => (column.unit === "time" && typeof line[place] === "number" ? [line[place]] : []));
    const { window } = this.view.now, names = table.columns.map((column) => column.name), prefix = end ?? endsOfLines(names)[0] ?? "";
    const row = rowOfLine(this.view, (name) => line[names.indexOf(`${prefix}${name}`)] ?? null, times[0] ?? null);
    this.hold();
    if (times.length === 0) { this.navigator.go(row, (window.begin + window.end) / 2); return; }
    const first = toShown(this.view, row, Math.min(...times)), last = toShown(this.view, row, Math.max(...times));
    this.navigator.go(row, first, isZoomed || last - first > window.end - window.begin ? { begin: first, end: last } : undefined);
    this.view.set(last > first ? { selection: { begin: first, end: last } } : { hover: first });
  }
  private drawList(): void {
    this.list.replaceChildren(...this.all.map((it) => h("div", { role: "option", id: `analysis-${it.name}`, class: "option", title: it.about, "data-name": it.name, "aria-selected": String(it.name === this.chosen), onclick: () => this.choose(it.name) },
      h("b", {}, it.name), h("span", { class: "muted" }, it.about))));
    this.list.setAttribute("aria-activedescendant", `analysis-${this.chosen}`);
  }
  private choose(name: string): void {
    if (name === this.chosen && !this.isStale) return;
    this.chosen = name;
    for (const option of this.list.children) option.setAttribute("aria-selected", String((option as HTMLElement).dataset.name === name));
    this.list.setAttribute("aria-activedescendant", `analysis-${name}`);
    this.list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
    this.result.replaceChildren();
    this.took = 0;
    this.tellKept();
    this.askAgain(120);
  }
  private key(event: KeyboardEvent): void {
    const at = this.all.findIndex((it) => it.name === this.chosen), to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: this.all.length - 1 }[event.key];
    if (to === undefined) return;
    this.choose(this.all[Math.max(0, Math.min(this.all.length - 1, to))]!.name);
    event.preventDefault();
    event.stopPropagation();
  }
}
/** Whether its lines are of an instant, or of a thread, a CPU or a host, or of two of these. */
function isSomewhere({ columns }: Table): boolean {
  return columns.some((it) => it.unit === "time" || ["tid", "pid", "cpu"].includes(it.name)) || endsOfLines(columns.map((it) => it.name)).length > 0;
}
/** A name in a line that leads elsewhere than the line. */
function farLink(text: string, go: () => void): HTMLElement {
  const it = button(text, `Go to ${text}, the other end`, go, { class: "link", tabindex: -1 });
  it.addEventListener("click", (event) => event.stopPropagation());
  it.addEventListener("dblclick", (event) => event.stopPropagation());
  return it;
}
