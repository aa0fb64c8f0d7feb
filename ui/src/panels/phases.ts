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
  readonly note = h("span", { class: "legend" });
  readonly table: DataTable<ThreadPhases>;
  constructor(origin: () => string | null, name: (row: number) => string, go: (row: number) => void) {
    this.table = new DataTable<ThreadPhases>({
      label: "Time by phase: a click goes to the thread", origin, pick: (it) => go(it.row),
      columns: [
        { title: "thread", value: (it) => name(it.row) || it.label }, { title: "in no phase", unit: "ns", description: "Of MPI programs: what computes", value: (it) => it.outside_ns },
        { title: "of the mean", unit: "percent", description: "100 %: as much as the threads have on average", value: (it) => (100 * it.outside_ns) / this.outside, text: (it) => `${((100 * it.outside_ns) / this.outside).toFixed(0)} %` },
        { title: "by phase", description: "Shares of its life in the range; what is in no phase is pale. Phases in phases count for both", value: (it) => it.all_ns - it.outside_ns, text: () => "", draw: (it) => stack(partsOf(it)), width: 22 },
        { title: "most in", value: (it) => it.phases.slice(0, 3).map((phase) => `${phase.phase} ${formatDuration(phase.total_ns)} (${formatCount(phase.count)})`).join(", "), grow: true },
      ],
    });
  }
  set({ threads, thread_count: count }: Phases): void {
    const sum = threads.reduce((all, it) => all + it.outside_ns, 0), most = Math.max(0, ...threads.map((it) => it.outside_ns));
    this.outside = Math.max(1, sum / Math.max(1, threads.length));
    const names = [...new Set(threads.flatMap((it) => it.phases.map((phase) => phase.phase)))];
    const imbalance = threads.length < 2 ? "" : `imbalance ${((100 * most) / this.outside - 100).toFixed(0)} % (the most in no phase, above the mean)`;
    this.note.replaceChildren(...names.slice(0, MOST).map((name) => swatch(colourOf(name), name)), h("span", { class: "muted" }, threads.length === 0 ? "no thread has phases in this time" : `${imbalance}${threads.length < count ? `; the first ${formatCount(threads.length)} of ${formatCount(count)} threads` : ""}`));
    this.table.set(threads);
  }
}
/** Parts of the whole; phases that lie in others may make them more than that. */
function partsOf(it: ThreadPhases): Part[] {
  const all = Math.max(1, it.outside_ns + it.phases.reduce((sum, phase) => sum + phase.total_ns, 0));
  const parts = it.phases.map(({ phase, total_ns: ns, count }): Part => ({ name: phase, share: ns / all, colour: colourOf(phase), text: `${formatDuration(ns)}, ${formatCount(count)} times` }));
  return [...parts, { name: "in no phase", share: it.outside_ns / all, colour: "var(--row)", text: formatDuration(it.outside_ns) }];
}
