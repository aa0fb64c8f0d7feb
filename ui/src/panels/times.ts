// Which time a panel is about, always on the common clock (the figures are by it), and back to the clock that is shown.
// Talks to: view. Used by: all panels.
import type { CellValue, Host, Row, Time } from "../api";
import type { Range, View } from "../view";

/** What a panel is about: the selected time, else the window. */
export interface PanelRange extends Range { readonly what: "selection" | "window" }

function hostOf(view: View, row: number | null): Host | undefined {
  const it = row === null ? undefined : rowOf(view, row);
  return it === undefined ? undefined : view.now.experiment?.hosts[it.host];
}
/** Rows by their numbers: made once for each list of rows. */
const places = new WeakMap<readonly Row[], Map<number, Row>>();
export function rowOf(view: View, id: number | null): Row | undefined {
  if (id === null) return undefined;
  const { rows } = view.now;
  let byId = places.get(rows);
  if (byId === undefined) places.set(rows, byId = new Map(rows.map((row) => [row.id, row])));
  return byId.get(id);
}
/** The row that a line of a table is about, by its host and the number of a thread, a process or a CPU; of several threads that had one number, the one that lived at the instant. */
export function rowOfLine(view: View, value: (column: string) => CellValue, at: Time | null): number | null {
  const { rows, experiment } = view.now, named = experiment?.hosts.find((it) => it.name === value("host")), hosts = experiment?.hosts ?? [], host = named ?? (hosts.length === 1 ? hosts[0] : undefined);
  if (host === undefined) return null;
  for (const key of ["tid", "pid", "cpu"] as const) {
    const number = value(key);
    if (typeof number !== "number") continue;
    const found = rows.filter((row) => row.host === host.host && row[key] === number && (key === "cpu" || row.kind === "thread" || row.kind === "process"));
    const alive = found.find((row) => at !== null && row.begin !== undefined && row.end !== undefined && at >= row.begin && at <= row.end);
    if (found.length > 0) return (alive ?? found[0]!).id;
  }
  return host.row;
}
const ENDS = ["", "from_", "to_", "client_", "server_", "by_", "parent_"];
/** What lines of a table are about, by what names of columns begin with: "" for `host`, "from_" and "to_" for `from_host` and `to_host`; two at most. */
export function endsOfLines(columns: readonly string[]): readonly string[] { return ENDS.filter((end) => columns.includes(`${end}host`)).slice(0, 2); }
/** "h1 wget 228" */
export function nameOf(view: View, id: number | null): string {
  const row = rowOf(view, id);
  if (row === undefined) return "";
  if (row.kind === "host") return row.label;
  const number = row.tid ?? row.pid;
  return `${view.now.experiment?.hosts[row.host]?.name ?? ""} ${row.rank === undefined ? "" : `rank ${row.rank} · `}${row.label}${number === undefined ? "" : ` ${number}`}`;
}
/** A command about the same traces as the page is, with the same corrections and store. */
export function commandLike(view: View, command: string): string {
  return `isochrone ${command}${view.now.experiment?.command.replace(/^isochrone view/, "") ?? ""}`;
}
/** An instant as commands take it: Unix seconds. */
export function unixSeconds(view: View, at: Time): string {
  const unix = BigInt(view.now.experiment?.origin_unix_ns ?? "0") + BigInt(Math.round(at));
  return `${unix / 1_000_000_000n}.${String(unix % 1_000_000_000n).padStart(9, "0")}`;
}
/** A word of a command line, quoted for a shell where it has to be. */
export function quotedWord(word: string): string { return /^[\w\-./:=,+@%]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`; }
/** A time of the common clock on the one that is shown, where a row (its host) is. */
export function toShown(view: View, row: number | null, at: Time): Time {
  return view.now.clock === "common" ? at : at + (hostOf(view, row)?.shift_ns ?? 0);
}
/** A time as it is shown, on the common clock. */
export function toCommon(view: View, row: number | null, at: Time): Time {
  return view.now.clock === "common" ? at : at - (hostOf(view, row)?.shift_ns ?? 0);
}
/** The range on the common clock; not beyond the traces. Own clocks: by the selected row's host, else what any host shows. */
export function panelRange(view: View, scope: "range" | "window" = "range"): PanelRange {
  const { selection, window, clock, row, experiment } = view.now;
  const isSelected = scope === "range" && selection !== null && selection.end - selection.begin >= 1;
  const shown = isSelected ? selection : window;
  let { begin, end } = shown;
  if (clock === "own") {
    const host = hostOf(view, row), shifts = host !== undefined ? [host.shift_ns] : experiment?.hosts.map((it) => it.shift_ns) ?? [0];
    begin -= Math.max(...shifts);
    end -= Math.min(...shifts);
  }
  const least = experiment?.begin ?? begin, most = experiment?.end ?? end;
  const inside = { begin: Math.max(begin, least), end: Math.min(end, most) };
  return inside.begin < inside.end ? { begin: Math.round(inside.begin), end: Math.round(inside.end), what: isSelected ? "selection" : "window" } : { begin: least, end: most, what: "window" };
}
/** The step that a time is in; −1 before the first. */
export function stepOf(x: readonly Time[], at: Time): number {
  let low = 0, high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
