// Who asks whom in the selected time, else in the window: a graph and the same as a table. Talks to: api, view. Used by: the drawer.
import { api, type ServiceEdge } from "../api";
import { h } from "../dom";
import { formatCount } from "../format";
import type { ViewState, Navigator, View } from "../view";
import { notice } from "./notice";
import { AskingPanel } from "./panel";
import { keyOf, serviceGraph } from "./serviceGraph";
import { DataTable, titled } from "./table";

export class ServicesPanel extends AskingPanel {
  private edges: readonly ServiceEdge[] = [];
  private picked: ServiceEdge | null = null;
  private readonly place = h("div", { class: "graph-place" });
  private readonly table: DataTable<ServiceEdge>;
  private readonly parts: HTMLElement;
  constructor(view: View, navigator: Navigator) {
    super("services", "Services", view, navigator, ["window", "selection", "clock"]);
    this.table = new DataTable<ServiceEdge>({
      label: "Who asks whom", origin: () => this.origin, sort: [3, true], pick: (it) => this.pick(it), mark: (it) => (it === this.picked ? "picked" : null),
      columns: [
        { title: "client", value: (it) => keyOf(it.client), grow: true }, { title: "server", value: (it) => keyOf(it.server), grow: true }, { title: "service", value: (it) => it.service }, { title: "requests", unit: "count", value: (it) => it.count },
        { title: "median", unit: "ns", value: (it) => it.median_ns }, { title: "p95", unit: "ns", value: (it) => it.p95_ns }, { title: "most", unit: "ns", value: (it) => it.max_ns },
        { title: "CPU", unit: "ns", description: "CPU time of the server for all of them", value: (it) => it.cpu_ns },
      ],
    });
    this.parts = h("div", { class: "services-parts" }, this.place, titled("", this.table));
  }
  protected override changed(_now: ViewState, _changed: ReadonlySet<keyof ViewState>): void { this.askWhenQuick(); }
  protected forget(): void { this.table.set([]); this.place.replaceChildren(); }
  protected async load(signal: AbortSignal): Promise<void> {
    const covered = this.showRange(), answer = await api.services(covered.begin, covered.end, this.progress.ask, signal);
    this.command.set(answer.command);
    this.edges = answer.edges;
    this.picked = null;
    if (answer.edges.length === 0) {
      this.body.replaceChildren(notice("empty", "Nobody asked anybody in this time", "Requests are found in the calls of both ends of connections: `lttng enable-event --kernel --syscall --all` and `net_dev_queue,net_if_receive_skb`."));
      return;
    }
    if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
    this.heading.textContent += `: ${formatCount(answer.edges.reduce((sum, it) => sum + it.count, 0))} requests`;
    this.table.set(answer.edges);
    this.draw();
  }
  private pick(edge: ServiceEdge): void {
    this.picked = edge;
    this.table.activate(edge);
    this.draw();
  }
  private draw(): void { this.place.replaceChildren(serviceGraph(this.edges, this.picked, (edge) => this.pick(edge))); }
}
