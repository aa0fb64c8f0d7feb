// The search box: which rows a text means. Words must all be in a row's names (its own and those around it); `host:`, `pid:`, `tid:`, `kind:`, `state:` ask for more; /…/ is a
// regular expression. Comparisons are an expression on states: rows that have such states in the window are shown, and all other states are pale.
// Talks to: api (rows that are in a state, or fit an expression), rows, tree (what to highlight), view (the expression, the rows). Used by: main, keys, URL.
import { api, type Matching, type Row } from "./api";
import { button, h } from "./dom";
import { formatCount } from "./format";
import { foundText, statesText, TOO_MANY, type FoundKind } from "./foundText";
import type { Navigation } from "./navigation";
import type { Rows } from "./rows";
import type { Tree } from "./tree";
import type { View } from "./view";

const REST_MS = 120;
/** Names of states as people type them, by style. */
const STATES: readonly (readonly string[])[] = [
  ["unknown"], ["usermode", "user"], ["syscall", "call"], ["interrupted"], ["wait-cpu", "waiting", "preempted"], ["blocked", "sleeping"], ["wait-fork"], ["dead"], ["running"], ["idle"], ["irq", "interrupt"],
  ["softirq"], ["disk-read", "read"], ["disk-write", "write"], ["phase"],
];

/** What makes a text an expression. */
const COMPARES = /[=<>]|&&|\|\||\s(matches|contains|present)(\s|$)/;

/** What a text asks for. */
export interface Query { expression: string | null; words: string[]; pattern: RegExp | null; host: string[]; pid: string[]; tid: string[]; kind: string[]; states: number[]; wrong: string }
export function parseQuery(text: string): Query {
  const query: Query = { expression: null, words: [], pattern: null, host: [], pid: [], tid: [], kind: [], states: [], wrong: "" };
  const regular = /(?:^|\s)\/(.+)\/(?:\s|$)/.exec(text);
  if (regular !== null) {
    try { query.pattern = new RegExp(regular[1]!, "i"); } catch { query.wrong = `/${regular[1]}/ is no regular expression`; }
    text = text.replace(regular[0], " ");
  }
  if (COMPARES.test(text)) { query.expression = text.trim(); return query; }
  for (const word of text.toLowerCase().split(/\s+/)) {
    const [, key, value] = /^(host|pid|tid|kind|state):(.*)$/.exec(word) ?? [];
    if (key === undefined || value === undefined) { if (word !== "") query.words.push(word); continue; }
    if (value === "") continue;
    if (key !== "state") { query[key as "host" | "pid" | "tid" | "kind"].push(value); continue; }
    const styles = STATES.flatMap((names, style) => (names.some((name) => name.startsWith(value)) ? [style] : []));
    if (styles.length === 0) query.wrong = `No state “${value}”: ${STATES.map((names) => names[0]).join(", ")}`;
    query.states.push(...styles);
  }
  return query;
}

export class Search {
  readonly input = h("input", { type: "search", class: "search", placeholder: "Search rows  ( / )", "aria-label": "Search rows: words, host:, pid:, tid:, kind:, state:, /regular expression/, or an expression on states", spellcheck: "false", autocomplete: "off",
    title: "Words, host:h1, pid:199, tid:216, kind:cpu, state:blocked, /regular expression/; or an expression on states: duration > 10ms && state == blocked" });
  private readonly count = h("span", { class: "count", "aria-live": "polite" });
  private readonly list: HTMLButtonElement;
  readonly element: HTMLElement;
  private timer = 0;
  /** What is looked for now. */
  private looking = new AbortController();
  private runs = 0;
  private found: number[] = [];
  private readonly watchers = new Set<() => void>();
  private readonly typers = new Set<() => void>();

  constructor(private readonly view: View, private readonly rows: Rows, private readonly tree: Tree, private readonly navigation: Navigation, openList: () => void) {
    this.list = button("list", "All of them, one after the other (n, N)", openList, { hidden: true });
    this.element = h("div", { class: "search-box", role: "search" }, this.input, this.count, this.list);
    this.input.addEventListener("input", () => { this.later(REST_MS); for (const watcher of this.typers) watcher(); });
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") { void this.jump(event.shiftKey ? -1 : 1); event.preventDefault(); }
      if (event.key === "Escape") { this.set(""); this.input.blur(); tree.focus(); }
      if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
    });
    view.watch(() => { if (this.input.value !== "") void this.run(); }, "rows", "clock");
    // What is in a state changes with the window.
    view.watch(() => {
      const query = parseQuery(this.input.value);
      if (query.states.length === 0 && query.expression === null) return;
      this.later(3 * REST_MS);
    }, "window");
  }
  /** Looks when nothing has changed for a moment; what is looked for now is no longer wanted. */
  private later(rest: number): void {
    this.looking.abort();
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.run(), rest);
  }
  /** Calls `watcher` when a reader types. */
  watchTyping(watcher: () => void): void { this.typers.add(watcher); }
  watch(watcher: () => void): void { this.watchers.add(watcher); }
  get text(): string { return this.input.value; }
  /** No search is running or scheduled. */
  get isIdle(): boolean { return this.timer === 0 && this.runs === 0; }
  set(text: string): void { this.input.value = text; void this.run(); }

  private async run(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = 0;
    this.runs += 1;
    await this.look();
    this.runs -= 1;
  }
  private async look(): Promise<void> {
    this.looking.abort();
    const { signal } = this.looking = new AbortController(), text = this.input.value.trim(), query = parseQuery(text);
    for (const watcher of this.watchers) watcher();
    this.list.hidden = text === "" || query.wrong !== "";
    this.input.classList.toggle("wrong", query.wrong !== "");
    if (query.expression !== null && text !== "") { await this.byExpression(query, signal); return; }
    if (text === "" || query.wrong !== "") {
      this.view.set({ filter: null, found: null });
      this.count.textContent = query.wrong;
      this.show([], text === "" ? null : new Set(), query);
      return;
    }
    this.view.set({ filter: null });
    let found = this.view.now.rows.filter((row) => this.fits(row, query)).map((row) => row.id), kind: FoundKind = "whole";
    if (query.states.length > 0) {
      this.count.textContent = "…";
      const { window: { begin, end }, clock } = this.view.now, expression = query.states.map((style) => `state == ${STATES[style]![0]!}`).join(" || ");
      const inState = await api.matching(expression, begin, end, clock, null, signal).catch(() => null);
      if (signal.aborted) return;
      if (inState === null) {
        this.view.set({ found: null });
        this.count.textContent = "the server has no answer";
        return;
      }
      const rows = new Set(inState.rows);
      found = found.filter((row) => rows.has(row));
      ({ kind } = inState);
    }
    this.view.set({ found });
    this.tell(found.length === 1 ? "1 row" : `${formatCount(found.length)} rows`, found.length, kind);
    this.show(found, new Set(found), query, kind);
  }
  /** Says what was found; where not all states were looked at, that there may be more. */
  private tell(found: string, count: number, kind: FoundKind): void {
    const text = foundText(found, count, kind);
    this.count.textContent = kind === "whole" || kind === "unknown" ? text : `${text}: zoom in for all`;
    const more = `${text}. The window has too many states to look at each: in a shorter one, all are looked at`;
    this.count.title = kind === "whole" ? "" : kind === "unknown" ? TOO_MANY : more;
  }
  /** Rows by what they did: the server looks at their states. */
  private async byExpression(query: Query, signal: AbortSignal): Promise<void> {
    const { window: { begin, end }, clock } = this.view.now, expression = query.expression!;
    this.count.textContent = "…";
    const answer = await api.matching(expression, begin, end, clock, null, signal).catch((error: unknown) => error);
    if (signal.aborted) return;
    if (answer instanceof Error) {
      this.input.classList.add("wrong");
      this.count.textContent = this.count.title = answer.message;
      this.view.set({ filter: null, found: null });
      return;
    }
    const found = answer as Matching, { rows, states, kind } = found;
    this.tell(statesText(found), states, kind);
    this.view.set({ filter: expression, found: null });
    // Where it is not known which rows fit, none is left out.
    this.show(rows, kind === "unknown" ? null : new Set(rows), query, kind);
  }
  private show(found: number[], filter: ReadonlySet<number> | null, query: Query, kind: FoundKind = "whole"): void {
    this.found = found;
    this.tree.marked = [...query.words, ...query.host, ...query.pid, ...query.tid];
    this.rows.setFilter(filter, kind === "whole");
  }
  private async jump(by: number): Promise<void> {
    const { row, selection } = this.view.now;
    await this.run();
    // The reader has gone elsewhere meanwhile.
    if (this.view.now.row !== row || this.view.now.selection !== selection) return;
    const shown = this.rows.lines.filter((line) => this.rows.matches(line.id)).map((line) => line.id), all = shown.length > 0 ? shown : this.found;
    if (all.length === 0) return;
    const now = all.indexOf(this.view.now.row ?? -1);
    const to = all[now < 0 ? 0 : (now + by + all.length) % all.length]!;
    this.navigation.go(to, (this.view.now.window.begin + this.view.now.window.end) / 2);
  }
  private fits(row: Row, query: Query): boolean {
    const host = this.view.now.experiment?.hosts[row.host]?.name.toLowerCase() ?? "";
    if (!query.host.every((value) => host.includes(value)) || !query.kind.every((value) => row.kind.startsWith(value))) return false;
    if (!query.pid.every((value) => String(row.pid) === value) || !query.tid.every((value) => String(row.tid) === value)) return false;
    const own = `${this.rows.name(row)} ${row.pid ?? ""}`;
    if (query.pattern !== null && !query.pattern.test(own)) return false;
    const parent = this.rows.row(row.parent);
    const around = `${host} ${parent !== undefined && parent.kind === "process" ? this.rows.name(parent) : ""} ${row.kind} ${own}`.toLowerCase();
    return query.words.every((word) => around.includes(word));
  }
}
