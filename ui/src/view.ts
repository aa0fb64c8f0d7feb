// What is being looked at: the one state that all parts of the page share and watch.
// Talks to: nobody. Used by: time graph, minimap, header, drawer panels, the URL.
import type { Clock, Experiment, Path, Row, Time } from "./api";

export interface Range { begin: Time; end: Time }
/** What is shared. Never changed in place: `View.set` replaces parts of it. */
export interface Looking {
  readonly experiment: Experiment | null;
  /** All rows, in the order of the tree, once the traces are indexed. */
  readonly rows: readonly Row[];
  readonly clock: Clock;
  /** What the time graph shows. */
  readonly window: Range;
  /** The selected time, if any. */
  readonly selection: Range | null;
  /** The selected row. */
  readonly row: number | null;
  /** The instant under the pointer, in all pictures at once. */
  readonly hover: Time | null;
  /** The critical path that is drawn over the time graph. */
  readonly path: Path | null;
  /** An expression: states for which it does not hold are pale. */
  readonly filter: string | null;
  /** Rows that a request touches: if there are any, only these are shown. */
  readonly onlyRows: ReadonlySet<number> | null;
}
type Key = keyof Looking;
type Watcher = (now: Looking, changed: ReadonlySet<Key>) => void;

export class View {
  private looking: Looking = {
    experiment: null, rows: [], clock: "common", window: { begin: 0, end: 1 }, selection: null, row: null, hover: null, path: null, filter: null, onlyRows: null,
  };
  private readonly watchers = new Map<Watcher, ReadonlySet<Key> | null>();
  get now(): Looking { return this.looking; }
  /** Replaces parts; tells those who watch one of them. */
  set(parts: Partial<Looking>): void {
    const before = this.looking;
    const changed = new Set((Object.keys(parts) as Key[]).filter((key) => parts[key] !== before[key]));
    if (changed.size === 0) return;
    this.looking = { ...before, ...parts };
    for (const [watcher, keys] of [...this.watchers]) {
      if (keys === null || [...changed].some((key) => keys.has(key))) watcher(this.looking, changed);
    }
  }
  /** Calls `watcher` when one of `keys` changes (any, if none are named). Gives what stops it. */
  watch(watcher: Watcher, ...keys: Key[]): () => void {
    this.watchers.set(watcher, keys.length > 0 ? new Set(keys) : null);
    return () => this.watchers.delete(watcher);
  }
  /** The selected time, else the window. */
  get range(): Range { return this.looking.selection ?? this.looking.window; }
}

/** A part of the drawer. */
export interface Panel {
  /** In the URL. */
  readonly id: string;
  /** On its tab. */
  readonly title: string;
  readonly element: HTMLElement;
  /** Nothing is asked for, or about to be. */
  readonly isResting: boolean;
  /** It becomes visible: only now may it ask the server. */
  show(): void;
  /** It is no longer visible: it forgets what is large and stops asking. */
  hide(): void;
}
/** Made by `panels/index.ts`; `go` moves the window to an instant and selects a row. */
export interface Navigator { go(row: number | null, at: Time, range?: Range): void }
export type PanelMaker = (view: View, navigator: Navigator) => Panel;
