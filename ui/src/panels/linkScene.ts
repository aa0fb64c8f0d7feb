// Where the picture of a link has which time and which offset, and what is drawn there. Talks to: none. Used by: linkPicture, diskScene (round steps).
import type { LinkPicture, Time } from "../api";
import { css, ink } from "../colours";
import { formatDuration, formatTime, placesFor } from "../format";
import { isDark } from "../theme";
import type { Range } from "../view";

export const LEFT = 64, BOTTOM = 20, TOP = 6, RIGHT = 8;
type Ctx = CanvasRenderingContext2D;
export const FORTH = "#1482dc", BACK = "#d2691e";

/** Of the band that holds 95 of 100. */
export function likelyColour(): string { return isDark() ? "rgba(110,165,255,0.42)" : "rgba(25,80,190,0.32)"; }

export interface LinkScene { readonly picture: LinkPicture; readonly window: Range; readonly width: number; readonly height: number; readonly most: number; readonly origin: string | null }

export function xOf(scene: LinkScene, at: Time): number { return LEFT + ((at - scene.window.begin) / (scene.window.end - scene.window.begin)) * (scene.width - LEFT - RIGHT); }
export function timeOf(scene: LinkScene, x: number): Time { return scene.window.begin + ((x - LEFT) / (scene.width - LEFT - RIGHT)) * (scene.window.end - scene.window.begin); }
export function yOf(scene: LinkScene, offset: number): number { return TOP + ((scene.most - offset) / (2 * scene.most)) * (scene.height - TOP - BOTTOM); }

/** How far the picture goes up and down: all messages of the window, or what the clocks leave open, with a little room. */
export function mostOf(picture: LinkPicture, window: Range, isAll: boolean): number {
  let most = 0;
  const take = (at: Time, value: number | null) => { if (value !== null && at >= window.begin && at <= window.end) most = Math.max(most, Math.abs(value)); };
  for (const [at, low, high] of picture.bounds) { take(at, low); take(at, high); }
  // The corridor may have no corner in the window.
  if (most === 0) for (const [, low, high] of picture.bounds) most = Math.max(most, Math.abs(low ?? 0), Math.abs(high ?? 0));
  // Corners of the hulls at the ends of the trace may be far away: then they are not worth the scale.
  const least = most;
  if (isAll) for (const list of [picture.forth, picture.back]) for (const [at, delay] of list) take(at, delay);
  else for (const list of [picture.upper, picture.lower]) for (const [at, delay] of list) if (Math.abs(delay) < 3 * least || least === 0) take(at, delay);
  return (most === 0 ? 1000 : most) * 1.25;
}
/** A step of 1, 2 or 5 times a power of ten, of at least so much. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-9)));
  return [1, 2, 5, 10].map((it) => it * power).find((it) => it >= least)!;
}

export function drawLink(ctx: Ctx, scene: LinkScene): void {
  const { picture, width, height } = scene, colours = ink();
  ctx.fillStyle = css(colours.background);
  ctx.fillRect(0, 0, width, height);
  grid(ctx, scene);
  ctx.save();
  ctx.beginPath();
  ctx.rect(LEFT, TOP, width - LEFT - RIGHT, height - TOP - BOTTOM);
  ctx.clip();
  // Between the half hulls: where the true offset may be, if the rate never changed.
  area(ctx, scene, picture.upper, picture.lower, "rgba(120,130,150,0.16)");
  const sure = picture.bounds.filter((it) => it[1] !== null && it[2] !== null);
  area(ctx, scene, sure.map(([at, , high]) => [at, high!]), sure.map(([at, low]) => [at, low!]), colours.sure);
  const likely = picture.bounds.filter((it) => it[3] !== null);
  area(ctx, scene, likely.map((it) => [it[0], it[3]!]), likely.map((it) => [it[0], -it[3]!]), likelyColour());
  line(ctx, scene, sure.map(([at, , high]) => [at, high!]), colours.edge, 1);
  line(ctx, scene, sure.map(([at, low]) => [at, low!]), colours.edge, 1);
  dots(ctx, scene, picture.forth, FORTH);
  dots(ctx, scene, picture.back, BACK);
  line(ctx, scene, picture.upper, FORTH, 1.5);
  line(ctx, scene, picture.lower, BACK, 1.5);
  ctx.fillStyle = colours.text;
  ctx.fillRect(LEFT, Math.round(yOf(scene, 0)), width, 1);
  for (const [at, delay] of picture.suspects) cross(ctx, xOf(scene, at), Math.max(TOP + 5, Math.min(yOf(scene, delay), height - BOTTOM - 5)), colours.inverted);
  ctx.setLineDash([5, 3]);
  ctx.strokeStyle = colours.mark;
  ctx.lineWidth = 1.5;
  for (const it of picture.breaks) stroke(ctx, [[xOf(scene, it.at), TOP], [xOf(scene, it.at), height]]);
  ctx.setLineDash([]);
  ctx.restore();
}
function grid(ctx: Ctx, scene: LinkScene): void {
  const { window, width, height, most, origin } = scene, colours = ink();
  ctx.font = "11px system-ui, sans-serif";
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  const step = roundStep((2 * most) / Math.max(2, Math.floor((height - TOP - BOTTOM) / 26)));
  for (let offset = Math.ceil(-most / step) * step; offset <= most; offset += step) {
    const y = Math.round(yOf(scene, offset));
    ctx.fillStyle = colours.line;
    ctx.fillRect(LEFT, y, width - LEFT - RIGHT, 1);
    ctx.fillStyle = colours.faint;
    ctx.fillText(`${offset > 0 ? "+" : ""}${formatDuration(Math.abs(offset) < step / 2 ? 0 : offset)}`, LEFT - 4, y);
  }
  ctx.textAlign = "center";
  const by = roundStep(((window.end - window.begin) * 84) / Math.max(1, width - LEFT - RIGHT));
  for (let at = Math.ceil(window.begin / by) * by; at <= window.end; at += by) {
    const x = Math.round(xOf(scene, at));
    ctx.fillStyle = colours.line;
    ctx.fillRect(x, TOP, 1, height - TOP - BOTTOM);
    ctx.fillStyle = colours.faint;
    if (x > LEFT + 20 && x < width - 30) ctx.fillText(formatTime(origin, at, placesFor(by)), x, height - BOTTOM / 2);
  }
}
function area(ctx: Ctx, scene: LinkScene, upper: readonly [Time, number][], lower: readonly [Time, number][], colour: string): void {
  if (upper.length === 0 || lower.length === 0) return;
  ctx.beginPath();
  for (const [at, value] of upper) ctx.lineTo(xOf(scene, at), yOf(scene, value));
  for (const [at, value] of [...lower].reverse()) ctx.lineTo(xOf(scene, at), yOf(scene, value));
  ctx.closePath();
  ctx.fillStyle = colour;
  ctx.fill();
}
function line(ctx: Ctx, scene: LinkScene, points: readonly [Time, number][], colour: string, width: number): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  stroke(ctx, points.map(([at, value]) => [xOf(scene, at), yOf(scene, value)]));
}
function dots(ctx: Ctx, scene: LinkScene, points: readonly [Time, number][], colour: string): void {
  ctx.fillStyle = colour;
  for (const [at, value] of points) {
    if (at < scene.window.begin || at > scene.window.end || Math.abs(value) > scene.most) continue;
    ctx.fillRect(xOf(scene, at) - 1.5, yOf(scene, value) - 1.5, 3, 3);
  }
}
function cross(ctx: Ctx, x: number, y: number, colour: string): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2;
  stroke(ctx, [[x - 4, y - 4], [x + 4, y + 4]]);
  stroke(ctx, [[x - 4, y + 4], [x + 4, y - 4]]);
}
function stroke(ctx: Ctx, points: readonly [number, number][]): void {
  ctx.beginPath();
  for (const [x, y] of points) ctx.lineTo(x, y);
  ctx.stroke();
}
