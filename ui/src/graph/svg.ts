// A drawing surface that writes SVG: as much of a canvas' methods as the time graph uses. Talks to: none. Used by: export.
import type { Ctx } from "./scene";

const round = (value: number) => String(Math.round(value * 100) / 100);
/** Signs that XML has no way to write are shown as unknown ones. */
const escaped = (text: string) => text.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd").replace(/[&<>"]/g, (it) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[it]!);

export class SvgContext implements Ctx {
  fillStyle: string | CanvasGradient | CanvasPattern = "#000";
  strokeStyle: string | CanvasGradient | CanvasPattern = "#000";
  lineWidth = 1;
  lineJoin: CanvasLineJoin = "miter";
  globalAlpha = 1;
  font = "11px sans-serif";
  textBaseline: CanvasTextBaseline = "alphabetic";
  private readonly parts: string[] = [];
  private path = "";
  private clips = 0;
  /** Groups that were opened since each `save`. */
  private readonly groups: number[] = [];
  private readonly measure = document.createElement("canvas").getContext("2d")!;

  constructor(private readonly width: number, private readonly height: number) {}
  text(): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}">\n${this.parts.join("\n")}\n</svg>\n`;
  }
  translated(x: number, y: number, draw: () => void): void {
    this.parts.push(`<g transform="translate(${x} ${y})">`);
    draw();
    this.parts.push("</g>");
  }
  fillRect(x: number, y: number, width: number, height: number): void {
    this.parts.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" fill="${String(this.fillStyle)}"${this.alpha}/>`);
  }
  strokeRect(x: number, y: number, width: number, height: number): void {
    this.parts.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" fill="none" ${this.line}/>`);
  }
  beginPath(): void { this.path = ""; }
  moveTo(x: number, y: number): void { this.path += `M${round(x)} ${round(y)}`; }
  lineTo(x: number, y: number): void { this.path += `L${round(x)} ${round(y)}`; }
  closePath(): void { this.path += "Z"; }
  rect(x: number, y: number, width: number, height: number): void { this.path += `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}Z`; }
  stroke(): void { if (this.path !== "") this.parts.push(`<path d="${this.path}" fill="none" ${this.line}/>`); }
  fill(): void { if (this.path !== "") this.parts.push(`<path d="${this.path}" fill="${String(this.fillStyle)}"${this.alpha}/>`); }
  clip(): void {
    this.clips += 1;
    this.parts.push(`<clipPath id="clip${this.clips}"><path d="${this.path}"/></clipPath><g clip-path="url(#clip${this.clips})">`);
    const last = this.groups.length - 1;
    if (last >= 0) this.groups[last] = this.groups[last]! + 1;
  }
  save(): void { this.groups.push(0); }
  restore(): void { this.parts.push("</g>".repeat(this.groups.pop() ?? 0)); }
  fillText(text: string, x: number, y: number): void {
    const size = /(\d+)px/.exec(this.font)?.[1] ?? "11", middle = this.textBaseline === "middle" ? ' dominant-baseline="central"' : "";
    this.parts.push(`<text x="${round(x)}" y="${round(y)}" font-family="system-ui, sans-serif" font-size="${size}" fill="${String(this.fillStyle)}"${middle}${this.alpha}>${escaped(text)}</text>`);
  }
  measureText(text: string): TextMetrics {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }
  private get alpha(): string { return this.globalAlpha === 1 ? "" : ` opacity="${round(this.globalAlpha)}"`; }
  private get line(): string { return `stroke="${String(this.strokeStyle)}" stroke-width="${this.lineWidth}"${this.alpha}`; }
}
