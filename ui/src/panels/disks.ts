// Where on each disk the requests of the window were, over time, by process. Talks to: api, view. Used by: the drawer.
import { api, type Disk } from "../api";
import { h } from "../dom";
import { formatCount } from "../format";
import type { Navigator, View } from "../view";
import { diskContent, NAMED, processColour, processName, seeksText, type DiskDoers } from "./diskScene";
import { notice } from "./notice";
import { PicturePanel } from "./picturePanel";
import { swatch } from "./stack";
import { DataTable, titled } from "./table";
import { TimePicture } from "./timePicture";
import { toShown } from "./times";

/** Requests of a disk that are drawn; disks that are. */
const LIMIT = 5_000, MOST_DISKS = 16;
interface Row { readonly disk: Disk; readonly place: number }

export class DisksPanel extends PicturePanel {
  private drawn: { disk: Disk; picture: TimePicture }[] = [];
  private readonly charts = h("div", { class: "disks-charts" });
  private readonly table: DataTable<Row>;
  private readonly parts: HTMLElement;

  constructor(view: View, navigator: Navigator) {
    super("disks", "Disks", view, navigator);
    const of = ({ disk, place }: Row) => disk.processes[place]!;
    this.table = new DataTable<Row>({
      label: "Requests to disks by process: a click goes to the disk", origin: () => this.origin, pick: ({ disk }) => this.goAndStay(() => this.navigator.go(disk.row, (view.now.window.begin + view.now.window.end) / 2)),
      columns: [
        { title: "disk", value: ({ disk }) => this.nameOf(disk) },
        { title: "process", value: ({ disk, place }) => processName(disk, place), draw: ({ disk, place }) => swatch(processColour(place), processName(disk, place)), grow: true },
        { title: "requests", unit: "count", value: (row) => of(row).requests }, { title: "read", unit: "bytes", value: (row) => of(row).read_bytes }, { title: "written", unit: "bytes", value: (row) => of(row).written_bytes },
      ],
    });
    this.parts = h("div", { class: "picture-parts" }, this.charts, titled("In this window", this.table));
  }
  protected pictures(): { picture: TimePicture; title: string }[] { return this.drawn.map(({ disk, picture }) => ({ picture, title: `${this.nameOf(disk)}: ${seeksText(disk)}` })); }
  protected forget(): void {
    this.drawn = [];
    this.charts.replaceChildren();
    this.table.set([]);
    this.body.replaceChildren();
  }
  protected async load(signal: AbortSignal): Promise<void> {
    const range = this.showRange("window");
    const { disks, command } = await api.accesses(range.begin, range.end, LIMIT, this.progress.ask, signal);
    this.command.set(command);
    if (disks.length === 0) {
      this.forget();
      this.body.replaceChildren(notice("empty", "No request to a disk was issued in this time", "Or they were not recorded: that needs `block_rq_issue` and `block_rq_complete`."));
      return;
    }
    if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
    // Pictures of disks that are still there are kept: nothing moves.
    this.drawn = disks.slice(0, MOST_DISKS).map((disk) => ({ disk, picture: this.drawn.find((it) => it.disk.host === disk.host && it.disk.disk === disk.disk)?.picture ?? new TimePicture(this.view, this.navigator, this.timesShown) }));
    const left = disks.length - this.drawn.length;
    this.charts.replaceChildren(...this.drawn.map(({ disk, picture }) => h("section", { class: "block" }, h("div", { class: "block-head" }, h("h3", {}, this.nameOf(disk)), h("span", { class: "muted seeks", title: seeksText(disk) }, seeksText(disk))), picture.element, this.legend(disk))),
      ...(left > 0 ? [h("p", { class: "missing muted" }, `${formatCount(left)} more disks with fewer requests are not drawn`)] : []));
    for (const { disk, picture } of this.drawn) picture.set(diskContent(disk, this.doers), `Requests to ${this.nameOf(disk)} by their first byte over time: ${seeksText(disk)}`);
    this.table.set(disks.flatMap((disk) => disk.processes.map((_, place) => ({ disk, place }))));
  }
  private legend(disk: Disk): HTMLElement {
    const others = disk.processes.length - NAMED, names = disk.processes.slice(0, NAMED).map((_, place) => swatch(processColour(place), processName(disk, place)));
    return h("div", { class: "legend" }, ...names, others > 0 ? swatch(processColour(NAMED), `${formatCount(others)} others`) : null, h("span", { class: "muted" }, "■ reads  □ writes"));
  }
  private readonly doers: DiskDoers = {
    shift: (host) => toShown(this.view, this.view.now.experiment?.hosts[host]?.row ?? null, 0),
    click: (disk, [at, , , , , latency]) => {
      const begin = toShown(this.view, disk.row, at);
      this.goAndStay(() => { this.view.set({ selection: { begin, end: begin + (latency ?? 0) } }); this.navigator.go(disk.row, begin); });
    },
  };
  private nameOf(disk: Disk): string { return `${this.view.now.experiment?.hosts[disk.host]?.name ?? ""} ${disk.disk}`; }
}
