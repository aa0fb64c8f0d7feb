// What the search box finds, one after the other: the states for which its expression holds, or the rows that fit its words; as a list,
// with n of N, and marks on the strip. Talks to: api, view. Used by: the drawer, the keys n and N.
import { api, type Match, type Matching, type Row } from "../api";
import { LOOKS, stateColour } from "../colours";
import { button, h } from "../dom";
import { formatCount, formatDuration } from "../format";
import { foundText, statesText } from "../foundText";
import type { Navigator, View } from "../view";
import { openFrom } from "./firstLook";
import { notice } from "./notice";
import { AskingPanel } from "./panel";
import { swatch } from "./stack";
import { Stepper } from "./stepper";
import { DataTable } from "./table";
import { nameOf, rowOf, toShown } from "./times";

const LIMIT = 2000;

export class MatchesPanel extends AskingPanel {
  private readonly scope = h("select", { "aria-label": "Of which time", onchange: () => this.choose() },
    h("option", { value: "all" }, "all of the time"), h("option", { value: "window" }, "window"), h("option", { value: "range" }, "selection / window"));
  private readonly order = h("select", { "aria-label": "Which come first", onchange: () => this.choose() },
    h("option", { value: "time" }, "earliest first"), h("option", { value: "longest" }, "longest first"));
  private readonly each = button("look at each state of the window", "List the states of the window only: as soon as it is short enough, each is looked at",
    () => { this.scope.value = "window"; this.choose(); }, { hidden: true });
  private readonly count = h("span", { class: "muted", role: "status" });
  private readonly table: DataTable<Match>;
  private readonly states: Stepper<Match>;
  private readonly rowTable: DataTable<Row>;
  private readonly rows: Stepper<Row>;
  private readonly ofStates: readonly HTMLElement[];
  private readonly ofRows: readonly HTMLElement[];
  /** Controls that are there. */
  private shownControls: readonly HTMLElement[] = [];

  constructor(view: View, navigator: Navigator) {
    super("matches", "Matches", view, navigator, ["filter", "found", "window", "selection", "clock"]);
    const name = (style: number) => LOOKS[style]?.name ?? "", origin = () => this.origin;
    this.table = new DataTable<Match>({
      label: "States for which the search holds: a click goes there", origin, pick: (it) => this.go(it, false), open: (it) => this.go(it, true),
      columns: [
        { title: "state", value: ([, style]) => name(style), draw: ([, style]) => swatch(stateColour(style), name(style)), width: 16 }, { title: "lasts", unit: "ns", value: ([, , , begin, end]) => end - begin },
        { title: "where", value: ([row]) => nameOf(view, row), grow: true }, { title: "begin", unit: "time", value: ([, , , begin]) => begin }, { title: "what", value: ([, , label]) => label ?? "", width: 30 },
      ],
    });
    this.rowTable = new DataTable<Row>({
      label: "Rows that fit the search: a click goes there", origin, pick: (it) => this.goTo(it),
      columns: [
        { title: "row", value: (it) => nameOf(view, it.id), grow: true }, { title: "kind", value: (it) => it.kind },
        { title: "from", unit: "time", value: (it) => it.begin ?? null }, { title: "to", unit: "time", value: (it) => it.end ?? null },
      ],
    });
    this.states = new Stepper(view, this.table, "match", ([, , , begin, end]) => (begin + end) / 2, (it) => this.go(it, false));
    this.rows = new Stepper(view, this.rowTable, "row", null, (it) => this.goTo(it));
    this.ofStates = [this.scope, this.order, ...this.states.elements, this.count, this.each, this.table.copy];
    this.ofRows = [...this.rows.elements, this.count, this.rowTable.copy];
  }
  /** Of which time, and which come first, where that is another than at first. */
  get kept(): string { return [this.scope.value, this.order.value].filter((it) => it !== "all" && it !== "time").join(","); }
  keep(text: string): void {
    const parts = text.split(",");
    this.scope.value = parts.find((part) => part === "window" || part === "range") ?? "all";
    this.order.value = parts.includes("longest") ? "longest" : "time";
    if (this.isSeen) void this.ask();
  }
  private choose(): void {
    this.held = null;
    this.tellKept();
    void this.ask();
  }
  protected override changed(_now: unknown, changed: ReadonlySet<string>): void {
    const isOfTime = (changed.has("window") && this.scope.value !== "all" && !(this.scope.value === "range" && this.view.now.selection !== null)) || (changed.has("selection") && this.scope.value === "range");
    if (changed.has("filter") || changed.has("found") || changed.has("clock")) { this.held = null; this.askAgain(0); }
    else if (isOfTime && this.view.now.filter !== null) this.askSoon();
  }
  protected forget(): void { this.states.clear(); this.rows.clear(); }
  protected async load(signal: AbortSignal): Promise<void> {
    const { filter, found } = this.view.now;
    this.control(filter !== null ? this.ofStates : found !== null ? this.ofRows : []);
    if (filter !== null) { await this.loadStates(filter, signal); return; }
    this.forget();
    this.command.set("");
    this.heading.textContent = this.heading.title = "";
    if (found !== null) { this.showRows(found); return; }
    this.body.replaceChildren(notice("empty", "Nothing is searched for",
      "Type words or an expression into the search box (`/`): `wget`, `duration > 10ms && state == wait-cpu`, `label == write && host == h2`. " +
      "The rows that fit, or the states for which it holds, are listed here; `n` and `N` go from one to the next."));
  }
  /** Those that are there stay: one of them may have the focus. */
  private control(controls: readonly HTMLElement[]): void {
    if (controls === this.shownControls || (controls.length === 0 && this.shownControls.length === 0)) return;
    this.shownControls = controls;
    this.controls.replaceChildren(...controls);
  }
  private async loadStates(filter: string, signal: AbortSignal): Promise<void> {
    const { clock, window, selection, experiment } = this.view.now, scope = this.scope.value;
    const all = (clock === "own" ? experiment?.own : null) ?? { begin: experiment?.begin ?? 0, end: experiment?.end ?? 1 };
    const shown = scope === "all" ? { begin: all.begin, end: all.end + 1 } : scope === "range" && selection !== null ? selection : window;
    const range = this.covered = this.held ?? { ...shown, what: shown === selection ? "selection" : "window" };
    const answer = await api.matching(filter, range.begin, range.end, clock, { limit: LIMIT, order: this.order.value, ask: this.progress.ask }, signal);
    this.heading.textContent = this.heading.title = filter;
    this.each.hidden = answer.kind === "whole" || scope === "window";
    this.count.textContent = this.count.title = this.textOf(answer, scope);
    if (answer.kind === "unknown") {
      const calls: HTMLButtonElement = button("open Statistics", "Calls of the window, added up", () => openFrom(calls, "statistics", ""));
      this.forget();
      this.command.set("");
      this.body.replaceChildren(notice("empty", "Too many states to look at the label of each", "Choose a shorter window, or list calls in Statistics → by call.", calls));
      return;
    }
    if (this.body.firstChild !== this.table.element) this.body.replaceChildren(this.table.element);
    this.command.none("The search has a language of its own: its expressions are no option of a command. Questions in SQL to `thread_states` find the same");
    this.states.set(answer.matches, { count: answer.states, kind: answer.kind === "whole" ? "all" : "at least" });
  }
  private textOf(answer: Matching, scope: string): string {
    if (answer.kind === "unknown") return "";
    const listed = formatCount(answer.matches.length), some = answer.kind === "whole" ? `the first ${listed}` : `${listed} of them`;
    const cut = answer.matches.length < answer.states ? `; ${some} are listed` : "";
    const found = foundText(statesText(answer), answer.states, answer.kind);
    if (answer.total_ns !== null) return `${found}, ${formatDuration(answer.total_ns)} in all${cut}`;
    return `${found}: too many states to look at each${scope === "window" ? "; zoom in until all are" : ""}${cut}`;
  }
  private showRows(found: readonly number[]): void {
    const rows = found.flatMap((id) => rowOf(this.view, id) ?? []);
    this.count.textContent = this.count.title = rows.length === 1 ? "1 row" : `${formatCount(rows.length)} rows`;
    if (rows.length === 0) {
      this.body.replaceChildren(notice("empty", "No row is listed", "The search box says why: no row fits, or none is known yet."));
      return;
    }
    if (this.body.firstChild !== this.rowTable.element) this.body.replaceChildren(this.rowTable.element);
    this.rows.set(rows, { count: rows.length, kind: "all" });
  }
  /** Goes to the next match of the list (or the one before), once there is one. */
  async stepList(by: number): Promise<void> {
    await this.during(this.loaded);
    (this.view.now.filter === null ? this.rows : this.states).step(by);
  }
  private go([row, , , begin, end]: Match, isZoom: boolean): void {
    const { window } = this.view.now, room = Math.max(end - begin, 1000) / 4;
    this.hold();
    // One that does not fit is shown whole.
    this.navigator.go(row, begin, isZoom || end - begin > window.end - window.begin ? { begin: begin - room, end: end + room } : undefined);
    this.view.set({ row, selection: { begin, end } });
  }
  /** A row that did not live in the window is shown where it began. */
  private goTo({ id, begin, end }: Row): void {
    const { window } = this.view.now, from = toShown(this.view, id, begin ?? window.begin), to = toShown(this.view, id, end ?? window.end);
    this.hold();
    this.navigator.go(id, to < window.begin || from > window.end ? from : (window.begin + window.end) / 2);
  }
}
