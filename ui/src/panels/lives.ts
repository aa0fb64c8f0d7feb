// Lives of the processes of the window: from when to when, the CPU they used over time, page faults. Talks to: api, view. Used by: the drawer.
import { api, type Life } from "../api";
import { h } from "../dom";
import { formatCount, formatTime, placesFor } from "../format";
import type { Navigator, View } from "../view";
import { cpuColour, cpuText, faultsText, livesContent, unknownColour, type LifeDoers } from "./livesScene";
import { notice } from "./notice";
import { PicturePanel } from "./picturePanel";
import { swatch } from "./stack";
import { DataTable, titled } from "./table";
import { TimePicture } from "./timePicture";
import { toShown } from "./times";

const LIMIT = 100, MOST_STEPS = 400, PIXELS_OF_A_STEP = 3;

export class LivesPanel extends PicturePanel {
  private readonly picture: TimePicture;
  private readonly table: DataTable<Life>;
  private readonly legend = h("span", { class: "legend" });
  private readonly count = h("span", { class: "muted" });
  private readonly parts: HTMLElement;

  constructor(view: View, navigator: Navigator) {
    super("lives", "Lives", view, navigator);
    this.picture = new TimePicture(view, navigator, this.timesShown);
    const time = (at: number) => formatTime(this.origin, at, placesFor((view.now.window.end - view.now.window.begin) / 1000));
    this.table = new DataTable<Life>({
      label: "Processes in the window: a click goes to the row", origin: () => this.origin, pick: (it) => this.go(it, null), open: (it) => this.doers.open(it),
      columns: [
        { title: "process", value: (it) => this.nameOf(it), grow: true },
        { title: "start", description: "–: it was there before", unit: "time", value: (it) => (it.is_begin_seen ? it.begin : null), text: (it) => (it.is_begin_seen ? time(it.begin) : "–") },
        { title: "end", description: "–: it was there after", unit: "time", value: (it) => (it.is_end_seen ? it.end : null), text: (it) => (it.is_end_seen ? time(it.end) : "–") },
        { title: "CPU time", unit: "ns", value: (it) => it.cpu_ns, text: cpuText }, { title: "page faults", unit: "count", value: (it) => it.page_faults, text: faultsText },
      ],
    });
    this.parts = h("div", { class: "picture-parts" }, h("section", { class: "block" }, h("div", { class: "block-head" }, this.count, this.legend), this.picture.element), titled("In this window", this.table));
  }
  protected pictures(): { picture: TimePicture; title: string }[] { return [{ picture: this.picture, title: this.count.textContent ?? "" }]; }
  protected forget(): void {
    this.picture.clear();
    this.table.set([]);
    this.body.replaceChildren();
  }
  protected override themed(): void { this.drawLegend(); super.themed(); }
  protected async load(signal: AbortSignal): Promise<void> {
    const range = this.showRange("window"), steps = Math.max(60, Math.min(MOST_STEPS, Math.round((this.body.clientWidth * 0.5) / PIXELS_OF_A_STEP)));
    const { total, lives, command } = await api.lives(range.begin, range.end, steps, LIMIT, this.progress.ask, signal);
    this.command.set(command);
    if (lives.length === 0) {
      this.body.replaceChildren(notice("empty", "No process was seen to run in this time", "`sched_switch` shows what runs; `f` shows all there is."));
      return;
    }
    if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
    this.count.textContent = `${formatCount(lives.length)} of ${formatCount(total)} processes that ran${lives.length < total ? ", those with the most CPU time" : ""}`;
    this.drawLegend();
    this.table.set(lives);
    this.picture.set(livesContent(lives, this.doers), `Lives of ${this.count.textContent}: ${lives.map((it) => `${this.nameOf(it)}, CPU time ${cpuText(it)}`).join("; ")}`);
  }
  private readonly doers: LifeDoers = {
    nameOf: (it) => this.nameOf(it),
    shift: (host) => toShown(this.view, this.view.now.experiment?.hosts[host]?.row ?? null, 0),
    click: (it, at) => this.go(it, at),
    open: (it) => {
      const begin = toShown(this.view, it.row, it.begin), end = toShown(this.view, it.row, it.end);
      this.goAndStay(() => this.navigator.go(it.row, begin, { begin, end }));
    },
  };
  /** Goes to the row of a process; without an instant, at the start of its life, if that is not seen now. */
  private go(it: Life, at: number | null): void {
    const { begin, end } = this.view.now.window, from = toShown(this.view, it.row, it.begin), to = toShown(this.view, it.row, it.end);
    this.goAndStay(() => this.navigator.go(it.row, at ?? (to < begin || from > end ? from : (begin + end) / 2)));
  }
  private nameOf(it: Life): string { return `${this.view.now.experiment?.hosts[it.host]?.name ?? ""} ${it.comm ?? "?"} ${it.pid}`; }
  private drawLegend(): void { this.legend.replaceChildren(swatch(cpuColour(), "of a CPU"), swatch(unknownColour(), "unknown: may be more"), h("span", { class: "muted" }, "edges: starts and ends that were seen")); }
}
