// Time by state of each host, process or thread, as a table that is exact: what is not listed by thread has a line of its own, so that the last line is
// the sum of all. Talks to: none. Used by: statistics.
import type { Statistics } from "../api";
import { LOOKS, stateColour } from "../colours";
import { h } from "../dom";
import { formatCount, formatDuration } from "../format";
import { swatch } from "./stack";
import { DataTable, type Column } from "./table";

export type PivotBy = "host" | "process" | "thread";
const BYS: readonly PivotBy[] = ["host", "process", "thread"];
/** `row` is null of what is not one; `kind`: one of several, what is not listed, all. `isWhole`: no thread of it is left out. */
export interface PivotLine {
  readonly kind: "one" | "rest" | "all";
  readonly row: number | null;
  readonly label: string;
  readonly byState: readonly number[];
  readonly isWhole: boolean;
}
/** Which row a thread counts for, and the name of that. */
export type GroupOf = (row: number, by: PivotBy) => { row: number; label: string };

const DEAD = 7,
  STATES = LOOKS.slice(0, 9).flatMap(({ name }, style) => (style === DEAD ? [] : [{ name, style }]));
const sumOf = (byState: readonly number[]) => STATES.reduce((sum, { style }) => sum + (byState[style] ?? 0), 0);

/** Lines of an answer: groups of the threads that it lists, the others together, and all. */
export function pivotLines(
  { threads, thread_count: count, states }: Pick<Statistics, "threads" | "thread_count" | "states">,
  by: PivotBy,
  groupOf: GroupOf,
): PivotLine[] {
  const groups = new Map<number, { label: string; byState: number[] }>(),
    listed: number[] = [],
    all: number[] = [],
    isWhole = threads.length === count || by === "thread";
  for (const it of states) all[it.style] = it.total_ns;
  for (const thread of threads) {
    const { row, label } = groupOf(thread.row, by),
      group = groups.get(row) ?? { label, byState: [] };
    groups.set(row, group);
    for (const { style } of STATES) {
      const ns = thread.by_state[style] ?? 0;
      group.byState[style] = (group.byState[style] ?? 0) + ns;
      listed[style] = (listed[style] ?? 0) + ns;
    }
  }
  const lines = [...groups].map(([row, group]): PivotLine => ({ kind: "one", row, ...group, isWhole }));
  if (threads.length < count) {
    const rest: number[] = [];
    for (const { style } of STATES) rest[style] = (all[style] ?? 0) - (listed[style] ?? 0);
    lines.push({ kind: "rest", row: null, label: `${formatCount(count - threads.length)} threads that are not listed`, byState: rest, isWhole: true });
  }
  return [...lines, { kind: "all", row: null, label: "all", byState: all, isWhole: true }];
}

export class PivotTable {
  private answer: Pick<Statistics, "threads" | "thread_count" | "states"> = { threads: [], thread_count: 0, states: [] };
  readonly select = h(
    "select",
    {
      "aria-label": "A line for each",
      onchange: () => {
        this.draw();
        this.chosen();
      },
    },
    ...BYS.map((by) => h("option", { value: by }, `by ${by}`)),
  );
  readonly note = h("span", { class: "muted" });
  readonly table: DataTable<PivotLine>;
  constructor(
    origin: () => string | null,
    private readonly groupOf: GroupOf,
    go: (row: number) => void,
    private readonly chosen: () => void,
  ) {
    // The sum of all comes last, however it is sorted; before it, what is not listed.
    const last = ({ kind }: PivotLine) => ["one", "rest", "all"].indexOf(kind),
      text = (it: PivotLine, ns: number) => (ns === 0 && it.isWhole ? "" : `${it.isWhole ? "" : "≥ "}${formatDuration(ns)}`);
    const time = (title: string, value: (it: PivotLine) => number, description: string): Column<PivotLine> => ({
      title,
      unit: "ns",
      description,
      value,
      text: (it) => text(it, value(it)),
      isLast: last,
    });
    this.table = new DataTable<PivotLine>({
      label: "Pivot: a click goes there",
      origin,
      sort: [1, true],
      pick: (it) => {
        if (it.row !== null) go(it.row);
      },
      mark: (it) => (it.kind === "all" ? "sum" : null),
      columns: [
        { title: "of", value: (it) => (it.isWhole ? it.label : `${it.label} (at least)`), isLast: last, grow: true },
        time(
          "on a CPU",
          (it) => [1, 2, 3, 8].reduce((sum, style) => sum + (it.byState[style] ?? 0), 0),
          "User mode, system calls, interrupted, and running where it is unknown which",
        ),
        ...STATES.map(({ name, style }) => ({
          ...time(name, (it) => it.byState[style] ?? 0, name),
          draw: (it: PivotLine) => (it.kind === "all" ? swatch(stateColour(style), text(it, it.byState[style] ?? 0)) : text(it, it.byState[style] ?? 0)),
        })),
        time("all", (it) => sumOf(it.byState), "All states together"),
      ],
    });
  }
  get by(): PivotBy {
    return BYS.find((by) => by === this.select.value) ?? "host";
  }
  show(by: PivotBy): void {
    this.select.value = by;
    this.draw();
  }
  set(answer: Statistics): void {
    this.answer = answer;
    this.draw();
  }
  clear(): void {
    this.answer = { threads: [], thread_count: 0, states: [] };
    this.table.set([]);
  }
  private draw(): void {
    const { threads, thread_count: count } = this.answer,
      isCut = threads.length < count;
    this.note.textContent = isCut
      ? `${this.by === "thread" ? "" : "≥: "}${formatCount(count - threads.length)} threads with the least CPU time are only in the sums`
      : "exact, of states";
    this.note.title = this.note.textContent;
    this.table.set(count === 0 ? [] : pivotLines(this.answer, this.by, this.groupOf));
  }
}
