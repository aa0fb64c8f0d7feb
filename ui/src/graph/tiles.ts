// States of rows, cached in tiles: a row, a zoom level, a span of time. Missing tiles are requested, in few requests; the least recently used are evicted.
// Talks to: api. Used by: graph (which draws cached tiles, and those of the nearest other level until better ones arrive).
import { api, ApiError, labelOf, type Clock, type States, type Time } from "../api";
import { paintStyle } from "../colours";
import type { Renewal } from "../renewal";
import type { Range } from "../view";

/** A tile has this many pixels of its level: a level's pixel is 2^level ns. */
const TILE_PIXELS = 1024;
/** Limits of the cache: states (21 bytes each) and tiles. */
export const MAX_STATES = 2_000_000, MAX_TILES = 30_000;
/** Requests at once, and rows in one. */
const MAX_REQUESTS = 3, MAX_ROWS = 500;
/** The window has to rest this long before the next request. */
const REST_MS = 45;
/** Number of levels that are searched for a substitute. */
const COARSER = 30, FINER = 3;
const RETRY_MS = 2000;

/** States of one row in one tile, in the order of time; `style` as it is painted (phases have one by label). */
export interface Tile {
  readonly from: Time; readonly to: Time; readonly level: number;
  readonly begin: Float64Array; readonly end: Float64Array; readonly style: Uint8Array; readonly label: Uint32Array; readonly labels: readonly string[];
  /** It is of traces that have grown since: it is shown until another one is there. */
  readonly isOld?: boolean;
}
/** A tile, and the part of it that is to be drawn. */
export interface Piece { readonly tile: Tile; readonly begin: Time; readonly end: Time }
interface TileRequest { readonly clock: Clock; readonly filterId: number; readonly level: number; readonly index: number; readonly rows: ReadonlySet<number>; readonly stop: AbortController }

export function levelOf(window: Range, pixels: number): number {
  return Math.max(0, Math.floor(Math.log2((window.end - window.begin) / Math.max(pixels, 1))));
}
const spanOf = (level: number) => TILE_PIXELS * 2 ** level;
const keyOf = (clock: Clock, filterId: number, row: number, level: number, index: number) => `${clock === "own" ? "o" : "c"}${filterId},${row}/${level}/${index}`;

export class Tiles {
  private readonly kept = new Map<string, Tile>();
  private states = 0;
  private requests: TileRequest[] = [];
  private wish: { rows: readonly number[]; near: readonly number[]; window: Range; pixels: number; clock: Clock } | null = null;
  private timer = 0;
  private restsAt = 0;
  /** The expression that dims states, and its number; 0: there is none. */
  private filter: string | null = null;
  private filterId = 0;
  private lastFilterId = 0;
  /** No requests while the picture moves by itself. */
  isPaused = false;
  constructor(private readonly arrived: () => void, private readonly failed: (error: ApiError | null) => void) {}

  /** No request is pending or scheduled. */
  get isIdle(): boolean { return this.requests.length === 0 && this.timer === 0; }
  /** Dims the states for which an expression does not hold. Until their tiles arrive, states are shown as they are. */
  setFilter(filter: string | null): void {
    if (filter === this.filter) return;
    this.evictFilter();
    this.filter = filter;
    this.filterId = filter === null ? 0 : (this.lastFilterId += 1);
    this.wish = null;
  }
  private evictFilter(): void {
    if (this.filterId === 0) return;
    for (const [key, tile] of this.kept) {
      if (!key.slice(1).startsWith(`${this.filterId},`)) continue;
      this.kept.delete(key);
      this.states -= tile.begin.length;
    }
  }
  /** Rows have other numbers, and more may have happened: tiles are shown until they have been requested again. Where times are others, all are forgotten. */
  renew(renewal: Renewal): void {
    for (const it of this.requests) it.stop.abort();
    this.requests = [];
    this.wish = null;
    const before = [...this.kept];
    this.kept.clear();
    this.states = 0;
    if (renewal.shift !== 0) return;
    for (const [key, tile] of before) {
      const [, head, row, rest] = /^(.\d+,)(\d+)(\/.*)$/.exec(key) ?? [];
      const now = row === undefined ? null : renewal.row(Number(row));
      if (now !== null) this.put(`${head}${now}${rest}`, { ...tile, isOld: true });
    }
  }
  get size(): { tiles: number; states: number; requests: number } { return { tiles: this.kept.size, states: this.states, requests: this.requests.length }; }

  /** The best cached pieces of a row for a window, in the order of time, with holes where there is none. */
  pieces(row: number, clock: Clock, window: Range, pixels: number): Piece[] {
    const level = levelOf(window, pixels), span = spanOf(level), pieces: Piece[] = [];
    for (let index = Math.floor(window.begin / span); index * span < window.end; index += 1) {
      const tile = this.use(keyOf(clock, this.filterId, row, level, index));
      const begin = Math.max(index * span, window.begin), end = Math.min((index + 1) * span, window.end);
      if (tile !== undefined) pieces.push({ tile, begin, end });
      else if (!this.substitute(pieces, row, clock, this.filterId, level, begin, end) && this.filterId !== 0) this.substitute(pieces, row, clock, 0, level, begin, end);
    }
    return pieces;
  }
  /** The state of a row at a time, from cached tiles. */
  stateAt(row: number, clock: Clock, at: Time, window: Range, pixels: number): { style: number; label: string; begin: Time; end: Time } | null {
    for (const { tile, begin, end } of this.pieces(row, clock, window, pixels)) {
      if (at < begin || at >= end) continue;
      const index = firstEndingAfter(tile, at);
      if (index >= tile.begin.length || tile.begin[index]! > at) return null;
      return { style: tile.style[index]!, label: labelOfTile(tile, index), begin: tile.begin[index]!, end: tile.end[index]! };
    }
    return null;
  }

  /** Sets what is drawn: `rows` are visible, `near` are close to that. Requests what is missing, once the window rests. */
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
    this.timer = window.setTimeout(() => this.request(), Math.max(0, this.restsAt - performance.now()));
  }
  request(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    const wish = this.wish;
    if (wish === null || this.isPaused) return;
    const level = levelOf(wish.window, wish.pixels), span = spanOf(level);
    const first = Math.floor(wish.window.begin / span), last = Math.ceil(wish.window.end / span) - 1;
    for (const it of this.requests) {
      if (it.clock !== wish.clock || it.filterId !== this.filterId || it.level !== level || it.index < first - 1 || it.index > last + 1) it.stop.abort();
    }
    this.requests = this.requests.filter((it) => !it.stop.signal.aborted);
    const indices: number[] = [];
    for (let index = first; index <= last; index += 1) indices.push(index);
    // What is visible first; then the rows around it, then the times around it.
    for (const index of indices) if (!this.requestTiles(wish.rows, wish.clock, level, index)) return;
    if (this.requests.length > 0) return;
    for (const index of indices) if (!this.requestTiles(wish.near, wish.clock, level, index)) return;
    for (const index of [first - 1, last + 1]) if (!this.requestTiles(wish.rows, wish.clock, level, index)) return;
  }
  /** False if there are too many requests. */
  private requestTiles(rows: readonly number[], clock: Clock, level: number, index: number): boolean {
    const isThere = (row: number) => {
      const tile = this.kept.get(keyOf(clock, this.filterId, row, level, index));
      return tile !== undefined && tile.isOld !== true;
    };
    const missing = rows.filter((row) => !isThere(row)
      && !this.requests.some((it) => it.clock === clock && it.filterId === this.filterId && it.level === level && it.index === index && it.rows.has(row)));
    for (let at = 0; at < missing.length; at += MAX_ROWS) {
      if (this.requests.length >= MAX_REQUESTS) return false;
      void this.fetch(missing.slice(at, at + MAX_ROWS), clock, level, index);
    }
    return true;
  }
  private async fetch(rows: number[], clock: Clock, level: number, index: number): Promise<void> {
    const span = spanOf(level), it: TileRequest = { clock, filterId: this.filterId, level, index, rows: new Set(rows), stop: new AbortController() };
    this.requests.push(it);
    let wait = 0, wrong: ApiError | null = null;
    try {
      const states = await api.states({ rows, begin: index * span, end: (index + 1) * span, pixels: TILE_PIXELS, clock, ...(this.filter === null ? {} : { filter: this.filter }) }, it.stop.signal);
      if (!it.stop.signal.aborted && it.filterId === this.filterId) this.keep(states, clock, level, index);
    } catch (error) {
      if (it.stop.signal.aborted) return;
      wait = RETRY_MS;
      wrong = error instanceof ApiError ? error : new ApiError(0, String(error));
    }
    this.requests = this.requests.filter((other) => other !== it);
    this.failed(wrong);
    this.restsAt = Math.max(this.restsAt, performance.now() + wait);
    this.schedule();
    this.arrived();
  }
  private keep(states: States, clock: Clock, level: number, index: number): void {
    const span = spanOf(level);
    for (let at = 0; at < states.rows.length; at += 1) {
      const from = states.starts[at]!, to = states.starts[at + 1]!;
      const style = states.style.slice(from, to), used = new Map<string, number>(), label = new Uint32Array(to - from);
      // Each tile has labels of its own, so that an evicted tile frees them.
      for (let index = from; index < to; index += 1) {
        const text = labelOf(states, index);
        let known = used.get(text);
        if (known === undefined) used.set(text, known = used.size);
        label[index - from] = known;
        style[index - from] = paintStyle(style[index - from]!, text);
      }
      this.put(keyOf(clock, this.filterId, states.rows[at]!, level, index), {
        from: index * span, to: (index + 1) * span, level, begin: states.begin.slice(from, to), end: states.end.slice(from, to), style, label, labels: [...used.keys()],
      });
    }
    for (const [key, tile] of this.kept) {
      if (this.states <= MAX_STATES && this.kept.size <= MAX_TILES) break;
      this.kept.delete(key);
      this.states -= tile.begin.length;
    }
  }
  private put(key: string, tile: Tile): void {
    this.states += tile.begin.length - (this.kept.get(key)?.begin.length ?? 0);
    this.kept.delete(key);
    this.kept.set(key, tile);
  }
  /** A tile that was used is the last to be evicted. */
  private use(key: string): Tile | undefined {
    const tile = this.kept.get(key);
    if (tile !== undefined) { this.kept.delete(key); this.kept.set(key, tile); }
    return tile;
  }
  /** Adds substitutes from other levels; false where there are none. */
  private substitute(pieces: Piece[], row: number, clock: Clock, filterId: number, level: number, begin: Time, end: Time): boolean {
    for (let up = level + 1; up <= level + COARSER; up += 1) {
      const tile = this.use(keyOf(clock, filterId, row, up, Math.floor(begin / spanOf(up))));
      if (tile !== undefined && tile.to >= end) { pieces.push({ tile, begin, end }); return true; }
    }
    for (let down = level - 1; down >= Math.max(0, level - FINER); down -= 1) {
      const span = spanOf(down);
      let found = false;
      for (let index = Math.floor(begin / span); index * span < end; index += 1) {
        const tile = this.kept.get(keyOf(clock, filterId, row, down, index));
        if (tile === undefined) continue;
        found = true;
        pieces.push({ tile, begin: Math.max(begin, tile.from), end: Math.min(end, tile.to) });
      }
      if (found) return true;
    }
    return false;
  }
}

export function labelOfTile(tile: Tile, index: number): string { return tile.labels[tile.label[index] ?? -1] ?? ""; }
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
function same(a: readonly number[], b: readonly number[]): boolean { return a.length === b.length && a.every((id, index) => id === b[index]); }
