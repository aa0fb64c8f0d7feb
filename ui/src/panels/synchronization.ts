// How the clocks were put on one: hosts as a graph coloured by how sure they are, their links and formulas, and the picture of the link that is picked.
// Talks to: api, view. Used by: the drawer.
import { api, ApiError, type Link, type Sync } from "../api";
import { h } from "../dom";
import type { ViewState, Navigator, View } from "../view";
import { hostGraph } from "./hostGraph";
import { LinkPictureView } from "./linkPicture";
import { notice } from "./notice";
import { AskingPanel } from "./panel";
import { SyncTables } from "./syncTables";
import { toShown } from "./times";

const POINTS = 4000;

export class SynchronizationPanel extends AskingPanel {
  private sync: Sync | null = null;
  private picked: Link | null = null;
  private readonly tables: SyncTables;
  private readonly picture: LinkPictureView;
  private readonly graph = h("div", { class: "graph-place" });
  private readonly middle = h("div", { class: "sync-tables" });
  private readonly right = h("div", { class: "picture-place" });
  private readonly parts = h("div", { class: "sync-parts" }, this.graph, this.middle, this.right);

  constructor(view: View, navigator: Navigator) {
    super("synchronization", "Synchronization", view, navigator, ["window", "hover", "clock", "selection"]);
    this.picture = new LinkPictureView(view, navigator);
    this.tables = new SyncTables((link) => void this.pick(link), (at) => navigator.go(null, toShown(view, null, at)), (host) => (typeof host === "number" ? view.now.experiment?.hosts[host]?.name ?? String(host) : host), () => this.origin);
  }
  protected override changed(_now: ViewState, changed: ReadonlySet<keyof ViewState>): void {
    if (changed.has("window") || changed.has("clock") || changed.has("selection")) this.picture.drawSoon();
    this.picture.moveCursor();
  }
  protected override themed(): void { this.drawGraph(); this.picture.drawSoon(); }
  protected forget(): void { this.picture.clear(); this.right.replaceChildren(); }

  protected async load(signal: AbortSignal): Promise<void> {
    if (this.sync === null) {
      const sync = await api.sync();
      if (signal.aborted) return;
      this.sync = sync;
    }
    const { sync } = this;
    this.heading.textContent = this.summary(sync);
    this.command.set(sync.command);
    if (sync.hosts.length < 2) {
      this.body.replaceChildren(notice("empty", "There is one host", "Clocks are put on one where there are several: name the traces of more hosts, `isochrone view web/ app/ db/`."));
      return;
    }
    if (this.body.firstChild !== this.parts) {
      this.body.replaceChildren(this.parts);
      this.middle.replaceChildren(...this.tables.set(sync));
    }
    if (sync.links.length === 0) this.right.replaceChildren(notice("empty", "No two hosts are tied", "No packet was recorded by two of them: `lttng enable-event --kernel net_dev_queue,net_if_receive_skb` on all hosts. Or corrections were given with `--sync`: then links are in that file."));
    else await this.pick(this.picked ?? sync.links.find((it) => it.quality !== "absent" && it.quality !== "refused") ?? sync.links[0]!);
    this.drawGraph();
  }
  private summary({ hosts, links }: Sync): string {
    const islands = new Set(hosts.map((it) => it.island)).size;
    return `${hosts.length} hosts, ${links.length} links, ${this.view.now.experiment?.is_synchronized === true ? "one clock" : islands > 1 ? `${islands} islands that are not tied` : "not on one clock"}`;
  }
  private drawGraph(): void {
    if (this.sync === null) return;
    const hadFocus = this.graph.contains(document.activeElement);
    this.graph.replaceChildren(hostGraph(this.sync.hosts, this.sync.links, this.picked, (link) => void this.pick(link)));
    if (hadFocus) this.graph.querySelector<SVGElement>(".link.picked")?.focus();
  }
  private async pick(link: Link): Promise<void> {
    this.picked = link;
    this.tables.choose(link);
    this.drawGraph();
    try {
      const picture = await this.during(api.link(link.a, link.b, POINTS));
      if (this.picked !== link || !this.isSeen) return;
      if (this.right.firstChild !== this.picture.element) this.right.replaceChildren(this.picture.element);
      this.picture.set(picture);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.right.replaceChildren(notice("failed", `${link.a} ↔ ${link.b} has no picture`, error.message));
    }
  }
}
