// The picture of a link: messages as points (offset against time, the estimate taken out), half hulls, what is sure and what is likely, suspects and breaks.
// Zoomed like the time graph, with its cursor. Talks to: view. Used by: synchronization.
import type { LinkPicture, Time } from "../api";
import { ink } from "../colours";
import { button, h } from "../dom";
import { formatCount, formatDuration, formatTime } from "../format";
import type { View } from "../view";
import { BACK, drawLink, FORTH, LEFT, likelyColour, mostOf, timeOf, xOf, type LinkScene } from "./linkScene";
import { swatch } from "./stack";
import { rowOf, toCommon, toShown } from "./times";
import { listenTime, type Mover } from "./wheel";

export class LinkPictureView {
  private picture: LinkPicture | null = null;
  private row: number | null = null;
  private isAll = false;
  private frame = 0;
  private readonly canvas = h("canvas", { role: "img" });
  private readonly cursor = h("div", { class: "cursor", hidden: true });
  private readonly place = h("div", { class: "link-canvas" }, this.canvas, this.cursor);
  private readonly title = h("h3");
  private readonly readout = h("span", { class: "muted readout-text" });
  private readonly all = button("all messages", "Show all messages, not only the surroundings of the corridor", () => { this.isAll = !this.isAll; this.all.setAttribute("aria-pressed", String(this.isAll)); this.draw(); }, { "aria-pressed": "false" });
  private readonly legend = h("span", { class: "legend" });
  readonly element: HTMLElement = h("section", { class: "block link-picture" }, h("div", { class: "block-head" }, this.title, this.legend, this.readout, this.all), this.place);

  constructor(private readonly view: View, mover: Mover) {
    new ResizeObserver(() => this.drawSoon()).observe(this.place);
    listenTime(this.place, view, mover, (x) => {
      const scene = this.scene();
      return scene === null || x < LEFT ? null : toShown(this.view, this.row, timeOf(scene, x));
    });
  }
  set(picture: LinkPicture): void {
    this.picture = picture;
    this.row = this.view.now.experiment?.hosts.find((it) => it.name === picture.a)?.row ?? null;
    const { a, b, forth, back, suspects, breaks, bounds } = picture, middle = bounds[Math.floor(bounds.length / 2)];
    this.title.textContent = `${a} ↔ ${b}`;
    this.canvas.setAttribute("aria-label", `Offset of the clocks of ${a} and ${b} against time, the estimate taken out. ${formatCount(forth.length)} messages from ${a} to ${b}, ${formatCount(back.length)} back, ${suspects.length} suspects, ${breaks.length} breaks. `
      + (middle === undefined || middle[1] === null ? "Nothing is sure." : `In the middle: surely within ${formatDuration(middle[1])} to ${formatDuration(middle[2])}, likely within ± ${formatDuration(middle[3])}.`));
    this.draw();
    this.moveCursor();
  }
  clear(): void { this.picture = null; this.canvas.width = this.canvas.height = 0; }
  drawSoon(): void { if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw()); }
  /** The cursor of all pictures, and what is known there. */
  moveCursor(): void {
    const scene = this.scene(), { hover } = this.view.now;
    const at = hover === null ? null : toCommon(this.view, this.row, hover), x = at === null || scene === null ? -1 : xOf(scene, at);
    this.cursor.hidden = x < LEFT || scene === null || x > scene.width;
    this.cursor.style.transform = `translateX(${x}px)`;
    this.readout.textContent = at === null || scene === null ? "" : this.textAt(at);
  }
  private textAt(at: Time): string {
    const { bounds, breaks } = this.picture!, near = bounds.reduce((a, b) => (Math.abs(b[0] - at) < Math.abs(a[0] - at) ? b : a), bounds[0]!), { begin, end } = this.view.now.window;
    const broken = breaks.find((it) => Math.abs(it.at - at) < (end - begin) / 100);
    const text = near[1] === null ? "nothing sure here" : `surely ${formatDuration(near[1])} … +${formatDuration(near[2])}, likely ± ${formatDuration(near[3])}`;
    return `${formatTime(this.view.now.experiment?.origin_unix_ns ?? null, at, 6)}: ${broken?.text ?? text}`;
  }
  private scene(): LinkScene | null {
    const { clientWidth: width, clientHeight: height } = this.place, { window, experiment } = this.view.now;
    if (this.picture === null || width < 120 || height < 40) return null;
    const common = { begin: toCommon(this.view, this.row, window.begin), end: toCommon(this.view, this.row, window.end) };
    return { picture: this.picture, window: common, width, height, most: this.most, origin: experiment?.origin_unix_ns ?? null };
  }
  private most = 1;
  private draw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const seen = this.scene();
    if (seen === null) return;
    this.legend.replaceChildren(swatch(FORTH, `${seen.picture.a} → ${seen.picture.b}`), swatch(BACK, `${seen.picture.b} → ${seen.picture.a}`), swatch(likelyColour(), "likely"), swatch(ink().sure, "sure"));
    this.most = mostOf(seen.picture, seen.window, this.isAll);
    const scene = { ...seen, most: this.most }, scale = devicePixelRatio;
    this.canvas.width = Math.round(scene.width * scale);
    this.canvas.height = Math.round(scene.height * scale);
    this.canvas.style.width = `${scene.width}px`;
    this.canvas.style.height = `${scene.height}px`;
    const ctx = this.canvas.getContext("2d")!;
    ctx.scale(scale, scale);
    drawLink(ctx, scene);
    const { selection } = this.view.now;
    if (selection !== null && rowOf(this.view, this.row) !== undefined) {
      const x0 = Math.max(LEFT, xOf(scene, toCommon(this.view, this.row, selection.begin))), x1 = Math.min(scene.width, xOf(scene, toCommon(this.view, this.row, selection.end)));
      ctx.fillStyle = "rgba(60,120,220,0.13)";
      if (x1 > x0) ctx.fillRect(x0, 0, x1 - x0, scene.height);
    }
  }
}
