// Where on a disk requests were, over time, by process: seeks are seen at a glance. Reads are full, writes are hollow. Talks to: none. Used by: disks.
import type { Access, Disk, Time } from "../api";
import { ink } from "../colours";
import { formatBytes, formatCount, formatDuration, formatTime } from "../format";
import { FONT } from "../graph/axis";
import type { Ctx } from "../graph/scene";
import { roundStep } from "./linkScene";
import { endAt, type Content, type Frame } from "./timePicture";

const LEFT = 78, RIGHT = 10, ABOVE = 8, NEAR = 9;
/** More requests than these have no lines between them. */
const MOST_LINES = 2_000;
const COLOURS = ["#1482dc", "#d76e00", "#2f9e44", "#c80064", "#963caa", "#009696", "#b5730a"], OTHERS = "#828282";

/** How many processes have a colour of their own. */
export const NAMED = COLOURS.length;
export function processColour(place: number): string { return COLOURS[place] ?? OTHERS; }
export function processName(disk: Disk, place: number): string {
  const it = disk.processes[place];
  return it === undefined || it.pid === null ? "unknown" : `${it.comm ?? "?"} ${it.pid}`;
}
/** How requests follow each other, in words; and how many are drawn, if not all. */
export function seeksText({ total, follow, elsewhere, mean_bytes, accesses }: Pick<Disk, "total" | "follow" | "elsewhere" | "mean_bytes" | "accesses">): string {
  const all = `${formatCount(total)} ${total === 1 ? "request" : "requests"}`, away = elsewhere === 0 ? "" : `, ${formatCount(elsewhere)} elsewhere, ${formatBytes(mean_bytes)} away on average`;
  return `${all}${total < 2 ? "" : `, ${formatCount(follow)} ${follow === 1 ? "starts" : "start"} where the one before ends${away}`}${accesses.length < total ? `; ${formatCount(accesses.length)} of ${formatCount(total)} drawn, evenly chosen` : ""}`;
}
/** From the first byte to the last; with a little room. */
export function offsetsOf(accesses: readonly Access[]): [least: number, most: number] {
  let least = Infinity, most = -Infinity;
  for (const [, offset, bytes] of accesses) {
    least = Math.min(least, offset);
    most = Math.max(most, offset + bytes);
  }
  const room = Math.max(1, most - least) * 0.03;
  return accesses.length === 0 ? [0, 1] : [least - room, most + room];
}
/** Round offsets for about so many marks. */
export function marksOf(least: number, most: number, about: number): number[] {
  const by = roundStep((most - least) / Math.max(1, about)), marks: number[] = [];
  for (let mark = Math.ceil(Math.max(0, least) / by) * by; mark <= most; mark += by) marks.push(mark);
  return marks;
}
export interface DiskDoers { shift(host: number): Time; click(disk: Disk, access: Access): void }

export function diskContent(disk: Disk, doers: DiskDoers): Content {
  const [least, most] = offsetsOf(disk.accesses), y = (frame: Frame, offset: number) => frame.bottom - ((offset - least) / (most - least)) * (frame.bottom - frame.top);
  const shift = () => doers.shift(disk.host);
  const nearest = (at: Time, top: number, frame: Frame) => {
    const moved = shift(), x = frame.x(at);
    let best: Access | null = null, distance = NEAR;
    for (const access of disk.accesses) {
      const far = Math.hypot(frame.x(access[0] + moved) - x, y(frame, access[1]) - top);
      if (far < distance) [best, distance] = [access, far];
    }
    return best;
  };
  return {
    left: LEFT, right: RIGHT, above: ABOVE, rows: null,
    draw: (ctx, frame) => {
      drawMarks(ctx, frame, least, most, (offset) => y(frame, offset));
      const moved = shift(), seen = disk.accesses.filter(([at]) => at + moved >= frame.begin && at + moved <= frame.end);
      if (disk.accesses.length <= MOST_LINES && disk.accesses.length === disk.total) drawLines(ctx, frame, disk.accesses, moved, (offset) => y(frame, offset));
      for (const [at, offset, , process, isWrite] of seen) drawDot(ctx, frame.x(at + moved), y(frame, offset), processColour(process), isWrite);
    },
    tip: (at, top, frame) => { const access = nearest(at, top, frame); return access === null ? [] : tipOf(disk, access, frame.origin); },
    click: (at, top, frame) => { const access = nearest(at, top, frame); if (access !== null) doers.click(disk, access); },
  };
}
export function tipOf(disk: Disk, [at, offset, bytes, process, isWrite, latency]: Access, origin: string | null): string[] {
  return [
    `${processName(disk, process)} ${isWrite ? "writes" : "reads"} ${formatBytes(bytes)}`, `at byte ${formatCount(offset)}`, `issued ${formatTime(origin, at)}`,
    latency === null ? "its completion was not seen" : `took ${formatDuration(latency)}`,
  ];
}
function drawMarks(ctx: Ctx, frame: Frame, least: number, most: number, y: (offset: number) => number): void {
  const colours = ink(), marks = marksOf(least, most, Math.max(2, Math.floor((frame.bottom - frame.top) / 30)));
  ctx.font = FONT;
  ctx.textBaseline = "middle";
  for (const mark of marks) {
    const at = Math.round(y(mark));
    ctx.fillStyle = colours.line;
    ctx.fillRect(frame.left, at, frame.right - frame.left, 1);
    ctx.fillStyle = colours.faint;
    endAt(ctx, formatBytes(mark), frame.left - 5, Math.max(frame.top + 4, Math.min(at, frame.bottom - 4)));
  }
}
/** From the end of each request to the start of the next one. */
function drawLines(ctx: Ctx, frame: Frame, accesses: readonly Access[], shift: Time, y: (offset: number) => number): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(frame.left, 0, frame.right - frame.left, frame.bottom);
  ctx.clip();
  ctx.strokeStyle = ink().line;
  ctx.lineWidth = 0.75;
  ctx.beginPath();
  accesses.forEach(([at, offset, bytes], place) => {
    const x = frame.x(at + shift);
    if (place === 0) ctx.moveTo(x, y(offset));
    else ctx.lineTo(x, y(offset));
    ctx.lineTo(x, y(offset + bytes));
  });
  ctx.stroke();
  ctx.restore();
}
export function drawDot(ctx: Ctx, x: number, y: number, colour: string, isWrite: boolean): void {
  if (isWrite) {
    ctx.strokeStyle = colour;
    ctx.lineWidth = 1.25;
    ctx.strokeRect(x - 2, y - 2, 4, 4);
  } else {
    ctx.fillStyle = colour;
    ctx.fillRect(x - 1.75, y - 1.75, 3.5, 3.5);
  }
}
