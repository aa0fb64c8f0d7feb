// Bars of states as pixels. Written straight into an image: the time for a frame depends on its size, hardly on the number of states, and no GPU is needed.
// A column of pixels that one or two states touch has the colour of the longer; one that more touch shows them all, one above the other by their share.
// Talks to: colours. Used by: graph (screen and export).
import type { Time } from "../api";
import { look, PAINT_STYLES, rgbOf, STYLE_DEAD, STYLE_UNKNOWN, type Rgb } from "../colours";
import { firstEndingAfter, type Piece, type Tile } from "./tiles";

/** Columns that hold no state, and those that hold a mix. */
const EMPTY = 255, MIX = 254;
/** In a mix, what ran is never lower than this share of the row. */
const MIN_SHARE = 0.2;

interface PlannedLine { readonly lut: Uint32Array; readonly kind: string; readonly mayHatch: boolean }
/** A bar wide enough for a label. */
export interface Bar { readonly x0: number; readonly x1: number; readonly tile: Tile; readonly place: number }

export class Raster {
  readonly image: ImageData;
  private readonly pixels: Uint32Array;
  private readonly columns: Uint8Array;
  private readonly colour = new Uint32Array(PAINT_STYLES);
  /** Of the column that is being filled: how many states have touched it, the first two of them, and, once there are three, share by style and the styles that have one. */
  private count = 0;
  private style0 = 0;
  private share0 = 0;
  private style1 = 0;
  private share1 = 0;
  private readonly share = new Float32Array(PAINT_STYLES);
  private readonly touched = new Uint8Array(PAINT_STYLES);
  private touchedCount = 0;
  private column = -1;
  private readonly plans = new Map<number, readonly PlannedLine[]>();
  /** Mixed columns of the row: the column, and where its parts begin in the two lists after it (no objects: there may be one for each pixel). */
  private readonly mixColumn: Int32Array;
  private readonly mixBegin: Int32Array;
  private mixes = 0;
  private partStyle = new Uint8Array(1024);
  private partHeight = new Float32Array(1024);
  private parts = 0;
  /** Height of each style as a share of the row's. */
  private readonly heights = new Float32Array(PAINT_STYLES);

  constructor(readonly width: number, readonly height: number) {
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.columns = new Uint8Array(width);
    this.mixColumn = new Int32Array(width);
    this.mixBegin = new Int32Array(width + 1);
    for (let style = 0; style < PAINT_STYLES; style += 1) this.heights[style] = style === STYLE_DEAD ? 0 : look(style).height;
    this.readColours();
  }
  /** Takes over the colours of the theme. */
  readColours(): void {
    for (let style = 0; style < PAINT_STYLES; style += 1) this.colour[style] = packed(rgbOf(style));
    this.plans.clear();
  }
  fill(top: number, bottom: number, colour: Rgb): void {
    const from = Math.max(0, top) * this.width, to = Math.min(this.height, bottom) * this.width;
    if (to > from) this.pixels.fill(packed(colour), from, to);
  }
  /**
   * One row of states: `pieces` are drawn from `top` on, `height` pixels high, cut to `clip`. Times are moved by `offset` ns.
   * Bars of at least `labelWidth` pixels go to `bars`.
   */
  row(pieces: readonly Piece[], begin: Time, scale: number, offset: Time, top: number, height: number, clip: [top: number, bottom: number], labelWidth: number, bars: Bar[]): void {
    this.columns.fill(EMPTY);
    this.mixes = this.parts = 0;
    for (const { tile, begin: from, end: to } of pieces) this.piece(tile, from, to, begin - offset, scale, labelWidth, bars);
    this.flush();
    this.lines(top, height, clip[0], clip[1]);
  }
  private piece(tile: Tile, from: Time, to: Time, origin: Time, scale: number, labelWidth: number, bars: Bar[]): void {
    const { begin, end, style } = tile, width = this.width, columns = this.columns;
    for (let place = firstEndingAfter(tile, from); place < begin.length && begin[place]! < to; place += 1) {
      const x0 = Math.max((Math.max(begin[place]!, from) - origin) * scale, 0), x1 = Math.min((Math.min(end[place]!, to) - origin) * scale, width);
      if (x1 <= x0 && (x0 >= width || x1 < 0)) continue;
      const first = Math.floor(x0), last = Math.floor(x1), it = style[place]!;
      if (first === last) { this.touch(first, it, x1 - x0); continue; }
      this.touch(first, it, first + 1 - x0);
      for (let column = first + 1; column < last; column += 1) columns[column] = it;
      if (x1 > last) this.touch(last, it, x1 - last);
      if (x1 - x0 >= labelWidth) bars.push({ x0, x1, tile, place });
    }
  }
  private touch(column: number, style: number, share: number): void {
    if (column >= this.width) return;
    if (column !== this.column) {
      this.flush();
      this.column = column;
      this.count = 1;
      this.style0 = style;
      this.share0 = share;
    } else if (this.count === 1) {
      this.count = 2;
      this.style1 = style;
      this.share1 = share;
    } else {
      if (this.count === 2) {
        this.add(this.style0, this.share0);
        this.add(this.style1, this.share1);
      }
      this.count += 1;
      this.add(style, share);
    }
  }
  private add(style: number, share: number): void {
    if (this.share[style] === 0) {
      this.touched[this.touchedCount] = style;
      this.touchedCount += 1;
    }
    // More than nothing, so that the style counts as touched.
    this.share[style] = this.share[style]! + share + 1e-9;
  }
  private flush(): void {
    const { count, column } = this;
    if (count === 0) return;
    if (count === 1) this.columns[column] = this.style0;
    else if (count === 2) this.columns[column] = this.share1 > this.share0 ? this.style1 : this.style0;
    else {
      this.columns[column] = this.touchedCount === 1 ? this.touched[0]! : this.mix(column);
      for (let at = 0; at < this.touchedCount; at += 1) this.share[this.touched[at]!] = 0;
      this.touchedCount = 0;
    }
    this.count = 0;
    this.column = -1;
  }
  private mix(column: number): number {
    const { touched, touchedCount: count, share, heights } = this;
    if (this.parts + count > this.partStyle.length) this.grow();
    // In the order of their numbers, so that neighbouring columns look alike.
    for (let at = 1; at < count; at += 1) {
      const style = touched[at]!;
      let to = at;
      for (; to > 0 && touched[to - 1]! > style; to -= 1) touched[to] = touched[to - 1]!;
      touched[to] = style;
    }
    let sum = 0;
    for (let at = 0; at < count; at += 1) sum += share[touched[at]!]!;
    this.mixColumn[this.mixes] = column;
    this.mixBegin[this.mixes] = this.parts;
    this.mixes += 1;
    for (let at = 0; at < count; at += 1) {
      const style = touched[at]!, height = heights[style]!;
      this.partStyle[this.parts] = style;
      this.partHeight[this.parts] = Math.max(height > 0.5 ? MIN_SHARE : 0, (share[style]! / sum) * height);
      this.parts += 1;
    }
    this.mixBegin[this.mixes] = this.parts;
    return MIX;
  }
  private grow(): void {
    const styles = new Uint8Array(this.partStyle.length * 2), heights = new Float32Array(this.partHeight.length * 2);
    styles.set(this.partStyle);
    heights.set(this.partHeight);
    this.partStyle = styles;
    this.partHeight = heights;
  }
  /** Pixel lines of the row: those of the same kind are the same, so that each kind is made once and copied. The background below must be even. */
  private lines(top: number, height: number, clipTop: number, clipBottom: number): void {
    const { width, pixels, columns } = this, first = Math.max(0, clipTop), last = Math.min(this.height, clipBottom);
    const made = new Map<string, number>(), hatch = this.colour[STYLE_UNKNOWN]!, isHatched = columns.includes(STYLE_UNKNOWN), plan = this.plan(height);
    for (let line = 0; line < height; line += 1) {
      const { lut, kind, mayHatch } = plan[line]!, hasUnknown = mayHatch && isHatched;
      const y = top + line, from = y * width;
      if (y < first || y >= last) continue;
      const same = made.get(kind);
      if (same !== undefined && !hasUnknown) { pixels.copyWithin(from, same, same + width); continue; }
      for (let x = 0; x < width; x += 1) {
        const style = columns[x]!;
        let colour = lut[style]!;
        if (style === STYLE_UNKNOWN && hasUnknown) colour = ((x + y) & 3) < 2 ? hatch : 0;
        if (colour !== 0) pixels[from + x] = colour;
      }
      if (!hasUnknown) made.set(kind, from);
    }
    for (let mix = 0; mix < this.mixes; mix += 1) this.mixed(mix, top, height, first, last);
  }
  /** For each pixel line of a row of this height: the colour of each style there (0: none), and the styles as text. */
  private plan(height: number): readonly PlannedLine[] {
    const known = this.plans.get(height);
    if (known !== undefined) return known;
    const plan = Array.from({ length: height }, (_, line) => {
      const lut = new Uint32Array(256), kind: number[] = [];
      for (let style = 0; style < PAINT_STYLES; style += 1) {
        const bar = Math.max(2, Math.round(look(style).height * height)), gap = Math.floor((height - bar) / 2);
        if (style === STYLE_DEAD || line < gap || line >= gap + bar) continue;
        lut[style] = this.colour[style]!;
        kind.push(style);
      }
      return { lut, kind: kind.join(), mayHatch: lut[STYLE_UNKNOWN] !== 0 };
    });
    this.plans.set(height, plan);
    return plan;
  }
  private mixed(mix: number, top: number, height: number, first: number, last: number): void {
    const { width, pixels, partHeight, partStyle, colour } = this, column = this.mixColumn[mix]!, begin = this.mixBegin[mix]!, end = this.mixBegin[mix + 1]!;
    let sum = 0;
    for (let part = begin; part < end; part += 1) sum += partHeight[part]!;
    const fit = height / Math.max(sum, 1);
    let y = top + (height - Math.min(sum, 1) * height) / 2;
    for (let part = begin; part < end; part += 1) {
      const next = y + partHeight[part]! * fit, to = Math.min(Math.round(next), last), it = colour[partStyle[part]!]!;
      for (let at = Math.max(Math.round(y), first); at < to; at += 1) pixels[at * width + column] = it;
      y = next;
    }
  }
}

function packed(rgb: Rgb): number { return (0xff000000 | (rgb[2] << 16) | (rgb[1] << 8) | rgb[0]) >>> 0; }
