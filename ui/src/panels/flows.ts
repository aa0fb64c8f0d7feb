// Messages and wake-ups that come to the selected rows and go from them, in the selected state or time, else in the window: as a list to follow. Talks
// to: api, view. Used by: the drawer.
import { api, type Flow, type FlowKind } from "../api";
import { h } from "../dom";
import { formatCount } from "../format";
import type { Navigator, View, ViewState } from "../view";
import { notice } from "./notice";
import { AskingPanel } from "./panel";
import { DataTable } from "./table";
import { nameOf } from "./times";

const LIMIT = 2000;
const KINDS: Readonly<Record<FlowKind, string>> = { message: "message", mpi: "message of MPI", wakeup: "wake-up" };

export class FlowsPanel extends AskingPanel {
  private readonly count = h("span", { class: "muted", role: "status" });
  private readonly table: DataTable<Flow>;

  constructor(view: View, navigator: Navigator) {
    super("flows", "Flows", view, navigator, ["row", "area", "selection", "window", "clock"]);
    this.table = new DataTable<Flow>({
      label: "Messages and wake-ups: a click goes to the other end",
      origin: () => this.origin,
      pick: (it) => this.go(it, false),
      open: (it) => this.go(it, true),
      columns: [
        { title: "at", unit: "time", description: "At the row that the list is about", value: (it) => it[3] },
        { title: "what", value: ([kind]) => KINDS[kind] },
        { title: "way", value: ([, way]) => way, text: ([, way]) => (way === "in" ? "← in" : "out →") },
        { title: "other end", value: (it) => nameOf(view, it[4]), grow: true },
        {
          title: "takes",
          unit: "ns",
          description: "From where it comes to where it arrives, on the clock that is shown",
          value: ([kind, way, , at, , other]) => (kind === "wakeup" ? null : way === "in" ? at - other : other - at),
        },
        { title: "details", value: (it) => it[6], width: 34 },
        { title: "row", value: (it) => nameOf(view, it[2]), width: 20 },
      ],
    });
    this.controls.append(this.count, this.table.copy);
  }
  protected override changed(now: ViewState, changed: ReadonlySet<keyof ViewState>): void {
    // What a click in the list selects leaves the list; what is selected elsewhere is another one.
    if (this.isGoing) {
      this.askSoon();
      return;
    }
    const isOther = changed.has("row") || changed.has("area") || changed.has("selection") || changed.has("clock");
    if (!isOther && (now.selection !== null || this.isHeld)) return;
    this.letGo();
    this.askWhenQuick();
  }
  protected forget(): void {
    this.table.set([]);
  }
  protected async load(signal: AbortSignal): Promise<void> {
    const { row, area, selection, window, clock } = this.view.now,
      rows = area !== null ? [...area] : row === null ? [] : [row],
      covered = this.showRange();
    if (rows.length === 0) {
      this.heading.textContent = this.count.textContent = "";
      this.command.set("");
      this.table.set([]);
      this.body.replaceChildren(
        notice(
          "empty",
          "No row is selected",
          "Click a state in the time graph, or a name beside it: what its thread, CPU or host sent and received, and its wake-ups are listed here, to be followed.",
        ),
      );
      return;
    }
    // Instants are on the clock that is shown.
    const range = clock === "common" ? covered : covered.what === "selection" && selection !== null ? selection : window,
      name = rows.length === 1 ? nameOf(this.view, rows[0]!) : `${formatCount(rows.length)} rows`;
    const { total, flows, not_looked_up: others } = await api.flows(
      { rows, begin: range.begin, end: range.end, clock, limit: LIMIT, ask: this.progress.ask },
      signal,
    );
    this.heading.textContent = `${name}, ${this.heading.textContent}`;
    this.command.none("no command lists both; SQL has them in `messages` and `wakeups`");
    const more = others > 0 ? `; ${formatCount(others)} ends of messages are of what ran then, sockets are not looked up: take less time` : "";
    this.count.textContent = `${formatCount(flows.length)} of ${formatCount(total)} messages and wake-ups${flows.length < total ? ", the first ones" : ""}${more}`;
    this.table.set(flows);
    if (flows.length > 0) {
      if (this.body.firstChild !== this.table.element) this.body.replaceChildren(this.table.element);
      return;
    }
    this.body.replaceChildren(
      notice(
        "empty",
        `No message and no wake-up of ${name} is known in this ${covered.what}`,
        covered.what === "selection" ? "Esc leaves the selection: then it is the whole window. Analyses → ipc says what was not recorded." : "Take more time: `f` shows all there is. Analyses → ipc says what was not recorded.",
      ),
    );
  }
  /** Selects what is at the other end; `isZoomed`: shows both ends alone. */
  private go([, , , at, row, other]: Flow, isZoomed: boolean): void {
    const begin = Math.min(at, other),
      end = Math.max(at, other),
      room = Math.max(end - begin, 1000);
    this.goAndStay(() => {
      this.navigator.go(row, other, isZoomed ? { begin: begin - room, end: end + room } : undefined);
      this.view.set({ selection: null, hover: other });
    });
    void this.during(this.select(row, other));
  }
  private async select(row: number, at: number): Promise<void> {
    const state = await api.state(row, at, this.view.now.clock).catch(() => null);
    // The reader may have gone on meanwhile.
    if (state === null || !this.isSeen || this.view.now.row !== row || this.view.now.selection !== null) return;
    this.goAndStay(() => this.view.set({ selection: { begin: state.begin, end: state.end } }));
  }
}
