// Moving through time: zoom, pan, jumps, undo. The only place that sets the window.
// Talks to: view, rows, layout. Used by: keys, pointer, minimap, panels (as their Navigator).
import { animate } from "./animate";
import type { Clock, Time } from "./api";
import type { Layout } from "./layout";
import type { Renewal } from "./renewal";
import type { Rows } from "./rows";
import type { Navigator, Range, View } from "./view";

/** The smallest window, in ns. */
export const SHORTEST = 200;
/** How long windows must rest to count as one step of undo. */
const REST_MS = 600;
const MAX_UNDO = 100;
const MOVE_MS = 140;
type AddressState = Range & { clock: Clock };

export class Navigation implements Navigator {
  private past: AddressState[] = [];
  private future: AddressState[] = [];
  private lastMove = 0;
  private stop: () => void = () => undefined;
  /** Where the window is going, while it moves. */
  private target: Range | null = null;
  constructor(private readonly view: View, private readonly rows: Rows, private readonly layout: Layout) {}

  /** The times that exist, on the clock that is shown. */
  get bounds(): Range { return this.boundsOf(this.view.now.clock); }
  boundsOf(clock: Clock): Range {
    const experiment = this.view.now.experiment;
    const range = clock === "own" ? experiment?.own : null;
    return range ?? { begin: experiment?.begin ?? 0, end: experiment?.end ?? 1 };
  }
  get isMoving(): boolean { return this.target !== null; }
  /** Where the window is, or is going to. */
  get window(): Range { return this.target ?? this.view.now.window; }

  /** Shows a window; one that is far enough in time from the one before can be undone. */
  set(range: Range, move: "jump" | "glide" = "jump"): void {
    const to = this.clamp(range), now = performance.now();
    if (now - this.lastMove > REST_MS) this.remember();
    this.lastMove = now;
    this.moveTo(to, move);
  }
  /** Times are of another origin now: where the window was, and is going to, stays the same time. */
  renew(renewal: Renewal): void {
    const moved = (it: AddressState): AddressState => ({ ...it, ...renewal.range(it) });
    this.past = this.past.map(moved);
    this.future = this.future.map(moved);
    this.stop();
    if (this.target !== null) this.view.set({ window: this.target });
    this.target = null;
  }
  /** Makes what is shown now a step of undo. */
  remember(): void {
    this.past.push({ ...this.view.now.window, clock: this.view.now.clock });
    if (this.past.length > MAX_UNDO) this.past.shift();
    this.future = [];
  }
  zoom(factor: number, at?: Time, move: "jump" | "glide" = "jump"): void {
    const { begin, end } = this.window;
    const centre = at ?? (begin + end) / 2;
    const { begin: low, end: high } = this.bounds;
    const span = Math.max(SHORTEST, Math.min((end - begin) * factor, (high - low) * 1.1));
    const share = (centre - begin) / (end - begin);
    this.set({ begin: centre - share * span, end: centre + (1 - share) * span }, move);
  }
  pan(by: Time, move: "jump" | "glide" = "jump"): void {
    const { begin, end } = this.window;
    this.set({ begin: begin + by, end: end + by }, move);
  }
  fit(): void { this.jump(this.padded(this.bounds)); }
  /** Shows a range with a little room around it. */
  show(range: Range): void {
    const room = Math.max((range.end - range.begin) * 0.05, SHORTEST / 2);
    this.jump({ begin: range.begin - room, end: range.end + room });
  }
  undo(): void { this.travel(this.past, this.future); }
  redo(): void { this.travel(this.future, this.past); }
  go(row: number | null, at: Time, range?: Range): void {
    if (row !== null && this.rows.row(row) !== undefined) {
      this.rows.reveal(row);
      this.view.set({ row });
      const place = this.rows.placeOf(row);
      if (place !== undefined) this.layout.see(place);
    }
    if (range !== undefined) { this.show(range); return; }
    const { begin, end } = this.window, span = end - begin;
    if (at < begin + span * 0.02 || at > end - span * 0.02) this.jump({ begin: at - span / 2, end: at + span / 2 });
  }
  /** The window that fits all, with a little room. */
  padded(range: Range): Range {
    const room = (range.end - range.begin) * 0.01;
    return { begin: range.begin - room, end: range.end + room };
  }
  clamp({ begin, end }: Range, clock: Clock = this.view.now.clock): Range {
    const { begin: low, end: high } = this.boundsOf(clock);
    const span = Math.min(Math.max(end - begin, SHORTEST), (high - low) * 1.1), room = span * 0.1;
    const middle = (begin + end) / 2, least = low - room + span / 2, most = high + room - span / 2;
    const centre = least > most ? (low + high) / 2 : Math.max(least, Math.min(middle, most));
    return { begin: centre - span / 2, end: centre + span / 2 };
  }
  private jump(range: Range): void {
    this.remember();
    this.moveTo(this.clamp(range), "glide");
    this.lastMove = 0;
  }
  private moveTo(to: Range, move: "jump" | "glide"): void {
    this.target = null;
    this.stop();
    this.target = to;
    if (move === "jump") { this.arrive(to); return; }
    const from = this.view.now.window;
    this.stop = animate(MOVE_MS, (t) => {
      if (this.target !== to) return;
      if (t === 1) this.arrive(to);
      else this.view.set({ window: { begin: from.begin + (to.begin - from.begin) * t, end: from.end + (to.end - from.end) * t } });
    });
  }
  private arrive(to: Range): void {
    this.target = null;
    this.view.set({ window: to });
  }
  private travel(from: AddressState[], to: AddressState[]): void {
    const place = from.pop();
    if (place === undefined) return;
    to.push({ ...this.view.now.window, clock: this.view.now.clock });
    this.lastMove = 0;
    this.target = null;
    this.stop();
    this.view.set({ clock: place.clock, window: { begin: place.begin, end: place.end } });
  }
}
