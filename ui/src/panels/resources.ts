// Which resource of each host is the bottleneck, and what all of them did over time. Talks to: api, view. Used by: the drawer.
import { api, type Resource, type Verdict } from "../api";
import { h } from "../dom";
import { formatCount } from "../format";
import type { Navigator, View } from "../view";
import { notice, withCode } from "./notice";
import { PicturePanel } from "./picturePanel";
import { percentText, resourceColour, resourceContent, resourceName, unknownColour, waitedColour, type ResourceDoers } from "./resourceScene";
import { swatch } from "./stack";
import { DataTable, titled } from "./table";
import { TimePicture } from "./timePicture";
import { toShown } from "./times";

const MOST_STEPS = 200, PIXELS_OF_A_STEP = 6;

export class ResourcesPanel extends PicturePanel {
  private readonly picture: TimePicture;
  private readonly verdicts: DataTable<Verdict>;
  private readonly table: DataTable<Resource>;
  private readonly legend = h("span", { class: "legend" });
  private readonly notes = h("p", { class: "missing muted" });
  private readonly parts: HTMLElement;

  constructor(view: View, navigator: Navigator) {
    super("resources", "Resources", view, navigator);
    this.picture = new TimePicture(view, navigator, this.timesShown);
    const host = (it: { host: number }) => this.hostName(it.host);
    this.verdicts = new DataTable<Verdict>({
      label: "The bottleneck of each host: a click goes to its row", origin: () => this.origin, pick: (it) => this.pick(it.host),
      columns: [{ title: "host", value: host }, { title: "bottleneck", value: (it) => (it.resource === null ? null : `${it.resource}${it.of === null ? "" : ` ${it.of}`}`) }, { title: "evidence", value: (it) => it.verdict, grow: true }],
    });
    const count = { unit: "count" } as const, percent = { unit: "percent" } as const;
    this.table = new DataTable<Resource>({
      label: "Resources in the window: a click goes to the step in which each was busy most", origin: () => this.origin, pick: (it) => this.goToMost(it),
      columns: [
        { title: "host", value: host }, { title: "resource", value: resourceName, grow: true }, { title: "busy", ...percent, value: (it) => it.busy_percent ?? null, text: (it) => percentText(it.busy_percent) },
        { title: "waited for", ...percent, value: (it) => it.waited_percent ?? null, text: (it) => percentText(it.waited_percent) },
        { title: "queue", description: "Mean number that are queued or served", ...count, value: (it) => it.mean_queue ?? null, text: (it) => it.mean_queue?.toFixed(2) ?? "–" }, { title: "errors", ...count, value: (it) => it.errors ?? null }, { title: "unknown", unit: "ns", value: (it) => it.unknown_ns ?? null },
      ],
    });
    const tables = h("div", { class: "side-tables" }, titled("Bottlenecks", this.verdicts), titled("In this window", this.table, this.notes));
    this.parts = h("div", { class: "picture-parts" }, h("section", { class: "block" }, h("div", { class: "block-head" }, this.legend), this.picture.element), tables);
  }
  protected pictures(): { picture: TimePicture; title: string }[] { return [{ picture: this.picture, title: `Resources: ${this.heading.textContent ?? ""}` }]; }
  protected forget(): void {
    this.picture.clear();
    this.verdicts.set([]);
    this.table.set([]);
    this.body.replaceChildren();
  }
  protected override themed(): void { this.drawLegend(); super.themed(); }
  protected async load(signal: AbortSignal): Promise<void> {
    const range = this.showRange("window"), steps = Math.max(20, Math.min(MOST_STEPS, Math.round((this.body.clientWidth * 0.5) / PIXELS_OF_A_STEP)));
    const { verdicts, resources, notes, command } = await api.resources(range.begin, range.end, steps, this.progress.ask, signal);
    this.command.set(command);
    if (resources.length === 0) {
      this.body.replaceChildren(notice("empty", "Nothing is known of this time", "No host was recorded then: `f` shows all there is."));
      return;
    }
    if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
    this.drawLegend();
    this.verdicts.set(verdicts);
    this.table.set(resources);
    this.notes.replaceChildren(...withCode(notes.join("; ")));
    this.notes.title = notes.join("\n");
    const about = verdicts.map((it) => `${this.hostName(it.host)}: ${it.verdict}`).join(". ");
    this.picture.set(resourceContent(verdicts, resources, this.doers), `${formatCount(resources.length)} resources over time. ${about}`);
  }
  private readonly doers: ResourceDoers = {
    hostName: (host) => this.hostName(host),
    shift: (host) => toShown(this.view, this.rowOfHost(host), 0),
    pick: (host) => this.pick(host),
    click: (it, step) => this.go(it, step, false),
    open: (it, step) => this.go(it, step, true),
  };
  /** Selects a step in the time graph; `isZoomed`: shows it alone. */
  private go(it: Resource, step: number, isZoomed: boolean): void {
    const begin = toShown(this.view, it.row, it.begin[step]!), end = toShown(this.view, it.row, it.end[step]!);
    this.goAndStay(() => {
      this.view.set({ selection: { begin, end } });
      this.navigator.go(it.row, (begin + end) / 2, isZoomed ? { begin, end } : undefined);
    });
  }
  private goToMost(it: Resource): void {
    const values = it.busy ?? it.waited ?? [], most = values.reduce<number>((best, value, step) => (value !== null && value > (values[best] ?? -1) ? step : best), 0);
    if (it.begin.length > 0) this.go(it, most, false);
  }
  private pick(host: number): void {
    const { begin, end } = this.view.now.window;
    this.goAndStay(() => this.navigator.go(this.rowOfHost(host), (begin + end) / 2));
  }
  private rowOfHost(host: number): number | null { return this.view.now.experiment?.hosts[host]?.row ?? null; }
  private hostName(host: number): string { return this.view.now.experiment?.hosts[host]?.name ?? ""; }
  private drawLegend(): void {
    this.legend.replaceChildren(...["CPU", "disk", "network", "memory"].map((kind) => swatch(resourceColour(kind), kind)), swatch(waitedColour(), "waited for"), swatch(unknownColour(), "unknown"));
  }
}
