// The time axis: ticks in round steps, the date and the clock, the selected time with its duration, bookmarks. Talks to: scene. Used by: graph.
import { css, ink } from "../colours";
import { formatCount, formatDay, formatDuration, formatTime, placesFor, shownAs } from "../format";
import { AXIS } from "../layout";
import type { Bookmark } from "../bookmarks";
import { SHORTEST } from "../navigation";
import type { Ctx, Scene, TimeScale } from "./scene";

/** Ticks are at least this far from each other. */
const MIN_GAP = 96;
export const FONT = "11px system-ui, sans-serif";

/** A round step of time (1, 2 or 5 of a power of ten; 10, 15, 30 s, 1, 2, 5 … min) of at least `least` ns. */
function roundStep(least: number): number {
  const seconds = [10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400].map((it) => it * 1e9);
  if (least > 5e9) return seconds.find((it) => it >= least) ?? Math.ceil(least / 86400e9) * 86400e9;
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((it) => it * power).find((it) => it >= least) ?? power * 10;
}

/** Ticks of a window: x and text, the whole second's time in full, the parts of it short. */
export function ticks(scene: TimeScale): { x: number; text: string; isFull: boolean }[] {
  const { origin } = scene, step = roundStep(MIN_GAP / scene.scale), places = placesFor(step);
  const list: { x: number; text: string; isFull: boolean }[] = [];
  let second = "";
  const isSince = shownAs.format === "since begin", zero = isSince ? shownAs.begin : 0;
  for (let t = Math.ceil((scene.begin - zero) / step) * step + zero; t <= scene.end; t += step) {
    const text = formatTime(origin, t, places), [whole = "", fraction] = text.split("."), isFull = isSince || whole !== second;
    second = whole;
    list.push({ x: scene.x(t), text: isFull ? text : grouped(fraction), isFull });
  }
  return list;
}
/** "203216" → ".203 216": digits that can be read. */
function grouped(fraction = ""): string { return "." + fraction.replace(/(\d{3})(?=\d)/g, "$1\u2009"); }

export function drawGrid(ctx: Ctx, scene: Scene): void {
  ctx.fillStyle = ink().line;
  for (const { x } of ticks(scene)) ctx.fillRect(Math.round(x), AXIS, 1, scene.layout.height);
}

export function drawAxis(ctx: Ctx, scene: Scene, bookmarks: readonly Bookmark[]): void {
  const colours = ink(), { experiment, selection, clock } = scene.view.now, width = scene.layout.width;
  ctx.fillStyle = css(colours.background);
  ctx.fillRect(0, 0, width, AXIS);
  ctx.fillStyle = colours.line;
  ctx.fillRect(0, AXIS - 1, width, 1);
  ctx.font = FONT;
  ctx.textBaseline = "alphabetic";
  let free = 0;
  for (const { x, text, isFull } of ticks(scene)) {
    ctx.fillStyle = colours.line;
    ctx.fillRect(Math.round(x), AXIS - 6, 1, 5);
    ctx.fillStyle = isFull ? colours.text : colours.faint;
    const room = ctx.measureText(text).width;
    const left = Math.max(2, Math.min(x - (isFull ? 0 : room / 2), width - room - 2));
    if (left < free) continue;
    ctx.fillText(text, left, AXIS - 9);
    free = left + room + 8;
  }
  const origin = experiment?.origin_unix_ns ?? null;
  ctx.fillStyle = colours.faint;
  const about = `${formatDay(origin, scene.begin)}, ${clock === "own" ? "each host's own clock" : "common clock"}${doubt(scene)}`;
  ctx.fillText(about, 4, 11);
  const span = `window ${formatDuration(scene.end - scene.begin)}`;
  ctx.fillText(span, width - ctx.measureText(span).width - 6, 11);
  if (selection !== null) drawSelected(ctx, scene, selection.begin, selection.end, 8 + ctx.measureText(about).width, width - ctx.measureText(span).width - 14);
  for (const bookmark of bookmarks) drawFlag(ctx, scene, bookmark);
}
/** Where the window is shorter than what clocks leave open, the picture does not show what came first on different hosts. */
function doubt({ view, begin, end }: Scene): string {
  const hosts = view.now.experiment?.hosts ?? [], most = hosts.length < 2 ? 0 : Math.max(...hosts.map((host) => host.likely_ns ?? 0)), shortest = end - begin <= SHORTEST ? "; no window is shorter" : "";
  return `${view.now.clock === "common" && most > end - begin ? `; order across hosts is not known here: clocks are ± ${formatDuration(most)}` : ""}${shortest}`;
}
/** The duration of the selection, above it. */
function drawSelected(ctx: Ctx, scene: Scene, begin: number, end: number, left: number, right: number): void {
  const colours = ink(), x0 = Math.max(0, scene.x(begin)), x1 = Math.min(scene.layout.width, scene.x(end));
  if (x1 < 0 || x0 > scene.layout.width) return;
  ctx.fillStyle = colours.edge;
  ctx.fillRect(x0, AXIS - 3, Math.max(1, x1 - x0), 2);
  const { area, isAbout } = scene.view.now, text = `${isAbout ? "≈ " : ""}${formatDuration(end - begin)}${area === null ? "" : `, ${formatCount(area.size)} ${area.size === 1 ? "row" : "rows"}`}`, room = ctx.measureText(text).width;
  ctx.fillText(text, Math.max(left, Math.min((x0 + x1) / 2 - room / 2, right - room)), 11);
}
function drawFlag(ctx: Ctx, scene: Scene, bookmark: Bookmark): void {
  if (bookmark.clock !== scene.view.now.clock) return;
  const x = Math.round(scene.x(bookmark.at));
  if (x < 0 || x > scene.layout.width) return;
  ctx.fillStyle = ink().mark;
  ctx.fillRect(x, AXIS - 10, 1, 10 + scene.layout.height);
  ctx.beginPath();
  ctx.moveTo(x, AXIS - 10);
  ctx.lineTo(x + 8, AXIS - 7);
  ctx.lineTo(x, AXIS - 3);
  ctx.fill();
}
