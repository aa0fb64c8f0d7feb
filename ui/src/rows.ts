// Which rows are shown, and in which order: the tree without what is collapsed, hidden or filtered out, sorted or not, pinned ones first.
// Talks to: view (all rows, the rows of a request). Used by: tree, time graph, search, URL.
import type { Path, Row } from "./api";
import { PATH_HEAD, pathRow, pathRows } from "./pathRows";
import type { Renewal } from "./renewal";
import { counterLine, counterOf, COUNTERS } from "./counterRows";
import { arranged, BUNDLE, countersKey, devicesOf, isBundle, isDevices, processKey, renewedKey, type Bundle } from "./rowGroups";
import type { View } from "./view";

/** One line of the page: a row, or the fold of a host's rows with little activity. */
export interface Line {
  /** The row's number; −1 − host for a fold; `PATH_HEAD` and below for those of the critical path. */
  readonly id: number;
  readonly row: Row | null;
  readonly host: number;
  readonly label: string;
  readonly depth: number;
  readonly expandable: boolean;
  readonly expanded: boolean;
  readonly pinned: boolean;
  /** Rows whose states are drawn in this line, one above the other, or all in its full height. */
  readonly sources: readonly number[];
  readonly isOverlaid?: boolean;
  /** All rows that it stands for, if it is a bundle. */
  readonly members?: readonly number[];
}
/** Rows of a group that are drawn in its line. */
const MAX_OVERLAID = 100;
/** More rows than this do not fit one above the other in a line. */
const MAX_STRIPES = 7;

/** A host that is sorted by activity has at least about this many lines before its fold. */
const MIN_LINES = 6;

/** What of it the URL keeps. */
export interface KeptRows { collapsed: number[]; unfolded: number[]; pinned: number[]; hidden: number[] }

export class Rows {
  lines: readonly Line[] = [];
  pinnedCount = 0;
  private byId = new Map<number, Row>();
  private children = new Map<number | null, Row[]>();
  private places = new Map<number, number>();
  /** Only the head of the critical path is shown. */
  isPathClosed = false;
  private readonly collapsed = new Set<number>();
  private readonly unfolded = new Set<number>();
  private readonly hidden = new Set<number>();
  private pinned: number[] = [];
  private filter: ReadonlySet<number> | null = null;
  /** All states were looked at for the filter: rows that do not fit have none. */
  isFilterWhole = true;
  /** CPU time by row, where rows are sorted by it; and the rows below hosts that are active enough not to be folded. */
  private activity: ReadonlyMap<number, number> | null = null;
  private active: ReadonlySet<number> = new Set();
  /** Number of messages by row, where rows are put together and ranked by them; and on how many lines of a host. */
  private parts: ReadonlyMap<number, number> | null = null;
  private room = 0;
  /** The bundle that a row is in, by the row. */
  private bundles = new Map<number, Bundle>();
  private readonly watchers = new Set<() => void>();

  constructor(private readonly view: View) {
    view.watch(() => { this.index(); this.change(); }, "rows");
    view.watch(() => this.change(), "onlyRows", "path");
  }
  watch(watcher: () => void): void { this.watchers.add(watcher); }

  row(id: number | null): Row | undefined { return id === null ? undefined : this.byId.get(id); }
  childrenOf(id: number | null): readonly Row[] { return this.children.get(id) ?? []; }
  /** The line of a row, else of its nearest ancestor that is shown; −1 if there is none. */
  lineOf(id: number): number {
    for (let row = this.byId.get(id); row !== undefined; row = this.row(row.parent)) {
      const place = this.places.get(row.id);
      if (place !== undefined) return place;
      const bundle = this.bundles.get(row.id), bundled = bundle === undefined ? undefined : this.places.get(BUNDLE - bundle.key);
      if (bundled !== undefined) return bundled;
      if (row.parent !== null && this.row(row.parent)?.parent === null) {
        const fold = this.places.get(-1 - row.host);
        if (fold !== undefined && this.folds(row)) return fold;
      }
    }
    return -1;
  }
  /** The line of exactly this row; undefined if it is not shown. */
  placeOf(id: number): number | undefined { return this.places.get(id); }
  name(row: Row): string { return row.rank !== undefined ? `rank ${row.rank} · ${row.label} ${row.tid}` : row.tid !== undefined ? `${row.label} ${row.tid}` : row.pid !== undefined ? `${row.label} ${row.pid}` : row.label; }
  /** With its host: "h1 wget 228". */
  fullName(row: Row): string {
    const host = this.view.now.experiment?.hosts[row.host]?.name ?? "";
    return row.kind === "host" ? row.label : `${host} ${this.name(row)}`;
  }

  /** The rows that a line is about: its own, those of its fold, the thread of a path. */
  idsOf(line: Line): readonly number[] {
    if (line.row !== null) return [line.row.id];
    const thread = pathRow(this.view.now.path, line.id)?.row;
    if (line.id <= BUNDLE || counterOf(line.id) !== null) return line.members ?? [];
    return thread !== undefined ? [thread] : this.foldedOf(line.host).map((row) => row.id);
  }
  private foldedOf(host: number): Row[] {
    const top = this.childrenOf(null).find((row) => row.host === host);
    return top === undefined ? [] : this.childrenOf(top.id).filter((row) => this.folds(row));
  }
  toggle(id: number): void {
    if (id === PATH_HEAD) this.isPathClosed = !this.isPathClosed;
    else if (id <= BUNDLE) flip(this.unfolded, BUNDLE - id);
    else if (id < 0) flip(this.unfolded, -1 - id);
    else if (this.parts !== null && this.byId.get(id)?.kind === "process") flip(this.unfolded, processKey(id));
    else flip(this.collapsed, id);
    this.change();
  }
  get someExpanded(): boolean { return this.childrenOf(null).some((row) => !this.collapsed.has(row.id)); }
  collapseAll(): void {
    if (this.someExpanded) for (const row of this.childrenOf(null)) this.collapsed.add(row.id);
    else this.collapsed.clear();
    this.change();
  }
  pin(id: number): void {
    this.pinned = this.pinned.includes(id) ? this.pinned.filter((other) => other !== id) : [...this.pinned, id];
    this.change();
  }
  hide(id: number): void {
    this.hidden.add(id);
    this.pinned = this.pinned.filter((other) => other !== id);
    this.change();
  }
  get hiddenCount(): number { return this.hidden.size; }
  showHidden(): void { this.hidden.clear(); this.change(); }
  /** `isWhole`: all states were looked at for it. */
  setFilter(matches: ReadonlySet<number> | null, isWhole = true): void { this.filter = matches; this.isFilterWhole = isWhole; this.change(); }
  get isFiltered(): boolean { return this.filter !== null; }
  matches(id: number): boolean { return this.filter?.has(id) ?? false; }
  /**
   * Sorts by activity; each host shows the most active of its processes and threads on about `room` lines, and folds the others. With the number of messages of rows (`parts`), processes of one
   * name are put together, and those with most messages come first.
   */
  setActivity(activity: ReadonlyMap<number, number> | null, room = 0, parts: ReadonlyMap<number, number> | null = null): void {
    this.activity = activity;
    this.parts = parts;
    this.room = Math.max(room, MIN_LINES);
    // What is selected is never folded.
    const active = new Set<number>(), chosen = this.top(this.view.now.row);
    if (chosen !== null) active.add(chosen);
    for (const host of activity === null ? [] : this.childrenOf(null)) {
      const isQuiet = (row: Row) => this.isQuietDevice(row, active);
      let left = Math.max(room, MIN_LINES);
      for (const row of this.sorted(this.childrenOf(host.id))) {
        if (isQuiet(row)) continue;
        const lines = 1 + this.childrenOf(row.id).length, isFolding = row.kind === "process" || row.kind === "thread";
        if (isFolding && (lines > left || !activity!.has(row.id))) continue;
        left -= lines;
        if (isFolding) active.add(row.id);
      }
    }
    this.active = active;
    this.change();
  }
  get isSorted(): boolean { return this.activity !== null && this.parts === null; }
  get isGrouped(): boolean { return this.parts !== null; }
  /** The row just below the host that a row is, or is in. */
  private top(id: number | null): number | null {
    let row = this.row(id);
    while (row !== undefined && row.parent !== null && this.row(row.parent)?.parent !== null) row = this.row(row.parent);
    return row === undefined || row.parent === null ? null : row.id;
  }

  /** Opens what hides a row, so that it has a line. */
  reveal(id: number): void {
    if (this.places.has(id)) return;
    const row = this.byId.get(id);
    if (row === undefined) return;
    for (let it: Row | undefined = row; it !== undefined; it = this.row(it.parent)) {
      this.hidden.delete(it.id);
      if (it !== row) { this.collapsed.delete(it.id); if (this.parts !== null && it.kind === "process") this.unfolded.add(processKey(it.id)); }
      const bundle = this.bundles.get(it.id);
      if (bundle !== undefined) this.unfolded.add(bundle.key);
      else if (this.folds(it)) this.unfolded.add(it.host);
    }
    this.change();
  }

  get kept(): KeptRows { return { collapsed: [...this.collapsed], unfolded: [...this.unfolded], pinned: this.pinned, hidden: [...this.hidden] }; }
  restore(kept: KeptRows, isPathClosed: boolean): void {
    this.isPathClosed = isPathClosed;
    for (const [set, ids] of [[this.collapsed, kept.collapsed], [this.unfolded, kept.unfolded], [this.hidden, kept.hidden]] as const) {
      set.clear();
      for (const id of ids) set.add(id);
    }
    this.pinned = [...kept.pinned];
    this.change();
  }

  /** Other numbers of rows and hosts come: keeps what was said of them. The rows themselves are set in the view after this. */
  renew(renewal: Renewal): void {
    for (const set of [this.collapsed, this.hidden]) {
      const ids = [...set].map(renewal.row);
      set.clear();
      for (const id of ids) if (id !== null) set.add(id);
    }
    const keys = [...this.unfolded].map((key) => renewedKey(key, renewal.row, renewal.host));
    this.unfolded.clear();
    for (const key of keys) if (key !== null) this.unfolded.add(key);
    this.pinned = this.pinned.flatMap((id) => renewal.row(id) ?? []);
    this.active = new Set([...this.active].flatMap((id) => renewal.row(id) ?? []));
    const moved = (map: ReadonlyMap<number, number> | null) => (map === null ? null : new Map([...map].flatMap(([id, value]): [number, number][] => { const now = renewal.row(id); return now === null ? [] : [[now, value]]; })));
    this.activity = moved(this.activity);
    this.parts = moved(this.parts);
  }

  private index(): void {
    this.byId = new Map();
    this.children = new Map();
    for (const row of this.view.now.rows) {
      this.byId.set(row.id, row);
      const siblings = this.children.get(row.parent);
      if (siblings) siblings.push(row);
      else this.children.set(row.parent, [row]);
    }
    this.children.get(null)?.sort((a, b) => names.compare(a.label, b.label));
  }
  /** Whether a row goes to the fold of its host: sorted by activity, and it had little. */
  private folds(row: Row): boolean {
    return this.activity !== null && this.parts === null && (row.kind === "process" || row.kind === "thread") && this.row(row.parent)?.kind === "host" && !this.active.has(row.id);
  }
  /** Sorted by activity, devices do not take lines from threads: disks that did nothing, and the only CPU of a host, which is what the host's own line shows. */
  private isQuietDevice(row: Row, active: ReadonlySet<number> = this.active): boolean {
    if (this.activity === null || this.parts !== null || active.has(row.id) || this.hidden.has(row.id) || this.pinned.includes(row.id)) return false;
    return row.kind === "disk" ? !this.activity.has(row.id) : row.kind === "cpu" && !this.childrenOf(row.parent).some((it) => it !== row && it.kind === "cpu");
  }
  /** Rows that are shown because of a filter, with their ancestors; null: all. */
  private wanted(): ReadonlySet<number> | null {
    const only = this.view.now.onlyRows, filter = this.filter;
    if (only === null && filter === null) return null;
    const wanted = new Set<number>();
    for (const id of only ?? filter!) {
      if (only !== null && filter !== null && !filter.has(id)) continue;
      for (let row = this.byId.get(id); row !== undefined && !wanted.has(row.id); row = this.row(row.parent)) wanted.add(row.id);
    }
    return wanted;
  }
  private change(): void {
    const lines: Line[] = [], wanted = this.wanted();
    this.bundles = new Map();
    this.pinned = this.pinned.filter((id) => this.byId.has(id));
    for (const id of this.pinned) {
      const row = this.byId.get(id)!;
      lines.push({ id, row, host: row.host, label: this.fullName(row), depth: 0, expandable: false, expanded: false, pinned: true, sources: this.sources(row, false) });
    }
    this.pinnedCount = lines.length;
    this.addPath(lines, this.view.now.path);
    for (const host of this.childrenOf(null)) this.add(lines, host, 0, wanted);
    this.lines = lines;
    this.places = new Map(lines.map((line, place) => [line.id, place]));
    for (const watcher of this.watchers) watcher();
  }
  /** The critical path has rows of its own, above all hosts. */
  private addPath(lines: Line[], path: Path | null): void {
    const rows = pathRows(path), first = rows[0];
    if (path === null || first === undefined) return;
    const plain = { row: null, pinned: false }, thread = this.byId.get("row" in path.of ? path.of.row : -1);
    const label = path.request === null ? `critical path of ${thread === undefined ? "a thread" : this.name(thread)}` : `critical path of request ${path.request}`;
    lines.push({ ...plain, id: PATH_HEAD, host: first.host, label, depth: 0, expandable: true, expanded: !this.isPathClosed, sources: [] });
    if (this.isPathClosed) return;
    for (const { id, host, row } of rows) {
      const it = this.byId.get(row);
      lines.push({ ...plain, id, host, label: it === undefined ? "" : this.fullName(it), depth: 1, expandable: false, expanded: false, sources: [id] });
    }
  }
  private add(lines: Line[], row: Row, depth: number, wanted: ReadonlySet<number> | null): void {
    if (this.hidden.has(row.id) || (wanted !== null && !wanted.has(row.id))) return;
    const isPinned = this.pinned.includes(row.id) && row.kind !== "host";
    let children = this.childrenOf(row.id);
    if (wanted !== null) children = children.filter((child) => wanted.has(child.id));
    // A filter shows what it found, also below what is collapsed.
    const expanded = children.length > 0 && (wanted !== null || this.isExpanded(row));
    if (!isPinned) {
      lines.push({
        id: row.id, row, host: row.host, label: this.name(row), depth, expandable: children.length > 0, expanded, pinned: false, sources: this.sources(row, expanded),
      });
    }
    if (!expanded) return;
    // Open ones are above all else of their host, closed ones the last of it, with its devices.
    const hasCounters = row.kind === "host" && this.filter === null, areOpen = this.unfolded.has(countersKey(row.host));
    if (hasCounters && areOpen) this.addCounters(lines, row.host, depth + 1);
    if (row.kind === "host" && wanted === null && this.parts !== null) { this.addGrouped(lines, row, children, depth); return; }
    const isPlain = wanted === null && row.kind === "host", folded = isPlain ? children.filter((child) => this.folds(child)) : [];
    const devices = isPlain ? children.filter((child) => this.isQuietDevice(child)) : [];
    const shown = folded.length + devices.length > 0 ? children.filter((child) => !this.folds(child) && !this.isQuietDevice(child)) : children;
    for (const child of this.sorted(shown)) this.add(lines, child, depth + 1, wanted);
    if (folded.length > 0) {
      const isOpen = this.unfolded.has(row.host), label = `${folded.length} less active`;
      lines.push({ id: -1 - row.host, row: null, host: row.host, label, depth: depth + 1, expandable: true, expanded: isOpen, pinned: false, sources: [] });
      if (isOpen) for (const child of folded) this.add(lines, child, depth + 2, wanted);
    }
    if (devices.length > 0) this.addBundle(lines, devicesOf(row.host, devices), depth);
    else if (hasCounters && !areOpen && wanted === null) this.addCounters(lines, row.host, depth + 1);
  }
  /** Opens the counters of all hosts, or closes them. */
  toggleCounters(): void {
    const keys = this.childrenOf(null).map((host) => countersKey(host.host)), isOpen = keys.some((key) => this.unfolded.has(key));
    for (const key of keys) if (isOpen) this.unfolded.delete(key); else this.unfolded.add(key);
    this.change();
  }
  /** What a host used over time: folded, until it is opened. */
  private addCounters(lines: Line[], host: number, depth: number): void {
    const key = countersKey(host), isOpen = this.unfolded.has(key), plain = { row: null, host, pinned: false, sources: [], isOverlaid: true };
    lines.push({ ...plain, id: BUNDLE - key, label: "counters", depth, expandable: true, expanded: isOpen });
    if (isOpen) COUNTERS.forEach(({ label }, kind) => lines.push({ ...plain, id: counterLine(host, kind), label, depth: depth + 1, expandable: false, expanded: false }));
  }
  private isExpanded(row: Row): boolean { return this.parts !== null && row.kind === "process" ? this.unfolded.has(processKey(row.id)) : !this.collapsed.has(row.id); }
  /** The children of a host at first sight: groups, single ones, folds. */
  private addGrouped(lines: Line[], host: Row, children: readonly Row[], depth: number): void {
    const kept = this.top(this.view.now.row), rank = { parts: (row: Row) => this.parts!.get(row.id) ?? 0, activity: (row: Row) => this.activity!.get(row.id) ?? 0 };
    const shown = children.filter((row) => !this.hidden.has(row.id) && !this.pinned.includes(row.id));
    for (const it of arranged(host.host, shown, rank, (row) => (this.isExpanded(row) ? this.childrenOf(row.id).length : 0), this.room, new Set(kept === null ? [] : [kept]), (row) => row.namespace ?? this.childrenOf(row.id).find((child) => child.namespace !== undefined)?.namespace ?? null)) {
      if (isBundle(it)) this.addBundle(lines, it, depth);
      else this.add(lines, it, depth + 1, null);
    }
  }
  /** Several rows of a host as one line, and what is in it where it is open. */
  private addBundle(lines: Line[], it: Bundle, depth: number): void {
    const host = it.rows[0]!.host, isOpen = this.unfolded.has(it.key), members = it.rows.map((row) => row.id);
    const inside = (row: Row) => (row.kind === "process" ? this.childrenOf(row.id).map((child) => child.id) : [row.id]);
    const sources = it.isGroup ? it.rows.flatMap(inside).slice(0, MAX_OVERLAID) : [];
    for (const id of members) this.bundles.set(id, it);
    const line = { id: BUNDLE - it.key, row: null, host, label: it.label, depth: depth + 1, expandable: true, expanded: isOpen, pinned: false };
    lines.push({ ...line, sources, isOverlaid: true, members });
    if (!isOpen) return;
    for (const row of this.sorted(it.rows)) this.add(lines, row, depth + 2, null);
    if (isDevices(it.key) && !this.unfolded.has(countersKey(host))) this.addCounters(lines, host, depth + 2);
  }
  /** The most active first; CPUs, disks and phases keep their place. */
  private sorted(rows: readonly Row[]): readonly Row[] {
    const activity = this.activity;
    if (activity === null) return rows;
    const key = (row: Row) => (row.kind === "process" || row.kind === "thread" ? activity.get(row.id) ?? 0 : Infinity);
    return [...rows].sort((a, b) => { const x = key(a), y = key(b); return x === y ? 0 : y > x ? 1 : -1; });
  }
  /** A host shows its CPUs, a collapsed process its threads: what is inside can be seen from outside. */
  private sources(row: Row, expanded: boolean): number[] {
    if (row.kind !== "host" && row.kind !== "process") return [row.id];
    const inside = this.childrenOf(row.id).filter((child) => child.kind === (row.kind === "host" ? "cpu" : "thread")).map((child) => child.id);
    if (inside.length === 0) return [row.id];
    if (row.kind === "process" && expanded) return [];
    return inside.slice(0, MAX_STRIPES);
  }
}
/** h2 comes before h10. */
const names = new Intl.Collator("en", { numeric: true });
function flip(set: Set<number>, id: number): void {
  if (!set.delete(id)) set.add(id);
}
