// The search box: which rows a text means. Words must all be in a row's names (its own and those around it); `host:`, `pid:`, `tid:`, `kind:`, `state:` ask for more; /…/ is a
// regular expression. Comparisons are an expression on states: rows that have such states in the window are shown, and all other states are pale.
// Talks to: api (rows that are in a state, or fit an expression), rows, tree (what to highlight), view (the expression). Used by: main, keys, URL.
import { api, type Row } from "./api";
import { button, h } from "./dom";
import { formatCount } from "./format";
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
  private turn = 0;
  private runs = 0;
  private found: number[] = [];
  private readonly watchers = new Set<() => void>();

  constructor(private readonly view: View, private readonly rows: Rows, private readonly tree: Tree, private readonly navigation: Navigation, openList: () => void) {
    this.list = button("list", "All of them, one after the other (n, N)", openList, { hidden: true });
    this.element = h("div", { class: "search-box", role: "search" }, this.input, this.count, this.list);
    this.input.addEventListener("input", () => { clearTimeout(this.timer); this.timer = window.setTimeout(() => void this.run(), REST_MS); });
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
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.run(), 3 * REST_MS);
    }, "window");
  }
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
    const turn = this.turn += 1, text = this.input.value.trim(), query = parseQuery(text);
    for (const watcher of this.watchers) watcher();
    this.list.hidden = query.expression === null || text === "";
    this.input.classList.toggle("wrong", query.wrong !== "");
    if (query.expression !== null && text !== "") { await this.byExpression(query, turn); return; }
    this.view.set({ filter: null });
    if (text === "" || query.wrong !== "") {
      this.count.textContent = query.wrong;
      this.show([], text === "" ? null : new Set(), query);
      return;
    }
    let found = this.view.now.rows.filter((row) => this.fits(row, query)).map((row) => row.id), isWhole = true;
    if (query.states.length > 0) {
      this.count.textContent = "…";
      const { window: { begin, end }, clock } = this.view.now, expression = query.states.map((style) => `state == ${STATES[style]![0]!}`).join(" || ");
      const inState = await api.matching(expression, begin, end, clock).catch(() => null);
      if (turn !== this.turn || inState === null) return;
      const rows = new Set(inState.rows);
      found = found.filter((row) => rows.has(row));
      isWhole = inState.is_whole;
    }
    this.tell(found.length === 1 ? "1 row" : `${formatCount(found.length)} rows`, isWhole);
    this.show(found, new Set(found), query, isWhole);
  }
  /** Says what was found; where not all states were looked at, that there may be more. */
  private tell(found: string, isWhole: boolean): void {
    this.count.textContent = isWhole ? found : `at least ${found}: zoom in for all`;
    this.count.title = isWhole ? "" : "The window has too many states to look at each: only those were found that fill most of a part of it. In a shorter window, all are";
  }
  /** Rows by what they did: the server looks at their states. */
  private async byExpression(query: Query, turn: number): Promise<void> {
    const { window: { begin, end }, clock } = this.view.now, expression = query.expression!;
    this.count.textContent = "…";
    const answer = await api.matching(expression, begin, end, clock).catch((error: unknown) => error);
    if (turn !== this.turn) return;
    if (answer instanceof Error) {
      this.input.classList.add("wrong");
      this.count.textContent = this.count.title = answer.message;
      return;
    }
    const { rows, states, is_whole } = answer as { rows: number[]; states: number; is_whole: boolean };
    this.tell(`${formatCount(states)} ${states === 1 ? "state" : "states"} on ${formatCount(rows.length)} ${rows.length === 1 ? "row" : "rows"}`, is_whole);
    this.view.set({ filter: expression });
    this.show(rows, new Set(rows), query, is_whole);
  }
  private show(found: number[], filter: ReadonlySet<number> | null, query: Query, isWhole = true): void {
    this.found = found;
    this.tree.marked = [...query.words, ...query.host, ...query.pid, ...query.tid];
    this.rows.setFilter(filter, isWhole);
  }
  private async jump(by: number): Promise<void> {
    await this.run();
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
