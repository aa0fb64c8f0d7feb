// States of rows, kept in tiles: a row, a zoom level, a stretch of time. What is wanted and not there is asked for, in few requests; what is old is forgotten.
// Talks to: api. Used by: graph (which draws what is there, and the nearest other level until better comes).
import { api, ApiError, labelOf, type Clock, type States, type Time } from "../api";
import { paintStyle } from "../colours";
import type { Range } from "../view";

/** A tile has this many pixels of its level: a level's pixel is 2^level ns. */
const TILE_PIXELS = 1024;
/** What may be kept: states (21 bytes each) and tiles. */
export const MOST_STATES = 2_000_000, MOST_TILES = 30_000;
/** Requests at once, and rows in one. */
const MOST_REQUESTS = 3, MOST_ROWS = 500;
/** The window has to rest this long before the server is asked again. */
const REST_MS = 45;
/** How many levels are looked through for a substitute. */
const COARSER = 30, FINER = 3;
const RETRY_MS = 2000;

/** States of one row in one tile, in the order of time; `style` as it is painted (phases have one by label). */
export interface Tile {
  readonly from: Time; readonly to: Time; readonly level: number;
  readonly begin: Float64Array; readonly end: Float64Array; readonly style: Uint8Array; readonly label: Uint32Array; readonly labels: readonly string[];
}
/** A tile, and the part of it that is to be drawn. */
export interface Piece { readonly tile: Tile; readonly begin: Time; readonly end: Time }
interface Asked { readonly clock: Clock; readonly turn: number; readonly level: number; readonly place: number; readonly rows: ReadonlySet<number>; readonly stop: AbortController }

export function levelOf(window: Range, pixels: number): number {
  return Math.max(0, Math.floor(Math.log2((window.end - window.begin) / Math.max(pixels, 1))));
}
const spanOf = (level: number) => TILE_PIXELS * 2 ** level;
const keyOf = (clock: Clock, turn: number, row: number, level: number, place: number) => `${clock === "own" ? "o" : "c"}${turn},${row}/${level}/${place}`;

export class Tiles {
  private readonly kept = new Map<string, Tile>();
  private states = 0;
  private asked: Asked[] = [];
  private wish: { rows: readonly number[]; near: readonly number[]; window: Range; pixels: number; clock: Clock } | null = null;
  private timer = 0;
  private restsAt = 0;
  /** The expression that dims states, and its number; 0: there is none. */
  private filter: string | null = null;
  private turn = 0;
  private turns = 0;
  /** No requests while the picture moves by itself. */
  isPaused = false;
  constructor(private readonly arrived: () => void, private readonly failed: (error: ApiError | null) => void) {}

  /** Nothing is asked for, or about to be. */
  get isResting(): boolean { return this.asked.length === 0 && this.timer === 0; }
  /** Dims the states for which an expression does not hold. Until those come, states are shown as they are. */
  setFilter(filter: string | null): void {
    if (filter === this.filter) return;
    this.forgetTurn();
    this.filter = filter;
    this.turn = filter === null ? 0 : (this.turns += 1);
    this.wish = null;
  }
  private forgetTurn(): void {
    if (this.turn === 0) return;
    for (const [key, tile] of this.kept) {
      if (!key.slice(1).startsWith(`${this.turn},`)) continue;
      this.kept.delete(key);
      this.states -= tile.begin.length;
    }
  }
  get size(): { tiles: number; states: number; requests: number } { return { tiles: this.kept.size, states: this.states, requests: this.asked.length }; }

  /** The best there is of a row for a window: pieces in the order of time, holes where nothing is known yet. */
  pieces(row: number, clock: Clock, window: Range, pixels: number): Piece[] {
    const level = levelOf(window, pixels), span = spanOf(level), pieces: Piece[] = [];
    for (let place = Math.floor(window.begin / span); place * span < window.end; place += 1) {
      const tile = this.use(keyOf(clock, this.turn, row, level, place));
      const begin = Math.max(place * span, window.begin), end = Math.min((place + 1) * span, window.end);
      if (tile !== undefined) pieces.push({ tile, begin, end });
      else if (!this.substitute(pieces, row, clock, this.turn, level, begin, end) && this.turn !== 0) this.substitute(pieces, row, clock, 0, level, begin, end);
    }
    return pieces;
  }
  /** The state of a row at a time, from what is there. */
  stateAt(row: number, clock: Clock, at: Time, window: Range, pixels: number): { style: number; label: string; begin: Time; end: Time } | null {
    for (const { tile, begin, end } of this.pieces(row, clock, window, pixels)) {
      if (at < begin || at >= end) continue;
      const place = firstEndingAfter(tile, at);
      if (place >= tile.begin.length || tile.begin[place]! > at) return null;
      return { style: tile.style[place]!, label: labelOfTile(tile, place), begin: tile.begin[place]!, end: tile.end[place]! };
    }
    return null;
  }

  /** What is drawn now: `rows` are seen, `near` are about to be. Asks for what is missing, once the window rests. */
  want(rows: readonly number[], near: readonly number[], window: Range, pixels: number, clock: Clock): void {
    const before = this.wish;
    const isSame = before !== null && before.window === window && before.pixels === pixels && before.clock === clock && same(before.rows, rows);
    if (isSame) return;
    this.wish = { rows, near, window, pixels, clock };
    this.restsAt = performance.now() + (before === null ? 0 : REST_MS);
    this.schedule();
  }
  private schedule(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.ask(), Math.max(0, this.restsAt - performance.now()));
  }
  ask(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    const wish = this.wish;
    if (wish === null || this.isPaused) return;
    const level = levelOf(wish.window, wish.pixels), span = spanOf(level);
    const first = Math.floor(wish.window.begin / span), last = Math.ceil(wish.window.end / span) - 1;
    for (const it of this.asked) {
      if (it.clock !== wish.clock || it.turn !== this.turn || it.level !== level || it.place < first - 1 || it.place > last + 1) it.stop.abort();
    }
    this.asked = this.asked.filter((it) => !it.stop.signal.aborted);
    const places: number[] = [];
    for (let place = first; place <= last; place += 1) places.push(place);
    // What is seen first; then the rows around it, then the times around it.
    for (const place of places) if (!this.askFor(wish.rows, wish.clock, level, place)) return;
    if (this.asked.length > 0) return;
    for (const place of places) if (!this.askFor(wish.near, wish.clock, level, place)) return;
    for (const place of [first - 1, last + 1]) if (!this.askFor(wish.rows, wish.clock, level, place)) return;
  }
  /** False if there are requests enough. */
  private askFor(rows: readonly number[], clock: Clock, level: number, place: number): boolean {
    const missing = rows.filter((row) => !this.kept.has(keyOf(clock, this.turn, row, level, place))
      && !this.asked.some((it) => it.clock === clock && it.turn === this.turn && it.level === level && it.place === place && it.rows.has(row)));
    for (let at = 0; at < missing.length; at += MOST_ROWS) {
      if (this.asked.length >= MOST_REQUESTS) return false;
      void this.request(missing.slice(at, at + MOST_ROWS), clock, level, place);
    }
    return true;
  }
  private async request(rows: number[], clock: Clock, level: number, place: number): Promise<void> {
    const span = spanOf(level), it: Asked = { clock, turn: this.turn, level, place, rows: new Set(rows), stop: new AbortController() };
    this.asked.push(it);
    let wait = 0, wrong: ApiError | null = null;
    try {
      const states = await api.states({ rows, begin: place * span, end: (place + 1) * span, pixels: TILE_PIXELS, clock, ...(this.filter === null ? {} : { filter: this.filter }) }, it.stop.signal);
      if (!it.stop.signal.aborted && it.turn === this.turn) this.keep(states, clock, level, place);
    } catch (error) {
      if (it.stop.signal.aborted) return;
      wait = RETRY_MS;
      wrong = error instanceof ApiError ? error : new ApiError(0, String(error));
    }
    this.asked = this.asked.filter((other) => other !== it);
    this.failed(wrong);
    this.restsAt = Math.max(this.restsAt, performance.now() + wait);
    this.schedule();
    this.arrived();
  }
  private keep(states: States, clock: Clock, level: number, place: number): void {
    const span = spanOf(level);
    for (let at = 0; at < states.rows.length; at += 1) {
      const from = states.starts[at]!, to = states.starts[at + 1]!;
      const style = states.style.slice(from, to), used = new Map<string, number>(), label = new Uint32Array(to - from);
      // Each tile has labels of its own, so that a forgotten tile frees them.
      for (let place = from; place < to; place += 1) {
        const text = labelOf(states, place);
        let known = used.get(text);
        if (known === undefined) used.set(text, known = used.size);
        label[place - from] = known;
        style[place - from] = paintStyle(style[place - from]!, text);
      }
      this.put(keyOf(clock, this.turn, states.rows[at]!, level, place), {
        from: place * span, to: (place + 1) * span, level, begin: states.begin.slice(from, to), end: states.end.slice(from, to), style, label, labels: [...used.keys()],
      });
    }
    for (const [key, tile] of this.kept) {
      if (this.states <= MOST_STATES && this.kept.size <= MOST_TILES) break;
      this.kept.delete(key);
      this.states -= tile.begin.length;
    }
  }
  private put(key: string, tile: Tile): void {
    this.states += tile.begin.length - (this.kept.get(key)?.begin.length ?? 0);
    this.kept.delete(key);
    this.kept.set(key, tile);
  }
  /** A tile that was used is the last to be forgotten. */
  private use(key: string): Tile | undefined {
    const tile = this.kept.get(key);
    if (tile !== undefined) { this.kept.delete(key); this.kept.set(key, tile); }
    return tile;
  }
  /** False where nothing is there. */
  private substitute(pieces: Piece[], row: number, clock: Clock, turn: number, level: number, begin: Time, end: Time): boolean {
    for (let up = level + 1; up <= level + COARSER; up += 1) {
      const tile = this.use(keyOf(clock, turn, row, up, Math.floor(begin / spanOf(up))));
      if (tile !== undefined && tile.to >= end) { pieces.push({ tile, begin, end }); return true; }
    }
    for (let down = level - 1; down >= Math.max(0, level - FINER); down -= 1) {
      const span = spanOf(down);
      let found = false;
      for (let place = Math.floor(begin / span); place * span < end; place += 1) {
        const tile = this.kept.get(keyOf(clock, turn, row, down, place));
        if (tile === undefined) continue;
        found = true;
        pieces.push({ tile, begin: Math.max(begin, tile.from), end: Math.min(end, tile.to) });
      }
      if (found) return true;
    }
    return false;
  }
}

export function labelOfTile(tile: Tile, place: number): string { return tile.labels[tile.label[place] ?? -1] ?? ""; }
/** The first state of a tile that ends after a time. */
export function firstEndingAfter(tile: Tile, at: Time): number {
  let low = 0, high = tile.end.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tile.end[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
function same(a: readonly number[], b: readonly number[]): boolean { return a.length === b.length && a.every((id, place) => id === b[place]); }
