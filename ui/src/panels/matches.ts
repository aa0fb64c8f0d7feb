// The states for which the expression in the search box holds, one after the other: as a list, with n of N, and marks on the strip. Talks to: api, view. Used by: the drawer, the keys n and N.
import { api, type Match, type Time } from "../api";
import { LOOKS, stateColour } from "../colours";
import { button, h } from "../dom";
import { formatCount, formatDuration } from "../format";
import type { Navigator, View } from "../view";
import { notice } from "./notice";
import { AskingPanel } from "./panel";
import { swatch } from "./stack";
import { DataTable } from "./table";
import { nameOf } from "./times";

const LIMIT = 2000;

export class MatchesPanel extends AskingPanel {
  private total = 0;
  private loaded: Promise<void> = Promise.resolve();
  private readonly scope = h("select", { "aria-label": "Of which time", onchange: () => void this.ask() }, h("option", { value: "all" }, "all of the time"), h("option", { value: "window" }, "window"), h("option", { value: "range" }, "selection / window"));
  private readonly order = h("select", { "aria-label": "Which come first", onchange: () => void this.ask() }, h("option", { value: "time" }, "earliest first"), h("option", { value: "longest" }, "longest first"));
  private readonly place = h("span", { class: "place", role: "status" });
  private readonly count = h("span", { class: "muted", role: "status" });
  private readonly table: DataTable<Match>;

  constructor(view: View, navigator: Navigator) {
    super("matches", "Matches", view, navigator, ["filter", "window", "selection", "clock"]);
    const name = (style: number) => LOOKS[style]?.name ?? "";
    this.table = new DataTable<Match>({
      label: "States for which the search holds: a click goes there", origin: () => this.origin, pick: (it) => this.go(it, false), open: (it) => this.go(it, true),
      columns: [
        { title: "state", value: ([, style]) => name(style), draw: ([, style]) => swatch(stateColour(style), name(style)), width: 16 }, { title: "lasts", unit: "ns", value: ([, , , begin, end]) => end - begin },
        { title: "where", value: ([row]) => nameOf(view, row), grow: true }, { title: "begin", unit: "time", value: ([, , , begin]) => begin }, { title: "what", value: ([, , label]) => label ?? "", width: 30 },
      ],
    });
    this.controls.append(this.scope, this.order, button("◀", "Previous match (N)", () => void this.stepList(-1)), this.place, button("▶", "Next match (n)", () => void this.stepList(1)), this.count, this.table.copy);
  }
  protected override changed(_now: unknown, changed: ReadonlySet<string>): void {
    const isOfTime = (changed.has("window") && this.scope.value !== "all" && !(this.scope.value === "range" && this.view.now.selection !== null)) || (changed.has("selection") && this.scope.value === "range");
    if (changed.has("filter") || changed.has("clock")) this.askAgain(0);
    else if (isOfTime) this.askSoon();
  }
  protected forget(): void {
    this.table.set([]);
    this.total = 0;
    this.view.set({ marks: null });
  }
  protected override ask(): Promise<void> { return this.loaded = super.ask(); }
  protected async load(signal: AbortSignal): Promise<void> {
    const { filter, clock, window, selection, experiment } = this.view.now, scope = this.scope.value;
    if (filter === null) {
      this.forget();
      this.command.set("");
      this.count.textContent = this.place.textContent = this.heading.textContent = "";
      this.body.replaceChildren(notice("empty", "No expression is searched for", "Type one into the search box (`/`): `duration > 10ms && state == wait-cpu`, `label == write && host == h2`. The states for which it holds are listed here; `n` and `N` go from one to the next."));
      return;
    }
    const all = { ...(clock === "own" ? experiment?.own : null) ?? { begin: experiment?.begin ?? 0, end: experiment?.end ?? 1 } }, shown = scope === "all" ? { begin: all.begin, end: all.end + 1 } : scope === "range" && selection !== null ? selection : window;
    const answer = await api.matching(filter, shown.begin, shown.end, clock, { limit: LIMIT, order: this.order.value }, signal);
    if (this.body.firstChild !== this.table.element) this.body.replaceChildren(this.table.element);
    this.command.none("The search has a language of its own: its expressions are no option of a command. Questions in SQL to `thread_states` find the same");
    this.heading.textContent = filter;
    this.heading.title = filter;
    this.total = answer.states;
    const states = `${formatCount(answer.states)} ${answer.states === 1 ? "state" : "states"} on ${formatCount(answer.rows.length)} ${answer.rows.length === 1 ? "row" : "rows"}`;
    const cut = answer.matches.length < answer.states ? `; the first ${formatCount(answer.matches.length)} are listed` : "";
    this.count.textContent = answer.is_whole ? `${states}, ${formatDuration(answer.total_ns)} in all${cut}` : `at least ${states}: in a shorter window, each state is looked at; times are ≈${cut}`;
    this.count.title = this.count.textContent;
    this.table.set(answer.matches);
    this.view.set({ marks: answer.matches.map(([, , , begin, end]): Time => (begin + end) / 2) });
    this.tell();
  }
  /** Goes to the next match of the list (or the one before), once there is one. */
  async stepList(by: number): Promise<void> {
    await this.during(this.loaded);
    const it = this.table.step(by);
    if (it !== undefined) this.go(it, false);
  }
  private tell(): void { this.place.textContent = this.total === 0 ? "none" : `${this.table.place < 0 ? "–" : formatCount(this.table.place + 1)} of ${formatCount(this.total)}`; }
  private go([row, , , begin, end]: Match, isZoom: boolean): void {
    const { window } = this.view.now, room = Math.max(end - begin, 1000) / 4;
    this.hold();
    // One that does not fit is shown whole.
    this.navigator.go(row, begin, isZoom || end - begin > window.end - window.begin ? { begin: begin - room, end: end + room } : undefined);
    this.view.set({ row, selection: { begin, end } });
    this.tell();
  }
}
