// Counters of hosts, drawn in lines of their own beside the threads: asked for while such a line is seen, for the window and around it. Talks to: api (through Fetched), scene. Used by: graph, tooltip.
import { api, type Series, type Time } from "../api";
import { ink, css } from "../colours";
import { counterOf, counterText, COUNTERS, type CounterKind } from "../counterRows";
import { AXIS, LINE } from "../layout";
import { hostColour } from "../panels/hostColours";
import type { View } from "../view";
import { FONT } from "./axis";
import { Fetched } from "./fetched";
import { BAR, type Ctx, type Scene } from "./scene";

/** Steps of a series for a pixel of the window. */
const STEPS = 0.8, MOST_STEPS = 2000;

export class Counters {
  private readonly fetched: Fetched<Series[]>;
  private width = 1000;
  constructor(private readonly view: View, arrived: () => void) {
    this.fetched = new Fetched(async (range, _, signal) => {
      const { begin, end } = view.now.experiment ?? {}, from = Math.max(range.begin, begin ?? range.begin), to = Math.min(range.end, end ?? range.end);
      // Means over steps: a shorter window has shorter ones.
      return { value: to > from ? (await api.usage(from, to, Math.max(60, Math.min(MOST_STEPS, Math.round(this.width * STEPS))), signal, true)).series : [], isThinned: true };
    }, arrived);
  }
  get isIdle(): boolean { return this.fetched.isIdle; }
  renew(): void { this.fetched.renew(); }
  /** Asks for what the window lacks, if any of their lines is seen. */
  want(isSeen: boolean, width: number): void {
    this.width = width;
    const { window, clock } = this.view.now;
    if (!isSeen) return;
    const shifts = clock === "common" ? [0] : this.view.now.experiment?.hosts.map((host) => host.shift_ns) ?? [0];
    this.fetched.want({ begin: window.begin - Math.max(...shifts), end: window.end - Math.min(...shifts) }, "common");
  }
  private seriesOf(host: number, kind: CounterKind): Series[] { return kind.kinds.flatMap((name) => (this.fetched.value ?? []).filter((it) => it.host === host && it.kind === name)); }
  /** What a line says at an instant of the common clock. */
  text(line: number, at: Time): string | null {
    const of = counterOf(line);
    if (of === null) return null;
    if (this.fetched.value === null) return "loading …";
    const series = this.seriesOf(of.host, of.kind);
    return series.length === 0 && of.kind === COUNTERS[1] ? "not recorded, or there are too many states here to look at each: zoom in" : counterText(of.kind, series, at);
  }
  draw(ctx: Ctx, scene: Scene): void {
    scene.rows.lines.forEach((line, place) => {
      const of = line.id <= -500_000 ? counterOf(line.id) : null, top = scene.top(place);
      if (of === null || top < scene.linesTop - LINE || top > AXIS + scene.layout.height) return;
      this.drawLine(ctx, scene, of.kind, this.seriesOf(of.host, of.kind), top + (LINE - BAR) / 2);
    });
  }
  private drawLine(ctx: Ctx, scene: Scene, kind: CounterKind, series: readonly Series[], top: number): void {
    const colours = ink(), width = scene.layout.width, bottom = top + BAR, seen: number[] = [];
    for (const { x, y } of series) y.forEach((value, at) => { if (value !== null && x[at]! <= scene.end && (x[at + 1] ?? Infinity) >= scene.begin) seen.push(value); });
    const least = Math.min(0, ...seen), most = kind.most ?? Math.max(...seen, least + 1e-9), high = (value: number) => bottom - (BAR * (value - least)) / (most - least);
    series.forEach((it, turn) => {
      const colour = hostColour(it.host);
      ctx.fillStyle = ctx.strokeStyle = colour;
      ctx.lineWidth = 1;
      ctx.globalAlpha = turn === 0 ? 0.45 : 1;
      ctx.beginPath();
      it.x.forEach((at, step) => {
        const value = it.y[step], next = it.x[step + 1] ?? at + (at - (it.x[step - 1] ?? at)), x0 = scene.hostX(it.host, at, "common"), x1 = scene.hostX(it.host, next, "common");
        if (value === null || value === undefined || x1 < 0 || x0 > width) return;
        if (turn === 0) ctx.rect(x0, high(value), Math.max(x1 - x0, 0.5), high(Math.min(0, least)) - high(value));
        else { ctx.moveTo(x0, high(value)); ctx.lineTo(x1, high(value)); }
      });
      if (turn === 0) ctx.fill();
      else ctx.stroke();
      ctx.globalAlpha = 1;
    });
    if (seen.length === 0) return;
    const text = kind.text(most), room = 6 + ctx.measureText(text).width;
    ctx.font = FONT;
    ctx.textBaseline = "middle";
    ctx.fillStyle = css(colours.background, 0.7);
    ctx.fillRect(width - room, top, room, BAR);
    ctx.fillStyle = colours.faint;
    ctx.fillText(text, width - room + 3, top + BAR / 2);
  }
}
