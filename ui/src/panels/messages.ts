// The messages of the selected time, else of the window: who sent them to whom, when, how long they took, and how sure that is.
// Talks to: api, view. Used by: the drawer.
import { api, type Message } from "../api";
import { h } from "../dom";
import { formatCount, formatDuration } from "../format";
import type { Navigator, View } from "../view";
import { notice } from "./notice";
import { fitsFilter } from "./pairs";
import { AskingPanel } from "./panel";
import { Stepper } from "./stepper";
import { DataTable } from "./table";
import { panelRange, nameOf } from "./times";

const LIMIT = 5000;

export class MessagesPanel extends AskingPanel {
  private messages: readonly Message[] = [];
  private total = 0;
  /** Whether there are messages, at whatever time. */
  private isAny = false;
  private readonly filter = h("input", { type: "search", placeholder: "filter: host, thread, a → b", "aria-label": "Filter messages", oninput: () => this.choose() });
  private readonly inverted = h("input", { type: "checkbox", onchange: () => this.choose() });
  private readonly count = h("span", { class: "muted", role: "status" });
  private readonly table: DataTable<Message>;
  private readonly steps: Stepper<Message>;

  constructor(view: View, navigator: Navigator) {
    super("messages", "Messages", view, navigator, ["window", "selection", "clock"]);
    const took = ([, , sent, received]: Message) => received - sent;
    this.table = new DataTable<Message>({
      label: "Messages: a click goes to the sender", origin: () => this.origin, sort: [2, false], pick: (it) => this.go(it, false), open: (it) => this.go(it, true), mark: (it) => (it[7] === 1 ? "bad" : null),
      columns: [
        { title: "from", value: (it) => nameOf(this.view, it[0]), grow: true }, { title: "to", value: (it) => nameOf(this.view, it[1]), grow: true },
        { title: "sent", unit: "time", value: (it) => it[2] }, { title: "received", unit: "time", value: (it) => it[3] },
        { title: "latency", unit: "ns", value: took },
        { title: "surely", unit: "ns", description: "What the clocks leave open: the latency is surely within", value: (it) => (it[6] === null || it[5] === null ? null : it[6] - it[5]),
          text: (it) => (it[5] === null || it[6] === null ? "–" : `${formatDuration(took(it) + it[5])} … ${formatDuration(took(it) + it[6])}`) },
        { title: "likely ±", unit: "ns", value: (it) => it[4] }, { title: "before sent", description: "It is received before it is sent: impossible, so the clocks are wrong", value: (it) => it[7] === 1, text: (it) => (it[7] === 1 ? "yes" : "") },
      ],
    });
    this.steps = new Stepper(view, this.table, "message", (it) => it[2], (it) => this.go(it, false));
    this.controls.append(this.filter, h("label", {}, this.inverted, " only those that arrive before they were sent"), ...this.steps.elements, this.count, this.table.copy);
  }
  /** The filter; where only impossible ones are listed, that before it. */
  get kept(): string {
    const filter = this.filter.value.trim();
    return this.inverted.checked || filter.includes("~") ? `${this.inverted.checked ? "inverted" : ""}~${filter}` : filter;
  }
  keep(text: string): void {
    const [, inverted, filter] = /^(inverted)?~(.*)$/s.exec(text) ?? [null, undefined, text];
    this.inverted.checked = inverted !== undefined;
    this.filter.value = filter!;
    if (this.isSeen) void this.ask();
  }
  private choose(): void {
    this.tellKept();
    this.draw();
  }
  protected forget(): void { this.messages = []; this.steps.clear(); }
  protected async load(signal: AbortSignal): Promise<void> {
    // Messages are told on the clock that is shown.
    const covered = this.showRange(), { selection, window, clock } = this.view.now, range = clock === "common" ? covered : covered.what === "selection" && selection !== null ? selection : window;
    if (clock === "own") this.heading.textContent = `${covered.what}, by the hosts' own clocks`;
    const answer = await api.messages(range.begin, range.end, clock, LIMIT, signal, true, this.progress.ask);
    this.command.set(answer.command);
    this.messages = answer.messages;
    this.total = answer.total;
    this.isAny = answer.total > 0 || (await api.messageCounts(signal)).count > 0;
    this.draw();
  }
  private draw(): void {
    const filter = this.filter.value.trim();
    const shown = this.messages.filter((it) => (!this.inverted.checked || it[7] === 1) && (filter === "" || fitsFilter(filter, nameOf(this.view, it[0]), nameOf(this.view, it[1]))));
    const thinned = this.messages.length < this.total ? `, ${formatCount(this.messages.length)} of them, evenly chosen` : "";
    this.count.textContent = `${formatCount(this.total)} messages arrive in it${thinned}${shown.length < this.messages.length ? `; ${formatCount(shown.length)} fit` : ""}`;
    if (shown.length === 0) {
      this.steps.clear();
      this.body.replaceChildren(this.messages.length > 0 ? notice("empty", "No message fits", this.inverted.checked && filter === "" ? "None arrives before it was sent: as it must be. `k` shows the hosts' own clocks." : "Clear the filter to see all.")
        : this.none());
      return;
    }
    if (this.body.firstChild !== this.table.element) this.body.replaceChildren(this.table.element);
    // Impossible ones come before all others: if there are others, these are all.
    const areAll = this.messages.length === this.total || (this.inverted.checked && this.messages.some((it) => it[7] === 0));
    this.steps.set(shown, { count: shown.length, kind: areAll ? "all" : "listed" });
  }
  async stepList(by: number): Promise<void> {
    await this.during(this.loaded);
    this.steps.step(by);
  }
  private none(): HTMLElement {
    if (this.isAny) return notice("empty", `No message arrives in this ${panelRange(this.view).what}`, "There are some at other times: `f` shows all.");
    return notice("empty", "There are no messages between these hosts", "They are packets that two of the hosts recorded: `lttng enable-event --kernel net_dev_queue,net_if_receive_skb` on both.");
  }
  private go([from, , sent, received]: Message, isZoom: boolean): void {
    const begin = Math.min(sent, received), end = Math.max(sent, received), room = Math.max(end - begin, 1000);
    this.hold();
    this.view.set({ hover: sent });
    this.navigator.go(from, sent, isZoom ? { begin: begin - room, end: end + room } : undefined);
  }
}
