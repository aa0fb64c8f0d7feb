// Lives of processes as bars, the CPU they used inside of them, CPU time and page faults beside. Talks to: none. Used by: lives.
import type { Life, Time } from "../api";
import { causeColour, css, ink, rgbOf, STYLE_UNKNOWN } from "../colours";
import { formatCount, formatDuration, formatTime, placesFor } from "../format";
import { FONT } from "../graph/axis";
import type { Ctx } from "../graph/scene";
import { endAt, fitting, type Content, type Frame } from "./timePicture";

const HEAD = 18, ROW = 18, BAR = 12, LEFT = 170, COLUMN = 84;

export function cpuColour(): string { return causeColour("cpu"); }
export function unknownColour(): string { return css(rgbOf(STYLE_UNKNOWN), 0.75); }
/** CPU time; at least so much, where what is unknown would change the text. */
export function cpuText(it: Pick<Life, "cpu_ns" | "unknown_ns">): string {
  const text = formatDuration(it.cpu_ns);
  return text === formatDuration(it.cpu_ns + it.unknown_ns) ? text : `≥ ${text}`;
}
/** "≥ 12" where some may be missing, "–" where they were not recorded. */
export function faultsText(it: Pick<Life, "page_faults" | "is_whole">): string { return it.page_faults === null ? "–" : `${it.is_whole ? "" : "≥ "}${formatCount(it.page_faults)}`; }

export interface LifeDoers { nameOf(it: Life): string; shift(host: number): Time; click(it: Life, at: Time): void; open(it: Life): void }

export function livesContent(lives: readonly Life[], doers: LifeDoers): Content {
  const hasFaults = lives.some((it) => it.page_faults !== null);
  const found = (y: number, frame: Frame) => (y - frame.scrolled < frame.top ? undefined : lives[Math.floor((y - frame.top) / ROW)]);
  return {
    left: LEFT, right: hasFaults ? 2 * COLUMN : COLUMN, above: HEAD, rows: lives.length * ROW,
    draw: (ctx, frame) => {
      const first = Math.max(0, Math.floor(frame.scrolled / ROW)), last = Math.min(lives.length, Math.ceil((frame.scrolled + frame.bottom - frame.top) / ROW));
      for (let place = first; place < last; place += 1) drawLife(ctx, frame, lives[place]!, frame.top + place * ROW - frame.scrolled, hasFaults, doers);
      ctx.fillStyle = css(ink().background);
      ctx.fillRect(0, 0, frame.width, frame.top);
      ctx.fillStyle = ink().faint;
      if (hasFaults) endAt(ctx, "page faults", frame.width - 6, HEAD / 2);
      endAt(ctx, "CPU time", frame.width - 6 - (hasFaults ? COLUMN : 0), HEAD / 2);
    },
    tip: (at, y, frame) => {
      const it = found(y, frame);
      return it === undefined ? [] : tipOf(it, at - doers.shift(it.host), doers.nameOf(it), frame.origin);
    },
    click: (at, y, frame) => { const it = found(y, frame); if (it !== undefined) doers.click(it, at); },
    open: (_at, y, frame) => { const it = found(y, frame); if (it !== undefined) doers.open(it); },
  };
}
/** What is known of a process, and of the step that an instant is in. */
export function tipOf(it: Life, at: Time, name: string, origin: string | null): string[] {
  const places = placesFor((it.end - it.begin) / 1000), step = it.steps.find(([begin, end]) => begin <= at && at < end);
  const lines = [
    name, `${it.is_begin_seen ? "started" : "there at"} ${formatTime(origin, it.begin, places)}, ${it.is_end_seen ? "ended" : "there until"} ${formatTime(origin, it.end, places)} (${formatDuration(it.end - it.begin)})`,
    `CPU time ${cpuText(it)}${it.unknown_ns > 0 ? `; for ${formatDuration(it.unknown_ns)} it is unknown what ran` : ""}`,
    it.page_faults === null ? "page faults were not recorded" : `page faults ${faultsText(it)}${it.is_whole ? "" : ", events are missing"}`,
  ];
  if (at >= it.begin && at < it.end) {
    const [begin, end, cpu, unknown] = step ?? [0, 1, 0, 0], percent = (ns: number) => `${Math.round((1000 * ns) / (end - begin)) / 10} %`;
    lines.push(`here ${percent(cpu)} of a CPU${unknown > 0 ? `, up to ${percent(unknown)} more` : ""}`);
  }
  return lines;
}
function drawLife(ctx: Ctx, frame: Frame, it: Life, top: number, hasFaults: boolean, doers: LifeDoers): void {
  const colours = ink(), shift = doers.shift(it.host), y = top + (ROW - BAR) / 2, middle = top + ROW / 2, bar = frame.part(it.begin + shift, it.end + shift);
  ctx.font = FONT;
  ctx.textBaseline = "middle";
  ctx.fillStyle = colours.text;
  endAt(ctx, fitting(ctx, doers.nameOf(it), LEFT - 14), LEFT - 8, middle);
  ctx.fillStyle = colours.faint;
  if (hasFaults) endAt(ctx, faultsText(it), frame.width - 6, middle);
  endAt(ctx, cpuText(it), frame.width - 6 - (hasFaults ? COLUMN : 0), middle);
  if (bar === null) return;
  ctx.fillStyle = colours.line;
  ctx.fillRect(bar[0], y, bar[1], BAR);
  for (const [begin, end, cpu, unknown] of it.steps) {
    const part = frame.part(begin + shift, end + shift), high = (ns: number) => Math.min(1, ns / Math.max(1, end - begin)) * BAR;
    if (part === null) continue;
    const busy = high(cpu), most = high(cpu + unknown);
    ctx.fillStyle = unknownColour();
    if (most > busy) ctx.fillRect(part[0], y + BAR - most, part[1], most - busy);
    ctx.fillStyle = cpuColour();
    if (busy > 0) ctx.fillRect(part[0], y + BAR - busy, part[1], busy);
  }
  ctx.fillStyle = colours.text;
  for (const [isSeen, at] of [[it.is_begin_seen, it.begin], [it.is_end_seen, it.end]] as const) {
    const x = frame.x(at + shift);
    if (isSeen && x >= frame.left && x <= frame.right) ctx.fillRect(Math.round(x) - 1, y - 2, 2, BAR + 4);
  }
}
