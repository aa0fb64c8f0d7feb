// How long requests of a service take, as a histogram; of those that are chosen there, all critical paths together against those of the others. Talks to: api, view. Used by: the drawer.
import { api, type Compared, type Request } from "../api";
import { causeColour } from "../colours";
import { h } from "../dom";
import { formatCount, formatDuration } from "../format";
import type { Navigator, View } from "../view";
import { barsOf, Histogram } from "./histogram";
import { notice } from "./notice";
import { AskingPanel } from "./panel";
import { causeWord, decoded, who } from "./pathWords";
import { nearestRank, servicesOf } from "./services";
import { swatch } from "./stack";
import { DataTable, titled } from "./table";
import { commandLike } from "./times";

/** The time on one thing: means over the requests of each part, ns. */
export interface Mean { readonly where: string; readonly cause: string; readonly chosen: number; readonly others: number | null; readonly more: number | null }

/** Means of both parts; what the others are compared with is unknown where there are none. */
export function meansOf({ chosen, others, causes }: Compared): Mean[] {
  return causes.map((it) => {
    const mean = chosen === 0 ? 0 : it.chosen_ns / chosen, usual = others === 0 ? null : it.others_ns / others;
    return { where: who(it), cause: it.cause, chosen: mean, others: usual, more: usual === null ? null : mean - usual };
  });
}

export class LatencyPanel extends AskingPanel {
  private requests: readonly Request[] = [];
  private range: [number, number] | null = null;
  /** The service that an address asks for, until services are known. */
  private wanted: string | null = null;
  private readonly service = h("select", { "aria-label": "Service", onchange: () => { this.range = null; this.choose(); } });
  private readonly said = h("p", { class: "sentence muted", role: "status" });
  private readonly histogram = new Histogram((from, to) => { this.range = [from, to]; this.choose(); });
  private readonly table: DataTable<Mean>;
  private readonly list: DataTable<Request>;
  private readonly parts: HTMLElement;

  constructor(view: View, navigator: Navigator) {
    super("latency", "Latency", view, navigator, []);
    const origin = () => this.origin;
    this.table = new DataTable<Mean>({
      label: "Time by cause, means of the chosen requests and of the others", origin, sort: [4, true],
      columns: [
        { title: "where", value: (it) => it.where, grow: true }, { title: "cause", value: (it) => it.cause, text: (it) => causeWord(it.cause), draw: (it) => swatch(causeColour(it.cause), causeWord(it.cause)), width: 17 },
        { title: "chosen", unit: "ns", description: "Mean of the chosen requests", value: (it) => it.chosen }, { title: "others", unit: "ns", description: "Mean of the others of the service", value: (it) => it.others },
        { title: "more", unit: "ns", description: "Mean of the chosen beyond that of the others", value: (it) => it.more, text: (it) => (it.more === null ? "–" : `${it.more > 0 ? "+" : ""}${formatDuration(it.more)}`) },
      ],
    });
    this.list = new DataTable<Request>({
      label: "The chosen requests: a click shows the critical path", origin, sort: [1, true], pick: (it) => void this.during(this.showPath(it)),
      columns: [{ title: "#", value: (it) => it.request, isNumber: true }, { title: "total", unit: "ns", value: (it) => it.total_ns }, { title: "client", value: (it) => it.client, grow: true }, { title: "server", value: (it) => it.server, grow: true }, { title: "begin", unit: "time", value: (it) => it.begin }],
    });
    this.controls.append(this.service);
    this.parts = h("div", { class: "latency-parts" }, h("div", { class: "block" }, this.histogram.element, this.said), titled("Why: all paths together", this.table), titled("The chosen requests", this.list));
  }
  /** The service, where it is not the first, and the durations that were chosen. */
  get kept(): string {
    const service = this.wanted ?? (this.service.selectedIndex > 0 ? this.service.value : null);
    return service === null && this.range === null ? "" : `${service === null ? "" : `=${encodeURIComponent(service)}`}~${this.range?.join(",") ?? ""}`;
  }
  keep(text: string): void {
    const [, service, from, to] = /^(?:=(.*))?~(?:([\d.]+),([\d.]+))?$/.exec(text) ?? [];
    this.wanted = service === undefined ? null : decoded(service);
    this.range = from === undefined ? null : [Number(from), Number(to)];
    if (this.wanted === null && this.service.options.length > 0) this.service.selectedIndex = 0;
    if (this.isSeen) void this.ask();
  }
  private choose(): void {
    this.tellKept();
    void this.ask();
  }
  protected override renewed(): void {
    if (this.service.selectedIndex > 0) this.wanted = this.service.value;
    this.requests = [];
    super.renewed();
  }
  protected forget(): void { this.table.set([]); this.list.set([]); }
  protected async load(signal: AbortSignal): Promise<void> {
    if (this.requests.length === 0) {
      const answer = await api.requests(this.progress.ask, signal);
      if (signal.aborted) return;
      if (answer.requests.length === 0) { this.body.replaceChildren(notice("empty", "No requests were found", answer.note)); return; }
      this.requests = answer.requests;
      this.service.replaceChildren(...servicesOf(answer.requests).map((it) => h("option", { value: it.name }, `${it.name === "" ? "(no name)" : it.name} (${formatCount(it.count)})`)));
    }
    if (this.wanted !== null && [...this.service.options].some((it) => it.value === this.wanted)) this.service.value = this.wanted;
    this.wanted = null;
    const name = this.service.value, of = this.requests.filter((it) => it.service === name), totals = of.map((it) => it.total_ns).sort((a, b) => a - b);
    // At first the slow ones: above the 90th percentile.
    const bars = barsOf(totals), p90 = nearestRank(totals, 90), slow = bars.find((bar) => bar.to > p90)?.from ?? 0, [from, to] = this.range ?? [slow, (bars.at(-1)?.to ?? 1)];
    const compared = await api.compared(name, from, to - 1, this.progress.ask, signal);
    if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
    this.heading.textContent = `${formatCount(of.length)} requests, median ${formatDuration(nearestRank(totals, 50))}, p95 ${formatDuration(nearestRank(totals, 95))}`;
    this.histogram.set(bars, from, to);
    // The requests of all services and the causes of each, of which all figures here are sums.
    this.command.set(commandLike(this.view, "critical-path --format json --limit 0"));
    this.table.set(meansOf(compared));
    this.list.set(of.filter((it) => it.total_ns >= from && it.total_ns < to));
    const mean = (ns: number, count: number) => (count === 0 ? "none" : `${formatCount(count)} requests, mean ${formatDuration(ns / count)}`);
    this.said.textContent = `${formatDuration(from)} to ${formatDuration(to)}: ${mean(compared.chosen_ns, compared.chosen)}; the others: ${mean(compared.others_ns, compared.others)}`;
  }
  private async showPath(request: Request): Promise<void> {
    const path = await api.path({ request: request.request }).catch(() => null);
    if (path === null || !this.isSeen) return;
    this.view.set({ path, onlyRows: new Set(path.steps.map((step) => step.row).filter((row) => row !== null)) });
    this.navigator.go(null, path.begin, { begin: path.begin, end: path.end });
  }
}
