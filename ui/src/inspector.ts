// Selecting states and going from one to the next: previous, next, along messages and wake-ups, the critical path of what is selected.
// Talks to: api, view, navigation, graph (what is known at once). Used by: pointer and keys.
import { api, ApiError, type StateAt, type Time } from "./api";
import type { ClockSwitch } from "./clock";
import { look } from "./colours";
import { formatDuration } from "./format";
import type { Graph } from "./graph/graph";
import type { Navigation } from "./navigation";
import type { Rows } from "./rows";
import type { Status } from "./status";
import type { View } from "./view";

/** A state that is shown takes this share of the window at most, else the window grows. */
const ZOOMED_SHARE = 0.6;

export class Inspector {
  private asked = 0;
  /** Looks for a critical path. */
  private finding: AbortController | null = null;
  constructor(
    private readonly view: View, private readonly rows: Rows, private readonly graph: Graph, private readonly navigation: Navigation, private readonly clock: ClockSwitch,
    private readonly status: Status, private readonly openPath: () => void,
  ) {}

  /** Nothing is asked for. */
  get isIdle(): boolean { return this.asked === 0; }
  /** Selects the state of a row at an instant: what is known here at once, the exact one when the server has told it. */
  async select(row: number, at: Time): Promise<StateAt | null> {
    const here = this.graph.stateAt(row, at);
    const guess = here === null ? null : { begin: here.begin, end: here.end };
    this.view.set({ row, selection: guess, isAbout: guess !== null });
    const state = await this.ask(() => api.state(row, at, this.view.now.clock), false);
    // The reader may have gone on meanwhile.
    if (state === null || this.view.now.row !== row || this.view.now.selection !== guess) return state;
    this.take(state);
    return state;
  }
  async zoomTo(row: number, at: Time): Promise<void> {
    const state = await this.select(row, at);
    if (state !== null) this.navigation.show(state);
  }
  async step(to: "next" | "previous"): Promise<void> {
    const { row, selection, clock } = this.view.now;
    if (row === null) { this.status.say("Select a row first."); return; }
    const at = selection === null ? this.middle() : (selection.begin + selection.end) / 2;
    const state = await this.ask(() => (selection === null ? api.state(row, at, clock) : api.step(row, at, to, clock)));
    if (state === null) return;
    this.take(state);
    this.see(state.begin, state.end);
  }
  async follow(what: "message" | "wakeup" | "waker"): Promise<void> {
    const { row, selection, clock } = this.view.now;
    if (row === null) { this.status.say("Select a row first."); return; }
    const at = selection === null ? this.middle() : (selection.begin + selection.end) / 2;
    const end = await this.ask(() => api.follow(row, at, what, clock));
    if (end === null) return;
    this.navigation.go(end.row, end.at);
    await this.select(end.row, end.at);
    this.status.say(`${this.name(end.row)}: ${end.text}`);
  }
  /** The critical path of the selected thread over the selected time. */
  async path(): Promise<void> {
    const { begin, end } = this.view.range, it = this.rows.row(this.view.now.row);
    if (it?.kind !== "thread") { this.status.say("Select a thread, and a time if you like, first."); return; }
    // Paths are told on the common clock.
    const moved = -this.clock.convert(it.host, "common");
    this.status.say("Looking for the critical path … (Esc stops)");
    this.finding?.abort();
    const finding = this.finding = new AbortController();
    const path = await this.ask(() => api.path({ row: it.id, begin: Math.round(begin + moved), end: Math.round(end + moved) }, null, finding.signal));
    if (this.finding === finding) this.finding = null;
    if (path === null || finding.signal.aborted) return;
    this.view.set({ path });
    this.openPath();
    this.status.say(`Critical path of ${this.rows.fullName(it)}: ${path.steps.length} steps, ${formatDuration(path.end - path.begin)}`);
  }
  /** Gives up what is looked for; false: nothing is. */
  stop(): boolean {
    const { finding } = this;
    this.finding = null;
    finding?.abort();
    return finding !== null;
  }
  private name(row: number): string { const it = this.rows.row(row); return it === undefined ? "" : this.rows.fullName(it); }
  private middle(): Time { const { begin, end } = this.view.now.window; return (begin + end) / 2; }
  private take(state: StateAt): void {
    this.view.set({ row: state.row, selection: { begin: state.begin, end: state.end } });
    const call = state.fields.find(([name]) => name === "call")?.[1];
    this.status.say(`${this.name(state.row)}: ${call ?? state.state ?? look(state.style).name}, ${formatDuration(state.end - state.begin)}`);
  }
  /** Moves the window no further than needed to see a range. */
  private see(begin: Time, end: Time): void {
    const { window } = this.view.now, span = window.end - window.begin, room = span * 0.05;
    if (end - begin > span * ZOOMED_SHARE) { if (begin < window.begin || end > window.end) this.navigation.show({ begin, end }); }
    else if (begin < window.begin + room) this.navigation.pan(begin - window.begin - span * 0.2, "glide");
    else if (end > window.end - room) this.navigation.pan(end - window.end + span * 0.2, "glide");
    const place = this.rows.placeOf(this.view.now.row ?? -1);
    if (place !== undefined) this.graph.layout.see(place);
  }
  /** null if there is none; why, in the status line. */
  private async ask<T>(request: () => Promise<T>, tells = true): Promise<T | null> {
    this.asked += 1;
    try {
      return await request();
    } catch (error) {
      if (tells && error instanceof ApiError) this.status.say(error.message, error.status !== 404);
      return null;
    } finally {
      this.asked -= 1;
    }
  }
}
