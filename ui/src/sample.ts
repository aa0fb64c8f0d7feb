// What is seen of the traces while they are being indexed: what each CPU, and the threads that ran most, did at the begin of packets all over them.
// Talks to: api (asks for the sample until it is there). Used by: stage.
import { api, type Sample, type Time } from "./api";
import { css, ink, look, rgbOf } from "./colours";
import { h } from "./dom";
import { formatTime } from "./format";
import { watchTheme } from "./theme";
import type { View } from "./view";

/** Heights of a line and of its bar, and the width of the names, in CSS pixels: as those of the time graph. */
const LINE = 20, BAR = 14, NAMES = 170, INDENT = 12;
/** More lines make no picture. */
const MAX_LINES = 300;
/** Styles of the shares of a CPU's part after its times, from below: threads, softirqs, interrupts, idle. */
const STYLE_IDLE = 9, STYLE_IRQ = 10, STYLE_SOFTIRQ = 11, STYLE_RUNNING = 8;
const STACK = [[4, STYLE_RUNNING], [6, STYLE_SOFTIRQ], [5, STYLE_IRQ]] as const;
/** How much is left of the colour of what was not read, and is only likely. */
const LIKELY = 0.35;

interface Line { readonly label: string; readonly depth: number; readonly cpu: readonly number[][]; readonly thread: readonly number[][] }

export class SamplePicture {
  private readonly canvas = h("canvas", { role: "img" });
  private readonly caption = h("p", { class: "sample-text" });
  readonly element = h("figure", { class: "sample", hidden: true }, this.caption, h("div", { class: "sample-lines" }, this.canvas));
  private lines: readonly Line[] = [];
  private begin: Time = 0;
  private end: Time = 1;

  constructor(private readonly view: View) {
    watchTheme(() => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.element);
  }
  get isThere(): boolean { return this.lines.length > 0; }

  /** Asks whether it is there; shows it, over the time that the traces have. */
  async load(range: { begin: Time; end: Time }): Promise<void> {
    const sample = await api.sample().catch(() => null);
    if (sample === null || !sample.hosts.some((host) => host.cpus.length > 0)) return;
    ({ begin: this.begin, end: this.end } = range);
    this.lines = linesOf(sample);
    const origin = this.view.now.experiment?.origin_unix_ns ?? null, time = (t: Time) => formatTime(origin, t, 3);
    const share = sample.share < 0.01 ? "less than 1 %" : `${Math.round(sample.share * 100)} %`;
    this.caption.textContent = `A first sample, of ${share} of the trace: how busy each CPU was, and the threads that ran most; pale where it is only likely. By the hosts' own clocks, from ${time(this.begin)} to ${time(this.end)} UTC.`;
    this.canvas.setAttribute("aria-label", this.lines.map(inWords).join("; "));
    this.element.hidden = false;
    this.draw();
  }

  private draw(): void {
    const ratio = devicePixelRatio, width = this.element.clientWidth, height = this.lines.length * LINE;
    if (width <= NAMES || !this.isThere) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const ctx = this.canvas.getContext("2d")!, colours = ink();
    ctx.scale(ratio, ratio);
    ctx.fillStyle = css(colours.background);
    ctx.fillRect(0, 0, width, height);
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    this.lines.forEach((line, place) => {
      const top = place * LINE + (LINE - BAR) / 2, bottom = top + BAR;
      if (line.depth === 0) {
        ctx.fillStyle = css(colours.band);
        ctx.fillRect(0, place * LINE, width, LINE);
      }
      ctx.fillStyle = line.thread.length > 0 || line.depth === 0 ? colours.text : colours.faint;
      ctx.fillText(line.label, 6 + line.depth * INDENT, place * LINE + LINE / 2, NAMES - 12 - line.depth * INDENT);
      // What was read lies over what is likely.
      for (const isRead of [false, true]) {
        ctx.globalAlpha = isRead ? 1 : LIKELY;
        for (const part of line.cpu) {
          const [x, wide] = this.across(part, isRead, width), idle = look(STYLE_IDLE).height * BAR;
          fill(ctx, STYLE_IDLE, x, bottom, wide, idle);
          let low = bottom;
          for (const [at, style] of STACK) {
            const high = (BAR * part[at]!) / 1000;
            fill(ctx, style, x, low, wide, high);
            low -= high;
          }
        }
        for (const part of line.thread) {
          const [x, wide] = this.across(part, isRead, width);
          fill(ctx, STYLE_RUNNING, x, bottom, wide, Math.max(1, (BAR * part[3]!) / 1000));
        }
      }
    });
  }
  /** Where a part is, as far as it was read, or what follows: its left edge and its width. */
  private across([begin, read, end]: readonly number[], isRead: boolean, width: number): [number, number] {
    const scale = (width - NAMES) / Math.max(1, this.end - this.begin), x = (t: Time) => NAMES + (t - this.begin) * scale;
    const from = isRead ? x(begin!) : Math.max(x(read!), x(begin!) + 1);
    return [from, isRead ? Math.max(1, x(read!) - from) : Math.max(0, x(end!) - from)];
  }
}

function fill(ctx: CanvasRenderingContext2D, style: number, x: number, bottom: number, wide: number, high: number): void {
  ctx.fillStyle = css(rgbOf(style));
  ctx.fillRect(x, bottom - high, wide, high);
}
function linesOf(sample: Sample): Line[] {
  const lines: Line[] = [];
  for (const { name, cpus, threads } of sample.hosts) {
    lines.push({ label: name, depth: 0, cpu: [], thread: [] });
    for (const { cpu, parts } of cpus) lines.push({ label: `CPU ${cpu}`, depth: 1, cpu: parts, thread: [] });
    for (const { label, tid, parts } of threads) lines.push({ label: `${label} ${tid}`, depth: 1, cpu: [], thread: parts });
  }
  return lines.slice(0, MAX_LINES);
}
/** For those who do not see it: how busy it was on average. */
function inWords({ label, cpu, thread }: Line): string {
  const parts = cpu.length > 0 ? cpu : thread, all = parts.reduce((sum, part) => sum + part[2]! - part[0]!, 0);
  if (parts.length === 0) return label;
  const busy = parts.reduce((sum, part) => sum + (part[2]! - part[0]!) * (1000 - part[3]!), 0);
  return cpu.length > 0 ? `${label} ${Math.round(busy / Math.max(1, all) / 10)} % busy` : label;
}
