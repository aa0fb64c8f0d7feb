// What threads did in the selected time, else in the window: added up by state, thread, process, call, and by what they waited for.
// Talks to: api, view. Used by: the drawer.
import { api, type Area, type Ran, type Statistics } from "../api";
import { causeColour, LOOKS, stateColour } from "../colours";
import { button, h } from "../dom";
import { formatCount, formatDuration } from "../format";
import type { ViewState, Navigator, View } from "../view";
import { ExchangedTable, FileTables } from "./areaTables";
import { notice } from "./notice";
import { AskingPanel } from "./panel";
import { causeWord } from "./pathWords";
import { PhaseTable } from "./phases";
import { stack, swatch, type Part } from "./stack";
import { DataTable, titled, type Column } from "./table";
import { nameOf, rowOf, toShown, type PanelRange } from "./times";

interface Sums { readonly row: number; readonly label: string; readonly byState: readonly number[]; readonly threads: number }
type OfState = Statistics["states"][number];
type OfCall = Statistics["calls"][number];
/** Waits for one cause. */
interface OfCause { readonly cause: string; readonly count: number; readonly total: number; readonly longest: number; readonly endedBy: string }
/** What the last table adds up by. */
type By = "call" | "cause" | "instead" | "phase" | "file" | "peer" | "message";
const BYS: Readonly<Record<By, readonly [string, string]>> = { call: ["by call", "System calls"], cause: ["by cause", "What threads waited for, and who ended that"], instead: ["ran instead", "What ran while they waited for a CPU"], phase: ["by phase", "Phases of programs, calls of MPI: a bar for each thread"], file: ["files", "What they read and wrote: calls that end in this time"], peer: ["peers", "With whom they exchanged bytes by sockets"], message: ["messages", "Messages that they sent or received in this time"] };
/** Rows of waits by process and cause that are added up. */
const MAX_WAITS = 5000;
const UNKNOWN = 0, USER = 1, CALL = 2, INTERRUPTED = 3, WAIT_CPU = 4, BLOCKED = 5, RUNNING = 8;
const onCpu = (it: Sums) => [USER, CALL, INTERRUPTED, RUNNING].reduce((sum, state) => sum + (it.byState[state] ?? 0), 0);

export class StatisticsPanel extends AskingPanel {
  private range: PanelRange | null = null;
  private all = 1;
  private most = 1;
  private readonly of = h("select", { "aria-label": "Of which threads", onchange: () => { this.tellKept(); void this.ask(); } }, h("option", { value: "all" }, "all threads"), h("option", { value: "row" }, "selected row"), h("option", { value: "area", hidden: true }, "selected rows"));
  private readonly states: DataTable<OfState>;
  private readonly threads: DataTable<Sums>;
  private readonly processes: DataTable<Sums>;
  private readonly calls: DataTable<OfCall>;
  private readonly causes: DataTable<OfCause>;
  private readonly instead: DataTable<Ran>;
  /** What the tables at the right add up by. */
  private by: By = "call";
  private readonly insteadNote = h("span", { class: "muted" });
  private waited = 1;
  private readonly count = h("span", { class: "muted" });
  private readonly ofThreads: HTMLElement;
  private readonly ofProcesses: HTMLElement;
  private readonly phases: PhaseTable;
  private readonly fileTables: FileTables;
  private readonly exchanged: ExchangedTable;
  private readonly ofRight: Readonly<Record<By, HTMLElement>>;
  private readonly parts: HTMLElement;

  constructor(view: View, navigator: Navigator) {
    super("statistics", "Statistics", view, navigator, ["window", "selection", "area", "row", "clock", "rows"]);
    const origin = () => this.origin, name = (it: OfState) => LOOKS[it.style]?.name ?? it.state;
    const share = (it: OfState) => (100 * it.total_ns) / this.all;
    this.states = new DataTable<OfState>({
      label: "Time by state", origin, sort: [1, true],
      columns: [
        { title: "state", value: name, draw: (it) => swatch(stateColour(it.style), name(it)), width: 15 }, { title: "time", unit: "ns", value: (it) => it.total_ns, isLast: (it) => it.style === UNKNOWN, draw: (it) => this.metered(it), grow: true, width: 14 },
        { title: "share", unit: "percent", value: share, text: (it) => `${share(it).toFixed(1)} %` },
      ],
    });
    const columns = (title: string): Column<Sums>[] => [
      { title, value: (it) => it.label, grow: true }, { title: "on a CPU", unit: "ns", description: "User mode, system calls, interrupted, and running where it is unknown which", value: onCpu },
      { title: "by state", description: "Shares of its time in the range", value: onCpu, text: () => "", draw: (it) => stack(this.partsOf(it)), width: 16 },
      { title: "waits for CPU", unit: "ns", value: (it) => it.byState[WAIT_CPU] ?? 0 }, { title: "blocked", unit: "ns", value: (it) => it.byState[BLOCKED] ?? 0 },
    ];
    this.threads = new DataTable<Sums>({ label: "Time by thread: a click goes there", origin, sort: [1, true], columns: columns("thread"), pick: (it) => this.go(it) });
    this.processes = new DataTable<Sums>({ label: "Time by process: a click goes there", origin, sort: [1, true], columns: [...columns("process"), { title: "threads", unit: "count", value: (it) => it.threads }], pick: (it) => this.go(it) });
    this.calls = new DataTable<OfCall>({
      label: "System calls", origin, sort: [2, true],
      columns: [
        { title: "call", value: (it) => it.call, grow: true }, { title: "count", unit: "count", value: (it) => it.count }, { title: "time", unit: "ns", value: (it) => it.total_ns },
        { title: "mean", unit: "ns", value: (it) => it.total_ns / it.count }, { title: "longest", unit: "ns", value: (it) => it.max_ns },
      ],
    });
    this.causes = new DataTable<OfCause>({
      label: "Waits by cause", origin, sort: [2, true],
      columns: [
        { title: "waits for", value: (it) => causeWord(it.cause).replace(/^waits for /, ""), draw: (it) => swatch(causeColour(it.cause), causeWord(it.cause).replace(/^waits for /, "")), width: 14 }, { title: "count", unit: "count", value: (it) => it.count }, { title: "time", unit: "ns", value: (it) => it.total },
        { title: "longest", unit: "ns", value: (it) => it.longest }, { title: "mostly ended by", value: (it) => it.endedBy, grow: true },
      ],
    });
    this.instead = new DataTable<Ran>({
      label: "What ran while they waited for a CPU: a click goes there", origin, sort: [1, true], pick: (it) => { if (it.row !== null) this.goTo(it.row); },
      columns: [{ title: "ran instead", value: (it) => it.label, grow: true }, { title: "time", unit: "ns", value: (it) => it.total_ns }, { title: "share", unit: "percent", value: (it) => (100 * it.total_ns) / this.waited, text: (it) => `${((100 * it.total_ns) / this.waited).toFixed(1)} %` }],
    });
    this.controls.append(this.of, this.count);
    const turns = (isProcesses: boolean) => h("span", { class: "turns" }, ...[false, true].map((to) => button(to ? "by process" : "by thread", to ? "Time of processes" : "Time of threads", () => { this.turn(to); this.tellKept(); }, { "aria-pressed": String(to === isProcesses) })));
    this.ofThreads = titled("", this.threads, turns(false));
    this.ofProcesses = titled("", this.processes, turns(true));
    const turnsOf = (by: By) => h("span", { class: "turns" }, ...Object.entries(BYS).map(([to, [text, title]]) => button(text, title, () => { this.turnTo(to as By); this.tellKept(); void this.ask(); }, { "aria-pressed": String(to === by) })));
    this.phases = new PhaseTable(origin, (row) => nameOf(this.view, row), (row) => this.goTo(row));
    this.fileTables = new FileTables(origin, (host) => this.view.now.experiment?.hosts[host]?.name ?? String(host));
    this.exchanged = new ExchangedTable(origin, (row) => this.goTo(row));
    this.ofRight = {
      call: titled("", this.calls, turnsOf("call"), h("span", { class: "muted", title: "Calls take as long as their host's own clock says, as in syscallstats; states are on the common clock. The two differ by the rates of the clocks, some parts in a million." }, "by own clocks")), cause: titled("", this.causes, turnsOf("cause"), h("span", { class: "muted", title: "As in the report blocking, which is by process" }, "of whole processes")),
      instead: titled("", this.instead, turnsOf("instead"), this.insteadNote), phase: titled("", this.phases.table, turnsOf("phase"), this.phases.note), file: titled("", this.fileTables.files, turnsOf("file"), this.fileTables.filesNote),
      peer: titled("", this.fileTables.peers, turnsOf("peer"), this.fileTables.peersNote), message: titled("", this.exchanged.table, turnsOf("message"), this.exchanged.note),
    };
    this.parts = h("div", { class: "statistics-parts" }, titled("By state", this.states), this.ofThreads, this.ofProcesses, ...Object.values(this.ofRight));
    this.turn(false);
    this.turnTo("call");
  }
  protected override changed(_now: ViewState, changed: ReadonlySet<keyof ViewState>): void {
    this.showOf();
    if (changed.size === 1 && changed.has("row") && this.of.value === "all") return;
    this.askWhenQuick();
  }
  /** What the tables add up by, and of which threads, where that is another than at first. */
  get kept(): string { return [...(this.by === "call" ? [] : [this.by]), ...(!this.ofProcesses.hidden ? ["process"] : []), ...(this.of.value === "row" ? ["row"] : [])].join(","); }
  keep(text: string): void {
    const parts = text.split(",");
    this.turnTo(parts.find((part): part is By => part in BYS) ?? "call");
    this.turn(parts.includes("process"));
    if (this.of.value !== "area") this.of.value = parts.includes("row") ? "row" : "all";
    if (this.isSeen) void this.ask();
  }
  protected override shown(): void { this.showOf(); }
  /** What can be added up: rows that are selected are, until others are. */
  private showOf(): void {
    const { area } = this.view.now, option = this.of.options[2]!, isNew = option.hidden && area !== null;
    this.of.options[1]!.textContent = this.rowText();
    option.hidden = area === null;
    option.textContent = `the ${formatCount(area?.size ?? 0)} selected rows`;
    if (isNew) this.of.value = "area";
    else if (area === null && this.of.value === "area") this.of.value = "all";
  }
  protected override themed(): void { for (const table of [this.states, this.threads, this.processes, this.causes]) table.redraw(); }
  protected forget(): void { for (const table of [this.states, this.threads, this.processes, this.calls, this.causes, this.instead, this.phases.table, this.fileTables.files, this.fileTables.peers, this.exchanged.table]) table.set([]); }

  protected async load(signal: AbortSignal): Promise<void> {
    const covered = this.showRange(), { row, area } = this.view.now, isOfRow = this.of.value === "row" && row !== null;
    const rows = isOfRow ? [row] : this.of.value === "area" && area !== null ? [...area] : null, asked: Area = { begin: covered.begin, end: covered.end, rows, ask: this.progress.ask }, answer = await api.statistics(asked, signal);
    this.range = covered;
    this.command.set(answer.command);
    if (answer.threads.length === 0) {
      this.forget();
      this.body.replaceChildren(rows !== null ? notice("empty", `${isOfRow ? nameOf(this.view, row) : "These rows"} ${isOfRow ? "has" : "have"} no threads in this time`, "Choose all threads, or another row or time.")
        : notice("empty", "No states are known in this time", "They come from `sched_switch` and system calls: record `lttng enable-event --kernel 'sched_*'` and `lttng enable-event --kernel --syscall --all`."));
      return;
    }
    this.all = Math.max(1, answer.states.reduce((sum, it) => sum + it.total_ns, 0));
    this.most = Math.max(1, ...answer.states.filter((it) => it.style !== UNKNOWN).map((it) => it.total_ns));
    const threads = answer.threads.map((it) => ({ row: it.row, label: it.label, byState: it.by_state, threads: 1 }));
    const isAll = threads.length === answer.thread_count;
    this.count.textContent = isAll ? `${formatCount(threads.length)} threads` : `${formatCount(threads.length)} of ${formatCount(answer.thread_count)} threads, those with the most CPU time; processes are sums of these`;
    this.count.title = this.count.textContent;
    if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
    // What is unknown says least: it does not come first, and other bars are not small beside it.
    this.states.set(answer.states);
    this.threads.set(threads);
    this.processes.set(this.byProcess(threads));
    this.calls.set(answer.calls);
    if (this.by === "cause") await this.loadCauses(covered, rows, signal);
    if (this.by === "phase") this.command.set(shown(this.phases, await api.phases(asked, signal)));
    if (this.by === "instead") await this.loadInstead(asked, signal);
    if (this.by === "file" || this.by === "peer") this.command.set(shown(this.fileTables, await api.files(asked, signal)));
    if (this.by === "message") this.command.set(shown(this.exchanged, await api.exchanged(asked, signal)));
  }
  private async loadInstead(asked: Area, signal: AbortSignal): Promise<void> {
    const { waits, wait_ns: waited, unknown_ns: unknown, ran, ran_count: count } = await api.instead(asked, signal);
    this.waited = Math.max(1, waited);
    this.insteadNote.textContent = `${formatCount(waits)} waits for a CPU, ${formatDuration(waited)}${unknown > 0 ? `; unknown what ran: ${formatDuration(unknown)}` : ""}${ran.length < count ? `; the first ${formatCount(ran.length)} of ${formatCount(count)}` : ""}`;
    this.insteadNote.title = `${this.insteadNote.textContent}. Of each wait, what ran on the CPU that the thread got in the end`;
    this.instead.set(ran);
    this.command.set("");
  }
  /** Waits are those of the report `blocking`, of all processes or of those of some rows. */
  private async loadCauses(covered: PanelRange, rows: readonly number[] | null, signal: AbortSignal): Promise<void> {
    const answer = await api.table({ analysis: "blocking", begin: covered.begin, end: covered.end, limit: MAX_WAITS, ask: this.progress.ask }, signal);
    const table = answer.tables.find((it) => it.name === "causes"), of = rows?.map((row) => rowOf(this.view, row)), hostName = (host: number) => this.view.now.experiment?.hosts[host]?.name;
    const at = (name: string) => table?.columns.findIndex((column) => column.name === name) ?? -1;
    const sums = new Map<string, { count: number; total: number; longest: number; most: number; endedBy: string }>();
    for (const line of table?.rows ?? []) {
      if (of !== undefined && !of.some((it) => it !== undefined && line[at("host")] === hostName(it.host) && (it.kind === "host" || line[at("pid")] === it.pid))) continue;
      const cause = String(line[at("cause")]), total = Number(line[at("total_ns")]), sum = sums.get(cause) ?? { count: 0, total: 0, longest: 0, most: -1, endedBy: "" };
      sum.count += Number(line[at("count")]);
      sum.total += total;
      sum.longest = Math.max(sum.longest, Number(line[at("max_ns")]));
      if (total > sum.most) { sum.most = total; sum.endedBy = String(line[at("ended_by")] ?? ""); }
      sums.set(cause, sum);
    }
    this.causes.set([...sums].map(([cause, sum]) => ({ cause, ...sum })));
    this.command.set(answer.command);
  }
  private byProcess(threads: readonly Sums[]): Sums[] {
    const groups = new Map<number, { byState: number[]; threads: number }>();
    for (const it of threads) {
      const parent = rowOf(this.view, rowOf(this.view, it.row)?.parent ?? null), id = parent?.kind === "process" ? parent.id : it.row;
      const group = groups.get(id);
      if (group === undefined) groups.set(id, { byState: [...it.byState], threads: 1 });
      else { it.byState.forEach((ns, state) => { group.byState[state] = (group.byState[state] ?? 0) + ns; }); group.threads += 1; }
    }
    return [...groups].map(([row, group]) => ({ row, label: nameOf(this.view, row), ...group }));
  }
  private partsOf(it: Sums): Part[] {
    const all = it.byState.reduce((sum, ns) => sum + ns, 0);
    return it.byState.map((ns, style) => ({ name: LOOKS[style]?.name ?? "", share: ns / Math.max(1, all), colour: stateColour(style), text: formatDuration(ns) }));
  }
  private turn(toProcesses: boolean): void {
    this.ofThreads.hidden = toProcesses;
    this.ofProcesses.hidden = !toProcesses;
  }
  private turnTo(by: By): void {
    this.by = by;
    for (const [name, part] of Object.entries(this.ofRight)) part.hidden = name !== by;
  }
  private metered(it: OfState): HTMLElement {
    const bar = h("span", { class: "meter solid", "aria-hidden": "true" });
    bar.style.width = `calc((100% - 13ch) * ${it.style === UNKNOWN ? 0 : it.total_ns / this.most} + 1px)`;
    bar.style.background = stateColour(it.style);
    return h("span", { class: "metered" }, bar, h("span", { class: "value" }, formatDuration(it.total_ns)));
  }
  private rowText(): string { return this.view.now.row === null ? "selected row" : `only ${nameOf(this.view, this.view.now.row)}`; }
  private go(it: Sums): void { this.goTo(it.row); }
  private goTo(row: number): void {
    this.hold();
    if (this.range !== null) this.navigator.go(row, toShown(this.view, row, (this.range.begin + this.range.end) / 2));
  }
}
/** Shows an answer in its tables; gives its command. */
function shown<T extends { command: string }>(tables: { set(answer: T): void }, answer: T): string {
  tables.set(answer);
  return answer.command;
}
