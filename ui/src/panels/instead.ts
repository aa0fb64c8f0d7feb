// What ran while threads waited for a CPU, on the CPU that each got in the end. Talks to: none. Used by: statistics.
import type { Instead, Ran } from "../api";
import { h } from "../dom";
import { formatCount, formatDuration } from "../format";
import { cutText } from "./areaTables";
import { DataTable } from "./table";

export class InsteadTable {
  private waited = 1;
  readonly note = h("span", { class: "muted" });
  readonly table: DataTable<Ran>;
  constructor(origin: () => string | null, go: (row: number) => void) {
    const share = (it: Ran) => (100 * it.total_ns) / this.waited;
    this.table = new DataTable<Ran>({
      label: "What ran while they waited for a CPU: a click goes there",
      origin,
      sort: [1, true],
      pick: (it) => {
        if (it.row !== null) go(it.row);
      },
      columns: [
        { title: "ran instead", value: (it) => it.label, grow: true },
        { title: "time", unit: "ns", value: (it) => it.total_ns },
        { title: "share", unit: "percent", value: share, text: (it) => `${share(it).toFixed(1)} %` },
      ],
    });
  }
  set({ waits, wait_ns: waited, unknown_ns: unknown, ran, ran_count: count }: Instead): void {
    this.waited = Math.max(1, waited);
    const notKnown = unknown > 0 ? `; unknown what ran: ${formatDuration(unknown)}` : "";
    this.note.textContent = `${formatCount(waits)} waits for a CPU, ${formatDuration(waited)}${notKnown}${cutText(ran.length, count)}`;
    this.note.title = `${this.note.textContent}. Of each wait, what ran on the CPU that the thread got in the end`;
    this.table.set(ran);
  }
}
