// The time of threads in phases of their programs (of MPI: its calls), as a bar for each, and how unevenly what is in no phase is spread. Talks to: none. Used by: statistics.
import type { Phases, ThreadPhases } from "../api";
import { paintStyle, stateColour, STYLE_PHASE } from "../colours";
import { h } from "../dom";
import { formatCount, formatDuration } from "../format";
import { stack, swatch, type Part } from "./stack";
import { DataTable } from "./table";

/** Names in the legend. */
const MOST = 12;
const colourOf = (phase: string) => stateColour(paintStyle(STYLE_PHASE, phase));

export class PhaseTable {
  private outside = 1;
  /** Those that compute together: the ranks, where there are some, else all. */
  private of: readonly ThreadPhases[] = [];
  readonly note = h("span", { class: "legend" });
  readonly table: DataTable<ThreadPhases>;
  constructor(origin: () => string | null, name: (row: number) => string, private readonly isRank: (row: number) => boolean, go: (row: number) => void) {
    this.table = new DataTable<ThreadPhases>({
      label: "Time by phase: a click goes to the thread", origin, pick: (it) => go(it.row),
      columns: [
        { title: "thread", value: (it) => name(it.row) || it.label }, { title: "in no phase", unit: "ns", description: "Of MPI programs: what computes", value: (it) => it.outside_ns },
        { title: "of the mean", unit: "percent", description: "100 %: as much as the ranks have on average, or the threads, where there are no ranks", 
          value: (it) => this.ofMean(it), text: (it) => (this.ofMean(it) === null ? "–" : `${this.ofMean(it)!.toFixed(0)} %`) },
        { title: "by phase", description: "Shares of its life in the range; what is in no phase is pale. Phases in phases count for both", value: (it) => it.all_ns - it.outside_ns, text: () => "", draw: (it) => stack(partsOf(it)), width: 22 },
        { title: "most in", value: (it) => it.phases.slice(0, 3).map((phase) => `${phase.phase} ${formatDuration(phase.total_ns)} (${formatCount(phase.count)})`).join(", "), grow: true },
      ],
    });
  }
  set({ threads, thread_count: count }: Phases): void {
    // Helper threads of a rank only wait: they would be the most uneven of all.
    const ranks = threads.filter((it) => this.isRank(it.row)), of = this.of = ranks.length > 0 ? ranks : threads;
    const sum = of.reduce((all, it) => all + it.outside_ns, 0), most = Math.max(0, ...of.map((it) => it.outside_ns));
    this.outside = Math.max(1, sum / Math.max(1, of.length));
    const names = [...new Set(threads.flatMap((it) => it.phases.map((phase) => phase.phase)))];
    const among = ranks.length > 0 ? ` of ${formatCount(ranks.length)} ranks` : "", above = ((100 * most) / this.outside - 100).toFixed(0);
    const imbalance = of.length < 2 ? "" : `imbalance ${above} % (the most in no phase, above the mean${among})`;
    this.note.replaceChildren(...names.slice(0, MOST).map((name) => swatch(colourOf(name), name)), h("span", { class: "muted" }, threads.length === 0 ? "no thread has phases in this time" : `${imbalance}${threads.length < count ? `; the first ${formatCount(threads.length)} of ${formatCount(count)} threads` : ""}`));
    this.table.set(threads);
  }
  private ofMean(it: ThreadPhases): number | null { return this.of.includes(it) ? (100 * it.outside_ns) / this.outside : null; }
}
/** Parts of the whole; phases that lie in others may make them more than that. */
function partsOf(it: ThreadPhases): Part[] {
  const all = Math.max(1, it.outside_ns + it.phases.reduce((sum, phase) => sum + phase.total_ns, 0));
  const parts = it.phases.map(({ phase, total_ns: ns, count }): Part => ({ name: phase, share: ns / all, colour: colourOf(phase), text: `${formatDuration(ns)}, ${formatCount(count)} times` }));
  return [...parts, { name: "in no phase", share: it.outside_ns / all, colour: "var(--row)", text: formatDuration(it.outside_ns) }];
}
