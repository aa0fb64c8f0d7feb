// The whole view in the address: window, selection, row, clock, path, drawer, what was chosen in panels, orders of tables, search, rows, bookmarks, theme; so that a reload, or who gets the link, sees the same.
// Talks to: the browser's address. Used by: main.
import type { Clock, PathOf } from "./api";
import type { Bookmark } from "./bookmarks";
import type { TimeFormat } from "./format";
import type { Orders } from "./panels/orders";
import type { KeptRows } from "./rows";
import type { Theme } from "./theme";
import type { Range } from "./view";

export interface AddressState {
  /** How the name of the store begins that rows and times are of. */
  of: string | null;
  window: Range | null; selection: Range | null; area: number[]; row: number | null; clock: Clock; drawer: string | null; search: string;
  /** What was chosen in the panel of the drawer, and in others by their names. */
  inner: string; others: Readonly<Record<string, string>>;
  /** How instants are shown, and whether the legend is; null: not said. */
  times: TimeFormat | null; legend: boolean | null;
  /** Of which time rows are sorted by activity; false: they are not; null: not said. */
  sorted: Range | false | null;
  /** They are by CPU time alone, each for itself. */
  isByCpu: boolean;
  /** Whether arrows of messages and of wake-ups are drawn. */
  arrows: { messages: boolean; wakeups: boolean };
  /** How tables are sorted, where a reader sorted them. */
  orders: Orders;
  /** Light or dark, if that was chosen; and whether colours of states are those for all eyes. */
  theme: Theme | null; isClear: boolean;
  rows: KeptRows; only: number[]; bookmarks: Bookmark[];
  /** The request, or the thread and the time, whose critical path is shown; whether its rows are closed. */
  path: PathOf | null; isPathClosed: boolean;
}
const REST_MS = 250;
const TIMES: Readonly<Record<string, TimeFormat>> = { UTC: "UTC", local: "local", begin: "since begin", Unix: "Unix" };
const LISTS = { collapsed: "x", unfolded: "u", pinned: "p", hidden: "h" } as const;

/** [1, 2, 3, 7] → "1-3.7". */
function packIds(ids: readonly number[], isOrdered: boolean): string {
  const list = isOrdered ? ids : [...ids].sort((a, b) => a - b), parts: string[] = [];
  for (let at = 0; at < list.length; at += 1) {
    const first = list[at]!;
    while (!isOrdered && list[at + 1] === list[at]! + 1) at += 1;
    parts.push(list[at] === first ? `${first}` : `${first}-${list[at]}`);
  }
  return parts.join(".");
}
function unpackIds(text: string | null): number[] {
  const ids: number[] = [];
  for (const part of (text ?? "").split(".")) {
    const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    if (first === undefined) continue;
    // An address may be wrong: not more rows than there can be.
    for (let id = Number(first); id <= Number(last ?? first) && ids.length < 100_000; id += 1) ids.push(id);
  }
  return ids;
}
function packRange(range: Range): string { return `${Math.round(range.begin)},${Math.round(range.end)}`; }
function unpackRange(text: string | null): Range | null {
  const [, begin, end] = /^(-?\d+),(-?\d+)$/.exec(text ?? "") ?? [];
  return begin !== undefined && end !== undefined && Number(begin) <= Number(end) ? { begin: Number(begin), end: Number(end) } : null;
}

/** `t=System calls~time~down`. */
function unpackOrders(texts: readonly string[]): Orders {
  return Object.fromEntries(texts.flatMap((text) => { const [, table, column, to] = /^([^~]+)~([^~]+)~(up|down)$/.exec(text) ?? []; return table === undefined ? [] : [[table, { column: column!, isDown: to === "down" }]]; }));
}
/** `k=messages~inverted~h1`. */
function unpackOthers(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(texts.flatMap((text) => {
    const [, panel, kept] = /^([a-z-]+)~(.+)$/s.exec(text) ?? [];
    return panel === undefined ? [] : [[panel, kept!]];
  }));
}
/** `request=14`, or `path=` row, begin and end. */
function unpackPath(values: URLSearchParams): PathOf | null {
  const request = values.get("request"), [, row, begin, end] = /^(\d+),(-?\d+),(-?\d+)$/.exec(values.get("path") ?? "") ?? [];
  if (request !== null && /^\d+$/.test(request)) return { request: Number(request) };
  return row === undefined ? null : { row: Number(row), begin: Number(begin), end: Number(end) };
}

/** Takes the token out of the address: the cookie has it now, and addresses end up in histories and over shoulders. */
export function hideToken(): void {
  const address = new URL(location.href);
  if (!address.searchParams.has("token")) return;
  address.searchParams.delete("token");
  history.replaceState(history.state, "", address);
}
export function readAddress(hash: string): AddressState {
  const values = new URLSearchParams(hash.replace(/^#/, "")), row = values.get("r"), sorted = values.get("sort");
  const bookmarks: Bookmark[] = [];
  for (const text of values.getAll("b")) {
    const [, at, mark, clock, span, name] = /^(-?\d+)~(\d*)~([co])~(\d+)~(.*)$/.exec(text) ?? [];
    if (at !== undefined) bookmarks.push({ at: Number(at), row: mark === "" ? null : Number(mark), clock: clock === "o" ? "own" : "common", span: Number(span), name: name ?? "" });
  }
  return {
    of: values.get("of"), window: unpackRange(values.get("w")), selection: unpackRange(values.get("s")), area: unpackIds(values.get("a")), row: row !== null && /^\d+$/.test(row) ? Number(row) : null,
    clock: values.get("c") === "own" ? "own" : "common", drawer: values.get("d"), inner: values.get("i") ?? "", search: values.get("q") ?? "", isByCpu: values.get("by") === "cpu", sorted: sorted === "0" ? false : unpackRange(sorted),
    arrows: { messages: values.get("m") !== "0", wakeups: values.get("wake") === "1" },
    rows: { collapsed: unpackIds(values.get("x")), unfolded: unpackIds(values.get("u")), pinned: unpackIds(values.get("p")), hidden: unpackIds(values.get("h")) },
    others: unpackOthers(values.getAll("k")), times: TIMES[values.get("time") ?? ""] ?? null, legend: values.has("legend") ? values.get("legend") !== "0" : null,
    only: unpackIds(values.get("o")), bookmarks, path: unpackPath(values), isPathClosed: values.get("pc") === "1", orders: unpackOrders(values.getAll("t")), theme: values.get("theme") === "dark" ? "dark" : values.get("theme") === "light" ? "light" : null, isClear: values.get("eyes") === "all",
  };
}
export function writeAddress(place: AddressState): string {
  const values = new URLSearchParams();
  if (place.of !== null) values.set("of", place.of);
  if (place.window !== null) values.set("w", packRange(place.window));
  if (place.selection !== null) values.set("s", packRange(place.selection));
  if (place.area.length > 0) values.set("a", packIds(place.area, false));
  if (place.row !== null) values.set("r", String(place.row));
  if (place.clock === "own") values.set("c", "own");
  if (place.path !== null && "request" in place.path) values.set("request", String(place.path.request));
  else if (place.path !== null) values.set("path", `${place.path.row},${place.path.begin},${place.path.end}`);
  if (place.isPathClosed) values.set("pc", "1");
  values.set("d", place.drawer ?? "");
  if (place.inner !== "") values.set("i", place.inner);
  for (const [panel, kept] of Object.entries(place.others)) if (kept !== "") values.append("k", `${panel}~${kept}`);
  if (place.search !== "") values.set("q", place.search);
  if (place.sorted !== null) values.set("sort", place.sorted === false ? "0" : packRange(place.sorted));
  if (place.isByCpu) values.set("by", "cpu");
  if (!place.arrows.messages) values.set("m", "0");
  if (place.arrows.wakeups) values.set("wake", "1");
  for (const [list, key] of Object.entries(LISTS) as [keyof KeptRows, string][]) {
    if (place.rows[list].length > 0) values.set(key, packIds(place.rows[list], list === "pinned"));
  }
  if (place.only.length > 0) values.set("o", packIds(place.only, false));
  for (const [table, { column, isDown }] of Object.entries(place.orders)) values.append("t", `${table}~${column}~${isDown ? "down" : "up"}`);
  for (const [text, format] of Object.entries(TIMES)) if (format === place.times) values.set("time", text);
  if (place.legend !== null) values.set("legend", place.legend ? "1" : "0");
  if (place.theme !== null) values.set("theme", place.theme);
  if (place.isClear) values.set("eyes", "all");
  for (const it of place.bookmarks) values.append("b", `${it.at}~${it.row ?? ""}~${it.clock === "own" ? "o" : "c"}~${Math.round(it.span)}~${it.name}`);
  // Commas and the like may stay: the address can be read.
  return `#${values.toString().replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%7E/g, "~")}`;
}

/** Whether the browser's Back should lead from one place to the one before: another request, clock or rows, or a window that shares less than half with it. */
export function isStep(before: AddressState, after: AddressState): boolean {
  if (before.clock !== after.clock || JSON.stringify([before.path, before.only]) !== JSON.stringify([after.path, after.only])) return true;
  const [a, b] = [before.window, after.window];
  if (a === null || b === null) return false;
  const shared = Math.min(a.end, b.end) - Math.max(a.begin, b.begin);
  return shared < Math.max(a.end - a.begin, b.end - b.begin) / 2;
}

/** Keeps the address up to date, not more often than needed; tells of another one that was typed, pasted, or gone back to. */
export class Address {
  private timer = 0;
  /** What the address says; null before it says anything, and while another one is being gone to: that is no step of its own. */
  private last: AddressState | null = null;
  private text: string | null = null;
  private going = 0;
  constructor(private readonly place: () => AddressState, private readonly typed: (asked: AddressState) => Promise<void>) {
    addEventListener("popstate", () => { if (this.text !== null && location.hash !== this.text) void this.go(); });
  }
  /** It says what is shown. */
  get isIdle(): boolean { return this.timer === 0 && this.going === 0; }
  private async go(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = 0;
    this.last = null;
    this.going += 1;
    await this.typed(readAddress(location.hash)).finally(() => { this.going -= 1; });
    if (this.going === 0) this.changed();
  }
  /** Something has changed. */
  changed(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.write(), REST_MS);
  }
  private write(): void {
    this.timer = 0;
    if (this.going > 0) return;
    const place = this.place(), text = this.text = writeAddress(place);
    if (this.last !== null && isStep(this.last, place)) history.pushState(null, "", text);
    else history.replaceState(null, "", text);
    this.last = place;
  }
}
