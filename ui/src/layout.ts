// Where lines are on the screen: heights, scrolling, the pinned lines that do not scroll. Talks to: rows. Used by: tree, time graph.
import type { Rows } from "./rows";

export const LINE = 20, AXIS = 34;

export class Layout {
  /** Of the lines that scroll, in CSS pixels. */
  scrollTop = 0;
  width = 0;
  /** Of the lines, without the axis. */
  height = 0;
  private readonly watchers = new Set<() => void>();
  constructor(private readonly rows: Rows) { rows.watch(() => this.scrollTo(this.scrollTop)); }
  watch(watcher: () => void): void { this.watchers.add(watcher); }

  /** Height of what does not scroll: the pinned lines. */
  get fixed(): number { return this.rows.pinnedCount * LINE; }
  /** Height of everything that scrolls. */
  get full(): number { return (this.rows.lines.length - this.rows.pinnedCount) * LINE; }
  get mostScroll(): number { return Math.max(0, this.full - (this.height - this.fixed)); }
  resize(width: number, height: number): void {
    if (width === this.width && height === this.height) return;
    this.width = width;
    this.height = height;
    this.scrollTo(this.scrollTop);
  }
  scrollTo(top: number): void {
    this.scrollTop = Math.round(Math.max(0, Math.min(top, this.mostScroll)));
    for (const watcher of this.watchers) watcher();
  }
  scrollBy(by: number): void { this.scrollTo(this.scrollTop + by); }
  /** Top of a line, below the axis; lines that are scrolled away are above 0 or below the height. */
  top(place: number): number { return place < this.rows.pinnedCount ? place * LINE : place * LINE - this.scrollTop; }
  /** The line at a height below the axis; −1 if there is none. */
  lineAt(y: number): number {
    if (y < 0 || y >= this.height) return -1;
    const place = Math.floor(y < this.fixed ? y / LINE : (y + this.scrollTop) / LINE);
    return place < this.rows.lines.length ? place : -1;
  }
  /** Pinned lines, and those from `first` to `last` (exclusive) that are at least in part on the screen, with a margin. */
  shown(margin = 0): { first: number; last: number } {
    const pinned = this.rows.pinnedCount;
    const first = pinned + Math.floor(this.scrollTop / LINE) - margin;
    const last = pinned + Math.ceil((this.scrollTop + this.height - this.fixed) / LINE) + margin;
    return { first: Math.max(pinned, first), last: Math.max(pinned, Math.min(last, this.rows.lines.length)) };
  }
  /** Scrolls just as far as needed to see a line. */
  see(place: number): void {
    if (place < this.rows.pinnedCount) return;
    const top = this.top(place), room = this.height - this.fixed;
    if (top < this.fixed) this.scrollBy(top - this.fixed - Math.min(2 * LINE, room / 3));
    else if (top + LINE > this.height) this.scrollBy(top + LINE - this.height + Math.min(2 * LINE, room / 3));
  }
}
