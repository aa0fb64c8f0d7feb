// Sorting of rows by what they did in the window. Talks to: api (activity, states of disks), rows. Used by: main, tree's button, keys.
import { api } from "./api";
import { formatDuration } from "./format";
import { LINE, type Layout } from "./layout";
import type { Renewal } from "./renewal";
import type { Rows } from "./rows";
import type { Status } from "./status";
import type { Range, View } from "./view";

/** Of disks that read or write. */
const DISK_STYLES: readonly number[] = [12, 13];

export class Activity {
  private readonly watchers = new Set<() => void>();
  /** Of which time the activity is; null where rows are in the order of the tree. */
  sortedBy: Range | null = null;
  private asked = 0;
  constructor(private readonly view: View, private readonly rows: Rows, private readonly layout: Layout, private readonly status: Status) {}
  watch(watcher: () => void): void { this.watchers.add(watcher); }
  renew(renewal: Renewal): void { if (this.sortedBy !== null) this.sortedBy = renewal.range(this.sortedBy); }
  /** Nothing is asked for. */
  get isIdle(): boolean { return this.asked === 0; }

  async toggle(): Promise<void> {
    if (this.rows.isSorted) this.off();
    else await this.sort();
  }
  async group(): Promise<void> {
    if (this.rows.isGrouped) this.off();
    else await this.sort(undefined, true);
  }
  off(): void {
    this.sortedBy = null;
    this.rows.setActivity(null);
    for (const watcher of this.watchers) watcher();
  }
  /** Rows keep the order of the window in which they were sorted: nothing moves by itself. */
  async sort(asked?: Range, isGrouped = false): Promise<void> {
    const { window, clock, experiment } = this.view.now;
    // The figures are by the common clock; where each host has its own, the whole time is taken.
    const range = asked ?? (clock === "common" ? window : { begin: experiment?.begin ?? 0, end: experiment?.end ?? 1 });
    this.asked += 1;
    const [answer, disks] = await Promise.all([api.activity(range.begin, range.end).catch(() => null), isGrouped ? [] : this.busyDisks(range)]);
    this.asked -= 1;
    if (answer === null) { if (asked === undefined) this.status.say("The rows could not be sorted: the server does not say what ran.", true); return; }
    const activity = this.withParents(answer.threads), parts = isGrouped ? this.withParents(answer.messages) : null;
    for (const disk of disks) activity.set(disk, 0);
    this.sortedBy = range;
    const hosts = Math.max(1, experiment?.hosts.length ?? 1);
    this.rows.setActivity(activity, Math.floor(this.layout.height / LINE / hosts) - (isGrouped ? 4 : 2), parts);
    if (asked === undefined) this.status.say(`${isGrouped ? "By messages, then" : "Sorted by"} CPU time in ${formatDuration(range.end - range.begin)}`);
    for (const watcher of this.watchers) watcher();
  }
  /** Disks that did something in that time; all of them, where the server does not say. */
  private async busyDisks({ begin, end }: Range): Promise<readonly number[]> {
    const disks = this.view.now.rows.filter((row) => row.kind === "disk").map((row) => row.id);
    if (disks.length === 0) return disks;
    const states = await api.states({ rows: disks, begin: Math.floor(begin), end: Math.ceil(end), pixels: 1000, clock: "common" }).catch(() => null);
    if (states === null) return disks;
    const isBusy = (place: number) => states.style.subarray(states.starts[place]!, states.starts[place + 1]!).some((style) => DISK_STYLES.includes(style));
    return [...states.rows].filter((_, place) => isBusy(place));
  }
  /** Figures of rows, and their sums for what they are in. */
  private withParents(figures: readonly (readonly [row: number, value: number])[]): Map<number, number> {
    const all = new Map<number, number>();
    for (const [row, value] of figures) {
      all.set(row, (all.get(row) ?? 0) + value);
      const parent = this.rows.row(row)?.parent ?? null;
      if (parent !== null) all.set(parent, (all.get(parent) ?? 0) + value);
    }
    return all;
  }
}
