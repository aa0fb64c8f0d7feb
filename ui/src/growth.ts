// Traces that are still being recorded: when the server has looked at them anew, the page shows that, and everything keeps its place; a window at the end stays at the end.
// Other traces at the same address are said, and shown from the start.
// Talks to: api, view, and all parts that keep rows or times. Used by: main.
import { api, expected, type Experiment, type Path } from "./api";
import type { Navigation } from "./navigation";
import { renewal, type Renewal } from "./renewal";
import type { Range, View } from "./view";

/** How often it is asked whether there is more. */
const ASK_MS = 1000;
/** A window that ends in this last part of itself before the end follows the end. */
const NEAR = 0.05;
/** Corrections of clocks move the ends of a request by less than this from look to look. */
const SAME_NS = 1_000_000;

/** Where a window is when what it is of ends later: all of it stays all (null), the end stays the end, all else stays. */
export function followed(window: Range, bounds: Range, end: number): Range | null {
  const span = window.end - window.begin, isAtEnd = window.end >= bounds.end - NEAR * span;
  if (isAtEnd && window.begin <= bounds.begin + NEAR * span) return null;
  const by = isAtEnd ? end - bounds.end : 0;
  return { begin: window.begin + by, end: window.end + by };
}

/** What keeps rows or times, beside the view. */
export interface Kept { renew(renewal: Renewal): void }

export class Growth {
  private isAsking = false;
  private timer = 0;
  /** `parts` are renewed before the view is, `after` has to do when it was; `other`: the server has other traces. */
  constructor(
    private readonly view: View, private readonly navigation: Navigation, private readonly parts: readonly Kept[], private readonly after: () => Promise<void>, private readonly other: () => void,
  ) {}
  /** Nothing is being asked for or renewed. */
  get isIdle(): boolean { return !this.isAsking; }

  /** Follows the traces that are shown. */
  start(shown: Experiment): void {
    expected.store = shown.store;
    expected.other = () => void this.look();
    if (shown.grows) this.askLater();
  }
  private askLater(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.look(), ASK_MS);
  }
  /** Whether there is another look at the traces, or there are other traces; then that is shown. */
  async look(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    clearTimeout(this.timer);
    try {
      const shown = this.view.now.experiment!, now = await api.experiment().catch(() => null);
      if (now !== null && now.stage.name === "ready" && now.hosts.length > 0) {
        const isAnother = now.store !== shown.store || now.look !== shown.look;
        if (isAnother && (shown.grows || now.grows) && same(shown.traces, now.traces)) await this.renew(shown, now);
        else if (now.store !== shown.store) { this.other(); return; }
      }
    } finally {
      this.isAsking = false;
    }
    if (this.view.now.experiment!.grows) this.askLater();
  }
  private async renew(shown: Experiment, now: Experiment): Promise<void> {
    // Answers have to be of what is shown then.
    expected.store = now.store;
    const answer = await api.rows().catch(() => null);
    if (answer === null) { expected.store = shown.store; return; }
    const { rows: before, clock, window, selection, isAbout, area, row, onlyRows, path } = this.view.now;
    const bounds = this.navigation.boundsOf(clock), here = this.navigation.window ?? window;
    const by = renewal({ experiment: shown, rows: before }, { experiment: now, rows: answer });
    for (const part of this.parts) part.renew(by);
    const end = (clock === "own" ? now.own?.end : null) ?? now.end ?? bounds.end;
    const there = followed(by.range(here), by.range(bounds), end);
    const again = path === null ? null : await pathAgain(path, by);
    this.view.set({
      experiment: now, rows: answer, hover: null, path: again,
      area: area === null ? null : new Set([...area].flatMap((id) => by.row(id) ?? [])),
      selection: selection === null ? null : by.range(selection), isAbout, row: row === null ? null : by.row(row),
      onlyRows: onlyRows === null || again === null ? null : new Set([...onlyRows].flatMap((id) => by.row(id) ?? [])),
    });
    this.view.set({ window: there ?? this.navigation.padded(this.navigation.boundsOf(clock)) });
    await this.after();
  }
}

/** The same path: of the thread, or of the request that has the same time now. */
async function pathAgain(path: Path, by: Renewal): Promise<Path | null> {
  if ("row" in path.of) {
    const row = by.row(path.of.row);
    return row === null ? null : api.path({ row, ...by.range(path.of) }).catch(() => null);
  }
  const { begin, end } = by.range(path), requests = (await api.requests().catch(() => null))?.requests ?? [];
  const off = (it: { begin: number; end: number }) => Math.abs(it.begin - begin) + Math.abs(it.end - end);
  const nearest = requests.reduce<(typeof requests)[number] | null>((best, it) => (best === null || off(it) < off(best) ? it : best), null);
  if (nearest === null || off(nearest) > SAME_NS) return null;
  return api.path({ request: nearest.request }).catch(() => null);
}
function same(a: readonly string[], b: readonly string[]): boolean { return a.length === b.length && a.every((path, place) => path === b[place]); }
