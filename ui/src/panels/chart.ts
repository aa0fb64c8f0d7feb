// One chart over the window of the time graph: lines of hosts, with the cursor and the selection of all pictures. Talks to: uPlot, view. Used by: usage.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Time } from "../api";
import { ink } from "../colours";
import { h } from "../dom";
import { formatTime, placesFor } from "../format";
import type { Range, View } from "../view";
import { stepOf } from "./times";
import { listenTime, type Mover } from "./wheel";

/** `way`: "sent", "received" of a host; the second way is dashed. */
export interface Line { readonly name: string; readonly way: string; readonly colour: string; readonly isDashed: boolean; readonly y: readonly (number | null)[] }
export interface ChartData { readonly title: string; readonly x: readonly Time[]; readonly lines: readonly Line[]; readonly most: number | null; text(value: number): string }

const LEFT = 62, FONT = "11px system-ui, sans-serif";

export class Chart {
  private plot: uPlot | null = null;
  private names = "";
  private data: ChartData | null = null;
  private readonly place = h("div", { class: "chart-place" });
  private readonly title = h("h3");
  private readonly readout = h("span", { class: "readout" });
  readonly element = h("figure", { class: "chart" }, h("figcaption", {}, this.title, this.readout), this.place);

  /** `shown`: the window that it shows. */
  constructor(private readonly view: View, mover: Mover, private readonly shown: () => Range) {
    new ResizeObserver(() => this.fit()).observe(this.place);
    listenTime(this.place, view, mover, (x) => this.timeAt(x));
  }
  set(data: ChartData): void {
    this.data = data;
    this.title.textContent = data.title;
    this.place.setAttribute("role", "img");
    this.place.setAttribute("aria-label", `${data.title}: ${data.lines.map((line) => `${line.name} ${line.way} ${summary(line.y, data)}`).join("; ")}`);
    const names = data.lines.map((line) => `${line.name} ${line.colour}`).join();
    const columns = [data.x, ...data.lines.map((line) => line.y)] as uPlot.AlignedData;
    if (this.plot === null || names !== this.names) {
      this.plot?.destroy();
      this.plot = new uPlot(this.options(data), columns, this.place);
      this.names = names;
    } else {
      this.plot.setData(columns, false);
    }
    this.scale();
    this.cursor();
  }
  /** The window is another: what is there is moved until better comes. */
  scale(): void {
    if (this.plot === null || this.data === null) return;
    const { begin, end } = this.shown(), most = this.data.most ?? largest(this.data);
    this.plot.batch(() => {
      this.plot!.setScale("x", { min: begin, max: end });
      this.plot!.setScale("y", { min: Math.min(0, smallest(this.data!)), max: most * 1.05 });
    });
    this.select();
  }
  /** The cursor of all pictures, and the values there. */
  cursor(): void {
    const { plot, data } = this, { hover } = this.view.now;
    if (plot === null || data === null) return;
    const left = hover === null ? -10 : plot.valToPos(hover, "x");
    plot.setCursor({ left: hover === null || left < 0 || left > plot.over.clientWidth ? -10 : left, top: 0 }, false);
    const at = hover === null ? -1 : stepOf(data.x, hover);
    this.readout.replaceChildren(...data.lines.filter((line) => !line.isDashed).map((line) => {
      const key = h("span", { class: "key", "aria-hidden": "true" });
      key.style.borderColor = line.colour;
      const values = at < 0 ? [] : data.lines.filter((it) => it.name === line.name).map((it) => { const value = it.y[at]; return value === null || value === undefined ? "–" : data.text(value); });
      return h("span", {}, key, line.name, values.length === 0 ? "" : ` ${values.join(" / ")}`);
    }));
  }
  select(): void {
    const { plot } = this, { selection } = this.view.now;
    if (plot === null) return;
    const width = plot.over.clientWidth, x0 = selection === null ? 0 : Math.max(0, plot.valToPos(selection.begin, "x")), x1 = selection === null ? 0 : Math.min(width, plot.valToPos(selection.end, "x"));
    plot.setSelect({ left: x0, width: Math.max(0, x1 - x0), top: 0, height: plot.over.clientHeight }, false);
  }
  clear(): void {
    this.plot?.destroy();
    this.plot = null;
    this.data = null;
  }
  themed(): void {
    this.names = "";
  }
  private timeAt(x: number): Time | null {
    if (this.plot === null) return null;
    const left = x - this.plot.over.offsetLeft;
    return left < 0 || left > this.plot.over.clientWidth ? null : this.plot.posToVal(left, "x");
  }
  private fit(): void {
    const { clientWidth: width, clientHeight: height } = this.place;
    if (this.plot !== null && width > 0 && height > 0) { this.plot.setSize({ width, height }); this.select(); this.cursor(); }
  }
  private options(data: ChartData): uPlot.Options {
    const colours = ink(), axis = { stroke: colours.faint, font: FONT, grid: { stroke: colours.line, width: 1 }, ticks: { stroke: colours.line, width: 1, size: 4 } };
    const origin = () => this.view.now.experiment?.origin_unix_ns ?? null;
    const stepped = uPlot.paths.stepped!({ align: 1 });
    return {
      width: Math.max(50, this.place.clientWidth), height: Math.max(40, this.place.clientHeight), legend: { show: false }, padding: [4, 8, 0, 0],
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false }, bind: { mousemove: () => null, mousedown: () => null, mouseup: () => null, dblclick: () => null, mouseenter: () => null, mouseleave: () => null } as unknown as uPlot.Cursor.Bind },
      select: { show: true, left: 0, top: 0, width: 0, height: 0 },
      scales: { x: { time: false, auto: false }, y: { auto: false } },
      axes: [
        { ...axis, size: 22, space: 90, gap: 2, values: (_, ticks) => ticks.map((t) => formatTime(origin(), t, placesFor((ticks[1] ?? t + 1e9) - ticks[0]!))) },
        { ...axis, size: LEFT, space: 26, gap: 3, values: (_, ticks) => ticks.map((value) => data.text(value)) },
      ],
      series: [{}, ...data.lines.map((line) => ({ label: line.name, stroke: line.colour, width: 1.25, dash: line.isDashed ? [4, 3] : undefined, paths: stepped, points: { show: false } }))],
    };
  }
}
function known(y: readonly (number | null)[]): number[] { return y.filter((value) => value !== null); }
function largest(data: ChartData): number { return data.lines.reduce((most, line) => known(line.y).reduce((a, b) => Math.max(a, b), most), 1); }
function smallest(data: ChartData): number { return data.lines.reduce((least, line) => known(line.y).reduce((a, b) => Math.min(a, b), least), 0); }
export function meanOf(y: readonly (number | null)[]): number | null { const values = known(y); return values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length; }
function summary(y: readonly (number | null)[], data: ChartData): string {
  const mean = meanOf(y);
  return mean === null ? "nothing known" : `mean ${data.text(mean)}, most ${data.text(known(y).reduce((a, b) => Math.max(a, b), 0))}`;
}
