// The events of the selected time, else of the window: searched by text or expression, page after page; the one next to the selected instant stands out.
// Talks to: api, view. Used by: the drawer.
import { api, type Time, type TraceEvent } from "../api";
import { button, h } from "../dom";
import { formatCount } from "../format";
import type { ViewState, Navigator, View } from "../view";
import { compare } from "./cells";
import { copyButton } from "./copy";
import { fieldsOf, groupsOf, searchFor, type Field } from "./eventFields";
import { notice } from "./notice";
import { AskingPanel } from "./panel";
import { Stepper } from "./stepper";
import { DataTable } from "./table";
import { nameOf, toCommon, toShown, type PanelRange } from "./times";

const PAGE = 500, MOST = 20_000, REST_MS = 350;

export class EventsPanel extends AskingPanel {
  private events: TraceEvent[] = [];
  private next: string | null = null;
  private asked: { range: PanelRange; search: string; hosts: string } | null = null;
  private more: AbortController | null = null;
  private nearest: TraceEvent | null = null;
  private readonly input = h("input", { type: "search", placeholder: "text, or =prev_tid == 216 && $cpu > 0", "aria-label": "Search events: a text, or an expression after =", oninput: () => { this.tellKept(); this.askAgain(REST_MS); } });
  private readonly hosts = h("select", { "aria-label": "Host", onchange: () => this.choose() });
  private readonly scope = h("select", { "aria-label": "Of which time", onchange: () => this.choose() },
    h("option", { value: "range" }, "selection / window"), h("option", { value: "window" }, "window"), h("option", { value: "from" }, "from the instant on"));
  private readonly count = h("span", { class: "muted", role: "status" });
  private readonly table: DataTable<TraceEvent>;
  private readonly steps: Stepper<TraceEvent>;
  /** The fields of the event that was picked. */
  private readonly fields = h("section", { class: "event-fields", "aria-label": "Fields of the event", hidden: true });
  private readonly parts = h("div", { class: "event-parts" });

  constructor(view: View, navigator: Navigator) {
    super("events", "Events", view, navigator, ["window", "selection", "clock"]);
    this.input.className = "wide";
    this.table = new DataTable<TraceEvent>({
      label: "Events: a click goes there", origin: () => this.origin, pick: (it) => this.go(it), open: (it) => this.zoom(it),
      mark: (it) => (it === this.nearest ? "nearest" : null), nearEnd: () => void this.loadMore(),
      columns: [
        { title: "time", unit: "time", value: (it) => it.at }, { title: "host", value: (it) => this.hostName(it.host) }, { title: "CPU", unit: "count", value: (it) => it.cpu, text: (it) => String(it.cpu ?? "–") },
        { title: "thread", description: "That ran", value: (it) => nameOf(this.view, it.row).replace(/^\S+ /, ""), width: 22 }, { title: "event", value: (it) => it.name, width: 30 }, { title: "fields", value: (it) => it.text, draw: (it) => drawFields(it.text), grow: true },
      ],
    });
    this.parts.append(this.table.element, this.fields);
    this.steps = new Stepper(view, this.table, "event", (it) => toShown(view, this.rowOf(it), it.at), (it) => this.go(it));
    this.controls.append(this.input, this.hosts, this.scope, ...this.steps.elements, this.count, button("⇥", "Show the event next to the selected instant", () => this.jump(), { class: "jump" }), this.table.copy);
  }
  /** What is searched for; with the host and the time before it, where these are others than at first. */
  get kept(): string {
    const text = this.input.value.trim();
    return this.hosts.value === "" && this.scope.value === "range" && !text.startsWith("~") ? text : `~${this.hosts.value}~${this.scope.value}~${text}`;
  }
  keep(text: string): void {
    const [, host, scope, search] = /^~(\d*)~(range|window|from)~(.*)$/s.exec(text) ?? [null, "", "range", text];
    this.shown();
    this.input.value = search!;
    this.hosts.value = host!;
    this.scope.value = scope!;
    // A host that there is not.
    if (this.hosts.selectedIndex < 0) this.hosts.value = "";
    if (this.isSeen) void this.ask();
  }
  private choose(): void {
    this.tellKept();
    void this.ask();
  }
  protected override shown(): void {
    const hosts = this.view.now.experiment?.hosts ?? [];
    if (this.hosts.options.length === hosts.length + 1) return;
    const inOrder = [...hosts].sort((a, b) => compare(a.name, b.name, false));
    this.hosts.replaceChildren(h("option", { value: "" }, "all hosts"), ...inOrder.map((it) => h("option", { value: it.host }, it.name)));
    this.hosts.hidden = hosts.length < 2;
  }
  protected override changed(_now: ViewState, changed: ReadonlySet<keyof ViewState>): void {
    // What is asked for may be the same: then only another event is next to the instant.
    const { value } = this.scope;
    if (changed.has("selection") && value === "window" && !changed.has("window")) { this.find(true); return; }
    if (value === "from" && changed.has("window") && !changed.has("selection")) return;
    if (value === "range" && this.view.now.selection !== null && !changed.has("selection") && !changed.has("clock")) return;
    this.askSoon();
  }
  protected forget(): void {
    this.more?.abort();
    this.more = null;
    this.events = [];
    this.next = null;
    this.nearest = null;
    this.steps.clear();
    this.fields.hidden = true;
  }
  protected async load(signal: AbortSignal): Promise<void> {
    const range = this.rangeOf(), search = this.input.value.trim(), hosts = this.hosts.value;
    this.more?.abort();
    this.more = null;
    this.input.classList.remove("wrong");
    const answer = await api.events({ begin: range.begin, end: range.end, limit: PAGE, search, hosts, ask: this.progress.ask }, signal).catch((error: unknown) => {
      // An expression that is not finished yet is no failure of the panel.
      if (search !== "") this.input.classList.add("wrong");
      throw error;
    });
    this.asked = { range, search, hosts };
    this.events = answer.events;
    this.next = answer.next;
    this.command.set(answer.command);
    if (this.events.length === 0) {
      this.steps.clear();
      this.count.textContent = "";
      this.body.replaceChildren(notice("empty", search === "" ? "No events in this time" : "No event has that", search === "" ? "Nothing was recorded then." : "Texts are searched in names and fields as they are written, with upper and lower case. `=$event == \"sched_switch\" && prev_tid == 216` is an expression, as in `isochrone events --where`."));
      return;
    }
    if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
    this.table.element.scrollTop = 0;
    this.list();
    this.find(true);
    this.tell();
  }
  /** Those that were searched for are marked; marks of all events would be everywhere. */
  private list(): void { this.steps.set(this.events, { count: this.events.length, kind: this.next === null ? "all" : "at least" }, this.asked?.search !== ""); }
  private rangeOf(): PanelRange {
    const covered = this.showRange(this.scope.value === "window" ? "window" : "range"), { selection, row, experiment } = this.view.now;
    if (this.scope.value !== "from" || selection === null) return covered;
    this.heading.textContent = "from the selected instant on";
    return { ...covered, begin: Math.floor(toCommon(this.view, row, selection.begin)), end: experiment?.end ?? covered.end };
  }
  private async loadMore(): Promise<void> {
    const { asked, next } = this;
    if (asked === null || next === null || this.more !== null || this.events.length >= MOST || this.table.count === 0) return;
    const more = this.more = new AbortController();
    const answer = await this.during(api.events({ begin: asked.range.begin, end: asked.range.end, limit: PAGE, search: asked.search, hosts: asked.hosts, after: next }, more.signal)).catch(() => null);
    if (this.more !== more) return;
    this.more = null;
    // A failure leaves what is there; the next scroll asks again.
    if (answer === null || asked !== this.asked) return;
    this.events = [...this.events, ...answer.events];
    this.next = answer.next;
    this.list();
    this.find(false);
    this.tell();
  }
  private tell(): void {
    const count = formatCount(this.events.length);
    this.count.textContent = this.next === null ? `${count} events` : this.events.length >= MOST ? `the first ${count}: search, or take less time` : `the first ${count}, more below`;
  }
  private instant(): Time | null {
    const { selection, row } = this.view.now;
    return selection === null ? null : toCommon(this.view, row, selection.begin);
  }
  /** The event next to the selected instant. */
  private find(isSeen: boolean): void {
    const at = this.instant();
    this.nearest = at === null || this.scope.value === "range" ? null : this.events.reduce<TraceEvent | null>((a, b) => (a === null || Math.abs(b.at - at) < Math.abs(a.at - at) ? b : a), null);
    if (this.nearest !== null && isSeen) this.table.activate(this.nearest);
    else this.table.redraw();
  }
  /** Goes to the selected instant, wherever in the trace it is. */
  private jump(): void {
    const at = this.instant();
    if (at === null) { this.count.textContent = "no instant is selected: click in the time graph"; return; }
    const isLoaded = this.events.length > 0 && at <= this.events.at(-1)!.at && at >= this.events[0]!.at;
    this.scope.value = isLoaded && this.scope.value === "window" ? "window" : "from";
    this.tellKept();
    if (isLoaded && this.scope.value === "window") this.find(true);
    else void this.ask();
  }
  async stepList(by: number): Promise<void> {
    await this.during(this.loaded);
    // After the last one that is there may come more.
    if (by > 0 && this.table.place === this.table.count - 1) await this.loadMore();
    this.steps.step(by);
  }
  private hostName(host: number): string { return this.view.now.experiment?.hosts[host]?.name ?? String(host); }
  private rowOf(it: TraceEvent): number | null { return it.row ?? this.view.now.experiment?.hosts[it.host]?.row ?? null; }
  /** All fields of an event, one below the other; a value leads to all events that have it. */
  private showFields(it: TraceEvent): void {
    const groups = groupsOf(it.text), close = button("×", "Close the fields", () => { this.fields.hidden = true; }, { class: "close" });
    const list = (fields: readonly Field[], isContext: boolean) => h("dl", {}, ...fields.flatMap((field) => {
      const search = searchFor(it.name, field, isContext), value = search === null ? field.value : button(field.value, `Find the events with this: ${search.slice(1)}`, () => { this.input.value = search; this.tellKept(); void this.ask(); }, { class: "value" });
      return [h("dt", {}, field.name), h("dd", {}, value)];
    }));
    const contexts = groups?.slice(0, -1).flatMap(fieldsOf) ?? [];
    this.fields.replaceChildren(h("div", { class: "block-head" }, h("h3", {}, it.name), copyButton("copy", "Copy the fields", () => it.text), close),
      ...(groups === null ? [h("p", { class: "muted" }, it.text)] : [list(fieldsOf(groups.at(-1)!), false), ...(contexts.length > 0 ? [h("h3", {}, "contexts"), list(contexts, true)] : [])]));
    this.fields.hidden = false;
  }
  private go(it: TraceEvent): void {
    this.showFields(it);
    const row = this.rowOf(it), at = toShown(this.view, row, it.at);
    this.hold();
    this.navigator.go(row, at);
    this.view.set({ hover: at });
  }
  private zoom(it: TraceEvent): void {
    const row = this.rowOf(it), at = toShown(this.view, row, it.at), { begin, end } = this.view.now.window, half = Math.min((end - begin) / 20, 5e5);
    this.hold();
    this.navigator.go(row, at, { begin: at - half, end: at + half });
  }
}
/** "{ contexts }, { payload }": the payload first, the contexts paler behind it. */
function drawFields(text: string): Node | string {
  const groups = groupsOf(text);
  // What is cut, or of another form, is shown as it came.
  return groups === null ? text : h("span", {}, `${groups.at(-1)} `, h("span", { class: "muted" }, groups.slice(0, -1).join(", ")));
}
