// What is missing of the traces: events and packets that were lost, times of CPUs without events, breaks of clocks; each can be gone to. Talks to: api, view. Used by: the drawer.
import { api, type Loss } from "../api";
import { h } from "../dom";
import { formatCount } from "../format";
import { lossText } from "../losses";
import type { Navigator, View } from "../view";
import { notice } from "./notice";
import { AskingPanel } from "./panel";
import { DataTable } from "./table";
import { commandLike, rowOfLine, toShown } from "./times";

export class LossesPanel extends AskingPanel {
  private readonly count = h("span", { class: "muted", role: "status" });
  private readonly table: DataTable<Loss>;

  constructor(view: View, navigator: Navigator) {
    super("losses", "Losses", view, navigator, []);
    this.table = new DataTable<Loss>({
      label: "What is missing: a click goes there", origin: () => this.origin, sort: [2, false], pick: (it) => this.go(it, false), open: (it) => this.go(it, true),
      columns: [
        { title: "host", value: (it) => this.hostName(it) }, { title: "CPU", unit: "count", value: (it) => it.cpu, text: (it) => String(it.cpu ?? "all") },
        { title: "begin", unit: "time", value: (it) => it.begin }, { title: "end", unit: "time", value: (it) => it.end }, { title: "lasts", unit: "ns", value: (it) => it.end - it.begin },
        { title: "count", unit: "count", value: (it) => it.count }, { title: "what is missing", value: (it) => lossText(it), grow: true },
      ],
    });
    this.controls.append(this.count, this.table.copy);
  }
  protected forget(): void { this.table.set([]); }
  protected async load(signal: AbortSignal): Promise<void> {
    const { losses, losses_total: total, breaks } = await api.overview(1, signal);
    const broken = breaks.map((it): Loss => ({ host: typeof it.host === "number" ? it.host : this.view.now.experiment?.hosts.find((host) => host.name === it.host)?.host ?? 0, cpu: null, begin: it.at, end: it.at, what: it.text, count: null }));
    this.heading.textContent = "all of the time";
    this.command.set(commandLike(this.view, "sql -c 'SELECT host, cpu, what, count, begin_time, end_time FROM losses ORDER BY begin_time, host, cpu'"));
    this.count.textContent = `${formatCount(losses.length)}${total > losses.length ? ` of ${formatCount(total)}` : ""} times in which something is missing${broken.length === 0 ? "" : `, ${formatCount(broken.length)} breaks of clocks`}`;
    if (losses.length + broken.length === 0) {
      this.body.replaceChildren(notice("empty", "Nothing is missing", "No event was lost, all CPUs were recorded all of the time, and no clock was set."));
      return;
    }
    if (this.body.firstChild !== this.table.element) this.body.replaceChildren(this.table.element);
    this.table.set([...losses, ...broken]);
  }
  private hostName({ host }: Loss): string { return this.view.now.experiment?.hosts[host]?.name ?? String(host); }
  private go(it: Loss, isZoom: boolean): void {
    const row = rowOfLine(this.view, (name) => (name === "host" ? this.hostName(it) : name === "cpu" ? it.cpu : null), it.begin), begin = toShown(this.view, row, it.begin), end = toShown(this.view, row, it.end);
    this.navigator.go(row, begin, isZoom ? { begin: begin - Math.max(1000, (end - begin) / 4), end: end + Math.max(1000, (end - begin) / 4) } : undefined);
    this.view.set({ selection: { begin, end } });
  }
}
