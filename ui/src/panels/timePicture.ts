// A picture over the window of the time graph, on a canvas: zoomed as the time graph, with its cursor and selection; rows that do not fit are scrolled.
// It can be drawn as SVG, too. Talks to: view, navigation. Used by: resources, lives, disks.
import type { Time } from "../api";
import { css, ink } from "../colours";
import { h } from "../dom";
import { FONT, ticks } from "../graph/axis";
import type { Ctx, TimeScale } from "../graph/scene";
import { SvgContext } from "../graph/svg";
import type { Range, View } from "../view";
import { listenTime, type Mover } from "./wheel";

/** Room for the times below. */
const BELOW = 20;
const LEAST_WIDTH = 60, LEAST_HEIGHT = 30;

/** Where a picture has which time; rows are between `top` and `bottom`, moved up by `scrolled`. */
export class Frame implements TimeScale {
  readonly begin: Time;
  readonly end: Time;
  readonly scale: number;
  constructor(window: Range, readonly origin: string | null, readonly left: number, readonly right: number, readonly width: number, readonly top: number, readonly bottom: number, readonly scrolled: number) {
    this.begin = window.begin;
    this.end = window.end;
    this.scale = Math.max(1, this.right - this.left) / (window.end - window.begin);
  }
  x(t: Time): number { return this.left + (t - this.begin) * this.scale; }
  time(x: number): Time { return this.begin + (x - this.left) / this.scale; }
  /** The part of a time that is seen, in whole pixels so that neighbours have no seam: its x and its width, at least a pixel; null if none is. */
  part(begin: Time, end: Time): [x: number, width: number] | null {
    if (end < this.begin || begin > this.end || end < begin) return null;
    const x0 = Math.round(Math.max(this.left, this.x(begin))), x1 = Math.round(Math.min(this.right, this.x(end)));
    return [x0, Math.max(1, x1 - x0)];
  }
}
/** What a picture shows. Coordinates of `y` are those of the whole picture, however it is scrolled. */
export interface Content {
  /** Room for names at the left, and for figures at the right. */
  readonly left: number;
  readonly right: number;
  /** Room above that is not scrolled. */
  readonly above: number;
  /** Height of all rows; null: as much as there is. */
  readonly rows: number | null;
  draw(ctx: Ctx, frame: Frame): void;
  /** What is there, in lines; nothing: none. */
  tip(at: Time, y: number, frame: Frame): readonly string[];
  click(at: Time, y: number, frame: Frame): void;
  /** A double click. */
  open?(at: Time, y: number, frame: Frame): void;
}

export class TimePicture {
  private content: Content | null = null;
  private frameNumber = 0;
  private readonly canvas = h("canvas", { role: "img" });
  private readonly cursor = h("div", { class: "cursor", hidden: true });
  private readonly tip = h("div", { class: "tooltip", role: "status", hidden: true });
  private readonly seen = h("div", { class: "seen" }, this.canvas, this.cursor);
  private readonly whole = h("div", {}, this.seen);
  readonly element = h("div", { class: "time-picture", tabindex: 0 }, this.whole, this.tip);

  /** `shown`: the window that it shows. */
  constructor(private readonly view: View, mover: Mover, private readonly shown: () => Range) {
    new ResizeObserver(() => this.drawSoon()).observe(this.element);
    this.element.addEventListener("scroll", () => { this.tip.hidden = true; this.drawSoon(); }, { passive: true });
    listenTime(this.seen, view, mover, (x) => {
      const frame = this.frame();
      return frame === null || x < frame.left || x > frame.right ? null : frame.time(x);
    }, { isClick: (x, y) => this.at(x, y, (content, ...place) => content.click(...place)) });
    this.seen.addEventListener("dblclick", (event) => this.at(event.offsetX, event.offsetY, (content, ...place) => content.open?.(...place)));
    this.seen.addEventListener("pointermove", (event) => this.hover(event));
    this.seen.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    this.element.addEventListener("keydown", (event) => { if (["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown"].includes(event.key)) event.stopPropagation(); });
  }
  /** `about` says the same as the picture, to who cannot see it. */
  set(content: Content, about: string): void {
    this.content = content;
    this.canvas.setAttribute("aria-label", about);
    this.element.setAttribute("aria-label", about);
    this.draw();
  }
  clear(): void {
    this.content = null;
    this.tip.hidden = true;
    this.canvas.width = this.canvas.height = 0;
  }
  drawSoon(): void { if (this.frameNumber === 0) this.frameNumber = requestAnimationFrame(() => this.draw()); }
  /** The cursor of all pictures. */
  moveCursor(): void {
    const frame = this.frame(), { hover } = this.view.now, x = frame === null || hover === null ? -1 : frame.x(hover);
    this.cursor.hidden = frame === null || x < frame.left || x > frame.right;
    this.cursor.style.transform = `translateX(${x}px)`;
  }
  /** All of it, with a title above. */
  svg(title: string): { width: number; height: number; draw(svg: SvgContext): void } | null {
    const { content } = this, width = this.element.clientWidth;
    if (content === null || width < LEAST_WIDTH) return null;
    const rows = content.rows ?? Math.max(LEAST_HEIGHT, this.element.clientHeight - BELOW - content.above), frame = this.frameOf(content, width, content.above + rows + BELOW, 0);
    return {
      width, height: content.above + rows + BELOW + 22,
      draw: (svg) => {
        svg.font = FONT;
        svg.textBaseline = "middle";
        svg.fillStyle = ink().text;
        svg.fillText(title, 6, 11);
        svg.translated(0, 22, () => this.paint(svg, content, frame));
      },
    };
  }
  private frameOf(content: Content, width: number, height: number, scrolled: number): Frame {
    const { experiment } = this.view.now;
    return new Frame(this.shown(), experiment?.origin_unix_ns ?? null, content.left, width - content.right, width, content.above, height - BELOW, scrolled);
  }
  private frame(): Frame | null {
    const { content } = this, { clientWidth: width, clientHeight: height, scrollTop } = this.element;
    return content === null || width < LEAST_WIDTH + content.left + content.right || height < LEAST_HEIGHT + BELOW ? null : this.frameOf(content, width, height, scrollTop);
  }
  private at(x: number, y: number, run: (content: Content, at: Time, y: number, frame: Frame) => void): void {
    const frame = this.frame();
    if (frame !== null && this.content !== null && y <= frame.bottom) run(this.content, frame.time(x), y + frame.scrolled, frame);
  }
  private hover(event: PointerEvent): void {
    let lines: readonly string[] = [];
    const box = this.seen.getBoundingClientRect();
    if (event.buttons === 0) this.at(event.clientX - box.left, event.clientY - box.top, (content, ...place) => { lines = content.tip(...place); });
    this.tip.hidden = lines.length === 0;
    if (lines.length === 0) return;
    this.tip.replaceChildren(...lines.map((line, place) => h(place === 0 ? "strong" : "p", {}, line)));
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const left = event.clientX + 16 + width > innerWidth ? event.clientX - width - 12 : event.clientX + 16;
    this.tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, Math.min(event.clientY + 18, innerHeight - height - 8))}px)`;
  }
  private draw(): void {
    cancelAnimationFrame(this.frameNumber);
    this.frameNumber = 0;
    const { content } = this;
    if (content === null) return;
    this.whole.style.height = content.rows === null ? "100%" : `${content.above + content.rows + BELOW}px`;
    const frame = this.frame(), { clientWidth: width, clientHeight: height } = this.element, scale = devicePixelRatio;
    if (frame === null) return;
    this.seen.style.height = `${height}px`;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const ctx = this.canvas.getContext("2d")!;
    ctx.scale(scale, scale);
    this.paint(ctx, content, frame);
    this.moveCursor();
  }
  private paint(ctx: Ctx, content: Content, frame: Frame): void {
    const colours = ink(), { selection } = this.view.now;
    ctx.fillStyle = css(colours.background);
    ctx.fillRect(0, 0, frame.width, frame.bottom + BELOW);
    drawTimes(ctx, frame);
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, 0, frame.width, frame.bottom);
    ctx.clip();
    content.draw(ctx, frame);
    ctx.restore();
    const selected = selection === null ? null : frame.part(selection.begin, selection.end);
    if (selected === null) return;
    ctx.fillStyle = colours.selection;
    ctx.fillRect(selected[0], 0, selected[1], frame.bottom);
  }
}
function drawTimes(ctx: Ctx, frame: Frame): void {
  const colours = ink();
  ctx.font = FONT;
  ctx.textBaseline = "middle";
  let free = 0;
  for (const { x, text, isFull } of ticks(frame)) {
    if (x < frame.left || x > frame.right) continue;
    ctx.fillStyle = colours.line;
    ctx.fillRect(Math.round(x), frame.top, 1, frame.bottom + 4 - frame.top);
    const room = ctx.measureText(text).width, at = Math.min(x - (isFull ? 0 : room / 2), frame.width - room - 2);
    if (at < free) continue;
    ctx.fillStyle = isFull ? colours.text : colours.faint;
    ctx.fillText(text, at, frame.bottom + BELOW / 2 + 2);
    free = at + room + 8;
  }
}
/** A text that ends at x. */
export function endAt(ctx: Ctx, text: string, x: number, y: number): void { ctx.fillText(text, x - ctx.measureText(text).width, y); }
/** A text, cut with "…" where it is wider than so much. */
export function fitting(ctx: Ctx, text: string, most: number): string {
  if (ctx.measureText(text).width <= most) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (ctx.measureText(`${text.slice(0, middle)}…`).width <= most) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}
/** Pictures below each other as the text of one SVG file; null where nothing is drawn. */
export function svgOfPictures(pictures: readonly { picture: TimePicture; title: string }[]): string | null {
  const parts = pictures.flatMap(({ picture, title }) => picture.svg(title) ?? []);
  if (parts.length === 0) return null;
  const svg = new SvgContext(Math.max(...parts.map((it) => it.width)), parts.reduce((sum, it) => sum + it.height, 0));
  svg.fillStyle = css(ink().background);
  svg.fillRect(0, 0, Math.max(...parts.map((it) => it.width)), parts.reduce((sum, it) => sum + it.height, 0));
  let top = 0;
  for (const part of parts) {
    svg.translated(0, top, () => part.draw(svg));
    top += part.height;
  }
  return svg.text();
}
