// Arrows of messages between hosts and of MPI programs, with what their clocks leave open at the received end, and of wake-ups.
// Talks to: api (through Fetched), scene. Used by: graph (screen and export).
import { api, type Clock, type Message, type Time, type Wakeup } from "../api";
import { ink } from "../colours";
import { formatCount } from "../format";
import { AXIS } from "../layout";
import type { View } from "../view";
import { FONT } from "./axis";
import { Fetched } from "./fetched";
import { BAR, type Ctx, type Scene } from "./scene";

/** Asked for, and drawn at most; those that arrive before they were sent are all drawn, as far as the server sends them. */
const MAX_ASKED = 5000, MAX_INVERTED = 20_000, MAX_DRAWN = 1000, MIN_OTHERS = 200, MAX_WAKEUPS = 2000;
const HEAD = 5;

/** What is seen of the messages: `left` says how many were left out. */
interface Seen { readonly arrows: Arrow[]; readonly left: string }
/** A message as it is drawn now. */
export interface Arrow { readonly x0: number; readonly y0: number; readonly x1: number; readonly y1: number; readonly isInverted: boolean; readonly isMpi: boolean; readonly message: Message }

export class Arrows {
  areMessagesOn = true;
  areWakeupsOn = false;
  private readonly watchers = new Set<() => void>();
  watch(watcher: () => void): void { this.watchers.add(watcher); }
  /** Which arrows are drawn. */
  show(messages: boolean, wakeups: boolean): void {
    this.areMessagesOn = messages;
    this.areWakeupsOn = wakeups;
    for (const watcher of this.watchers) watcher();
  }
  /** Packets, then what MPI programs sent. */
  private readonly messages: Fetched<[Message[], Message[]]>;
  private readonly wakeups: Fetched<Wakeup[]>;
  /** How many messages there are for each that was sent here, of those that arrive after they were sent. */
  private factor = 1;
  /** How many messages arrive before they were sent, where not even all of these are here. */
  private red: number | null = null;
  /** How many wake-ups there are in all of what was asked for. */
  private wakeupTotal = 0;
  constructor(private readonly view: View, arrived: () => void) {
    this.messages = new Fetched(async (range, clock, signal) => {
      let answer = await api.messages(range.begin, range.end, clock, MAX_ASKED, signal);
      if (answer.inverted > redOf(answer)) answer = await api.messages(range.begin, range.end, clock, MAX_INVERTED, signal);
      const { total, inverted, messages, mpi_total, mpi } = answer, red = redOf(answer);
      this.factor = (total + mpi_total - inverted) / Math.max(1, messages.length + mpi.length - red);
      this.red = inverted > red ? inverted : null;
      return { value: [messages, mpi], isThinned: total > messages.length || mpi_total > mpi.length };
    }, arrived);
    this.wakeups = new Fetched(async (range, clock, signal) => {
      const { total, wakeups } = await api.wakeups(range.begin, range.end, clock, [this.view.now.row ?? 0], MAX_WAKEUPS, signal);
      this.wakeupTotal = total;
      return { value: wakeups, isThinned: total > wakeups.length };
    }, arrived);
  }
  /** No request is pending or scheduled. */
  get isIdle(): boolean { return this.messages.isIdle && this.wakeups.isIdle; }
  /** Rows and times are others now. */
  renew(): void {
    this.messages.renew();
    this.wakeups.renew();
  }
  /** Asks for what the window lacks. */
  want(): void {
    const { window, clock, row } = this.view.now;
    if (this.areMessagesOn) this.messages.want(window, clock);
    if (!this.areWakeupsOn || row === null || row < 0) return;
    this.wakeups.setTopic(`${row}`);
    this.wakeups.want(window, clock);
  }

  /** What is seen of the messages now. */
  seen(scene: Scene): Seen {
    if (!this.areMessagesOn) return { arrows: [], left: "" };
    const clock = this.messages.clock, width = scene.layout.width, bottom = scene.top(0) + scene.layout.scrollTop + scene.layout.full + scene.layout.fixed;
    const seen: Arrow[] = [];
    const [packets, mpi] = this.messages.value ?? [[], []];
    const look = (message: Message, isMpi: boolean): void => {
      const [from, to, sent, received] = message;
      const x0 = scene.hostX(scene.hostOf(from), sent, clock), x1 = scene.hostX(scene.hostOf(to), received, clock);
      if ((x0 < 0 && x1 < 0) || (x0 > width && x1 > width)) return;
      const y0 = scene.rowY(from), y1 = scene.rowY(to);
      if (y0 === null || y1 === null || y0 === y1 || (y0 < 0 && y1 < 0) || (y0 > bottom && y1 > bottom)) return;
      seen.push({ x0, y0, x1, y1, isInverted: x1 < x0, isMpi, message });
    };
    packets.forEach((message) => look(message, false));
    mpi.forEach((message) => look(message, true));
    const inverted = seen.filter((it) => it.isInverted), others = seen.filter((it) => !it.isInverted);
    const arrows = [...some(others, Math.max(MIN_OTHERS, MAX_DRAWN - inverted.length)), ...inverted];
    if (this.red !== null) return { arrows, left: redText(inverted.length, this.red) };
    return { arrows, left: leftText(arrows.length, seen.length, seen.length === 0 ? 1 : (inverted.length + others.length * this.factor) / seen.length) };
  }

  draw(ctx: Ctx, scene: Scene): void {
    const { arrows, left } = this.seen(scene), colours = ink();
    this.bounds(ctx, scene, arrows);
    // Many arrows are drawn fainter, so that the bars below can still be read; red ones never.
    ctx.globalAlpha = arrows.length > 300 ? 0.5 : 1;
    drawArrows(ctx, arrows.filter((arrow) => !arrow.isInverted && !arrow.isMpi), colours.message, 1);
    drawArrows(ctx, arrows.filter((arrow) => !arrow.isInverted && arrow.isMpi), colours.mpi, 1);
    ctx.globalAlpha = 1;
    drawArrows(ctx, arrows.filter((arrow) => arrow.isInverted), colours.inverted, 1.25);
    const wakeups = this.areWakeupsOn ? this.drawWakeups(ctx, scene) : "", text = [left, wakeups].filter((it) => it !== "").join("; ");
    if (text !== "") drawLeft(ctx, scene, text);
  }
  /** Bars at the received ends: surely within the light one, likely within the dark one. */
  private bounds(ctx: Ctx, scene: Scene, arrows: readonly Arrow[]): void {
    const colours = ink(), scale = scene.scale, half = BAR / 2;
    for (const [colour, range, height] of [[colours.sure, sureOf, half], [colours.likely, likelyOf, 1.5]] as const) {
      ctx.fillStyle = colour;
      for (const { x1, y1, message } of arrows) {
        const [low, high] = range(message);
        // Below two pixels it says nothing.
        if ((high - low) * scale >= 2) ctx.fillRect(x1 + low * scale, y1 - height, (high - low) * scale, 2 * height);
      }
    }
  }
  /** Says how many are drawn, if not all. */
  private drawWakeups(ctx: Ctx, scene: Scene): string {
    const clock: Clock = this.wakeups.clock, arrows: { x0: number; y0: number; x1: number; y1: number }[] = [];
    for (const [from, to, at] of this.wakeups.value ?? []) {
      const x = scene.hostX(scene.hostOf(to), at, clock), y1 = scene.rowY(to);
      if (y1 === null || x < 0 || x > scene.layout.width) continue;
      const y0 = from === null ? null : scene.rowY(from);
      arrows.push({ x0: x, y0: y0 === null || y0 === y1 ? y1 - BAR : y0, x1: x, y1 });
    }
    drawArrows(ctx, arrows, ink().wakeup, 1);
    return this.wakeups.value === null ? "" : wakeupsText(this.wakeups.value.length, this.wakeupTotal);
  }
}

/** At most so many, evenly chosen. */
export function some<T>(all: readonly T[], limit: number): T[] {
  const count = Math.max(0, Math.min(all.length, limit));
  return Array.from({ length: count }, (_, place) => all[Math.floor((place * all.length) / count)]!);
}
/** How many arrows are drawn of how many, if not all; of what was not even sent here, about. */
export function leftText(drawn: number, seen: number, factor: number): string {
  const all = Math.round(seen * factor);
  return all <= drawn ? "" : `${formatCount(drawn)} of ${factor > 1 ? "about " : ""}${formatCount(all)} arrows are drawn`;
}
/** How many red arrows are drawn of those that there are. */
export function redText(drawn: number, all: number): string {
  return `${formatCount(drawn)} of ${formatCount(all)} red arrows in and around the window are drawn`;
}
/** How many wake-ups are known here of how many, if not all: of the window and a margin around it. */
export function wakeupsText(known: number, total: number): string {
  return known >= total ? "" : `${formatCount(known)} of ${formatCount(total)} wake-ups in and around the window are drawn`;
}
/** How many of the messages that are here arrive before they were sent. */
const redOf = ({ messages, mpi }: { messages: readonly Message[]; mpi: readonly Message[] }) => [...messages, ...mpi].filter((message) => message[7] === 1).length;
function drawLeft(ctx: Ctx, scene: Scene, text: string): void {
  const colours = ink(), { width, height } = scene.layout;
  ctx.font = FONT;
  ctx.textBaseline = "middle";
  const room = ctx.measureText(text).width, x = width - room - 8, y = AXIS + height - 12;
  ctx.fillStyle = colours.halo;
  ctx.fillRect(x - 4, y - 8, room + 8, 16);
  ctx.fillStyle = colours.text;
  ctx.fillText(text, x, y);
}
function sureOf(message: Message): [Time, Time] { return [message[5] ?? 0, message[6] ?? 0]; }
function likelyOf(message: Message): [Time, Time] { return [-(message[4] ?? 0), message[4] ?? 0]; }

/** Of arrows with the same pixels at both ends one: the others would be drawn over it. */
function unlike<T extends { x0: number; y0: number; x1: number; y1: number }>(arrows: readonly T[]): T[] {
  return [...new Map(arrows.map((it) => [[it.x0, it.y0, it.x1, it.y1].map(Math.round).join(), it])).values()];
}
function drawArrows(ctx: Ctx, arrows: readonly { x0: number; y0: number; x1: number; y1: number }[], colour: string, width: number): void {
  if (arrows.length === 0) return;
  if (arrows.length > MAX_DRAWN) arrows = unlike(arrows);
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = width;
  // One path for each: a path of thousands of lines takes far longer.
  for (const { x0, y0, x1, y1 } of arrows) {
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
  }
  ctx.beginPath();
  for (const { x0, y0, x1, y1 } of arrows) {
    const length = Math.hypot(x1 - x0, y1 - y0) || 1, dx = (x1 - x0) / length, dy = (y1 - y0) / length;
    const bx = x1 - HEAD * dx, by = y1 - HEAD * dy;
    ctx.moveTo(x1, y1);
    ctx.lineTo(bx - dy * HEAD * 0.45, by + dx * HEAD * 0.45);
    ctx.lineTo(bx + dy * HEAD * 0.45, by - dx * HEAD * 0.45);
    ctx.closePath();
  }
  ctx.fill();
}
