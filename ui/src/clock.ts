// The switch between the hosts' own clocks and the common one: rows slide from one to the other.
// Talks to: view, navigation. Used by: header and keys (toggle), graph, arrows and minimap (how far each host is moved now).
import { animate } from "./animate";
import type { Clock, Time } from "./api";
import type { Navigation } from "./navigation";
import type { Range, View } from "./view";

const SLIDE_MS = 400;
/** Hosts whose clocks are further off than this share of the window make it wider, so that all are seen. */
const FAR = 0.5;

export class ClockSwitch {
  /** How much of the way is still to go: 1 … 0. */
  left = 0;
  private stop: () => void = () => undefined;
  private readonly watchers = new Set<() => void>();
  constructor(private readonly view: View, private readonly navigation: Navigation) {}
  watch(watcher: () => void): void { this.watchers.add(watcher); }
  get isSliding(): boolean { return this.left > 0; }

  /** Own time − common time of a host, constant enough for a picture. */
  private shift(host: number): Time { return this.view.now.experiment?.hosts[host]?.shift_ns ?? 0; }
  /** What a host's times on `clock` need, to be right on the clock that is shown. */
  convert(host: number, clock: Clock): Time {
    if (clock === this.view.now.clock) return 0;
    return clock === "own" ? -this.shift(host) : this.shift(host);
  }
  /** What a time that is shown of a host needs to be one of the common clock. */
  back(host: number): Time { return -this.convert(host, "common"); }
  /** How far a host's times are moved now, while rows slide. */
  offset(host: number): Time {
    return this.left === 0 ? 0 : this.left * (this.view.now.clock === "common" ? this.shift(host) : -this.shift(host));
  }

  toggle(): void {
    const { clock, window: before, selection, isAbout, row, rows, experiment } = this.view.now;
    if (experiment === null || experiment.hosts.length === 0) return;
    this.stop();
    const to: Clock = clock === "own" ? "common" : "own";
    this.navigation.remember();
    const after = this.windowOn(to, before);
    const host = row === null ? undefined : rows.find((other) => other.id === row)?.host;
    const moved = host === undefined ? 0 : to === "own" ? this.shift(host) : -this.shift(host);
    this.left = 1;
    this.view.set({ clock: to, selection: selection && { begin: selection.begin + moved, end: selection.end + moved }, isAbout });
    this.stop = animate(SLIDE_MS, (t) => {
      this.left = 1 - t;
      this.view.set({ window: { begin: before.begin + (after.begin - before.begin) * t, end: before.end + (after.end - before.end) * t } });
      for (const watcher of this.watchers) watcher();
    });
  }
  /** The window that shows the same instants of all hosts on the other clock. */
  private windowOn(to: Clock, before: Range): Range {
    const hosts = this.view.now.experiment!.hosts, span = before.end - before.begin;
    const shifts = hosts.map((host) => (to === "own" ? host.shift_ns : -host.shift_ns));
    const least = Math.min(...shifts), most = Math.max(...shifts);
    if (Math.max(-least, most) < span * FAR) return before;
    if (to === "own") return this.navigation.clamp({ begin: before.begin + least, end: before.end + most }, to);
    // Back from a window that was made wider: what all hosts have in it, else what the host in its middle shows.
    const begin = before.begin + most, end = before.end + least;
    if (end > begin) return this.navigation.clamp({ begin, end }, to);
    const middle = (before.begin + before.end) / 2;
    const host = hosts.find((it) => middle >= it.begin + it.shift_ns && middle < it.end + it.shift_ns);
    const moved = host === undefined ? 0 : -host.shift_ns;
    return this.navigation.clamp({ begin: before.begin + moved, end: before.end + moved }, to);
  }
}
