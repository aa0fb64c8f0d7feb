// The whole time at a glance: CPU use by host (until it is known, bytes of trace), losses hatched, breaks of clocks as notches, the window as a lens that can be moved.
// Talks to: api (overview), view, navigation, clock. Used by: main, stage (large, while the traces are being indexed).
import { api, type Overview, type Series, type Time } from "./api";
import type { ClockSwitch } from "./clock";
import { css, ink } from "./colours";
import { COUNTERS, counterText } from "./counterRows";
import { h } from "./dom";
import { lossesAt, lossText } from "./losses";
import type { Navigation } from "./navigation";
import type { Status } from "./status";
import { isDark, watchTheme } from "./theme";
import type { Range, View } from "./view";

const BINS = 1000, USE_POINTS = 500;
/** How near to the edge of the lens the pointer has to be to take it. */
const EDGE = 6;
/** Lanes of this height have the names of their hosts; lower ones only under the pointer. */
const NAMED = 9;

export class Minimap {
  readonly canvas = h("canvas", { class: "minimap-canvas", role: "img", "aria-label": "All hosts over the whole time; the window is marked" });
  /** The host under the pointer, and how busy it was. */
  private readonly under = h("span", { class: "minimap-host", hidden: true });
  readonly element = h("section", { class: "minimap", "aria-label": "Overview" }, this.canvas, this.under);
  overview: Overview | null = null;
  private frame = 0;
  /** The hosts' bytes, losses and breaks, drawn once for a size, a clock and a theme; and which. */
  private readonly hosts = h("canvas");
  private drawn = "";
  /** CPU use in percent of all CPUs, by host, once it is known. */
  private readonly use = new Map<number, Series>();
  private uses = 0;

  constructor(private readonly view: View, private readonly navigation: Navigation, private readonly clock: ClockSwitch, private readonly status: Status) {
    const again = () => this.invalidate();
    view.watch(again, "window", "clock", "selection", "hover", "experiment", "path", "marks");
    clock.watch(again);
    watchTheme(again);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.canvas.addEventListener("pointerdown", (event) => this.down(event));
    this.canvas.addEventListener("pointermove", (event) => { if (event.buttons === 0) this.hover(event); });
    this.canvas.addEventListener("pointerleave", () => { this.status.show(""); this.under.hidden = true; this.view.set({ hover: null }); });
    this.canvas.addEventListener("dblclick", () => this.navigation.fit());
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.navigation.zoom(Math.exp(event.deltaY * 0.0022), this.time(this.x(event)));
    }, { passive: false });
  }
  async load(): Promise<void> {
    this.overview = await api.overview(BINS).catch(() => this.overview);
    this.overview?.hosts.sort((a, b) => names.compare(a.name, b.name));
    this.element.style.setProperty("--lanes", String(Math.max(3, this.overview?.hosts.length ?? 1)));
    this.invalidate();
  }
  /** Asks how busy the CPUs were: that takes a while, and is drawn when it is there. */
  async loadUse(): Promise<void> {
    const { begin, end } = this.navigation.boundsOf("common"), answer = await api.usage(begin, end, USE_POINTS).catch(() => null);
    this.use.clear();
    for (const series of answer?.series ?? []) if (series.kind === "cpu") this.use.set(series.host, series);
    this.uses += 1;
    this.invalidate();
  }
  /** Draws again with the next frame. */
  invalidate(): void { if (this.frame === 0) this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(); }); }
  private get isReady(): boolean { return this.view.now.rows.length > 0; }
  private get span(): Range {
    const it = this.overview;
    return this.isReady || it === null ? this.navigation.padded(this.navigation.bounds) : { begin: it.begin, end: it.end };
  }
  private x(event: MouseEvent): number { return event.clientX - this.canvas.getBoundingClientRect().left; }
  private time(x: number): Time { const { begin, end } = this.span; return begin + (x / this.canvas.clientWidth) * (end - begin); }
  private at(t: Time): number { const { begin, end } = this.span; return ((t - begin) / (end - begin)) * this.canvas.clientWidth; }

  private draw(): void {
    const ratio = devicePixelRatio, width = this.canvas.clientWidth, height = this.canvas.clientHeight, it = this.overview;
    if (width === 0 || height === 0) return;
    for (const canvas of [this.canvas, this.hosts]) {
      if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
      if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    }
    const key = [width, height, ratio, this.view.now.clock, this.clock.left, isDark(), this.isReady, it?.begin, it?.end, this.uses].join();
    if (key !== this.drawn || !this.isReady) this.drawHosts(width, height, ratio);
    this.drawn = key;
    const ctx = this.canvas.getContext("2d")!;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.drawImage(this.hosts, 0, 0);
    ctx.scale(ratio, ratio);
    if (this.isReady) this.lens(ctx, width, height);
  }
  private drawHosts(width: number, height: number, ratio: number): void {
    const ctx = this.hosts.getContext("2d")!, it = this.overview;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = css(ink().background);
    ctx.fillRect(0, 0, width, height);
    if (it === null) return;
    const lane = height / Math.max(it.hosts.length, 1);
    it.hosts.forEach((host, place) => this.lane(ctx, it, host.host, host.bytes, place * lane, lane, lane >= NAMED ? host.name : ""));
  }
  private lane(ctx: CanvasRenderingContext2D, it: Overview, host: number, bytes: readonly number[], top: number, height: number, name: string): void {
    const colours = ink(), moved = this.isReady ? this.clock.convert(host, "common") + this.clock.offset(host) : 0, most = Math.max(...bytes, 1);
    const bin = (it.end - it.begin) / bytes.length, wide = Math.max(1, this.at(bin) - this.at(0) + 0.5);
    const gap = Math.min(1, height / 8), full = height - 2 * gap, foot = top + height - gap;
    ctx.fillStyle = colours.bytes;
    const use = this.use.get(host);
    if (use === undefined) {
      bytes.forEach((count, place) => {
        const high = Math.sqrt(count / most) * full;
        if (high > 0) ctx.fillRect(this.at(it.begin + place * bin + moved), foot - high, wide, high);
      });
    } else {
      // Up to the next point; what is unknown has no height.
      use.x.forEach((from, place) => {
        const x = this.at(from + moved), to = this.at((use.x[place + 1] ?? from + (from - (use.x[place - 1] ?? from))) + moved), high = (Math.min(100, use.y[place] ?? 0) / 100) * full;
        if (high > 0) ctx.fillRect(x, foot - high, Math.max(1, to - x + 0.5), high);
      });
    }
    ctx.strokeStyle = colours.loss;
    ctx.beginPath();
    for (const loss of it.losses) {
      if (loss.host !== host) continue;
      const x0 = this.at(loss.begin + moved), x1 = Math.max(this.at(loss.end + moved), x0 + 3);
      for (let x = x0; x < x1; x += 3) { ctx.moveTo(x, top + height - 1); ctx.lineTo(Math.min(x + 4, x1), top + 1); }
    }
    ctx.stroke();
    ctx.fillStyle = colours.mark;
    for (const it2 of it.breaks) {
      if (it2.host !== host && it2.host !== this.view.now.experiment?.hosts[host]?.name) continue;
      const x = this.at(it2.at + moved);
      ctx.beginPath();
      ctx.moveTo(x - 4, top);
      ctx.lineTo(x + 4, top);
      ctx.lineTo(x, top + Math.min(8, height));
      ctx.fill();
    }
    if (name === "") return;
    ctx.font = `${height > 11 ? 10 : NAMED}px system-ui, sans-serif`;
    ctx.textBaseline = "middle";
    ctx.strokeStyle = colours.halo;
    ctx.lineWidth = 3;
    ctx.strokeText(name, 4, top + Math.min(height / 2, 8));
    ctx.lineWidth = 1;
    ctx.fillStyle = colours.text;
    ctx.fillText(name, 4, top + Math.min(height / 2, 8));
  }
  private lens(ctx: CanvasRenderingContext2D, width: number, height: number): void {
    const colours = ink(), { window, selection, hover, path, marks } = this.view.now, x0 = this.at(window.begin), x1 = Math.max(this.at(window.end), x0 + 2);
    for (const [range, colour] of [[selection, colours.selection], [path, colours.sure]] as const) {
      if (range === null) continue;
      ctx.fillStyle = colour;
      ctx.fillRect(this.at(range.begin), 0, Math.max(1, this.at(range.end) - this.at(range.begin)), height);
    }
    ctx.fillStyle = css(colours.background, 0.6);
    ctx.fillRect(0, 0, x0, height);
    ctx.fillRect(x1, 0, width - x1, height);
    ctx.strokeStyle = colours.edge;
    ctx.strokeRect(x0 + 0.5, 0.5, x1 - x0 - 1, height - 1);
    ctx.fillStyle = colours.edge;
    for (const x of [x0, x1]) ctx.fillRect(x - 1.5, height / 2 - 8, 3, 16);
    if (hover !== null) ctx.fillRect(this.at(hover), 0, 1, height);
    ctx.fillStyle = colours.mark;
    for (const mark of marks ?? []) ctx.fillRect(Math.round(this.at(mark)) - 1, height - 5, 2, 5);
  }
  private hover(event: PointerEvent): void {
    const x = this.x(event), { begin, end } = this.view.now.window, x0 = this.at(begin), x1 = this.at(end);
    this.canvas.style.cursor = Math.abs(x - x0) <= EDGE || Math.abs(x - x1) <= EDGE ? "ew-resize" : x > x0 && x < x1 ? "grab" : "crosshair";
    if (this.isReady) this.view.set({ hover: this.time(x) });
    this.tellHost(x, event.clientY - this.canvas.getBoundingClientRect().top);
  }
  /** Says which host is under the pointer, how busy it was then, and what is missing of it. */
  private tellHost(x: number, y: number): void {
    const it = this.overview, hosts = it?.hosts ?? [], host = hosts[Math.floor((y * hosts.length) / this.canvas.clientHeight)];
    this.under.hidden = host === undefined;
    if (it === null || host === undefined) return;
    const at = this.time(x) + this.clock.back(host.host), use = this.use.get(host.host);
    this.under.textContent = use === undefined ? host.name : `${host.name}: ${COUNTERS[0]!.label} ${counterText(COUNTERS[0]!, [use], at)}`;
    const left = x + 14 + this.under.offsetWidth > this.canvas.clientWidth ? x - 14 - this.under.offsetWidth : x + 14;
    this.under.style.transform = `translate(${left}px, ${Math.max(0, Math.min(y - 9, this.canvas.clientHeight - this.under.offsetHeight))}px)`;
    const room = this.time(2) - this.time(0), losses = lossesAt(it.losses, host.host, null, at, room);
    this.status.show(losses.length === 0 ? host.name : `${host.name}: ${losses.slice(0, 3).map((loss) => `${loss.cpu === null ? "" : `CPU ${loss.cpu}: `}${lossText(loss)}`).join("; ")}`);
  }
  private down(event: PointerEvent): void {
    if (!this.isReady || event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    const from = this.x(event), { begin, end } = this.view.now.window, x0 = this.at(begin), x1 = this.at(end), start = this.time(from);
    const isBegin = Math.abs(from - x0) <= EDGE && from < (x0 + x1) / 2, isEnd = !isBegin && Math.abs(from - x1) <= EDGE, isInside = from > x0 && from < x1;
    let isMoved = false;
    const move = (moved: PointerEvent) => {
      if (!isMoved && Math.abs(this.x(moved) - from) < 3) return;
      isMoved = true;
      const now = this.time(this.x(moved));
      if (isBegin) this.navigation.set(ordered(now, end));
      else if (isEnd) this.navigation.set(ordered(begin, now));
      else if (isInside) this.navigation.set({ begin: begin + now - start, end: end + now - start });
      else this.navigation.set(ordered(start, now));
    };
    const done = () => {
      this.canvas.removeEventListener("pointermove", move);
      if (!isMoved && !isInside) this.navigation.set({ begin: start - (end - begin) / 2, end: start + (end - begin) / 2 }, "glide");
    };
    this.canvas.addEventListener("pointermove", move);
    this.canvas.addEventListener("pointerup", done, { once: true });
  }
}
/** As the rows are. */
const names = new Intl.Collator("en", { numeric: true });
function ordered(a: Time, b: Time): Range { return { begin: Math.min(a, b), end: Math.max(a, b) }; }
