// Marked instants with their names. Talks to: view. Used by: axis (flags), URL (keeps them), header (list), keys.
import type { Clock, Time } from "./api";
import { formatTime, placesFor } from "./format";
import type { Renewal } from "./renewal";
import type { View } from "./view";

export interface Bookmark { readonly at: Time; readonly row: number | null; readonly clock: Clock; readonly span: Time; readonly name: string }
const MOST = 50;

export class Bookmarks {
  list: readonly Bookmark[] = [];
  private readonly watchers = new Set<() => void>();
  constructor(private readonly view: View) {}
  watch(watcher: () => void): void { this.watchers.add(watcher); }
  set(list: readonly Bookmark[]): void {
    this.list = list.slice(-MOST);
    for (const watcher of this.watchers) watcher();
  }
  renew(renewal: Renewal): void {
    this.set(this.list.map((mark) => ({ ...mark, at: renewal.time(mark.at), row: mark.row === null ? null : renewal.row(mark.row) })));
  }
  /** Marks the begin of the selection, else the instant under the pointer, else the middle of the window. Twice at the same place takes it away. */
  toggle(): Bookmark | null {
    const { window, selection, hover, row, clock, experiment } = this.view.now, span = window.end - window.begin;
    const at = Math.round(selection?.begin ?? hover ?? (window.begin + window.end) / 2);
    const same = this.list.find((it) => it.clock === clock && Math.abs(it.at - at) < span * 0.005);
    if (same !== undefined) { this.remove(same); return null; }
    const mark = { at, row, clock, span, name: formatTime(experiment?.origin_unix_ns ?? null, at, placesFor(span / 1000)) };
    this.set([...this.list, mark]);
    return mark;
  }
  remove(mark: Bookmark): void { this.set(this.list.filter((other) => other !== mark)); }
  rename(mark: Bookmark, name: string): void { this.set(this.list.map((other) => (other === mark ? { ...mark, name } : other))); }
}
