// What hosts used over the window: CPUs, disks, network, memory as charts, and the same as a table. Talks to: api, view. Used by: the drawer.
import { api, type Series, type Time } from "../api";
import { h } from "../dom";
import { formatBytes, formatTime, placesFor } from "../format";
import type { ViewState, Navigator, View } from "../view";
import { Chart, meanOf, type ChartData, type Line } from "./chart";
import { hostColour } from "./hostColours";
import { notice } from "./notice";
import { AskingPanel } from "./panel";
import { DataTable, titled } from "./table";
import { toShown } from "./times";

/** A chart: the kinds of series that it has, and what is missing in the trace where there are none. */
interface Kind { readonly title: string; readonly kinds: readonly string[]; readonly words: readonly string[]; readonly needs: string }
const KINDS: readonly Kind[] = [
  { title: "CPU, of all CPUs of a host", kinds: ["cpu"], words: [""], needs: "sched_switch" },
  { title: "Network: sent, dashed received", kinds: ["net-sent", "net-received"], words: ["sent", "received"], needs: "net_dev_queue,net_if_receive_skb" },
  { title: "Disk: read, dashed written", kinds: ["disk-read", "disk-write"], words: ["read", "written"], needs: "block_rq_issue,block_rq_complete" },
  { title: "Memory, since the begin of the window", kinds: ["memory"], words: [""], needs: "kmem_mm_page_alloc,kmem_mm_page_free" },
];
interface Row { readonly host: string; readonly what: string; readonly unit: string; readonly mean: number | null; readonly most: number | null; readonly at: Time | null }

export class UsagePanel extends AskingPanel {
  private series: readonly Series[] = [];
  private readonly charts: Chart[];
  private readonly table: DataTable<Row>;
  private readonly missing = h("p", { class: "missing muted" });
  private readonly parts: HTMLElement;

  constructor(view: View, navigator: Navigator) {
    super("usage", "Usage", view, navigator, ["window", "clock", "hover", "selection"]);
    this.charts = KINDS.map(() => new Chart(view, navigator, this.timesShown));
    const text = (value: number | null, it: Row) => (value === null ? "–" : textOf(it.unit)(value));
    this.table = new DataTable<Row>({
      label: "Usage in the window: a click goes to the instant of most", origin: () => this.origin, sort: [0, false],
      pick: ({ at }) => {
        if (at !== null) this.goAndStay(() => { this.view.set({ hover: toShown(view, null, at) }); this.navigator.go(null, toShown(view, null, at)); });
      },
      columns: [
        { title: "host", value: (it) => it.host }, { title: "what", value: (it) => it.what, grow: true },
        { title: "mean", unit: "count", value: (it) => it.mean, text: (it) => text(it.mean, it) }, { title: "most", unit: "count", value: (it) => it.most, text: (it) => text(it.most, it) },
        { title: "most at", unit: "time", value: (it) => it.at, text: (it) => (it.at === null ? "–" : formatTime(this.origin, it.at, placesFor((view.now.window.end - view.now.window.begin) / 1000))) },
      ],
    });
    this.parts = h("div", { class: "picture-parts" }, h("div", { class: "charts" }, ...this.charts.map((it) => it.element)), titled("In this window", this.table, this.missing));
  }
  protected override changed(_now: ViewState, changed: ReadonlySet<keyof ViewState>): void {
    if (changed.has("hover")) for (const chart of this.charts) chart.cursor();
    if (changed.has("selection")) for (const chart of this.charts) chart.select();
    if (!changed.has("window") && !changed.has("clock")) return;
    // Zooming and panning take the charts along.
    if (changed.has("clock") || !this.isLed) this.letGo();
    for (const chart of this.charts) chart.scale();
    this.askSoon();
  }
  protected override themed(): void { for (const chart of this.charts) chart.themed(); this.draw(); }
  protected forget(): void {
    this.series = [];
    for (const chart of this.charts) chart.clear();
    this.table.set([]);
    this.body.replaceChildren();
  }
  protected async load(signal: AbortSignal): Promise<void> {
    const range = this.showRange("window"), points = Math.max(60, Math.min(1000, Math.round(this.body.clientWidth / 4)));
    const answer = await api.usage(range.begin, range.end, points, signal, false, this.progress.ask);
    this.series = answer.series;
    this.command.set(answer.command);
    if (this.series.length === 0) {
      this.body.replaceChildren(notice("empty", "Nothing is known of this time", "No host was recorded then: `f` shows all there is."));
      return;
    }
    if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
    this.draw();
  }
  private draw(): void {
    if (this.series.length === 0) return;
    const rows: Row[] = [], missing: string[] = [];
    KINDS.forEach((kind, place) => {
      const chart = this.charts[place]!, of = this.series.filter((it) => kind.kinds.includes(it.kind));
      chart.element.hidden = of.length === 0;
      if (of.length === 0) { chart.clear(); missing.push(`${nameOf(kind)} (\`${kind.needs}\`)`); return; }
      const data = this.dataOf(kind, of);
      chart.set(data);
      for (const [at, it] of of.entries()) rows.push(this.rowOf(kind, it, data.lines[at]!));
    });
    this.missing.textContent = missing.length === 0 ? "" : `None in this window, or not recorded: ${missing.join(", ").replace(/`/g, "")}`;
    this.missing.title = this.missing.textContent;
    this.table.set(rows);
  }
  /** The hosts' steps begin at their own times: all on the same ones, at which each has the value of its step. */
  private dataOf(kind: Kind, of: readonly Series[]): ChartData {
    const shift = (it: Series) => toShown(this.view, this.view.now.experiment?.hosts[it.host]?.row ?? null, 0);
    const x = [...new Set(of.flatMap((it) => it.x.map((at) => at + shift(it))))].sort((a, b) => a - b);
    const lines: Line[] = of.map((it) => {
      const by = shift(it), last = it.x.at(-1)! + (it.x.length > 1 ? it.x.at(-1)! - it.x.at(-2)! : 0), way = kind.kinds.indexOf(it.kind), word = kind.words[way]!;
      let place = -1;
      const y = x.map((at) => {
        while (place + 1 < it.x.length && it.x[place + 1]! + by <= at) place += 1;
        return place < 0 || at - by > last ? null : it.y[place] ?? null;
      });
      return { name: it.name, way: word, colour: hostColour(it.host), isDashed: way === 1, y };
    });
    return { title: kind.title, x, lines, most: kind.kinds[0] === "cpu" ? 100 : null, text: textOf(of[0]!.unit) };
  }
  private rowOf(kind: Kind, it: Series, line: Line): Row {
    const most = it.y.reduce<number | null>((a, b) => (b === null ? a : a === null || b > a ? b : a), null);
    return { host: it.name, what: `${nameOf(kind)}${line.way === "" ? "" : ` ${line.way}`}`, unit: it.unit, mean: meanOf(it.y), most, at: most === null ? null : it.x[it.y.indexOf(most)]! };
  }
}
function nameOf(kind: Kind): string { return kind.title.replace(/[,:].*/, ""); }
function textOf(unit: string): (value: number) => string {
  if (unit === "percent") return (value) => `${Math.round(value * 10) / 10} %`;
  return unit === "bytes/s" ? (value) => `${formatBytes(value)}/s` : formatBytes;
}
