// The state of the view, which all parts of the page share and watch.
// Talks to: none. Used by: time graph, minimap, header, drawer panels, the URL.
import type { Clock, Experiment, Path, Row, Time } from "./api";

export interface Range { begin: Time; end: Time }
/** The shared state. Never changed in place: `View.set` replaces parts of it. */
export interface ViewState {
  readonly experiment: Experiment | null;
  /** All rows, in the order of the tree, once the traces are indexed. */
  readonly rows: readonly Row[];
  readonly clock: Clock;
  /** What the time graph shows. */
  readonly window: Range;
  /** The selected time, if any. */
  readonly selection: Range | null;
  /** The selected time is that of pixels, until the server has said the exact one. */
  readonly isAbout: boolean;
  /** Rows that the selection (else the window) is about, if not all: an area. */
  readonly area: ReadonlySet<number> | null;
  /** The selected row. */
  readonly row: number | null;
  /** The instant under the pointer, in all pictures at once. */
  readonly hover: Time | null;
  /** The critical path that is drawn over the time graph. */
  readonly path: Path | null;
  /** An expression: states for which it does not hold are pale. */
  readonly filter: string | null;
  /** Rows that fit the words of a search, in the order of the tree; null: there are no words. */
  readonly found: readonly number[] | null;
  /** Instants that stand out on the strip: of what a panel lists. */
  readonly marks: readonly Time[] | null;
  /** How instants are shown: what has some shows them anew. */
  readonly times: string;
  /** How often a time was selected by hand: panels that stay with a time follow that. */
  readonly chosen: number;
  /** Rows that a request touches: if there are any, only these are shown. */
  readonly onlyRows: ReadonlySet<number> | null;
}
type Key = keyof ViewState;
type Watcher = (now: ViewState, changed: ReadonlySet<Key>) => void;

export class View {
  private state: ViewState = {
    experiment: null, rows: [], clock: "common", window: { begin: 0, end: 1 }, selection: null, isAbout: false, row: null, hover: null, path: null, filter: null, found: null, area: null, marks: null, times: "", chosen: 0, onlyRows: null,
  };
  private readonly watchers = new Map<Watcher, ReadonlySet<Key> | null>();
  get now(): ViewState { return this.state; }
  /** Replaces parts, and calls the watchers of one of them. */
  set(asked: Partial<ViewState>): void {
    // Another time that is selected is exact, if nothing else is said; any is one of all rows.
    const before = this.state, parts = "selection" in asked ? { area: null, isAbout: asked.selection === before.selection && before.isAbout, ...asked } : asked;
    const changed = new Set((Object.keys(parts) as Key[]).filter((key) => parts[key] !== before[key]));
    if (changed.size === 0) return;
    this.state = { ...before, ...parts };
    for (const [watcher, keys] of [...this.watchers]) {
      if (keys === null || [...changed].some((key) => keys.has(key))) watcher(this.state, changed);
    }
  }
  /** Calls `watcher` when one of `keys` changes (any, if none are named). Returns a function that stops it. */
  watch(watcher: Watcher, ...keys: Key[]): () => void {
    this.watchers.set(watcher, keys.length > 0 ? new Set(keys) : null);
    return () => this.watchers.delete(watcher);
  }
  /** The selected time, else the window. */
  get range(): Range { return this.state.selection ?? this.state.window; }
}

/** A panel of the drawer. */
export interface Panel {
  /** In the URL. */
  readonly id: string;
  /** On its tab. */
  readonly title: string;
  readonly element: HTMLElement;
  /** No request is pending or scheduled. */
  readonly isIdle: boolean;
  /** It becomes visible: only then it may send requests. */
  show(): void;
  /** It is no longer visible: it frees memory and cancels requests. */
  hide(): void;
  /** Asks again, if the last answer failed. */
  retry?(): void;
  /** What was chosen in it, for the address; and the same again. */
  readonly kept?: string;
  keep?(text: string): void;
  /** Calls `watcher` when that is another. */
  watchKept?(watcher: () => void): void;
  /** Goes to the next of what it lists, or to the one before. */
  stepList?(by: number): Promise<void>;
}
/** `go` moves the window to an instant and selects a row; `window` is the one that is shown, or that is being moved to. */
export interface Navigator { readonly window: Range; go(row: number | null, at: Time, range?: Range): void }
/** Made by `panels/index.ts`. */
export type PanelMaker = (view: View, navigator: Navigator) => Panel;
