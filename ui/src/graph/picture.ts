// Everything of the time graph that is drawn over the bars: labels, losses, arrows, critical path, selection, axis.
// Talks to: scene and the parts. Used by: graph (screen) and export (files).
import type { Loss } from "../api";
import type { Bookmark } from "../bookmarks";
import { ink, inkOn, isPale, look } from "../colours";
import { AXIS, LINE } from "../layout";
import type { Arrows } from "./arrows";
import type { Counters } from "./counters";
import { drawAxis, drawGrid, FONT } from "./axis";
import { drawPath } from "./pathOverlay";
import { BAR, type Ctx, type Scene } from "./scene";
import { labelOfTile, type Tile } from "./tiles";

/** Bars at least this wide have a label, in CSS pixels. */
export const LABEL_WIDTH = 26;
/** Labels in one picture. */
const MAX_LABELS = 1500;

/** A bar with room for its label, in CSS pixels of the canvas. */
export interface Label { readonly x0: number; readonly x1: number; readonly y: number; readonly tile: Tile; readonly place: number }
export interface Parts { readonly labels: readonly Label[]; readonly counters: Counters; readonly arrows: Arrows; readonly losses: readonly Loss[]; readonly bookmarks: readonly Bookmark[] }

export function drawPicture(ctx: Ctx, scene: Scene, parts: Parts): void {
  const { width, height } = scene.layout;
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, AXIS, width, height);
  ctx.clip();
  drawGrid(ctx, scene);
  drawLabels(ctx, scene, parts.labels);
  parts.counters.draw(ctx, scene);
  drawLosses(ctx, scene, parts.losses);
  drawFrontier(ctx, scene);
  parts.arrows.draw(ctx, scene);
  drawPath(ctx, scene);
  drawSelection(ctx, scene);
  ctx.restore();
  drawAxis(ctx, scene, parts.bookmarks);
}

/** A state that goes on in the next tile has one label. */
export function addLabel(labels: Label[], label: Label): void {
  const last = labels.at(-1), isSame = last !== undefined && last.y === label.y && last.tile !== label.tile && Math.abs(last.x1 - label.x0) < 1
    && last.tile.style[last.place] === label.tile.style[label.place] && labelOfTile(last.tile, last.place) === labelOfTile(label.tile, label.place);
  if (isSame) labels[labels.length - 1] = { ...last, x1: label.x1 };
  else labels.push(label);
}

/** Width of texts, kept: measuring is slow. */
const widths = new Map<string, number>();
const MAX_WIDTHS = 5000;
function widthOf(ctx: Ctx, text: string): number {
  let width = widths.get(text);
  if (width === undefined) {
    if (widths.size > MAX_WIDTHS) widths.clear();
    widths.set(text, width = ctx.measureText(text).width);
  }
  return width;
}
function drawLabels(ctx: Ctx, scene: Scene, labels: readonly Label[]): void {
  ctx.font = FONT;
  ctx.textBaseline = "middle";
  let left = MAX_LABELS;
  for (const ink of ["black", "white"] as const) {
    ctx.fillStyle = ink;
    for (const { x0, x1, y, tile, place } of labels) {
      const { height } = look(tile.style[place]!);
      if (inkOn(tile.style[place]!) !== ink || height < 0.5 || isPale(tile.style[place]!)) continue;
      const text = labelOfTile(tile, place);
      if (text === "" || (left -= 1) < 0) continue;
      const fits = cut(ctx, text, x1 - x0 - 6);
      if (fits !== "" && x0 < scene.layout.width) ctx.fillText(fits, x0 + 3, y);
    }
  }
}
/** As much of a text as has room. */
function cut(ctx: Ctx, text: string, room: number): string {
  const width = widthOf(ctx, text);
  if (width <= room) return text;
  const count = Math.floor((text.length * room) / width) - 1;
  return count < 2 ? "" : `${text.slice(0, count)}…`;
}
/** Where events were lost, the host's lines are hatched: what is drawn there may be wrong. */
function drawLosses(ctx: Ctx, scene: Scene, losses: readonly Loss[]): void {
  if (losses.length === 0) return;
  ctx.strokeStyle = ink().loss;
  ctx.lineWidth = 1;
  ctx.beginPath();
  scene.rows.lines.forEach((line, place) => {
    const kind = line.row?.kind;
    if (kind !== "host" && kind !== "cpu") return;
    const y = scene.middle(place);
    if (y < scene.linesTop - LINE || y > AXIS + scene.layout.height + LINE) return;
    for (const loss of losses) {
      if (loss.host !== line.host || (kind === "cpu" && loss.cpu !== null && line.row?.cpu !== loss.cpu)) continue;
      const x0 = Math.max(0, scene.hostX(loss.host, loss.begin, "common")), x1 = Math.min(scene.layout.width, Math.max(scene.hostX(loss.host, loss.end, "common"), x0 + 2));
      for (let x = x0; x < x1; x += 4) { ctx.moveTo(x, y + BAR / 2); ctx.lineTo(Math.min(x + 6, x1), y - BAR / 2); }
    }
  });
  ctx.stroke();
}
/** A line below the pinned rows, and above each host. */
function drawFrontier(ctx: Ctx, scene: Scene): void {
  ctx.fillStyle = ink().line;
  if (scene.layout.fixed > 0) ctx.fillRect(0, scene.linesTop - 1, scene.layout.width, 2);
}
/** Whether all rows of a line are in an area. */
function isOf(area: ReadonlySet<number>, ids: readonly number[]): boolean { return ids.length > 0 && ids.every((id) => area.has(id)); }
function drawSelection(ctx: Ctx, scene: Scene): void {
  const { selection } = scene.view.now;
  if (selection === null) return;
  const x0 = Math.max(-2, scene.x(selection.begin)), x1 = Math.min(scene.layout.width + 2, scene.x(selection.end));
  if (x1 < -1 || x0 > scene.layout.width + 1) return;
  ctx.fillStyle = ink().selection;
  const { area } = scene.view.now;
  if (area === null) ctx.fillRect(x0, AXIS, x1 - x0, scene.layout.height);
  else scene.rows.lines.forEach((line, place) => { if (isOf(area, scene.rows.idsOf(line))) ctx.fillRect(x0, scene.top(place), x1 - x0, LINE); });
  ctx.fillStyle = ink().edge;
  ctx.fillRect(Math.round(x0), AXIS, 1, scene.layout.height);
  ctx.fillRect(Math.round(x1), AXIS, 1, scene.layout.height);
}
