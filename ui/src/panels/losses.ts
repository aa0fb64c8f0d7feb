// What is missing of the traces: events and packets that were lost, times of CPUs without events, breaks of clocks; each can be gone to.
// And how much of the time each CPU was recorded. Talks to: api, view. Used by: the drawer.
import { api, type Loss } from "../api";
import { h } from "../dom";
import { formatCount, formatDuration } from "../format";
import { coverageOf, lossText, type Coverage } from "../losses";
import type { Navigator, View } from "../view";
import { notice } from "./notice";
import { AskingPanel } from "./panel";
import { Stepper } from "./stepper";
import { DataTable, titled } from "./table";
import { commandLike, rowOfLine, toShown } from "./times";

export class LossesPanel extends AskingPanel {
  private readonly count = h("span", { class: "muted", role: "status" });
  private readonly table: DataTable<Loss>;
  private readonly steps: Stepper<Loss>;
  private readonly coverage: DataTable<Coverage>;
  private readonly note = h("span", { class: "marked" });
  private readonly left = h("div", { class: "block" });
  private readonly parts: HTMLElement;
  /** How long all of the time is; whether shares are exact, or what they are. */
  private span = 1;
  private sign = "";

  constructor(view: View, navigator: Navigator) {
    super("losses", "Losses", view, navigator, []);
    const origin = () => this.origin, host = (it: { host: number }) => this.hostName(it.host), share = (it: Coverage) => (100 * it.whole) / this.span;
    this.table = new DataTable<Loss>({
      label: "What is missing: a click goes there", origin, sort: [2, false], pick: (it) => this.go(it, false), open: (it) => this.go(it, true),
      columns: [
        { title: "host", value: host }, { title: "CPU", unit: "count", value: (it) => it.cpu, text: (it) => String(it.cpu ?? "all") },
        { title: "begin", unit: "time", value: (it) => it.begin }, { title: "end", unit: "time", value: (it) => it.end }, { title: "lasts", unit: "ns", value: (it) => it.end - it.begin },
        { title: "count", unit: "count", value: (it) => it.count }, { title: "what is missing", value: (it) => lossText(it), grow: true },
      ],
    });
    this.steps = new Stepper(view, this.table, "loss", (it) => toShown(view, this.rowOf(it), it.begin), (it) => this.go(it, false));
    this.coverage = new DataTable<Coverage>({
      label: "How much was recorded: a click goes to the CPU", origin,
      pick: (it) => this.navigator.go(this.rowOf(it), (view.now.window.begin + view.now.window.end) / 2),
      columns: [
        { title: "host", value: host }, { title: "CPU", unit: "count", value: (it) => it.cpu, text: (it) => String(it.cpu) },
        { title: "whole", unit: "percent", description: "Part of all of the time in which nothing of this CPU is missing",
          value: share, text: (it) => `${this.sign}${shareText(share(it))}` },
        { title: "lost in", unit: "ns", description: "Times in which events or packets were lost", value: (it) => it.lost, text: (it) => this.least(it.lost) },
        { title: "not recorded", unit: "ns", description: "Times in which a stream is missing, has not begun or has ended", value: (it) => it.absent, text: (it) => this.least(it.absent) },
        { title: "from", unit: "time", value: (it) => it.begin }, { title: "to", unit: "time", value: (it) => it.end },
      ],
    });
    this.parts = h("div", { class: "losses-parts" }, this.left, titled("How much was recorded", this.coverage, this.note));
    this.controls.append(...this.steps.elements, this.count, this.table.copy);
  }
  protected forget(): void { this.steps.clear(); this.coverage.set([]); }
  protected async load(signal: AbortSignal): Promise<void> {
    const { losses, losses_total: total, breaks, hosts: recorded } = await api.overview(1, signal);
    const { experiment } = this.view.now, hosts = experiment?.hosts ?? [];
    const hostOf = (host: number | string) => (typeof host === "number" ? host : hosts.find((it) => it.name === host)?.host ?? 0);
    const broken = breaks.map((it): Loss => ({ host: hostOf(it.host), cpu: null, begin: it.at, end: it.at, what: it.text, count: null }));
    this.heading.textContent = "all of the time";
    this.command.set(commandLike(this.view, "sql -c 'SELECT host, cpu, what, count, begin_time, end_time FROM losses ORDER BY begin_time, host, cpu'"));
    this.count.textContent = `${formatCount(losses.length)}${total > losses.length ? ` of ${formatCount(total)}` : ""} times in which something is missing${broken.length === 0 ? "" : `, ${formatCount(broken.length)} breaks of clocks`}`;
    this.count.title = this.count.textContent;
    if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
    const none = "No event was lost, all CPUs of a host were recorded as long as the host was, and no clock was set.";
    this.left.replaceChildren(losses.length + broken.length === 0 ? notice("empty", "Nothing is missing", none) : this.table.element);
    this.steps.set([...losses, ...broken], { count: losses.length + broken.length, kind: total === losses.length ? "all" : "listed" });
    const span = { begin: experiment?.begin ?? 0, end: experiment?.end ?? 1 }, isCut = total > losses.length;
    this.span = Math.max(1, span.end - span.begin);
    this.sign = isCut ? "≤ " : "";
    this.note.textContent = this.note.title = isCut ? `${formatCount(total - losses.length)} losses are not listed` : "";
    const packetsOf = (host: number) => recorded.find((it) => it.host === host);
    // A host without packets was not recorded at any time.
    this.coverage.set(hosts.flatMap((host) => coverageOf(losses, { ...host, begin: packetsOf(host.host)?.begin ?? span.end, end: packetsOf(host.host)?.end ?? span.begin }, span)));
  }
  /** Where not all losses are listed, there may be more. */
  private least(ns: number): string { return `${this.sign === "" ? "" : "≥ "}${formatDuration(ns)}`; }
  async stepList(by: number): Promise<void> {
    await this.during(this.loaded);
    this.steps.step(by);
  }
  private hostName(host: number): string { return this.view.now.experiment?.hosts[host]?.name ?? String(host); }
  private rowOf({ host, cpu, begin }: Pick<Loss, "host" | "cpu" | "begin">): number | null {
    return rowOfLine(this.view, (name) => (name === "host" ? this.hostName(host) : name === "cpu" ? cpu : null), begin);
  }
  private go(it: Loss, isZoom: boolean): void {
    const row = this.rowOf(it), begin = toShown(this.view, row, it.begin), end = toShown(this.view, row, it.end);
    this.navigator.go(row, begin, isZoom ? { begin: begin - Math.max(1000, (end - begin) / 4), end: end + Math.max(1000, (end - begin) / 4) } : undefined);
    this.view.set({ selection: { begin, end } });
  }
}
/** All is only said where it is all. */
function shareText(share: number): string { return `${share < 100 ? Math.min(99.99, share).toFixed(2) : "100"} %`; }
