// What resources did over time, as rows of small charts: busy as an area, waited for as a line, unknown as unknown; above those of each host its bottleneck.
// Talks to: none. Used by: resources.
import type { Resource, Time, Verdict } from "../api";
import { causeColour, css, ink, rgbOf, STYLE_UNKNOWN } from "../colours";
import { formatDuration, formatTime, placesFor } from "../format";
import { FONT } from "../graph/axis";
import type { Ctx } from "../graph/scene";
import { endAt, fitting, type Content, type Frame } from "./timePicture";
import { stepOf } from "./times";

const HEAD = 22, ROW = 36, CHART = 26, LEFT = 150, RIGHT = 104;
const COLOURS: Readonly<Record<string, string>> = { CPU: "cpu", disk: "disk", network: "network", locks: "lock", memory: "pipe" };

export function resourceColour(kind: string): string { return causeColour(COLOURS[kind] ?? "other"); }
export function waitedColour(): string { return causeColour("wait-cpu"); }
export function unknownColour(): string { return css(rgbOf(STYLE_UNKNOWN), 0.45); }
export function resourceName(it: Resource): string { return it.of === null ? it.resource : `${it.resource} ${it.of}`; }
/** "12.3 %"; "unknown"; "–" where there is no such thing. */
export function percentText(value: number | null | undefined): string { return value === undefined ? "–" : value === null ? "unknown" : `${Math.round(value * 10) / 10} %`; }

/** A line of the picture: the bottleneck of a host, or a resource. */
export type Line = { readonly top: number; readonly verdict: Verdict } | { readonly top: number; readonly resource: Resource };
/** All lines, host by host. */
export function linesOf(verdicts: readonly Verdict[], resources: readonly Resource[]): { lines: Line[]; height: number } {
  const lines: Line[] = [], byHost = new Map<number, Resource[]>();
  for (const resource of resources) byHost.set(resource.host, [...(byHost.get(resource.host) ?? []), resource]);
  let top = 0;
  for (const verdict of verdicts) {
    lines.push({ top, verdict });
    top += HEAD;
    for (const resource of byHost.get(verdict.host) ?? []) {
      lines.push({ top, resource });
      top += ROW;
    }
  }
  return { lines, height: top };
}
/** The last line that begins above. */
export function lineAt(lines: readonly Line[], y: number): Line | undefined { return lines[stepOf(lines.map((line) => line.top), y)]; }
/** The step that an instant is in; −1: none. */
export function stepAt({ begin, end }: Resource, at: Time): number {
  const place = stepOf(begin, at);
  return place >= 0 && at < end[place]! ? place : -1;
}

export interface ResourceDoers { hostName(host: number): string; shift(host: number): Time; click(resource: Resource, step: number): void; open(resource: Resource, step: number): void; pick(host: number): void }

export function resourceContent(verdicts: readonly Verdict[], resources: readonly Resource[], doers: ResourceDoers): Content {
  const { lines, height } = linesOf(verdicts, resources);
  const found = (at: Time, y: number, frame: Frame) => {
    const line = y < frame.top + frame.scrolled ? undefined : lineAt(lines, y - frame.top);
    return line === undefined || !("resource" in line) ? { line, step: -1 } : { line, step: stepAt(line.resource, at - doers.shift(line.resource.host)) };
  };
  const use = (run: (resource: Resource, step: number) => void) => (at: Time, y: number, frame: Frame) => {
    const { line, step } = found(at, y, frame);
    if (line !== undefined && "resource" in line && step >= 0) run(line.resource, step);
    else if (line !== undefined) doers.pick("resource" in line ? line.resource.host : line.verdict.host);
  };
  return {
    left: LEFT, right: RIGHT, above: 0, rows: height,
    draw: (ctx, frame) => {
      for (const line of lines) {
        const top = frame.top + line.top - frame.scrolled;
        if (top > frame.bottom) break;
        if (top + ROW < frame.top) continue;
        if ("verdict" in line) drawVerdict(ctx, frame, line.verdict, top, doers);
        else drawResource(ctx, frame, line.resource, top, doers.shift(line.resource.host));
      }
    },
    tip: (at, y, frame) => {
      const { line, step } = found(at, y, frame);
      if (line === undefined) return [];
      if ("verdict" in line) return [doers.hostName(line.verdict.host), line.verdict.verdict];
      return tipOf(line.resource, step, doers.hostName(line.resource.host), frame.origin);
    },
    click: use(doers.click), open: use(doers.open),
  };
}
export function tipOf(it: Resource, step: number, host: string, origin: string | null): string[] {
  const name = `${host} ${resourceName(it)}`;
  if (step < 0) return [name, "no host was recorded then"];
  const begin = it.begin[step]!, end = it.end[step]!, unknown = it.unknown[step];
  const lines = [name, `${formatTime(origin, begin, placesFor((end - begin) / 100))}, ${formatDuration(end - begin)}`];
  if (it.busy !== undefined) lines.push(`busy ${percentText(it.busy[step])}`);
  if (it.waited !== undefined) lines.push(`waited for ${percentText(it.waited[step])}`);
  if (unknown !== null && unknown !== undefined && unknown > 0) lines.push(`unknown ${percentText(unknown)}`);
  return lines;
}
function drawVerdict(ctx: Ctx, frame: Frame, verdict: Verdict, top: number, doers: ResourceDoers): void {
  const colours = ink(), name = doers.hostName(verdict.host), y = top + HEAD / 2;
  ctx.fillStyle = css(colours.band);
  ctx.fillRect(0, top, frame.width, HEAD);
  ctx.textBaseline = "middle";
  ctx.font = `600 ${FONT}`;
  ctx.fillStyle = colours.text;
  ctx.fillText(name, 6, y);
  const from = 6 + ctx.measureText(`${name}  `).width;
  ctx.font = FONT;
  ctx.fillStyle = verdict.because === "saturated" || verdict.because === "requests" ? colours.mark : colours.faint;
  ctx.fillText(fitting(ctx, verdict.verdict, frame.width - from - 6), from, y);
}
function drawResource(ctx: Ctx, frame: Frame, it: Resource, top: number, shift: Time): void {
  const colours = ink(), base = top + (ROW + CHART) / 2, high = (percent: number) => (Math.min(100, percent) / 100) * CHART;
  ctx.font = FONT;
  ctx.textBaseline = "middle";
  ctx.fillStyle = colours.text;
  endAt(ctx, fitting(ctx, resourceName(it), LEFT - 14), LEFT - 8, top + ROW / 2);
  it.begin.forEach((begin, step) => {
    const part = frame.part(begin + shift, it.end[step]! + shift);
    if (part === null) return;
    const [x, width] = part, busy = it.busy?.[step], unknown = it.unknown[step] ?? 0;
    const isUnknown = busy === null || (it.busy === undefined && it.waited?.[step] === null), from = isUnknown ? 0 : high(busy ?? 0), to = isUnknown ? CHART : high((busy ?? 0) + unknown);
    if (to > from) {
      ctx.fillStyle = unknownColour();
      ctx.fillRect(x, base - to, width, to - from);
    }
    if (!isUnknown && from > 0) {
      ctx.fillStyle = resourceColour(it.resource);
      ctx.fillRect(x, base - from, width, from);
    }
  });
  drawWaited(ctx, frame, it, shift, (percent) => base - high(percent));
  ctx.fillStyle = colours.line;
  ctx.fillRect(frame.left, base, frame.right - frame.left, 1);
  const right = frame.width - 6;
  ctx.fillStyle = colours.faint;
  if (it.busy_percent !== undefined) endAt(ctx, `busy ${percentText(it.busy_percent)}`, right, top + ROW / 2 - 7);
  if (it.waited_percent !== undefined) endAt(ctx, `waited ${percentText(it.waited_percent)}`, right, top + ROW / 2 + 7);
}
/** A line of steps, with a gap where it is unknown. */
function drawWaited(ctx: Ctx, frame: Frame, it: Resource, shift: Time, y: (percent: number) => number): void {
  ctx.strokeStyle = waitedColour();
  ctx.lineWidth = 1.25;
  ctx.beginPath();
  let isOpen = false;
  it.waited?.forEach((waited, step) => {
    const part = frame.part(it.begin[step]! + shift, it.end[step]! + shift);
    if (waited === null || part === null) { isOpen = false; return; }
    const [x, width] = part;
    if (isOpen) ctx.lineTo(x, y(waited));
    else ctx.moveTo(x, y(waited));
    ctx.lineTo(x + width, y(waited));
    isOpen = true;
  });
  ctx.stroke();
}
