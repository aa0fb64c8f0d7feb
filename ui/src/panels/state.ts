// The state at the selected row and instant, whole: fields, times on both clocks with their bounds, its neighbours, and where it leads.
// Talks to: api, view. Used by: the drawer.
import { api, ApiError, type StateAt, type Time } from "../api";
import { LOOKS, stateColour } from "../colours";
import { button, h } from "../dom";
import { formatDuration, formatTime, unixNs } from "../format";
import { parseInstant } from "../parseTime";
import type { ViewState, Navigator, View } from "../view";
import { copyButton } from "./copy";
import { FirstLook, panelButton } from "./firstLook";
import { meanwhileList, meanwhileText } from "./meanwhile";
import { notice } from "./notice";
import { AskingPanel } from "./panel";
import { stack } from "./stack";
import { commandLike, nameOf, panelRange, quotedWord, rowOf, unixSeconds } from "./times";

type Neighbours = readonly [previous: StateAt | null, next: StateAt | null];

export class StatePanel extends AskingPanel {
  /** What the first look asks for. */
  private first = new AbortController();
  /** How times were shown in what there is to see without a selection. */
  private look = "";
  /** `common`: the same on the common clock, by which commands take times; null where that was not asked for. */
  private said: { state: StateAt; neighbours: Neighbours | null; common: StateAt | null } | null = null;
  constructor(view: View, navigator: Navigator) { super("state", "State", view, navigator, ["row", "selection", "hover", "clock", "window"]); }

  protected override changed(now: ViewState, changed: ReadonlySet<keyof ViewState>): void {
    // What is selected stays, wherever the pointer goes; what is said of the window goes with it.
    if (now.selection !== null && !changed.has("selection") && !changed.has("row") && !changed.has("clock") && !changed.has("window")) return;
    if (now.selection === null && !changed.has("row") && !changed.has("selection") && !changed.has("clock") && now.hover === null) return;
    this.askSoon(90);
  }
  /** The first look is not looked at any more. */
  private giveUpFirst(): void {
    this.first.abort();
    this.look = "";
  }
  override hide(): void {
    super.hide();
    this.giveUpFirst();
  }
  protected forget(): void { this.said = null; this.controls.replaceChildren(); this.body.replaceChildren(); }

  protected async load(signal: AbortSignal): Promise<void> {
    const { row, selection, hover, clock, window } = this.view.now, name = nameOf(this.view, row);
    this.heading.textContent = name;
    if (row === null) {
      this.controls.replaceChildren();
      this.command.set("");
      // The pointer passes over much: what is there stays.
      const { experiment, times } = this.view.now, key = `${times} ${experiment?.store ?? ""} ${experiment?.look ?? 0}`;
      if (this.body.querySelector(".first-look") !== null && this.look === key) return;
      const first = new FirstLook(this.view, this.navigator, (work) => void this.during(work)), { signal: given } = this.first = new AbortController();
      this.look = key;
      this.body.replaceChildren(first.element);
      void this.during(first.ask(given).catch((error: unknown) => { if (!given.aborted) throw error; }));
      return;
    }
    this.giveUpFirst();
    const at = selection?.begin ?? hover ?? (window.begin + window.end) / 2;
    const state = await api.state(row, at, clock, signal).catch((error: unknown) => { if (error instanceof ApiError && error.status === 404) return error; throw error; });
    if (state instanceof ApiError) {
      this.command.set("");
      const hasInside = ["host", "process"].includes(rowOf(this.view, row)?.kind ?? "");
      this.body.replaceChildren(notice("empty", hasInside ? `${name} has no states of its own` : "No state there", hasInside
        ? "It shows those of its CPUs or threads: select one of them. What it did altogether is in Statistics."
        : `${state.message}: it was not alive, or nothing was recorded. \`[\` and \`]\` go to the states beside.`));
      return;
    }
    // Its neighbours only where it stays: the pointer passes many.
    const step = (to: "next" | "previous") => (selection === null ? Promise.resolve(null) : api.step(row, (state.begin + state.end) / 2, to, clock).catch(() => null));
    const neighbours = selection === null ? null : await Promise.all([step("previous"), step("next")]) as unknown as Neighbours;
    const common = clock === "common" ? state : selection === null ? null : await this.onCommon(state, signal);
    if (signal.aborted) return;
    this.said = { state, neighbours, common };
    this.tellCommand(state);
    const share = rowOf(this.view, row)?.kind === "thread" && selection !== null ? await this.share(row, signal) : null;
    this.draw(name, share);
  }
  private tellCommand({ row, begin, end }: StateAt): void {
    const it = rowOf(this.view, row), host = this.view.now.experiment?.hosts[it?.host ?? -1]?.name ?? "";
    if (it?.kind !== "thread" || it.tid === undefined) this.command.none("`isochrone states` has those of threads, not of CPUs, disks and phases");
    else if (this.view.now.clock === "own") this.command.none("`isochrone states` would need the time on the common clock: `k` goes there");
    else {
      const times = `--begin ${unixSeconds(this.view, begin)} --end ${unixSeconds(this.view, end)}`;
      this.command.set(commandLike(this.view, `states --tid ${quotedWord(`${host}:${it.tid}`)} ${times}`));
    }
  }
  private async onCommon(state: StateAt, signal: AbortSignal): Promise<StateAt | null> {
    const begin = this.origin === null ? null : parseInstant(state.times.common, { origin: this.origin, begin: 0, near: 0, format: "UTC" });
    return begin === null ? null : api.state(state.row, begin + (state.end - state.begin) / 2, "common", signal).catch(() => null);
  }
  /** What the thread did in the window. */
  private async share(row: number, signal: AbortSignal): Promise<HTMLElement | null> {
    const range = panelRange(this.view, "window"), { states } = await api.statistics({ begin: range.begin, end: range.end, rows: [row] }, signal), title = h("h3", {}, `In the window of ${formatDuration(range.end - range.begin)}`);
    const all = states.reduce((sum, it) => sum + it.total_ns, 0);
    if (all === 0) return null;
    const parts = states.map((it) => ({ name: LOOKS[it.style]?.name ?? it.state, share: it.total_ns / all, colour: stateColour(it.style), text: `${formatDuration(it.total_ns)}, ${(100 * it.total_ns / all).toFixed(1)} %` }));
    return h("div", { class: "share" }, title, stack(parts), h("p", {}, parts.filter((it) => it.share > 0.0005).map((it) => `${it.name} ${it.text}`).join("; ")));
  }
  private draw(name: string, share: HTMLElement | null): void {
    const { state, neighbours } = this.said!, colour = h("span", { class: "swatch", "aria-hidden": "true" });
    colour.style.background = stateColour(state.style);
    const what = this.fieldOf(state);
    const title = h("div", { class: "state-title" }, colour, h("strong", {}, state.state), what === "" ? null : h("span", {}, what), h("span", { class: "muted" }, name),
      copyButton("copy", "Copy all of this", () => this.asText(name)),
      this.options === "" ? null : copyButton("copy times", `Copy its times as options of commands: ${this.options}`, () => this.options));
    const fields: [string, string][] = [["begin", formatTime(this.origin, state.begin)], ["end", formatTime(this.origin, state.end)], ["lasts", formatDuration(state.end - state.begin)], ...state.fields];
    const times: [string, string][] = [["own clock", state.times.own], ["common clock", state.times.common], ...this.bounds(state)];
    this.controls.replaceChildren(...this.acts(neighbours));
    const { meanwhile, waker } = state, go = (row: number) => this.navigator.go(row, state.begin);
    const instead = meanwhile === undefined ? null : meanwhileList(meanwhile, nameOf(this.view, meanwhile.cpu) || "a CPU", go, (rows) => this.view.set({ onlyRows: new Set([state.row, ...rows]) }));
    this.body.replaceChildren(title, h("div", { class: "state-parts" }, list("What", fields, (key, value) => ((key === "woken by" || key === "ended by") && waker !== undefined ? button(value, `Go to ${value}, as it was then`, () => this.navigator.go(waker, key === "ended by" ? state.end : state.begin), { class: "link" }) : value)), instead, list("When, on both clocks", times), share));
  }
  private bounds(state: StateAt): [string, string][] {
    const host = rowOf(this.view, state.row)?.host ?? -1, { sure, likely } = state.times;
    if (this.view.now.experiment?.hosts[host]?.is_reference === true) return [["bounds", "exact: its host is the reference, whose clock is the common one"]];
    return [["surely within", sure ?? "not known: its host is tied to no other"], ["likely within", likely ?? "not known"]];
  }
  /** "read(fd 4)", or what else says most. */
  private fieldOf(state: StateAt): string { return state.fields.find(([key]) => key === "call" || key === "what")?.[1] ?? ""; }
  private acts(neighbours: Neighbours | null): HTMLElement[] {
    const there = (it: StateAt | null | undefined) => (it ? `${it.state}${this.fieldOf(it) === "" ? "" : ` ${this.fieldOf(it).replace(/\(.*/, "")}`} ${formatDuration(it.end - it.begin)}` : "none");
    const beside = (to: "previous" | "next", it: StateAt | null | undefined) => {
      const text = neighbours === null ? to : there(it);
      return button(to === "previous" ? `◂ ${text}` : `${text} ▸`, to === "previous" ? "Go to the state before ([)" : "Go to the state after (])", () => void this.step(to), { "data-to": to, disabled: neighbours !== null && !it });
    };
    return [beside("previous", neighbours?.[0]), beside("next", neighbours?.[1]),
      button("follow the message", "Go to the other end of the message next to it (m)", () => void this.follow("message")), button("whom it wakes", "Go to the thread that it wakes next (e)", () => void this.follow("wakeup")),
      button("who woke it", "Go to the thread that woke it (E)", () => void this.follow("waker")),
      panelButton("all of these", "flows", "List the messages and wake-ups that come to it and go from it in this time"),
      h("span", { class: "wrong", role: "status" })];
  }
  private async step(to: "previous" | "next"): Promise<void> {
    const { state } = this.said!, known = this.said!.neighbours?.[to === "previous" ? 0 : 1];
    const it = known ?? await this.answer(() => api.step(state.row, (state.begin + state.end) / 2, to, this.view.now.clock));
    if (it !== null) this.go(it);
  }
  private async follow(what: "message" | "wakeup" | "waker"): Promise<void> {
    const { state } = this.said!, { clock } = this.view.now;
    const end = await this.answer(() => api.follow(state.row, (state.begin + state.end) / 2, what, clock));
    if (end === null) return;
    const there = await this.during(api.state(end.row, end.at, clock)).catch(() => null);
    if (there !== null) this.go(there, end.at);
    else { this.view.set({ selection: null }); this.navigator.go(end.row, end.at); }
  }
  private go(state: StateAt, at: Time = state.begin): void {
    this.view.set({ row: state.row, selection: { begin: state.begin, end: state.end } });
    this.navigator.go(state.row, at);
  }
  private async answer<T>(request: () => Promise<T>): Promise<T | null> {
    try {
      return await this.during(request());
    } catch (error) {
      const place = this.controls.querySelector(".wrong");
      if (place !== null) place.textContent = error instanceof Error ? error.message : "";
      return null;
    }
  }
  /** Its begin and end, as options of commands: Unix ns of the common clock. */
  private get options(): string {
    const common = this.said?.common ?? null;
    return common === null ? "" : `--begin ${unixNs(this.origin, common.begin)} --end ${unixNs(this.origin, common.end)}`;
  }
  private asText(name: string): string {
    const { state } = this.said!, { times } = state;
    return [`${name}: ${state.state}, ${state.end - state.begin} ns`, ...state.fields.map(([key, value]) => `${key}\t${value}`), ...(state.meanwhile === undefined ? [] : [`ran instead\t${meanwhileText(state.meanwhile, Infinity)}`]), `own clock\t${times.own}`, `common clock\t${times.common}`, `surely within\t${times.sure ?? ""}`, `likely within\t${times.likely ?? ""}`,
      ...(this.options === "" ? [] : [`options\t${this.options}`])].join("\n");
  }
}
function list(title: string, fields: readonly [string, string][], draw: (key: string, value: string) => Node | string = (_, value) => value): HTMLElement {
  return h("section", {}, h("h3", {}, title), h("dl", {}, ...fields.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, draw(key, value))])));
}
