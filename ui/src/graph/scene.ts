// What one drawing of the time graph is about: times to pixels, lines to heights. Talks to: none. Used by: all that draws over the bars.
import type { Clock, Time } from "../api";
import type { ClockSwitch } from "../clock";
import { AXIS, LINE, type Layout } from "../layout";
import type { Rows } from "../rows";
import type { View } from "../view";

/** What is used of a canvas, so that a file of vectors can take its place. */
export type Ctx = Pick<CanvasRenderingContext2D, "fillStyle" | "strokeStyle" | "lineWidth" | "lineJoin" | "globalAlpha" | "font" | "textBaseline" | "fillRect" | "strokeRect"
  | "beginPath" | "moveTo" | "lineTo" | "closePath" | "rect" | "stroke" | "fill" | "clip" | "save" | "restore" | "fillText" | "measureText">;
/** Height of a bar in its line. */
export const BAR = 14;

/** Times on a width: `scale` is CSS pixels for a ns. */
export interface TimeScale { readonly begin: Time; readonly end: Time; readonly scale: number; readonly origin: string | null; x(t: Time): number }

export class Scene implements TimeScale {
  readonly begin: Time;
  readonly end: Time;
  /** CSS pixels for a ns. */
  readonly scale: number;
  constructor(readonly view: View, readonly rows: Rows, readonly layout: Layout, readonly clock: ClockSwitch) {
    this.begin = view.now.window.begin;
    this.end = view.now.window.end;
    this.scale = layout.width / (this.end - this.begin);
  }
  get origin(): string | null { return this.view.now.experiment?.origin_unix_ns ?? null; }
  x(t: Time): number { return (t - this.begin) * this.scale; }
  time(x: number): Time { return this.begin + x / this.scale; }
  /** x of a time that was told for a host on a clock: moved as its rows are now. */
  hostX(host: number, t: Time, clock: Clock): number { return this.x(t + this.clock.convert(host, clock) + this.clock.offset(host)); }
  /** Top of a line on the canvas. */
  top(place: number): number { return AXIS + this.layout.top(place); }
  middle(place: number): number { return this.top(place) + LINE / 2; }
  /** Middle of the line that shows a row; null if none does. */
  rowY(id: number): number | null {
    const place = this.rows.lineOf(id);
    return place < 0 ? null : this.middle(place);
  }
  hostOf(id: number): number { return this.rows.row(id)?.host ?? 0; }
  /** Whether the line of a row is among those that scroll (they are cut below the pinned ones). */
  get linesTop(): number { return AXIS + this.layout.fixed; }
}
