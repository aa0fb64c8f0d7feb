// What threads did in the selected time, else in the window: added up by state, thread, process, call, and by what they waited for.
// Talks to: api, view. Used by: the drawer.
import { api, ApiError, type Area, type Statistics } from "../api";
import { LOOKS, stateColour } from "../colours";
import { button, h } from "../dom";
import { formatCount, formatDuration } from "../format";
import type { ViewState, Navigator, View } from "../view";
import { ExchangedTable, FileTables, SUM_COLUMNS } from "./areaTables";
import { CauseTable } from "./causes";
import { copyButton } from "./copy";
import { InsteadTable } from "./instead";
import { notice } from "./notice";
import { AskingPanel } from "./panel";
import { PhaseTable } from "./phases";
import { PivotTable, type PivotBy } from "./pivot";
import { stack, swatch, type Part } from "./stack";
import { DataTable, titled, type Column } from "./table";
import { nameOf, rowOf, toShown, type PanelRange } from "./times";
import { isFile, isOtherEnd, mostOf } from "./users";

interface Sums { readonly row: number; readonly label: string; readonly byState: readonly number[]; readonly threads: number }
type OfState = Statistics["states"][number];
type OfCall = Statistics["calls"][number];
/** What the last table adds up by. */
type By = "call" | "cause" | "instead" | "phase" | "file" | "peer" | "message";
const BYS: Readonly<Record<By, readonly [string, string]>> = { call: ["by call", "System calls"], cause: ["by cause", "What threads waited for"], instead: ["ran instead", "What ran while they waited for a CPU"], phase: ["by phase", "Phases of programs, calls of MPI: a bar for each thread"], file: ["files", "What they read and wrote: calls that end in this time"], peer: ["peers", "With whom they exchanged bytes by sockets"], message: ["messages", "Messages that they sent or received in this time"] };
/** What the table in the middle has lines for. */
type Middle = "thread" | "process" | "pivot";
const MIDDLES: Readonly<Record<Middle, readonly [string, string]>> = { thread: ["by thread", "Time of threads"], process: ["by process", "Time of processes"], pivot: ["pivot", "Hosts, processes or threads against states"] };
/** Why there is no command. */
const NO_QUERY = "The server has no query with these figures, or it would have to name too many threads or hosts: select fewer rows, or look at all threads";
const UNKNOWN = 0, USER = 1, CALL = 2, INTERRUPTED = 3, WAIT_CPU = 4, BLOCKED = 5, RUNNING = 8;
const onCpu = (it: Sums) => [USER, CALL, INTERRUPTED, RUNNING].reduce((sum, state) => sum + (it.byState[state] ?? 0), 0);

export class StatisticsPanel extends AskingPanel {
  private range: PanelRange | null = null;
  /** The query of the sums by state: what the bar has is that of the table at the right. */
  private stateCommand = "";
  private readonly stateTexts = [0, 1].map(() => copyButton("as text", "", () => this.stateCommand, "query"));
  /** What the answer is of: these rows, or all. */
  private rows: readonly number[] | null = null;
  private all = 1;
  private most = 1;
  private readonly of = h("select", { "aria-label": "Of which threads", onchange: () => { this.tellKept(); void this.ask(); } }, h("option", { value: "all" }, "all threads"), h("option", { value: "row" }, "selected row"), h("option", { value: "area", hidden: true }, "selected rows"));
  private readonly states: DataTable<OfState>;
  private readonly threads: DataTable<Sums>;
  private readonly processes: DataTable<Sums>;
  private readonly calls: DataTable<OfCall>;
  /** Of the threads that were looked for, the last one counts. */
  private looking = 0;
  private readonly causes: CauseTable;
  private readonly instead: InsteadTable;
  /** What the tables at the right add up by. */
  private by: By = "call";
  private readonly count = h("span", { class: "muted" });
  private middle: Middle = "thread";
  private readonly ofMiddle: Readonly<Record<Middle, HTMLElement>>;
  private readonly ofStates: HTMLElement;
  private readonly pivot: PivotTable;
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
        { title: "call", value: (it) => it.call, grow: true }, ...SUM_COLUMNS,
      ],
    });
    this.causes = new CauseTable(origin);
    this.instead = new InsteadTable(origin, (row) => this.goTo(row));
    this.controls.append(this.of, this.count);
    this.pivot = new PivotTable(origin, (thread, by) => this.groupOf(thread, by), (row) => this.goTo(row), () => this.tellKept());
    const turns = (of: Middle) => h("span", { class: "turns" }, ...Object.entries(MIDDLES).map(([to, [text, title]]) => button(text, title, () => { this.turn(to as Middle); this.tellKept(); }, { "aria-pressed": String(to === of) })));
    this.ofStates = titled("By state", this.states, this.stateTexts[0]!);
    this.ofMiddle = { thread: titled("", this.threads, turns("thread")), process: titled("", this.processes, turns("process")), pivot: titled("", this.pivot.table, turns("pivot"), this.pivot.select, this.pivot.note, this.stateTexts[1]!) };
    this.ofMiddle.pivot.classList.add("wide");
    const turnsOf = (by: By) => h("span", { class: "turns" }, ...Object.entries(BYS).map(([to, [text, title]]) => button(text, title, () => { this.turnTo(to as By); this.tellKept(); void this.ask(); }, { "aria-pressed": String(to === by) })));
    this.phases = new PhaseTable(origin, (row) => nameOf(this.view, row), (row) => rowOf(this.view, row)?.rank !== undefined, (row) => this.goTo(row));
    this.fileTables = new FileTables(origin, (host) => this.hostName(host), {
      file: (it) => void this.goToUser(isFile(this.hostName(it.host), it), this.rows, "it is not known which thread uses it"),
      // The other end is on another host, whatever rows are selected here.
      peer: (it, files) => void this.goToUser(isOtherEnd(this.hostName(it.host), it, files), null, `no thread on a traced host is known to be at ${it.peer}`),
    });
    this.exchanged = new ExchangedTable(origin, (row) => this.goTo(row));
    this.ofRight = {
      call: titled("", this.calls, turnsOf("call"), h("span", { class: "muted", title: "Calls take as long as their host's own clock says, as in syscallstats; states are on the common clock. The two differ by the rates of the clocks, some parts in a million." }, "by own clocks")), cause: titled("", this.causes.table, turnsOf("cause"), this.causes.note),
      instead: titled("", this.instead.table, turnsOf("instead"), this.instead.note), phase: titled("", this.phases.table, turnsOf("phase"), this.phases.note), file: titled("", this.fileTables.files, turnsOf("file"), this.fileTables.filesNote, this.fileTables.said),
      peer: titled("", this.fileTables.peers, turnsOf("peer"), this.fileTables.peersNote, this.fileTables.saidOfPeers), message: titled("", this.exchanged.table, turnsOf("message"), this.exchanged.note),
    };
    this.parts = h("div", { class: "statistics-parts" }, this.ofStates, ...Object.values(this.ofMiddle), ...Object.values(this.ofRight));
    this.turn("thread");
    this.turnTo("call");
  }
  protected override changed(_now: ViewState, changed: ReadonlySet<keyof ViewState>): void {
    this.showOf();
    if (changed.size === 1 && changed.has("row") && this.of.value === "all") return;
    this.askWhenQuick();
  }
  /** What the tables add up by, and of which threads, where that is another than at first. */
  get kept(): string { return [...(this.by === "call" ? [] : [this.by]), ...(this.middle === "thread" ? [] : [this.middle === "pivot" ? `pivot-${this.pivot.by}` : this.middle]), ...(this.of.value === "row" ? ["row"] : [])].join(","); }
  keep(text: string): void {
    const parts = text.split(",");
    this.turnTo(parts.find((part): part is By => part in BYS) ?? "call");
    const by = parts.find((part) => part.startsWith("pivot-"))?.slice("pivot-".length);
    if (by !== undefined) this.pivot.show(by as PivotBy);
    this.turn(by !== undefined ? "pivot" : parts.includes("process") ? "process" : "thread");
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
  protected override themed(): void { for (const table of [this.states, this.threads, this.processes, this.pivot.table, this.causes.table]) table.redraw(); }
  protected forget(): void { this.pivot.clear(); for (const table of [this.states, this.threads, this.processes, this.calls, this.causes.table, this.instead.table, this.phases.table, this.fileTables.files, this.fileTables.peers, this.exchanged.table]) table.set([]); }

  protected async load(signal: AbortSignal): Promise<void> {
    const covered = this.showRange(), { row, area } = this.view.now, isOfRow = this.of.value === "row" && row !== null;
    const rows = isOfRow ? [row] : this.of.value === "area" && area !== null ? [...area] : null, asked: Area = { begin: covered.begin, end: covered.end, rows, ask: this.progress.ask }, answer = await api.statistics(asked, signal);
    this.range = covered;
    this.rows = rows;
    if (this.by === "call") this.command.setOr(answer.calls_command, NO_QUERY);
    this.stateCommand = answer.command;
    for (const it of this.stateTexts) { it.hidden = answer.command === ""; it.title = answer.command; }
    if (answer.threads.length === 0) {
      this.forget();
      this.command.set("");
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
    this.pivot.set(answer);
    this.calls.set(answer.calls);
    if (this.by === "cause") this.command.setOr(shown(this.causes, await api.causes(asked, signal)), "The command `blocking` is of whole processes: choose all threads");
    if (this.by === "phase") this.command.set(shown(this.phases, await api.phases(asked, signal)));
    if (this.by === "instead") this.command.setOr(shown(this.instead, await api.instead(asked, signal)), NO_QUERY);
    if (this.by === "file" || this.by === "peer") this.command.set(shown(this.fileTables, await api.files(asked, signal)));
    if (this.by === "message") this.command.set(shown(this.exchanged, await api.exchanged(asked, signal)));
  }
  /** The process or the host that a thread is of; a thread that is alone stands for its process. */
  private groupOf(thread: number, by: PivotBy): { row: number; label: string } {
    const it = rowOf(this.view, thread), parent = rowOf(this.view, it?.parent ?? null), host = this.view.now.experiment?.hosts[it?.host ?? -1]?.row ?? thread;
    const row = by === "host" ? host : by === "process" && parent?.kind === "process" ? parent.id : thread;
    return { row, label: nameOf(this.view, row) };
  }
  private byProcess(threads: readonly Sums[]): Sums[] {
    const groups = new Map<number, { byState: number[]; threads: number }>();
    for (const it of threads) {
      const { row: id } = this.groupOf(it.row, "process");
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
  /** The pivot has the sums by state, too: it takes their place. */
  private turn(to: Middle): void {
    this.middle = to;
    for (const [name, part] of Object.entries(this.ofMiddle)) part.hidden = name !== to;
    this.ofStates.hidden = to === "pivot";
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
  private hostName(host: number): string { return this.view.now.experiment?.hosts[host]?.name ?? String(host); }
  /** Goes to the thread that has most to do with a line; `none`: what is said where there is none. */
  private async goToUser(condition: string | null, rows: readonly number[] | null, none: string): Promise<void> {
    const { range } = this, looking = this.looking += 1;
    if (range === null) return;
    this.fileTables.say("looking for the thread …");
    const user = condition === null ? null : await this.during(mostOf(this.view, condition, range, rows)).catch((error: unknown) => { if (error instanceof ApiError) return error.message; throw error; });
    if (!this.isSeen || this.range !== range || this.looking !== looking) return;
    this.fileTables.say(user === null ? none : typeof user === "string" ? user : `${nameOf(this.view, user.row)}, its first call`);
    if (user === null || typeof user === "string") return;
    const at = toShown(this.view, user.row, user.at);
    this.goAndStay(() => { this.navigator.go(user.row, at); this.view.set({ hover: at }); });
  }
  private go(it: Sums): void { this.goTo(it.row); }
  private goTo(row: number): void {
    this.hold();
    if (this.range !== null) this.navigator.go(row, toShown(this.view, row, (this.range.begin + this.range.end) / 2));
  }
}
/** Shows an answer in its tables; gives its command. */
function shown<T extends { command?: string }>(tables: { set(answer: T): void }, answer: T): T["command"] {
  tables.set(answer);
  return answer.command;
}
