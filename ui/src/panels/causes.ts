// What threads waited for, by cause: waits that end in the time, in full. Talks to: none. Used by: statistics.
import type { Causes, CauseSum } from "../api";
import { causeColour } from "../colours";
import { h } from "../dom";
import { formatCount, formatDuration } from "../format";
import { SUM_COLUMNS } from "./areaTables";
import { causeWord } from "./pathWords";
import { swatch } from "./stack";
import { DataTable } from "./table";

/** "a disk": in the words of critical paths, if they have some. */
const waitsFor = ({ cause }: CauseSum) => causeWord(cause).replace(/^waits for /, "");

export class CauseTable {
  readonly note = h("span", { class: "muted" });
  readonly table: DataTable<CauseSum>;
  constructor(origin: () => string | null) {
    this.table = new DataTable<CauseSum>({
      label: "Waits by cause",
      origin,
      sort: [2, true],
      columns: [
        { title: "waits for", value: waitsFor, draw: (it) => swatch(causeColour(it.cause), waitsFor(it)), grow: true },
        ...SUM_COLUMNS,
      ],
    });
  }
  set({ causes }: Causes): void {
    const sum = (of: (it: CauseSum) => number) => causes.reduce((all, it) => all + of(it), 0);
    // Where switches or wake-ups were not recorded, no wait is known: that is not none.
    this.note.textContent =
      causes.length === 0
        ? "no wait is known; Analyses → blocking says what was not recorded"
        : `${formatCount(sum((it) => it.count))} waits that end in the time, in full: ${formatDuration(sum((it) => it.total_ns))}`;
    this.note.title = `${this.note.textContent}. A wait counts from its begin, though that be before the time`;
    this.table.set(causes);
  }
}
