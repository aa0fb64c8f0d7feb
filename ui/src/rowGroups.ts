// How the rows of a host are put together at first sight: processes of one name as a group, ranked by their part in messages, then by CPU time; what is seldom looked for as folds.
// Talks to: none. Used by: rows.
import type { Row } from "./api";

/** Lines that stand for several rows have numbers from here downwards, by their key. */
export const BUNDLE = -2_000_000;
/** Keys of folds by host, and of groups by their first row. */
const QUIET = 0, SYSTEM = 100_000, DEVICES = 200_000, COUNTER = 300_000, GROUP = 1_000_000, CONTAINER = 1_000_000_000;
/** Whether a key is of the fold of CPUs and disks of a host. */
export function isDevices(key: number): boolean { return key >= DEVICES && key < COUNTER; }
/** The key of the counters of a host. */
export function countersKey(host: number): number { return COUNTER + host; }
/** The key of a process that is open: at first sight, they are closed. */
export function processKey(row: number): number { return GROUP + row; }
/** So many processes of one name are a group. */
const LEAST = 3;
/** Threads of the kernel and programs of the tracer, by the beginnings of their names. */
const SYSTEM_NAMES = /^(lttng|babeltrace|trace-cmd|kthreadd|ksoftirqd|kworker|rcu|migration|cpuhp|idle_inject|kcompactd|khugepaged|ksmd|kswapd|kauditd|khungtaskd|oom_reaper|writeback|kblockd|watchdogd|jbd2|ext4|scsi_eh|irq\/|kdevtmpfs|inet_frag|mm_percpu|netns|slub_|pool_workqueue|Client manageme|Action executo|Rotation|Event notifie|Health)/;

/** Several rows in one line. */
export interface Bundle { readonly key: number; readonly label: string; readonly rows: readonly Row[]; readonly isGroup: boolean }
/** What ranks rows: the number of messages, then the CPU time. */
export interface Rank { parts(row: Row): number; activity(row: Row): number }

/** A number that has nothing to do with the host or the row if they get another one. */
export function renewedKey(key: number, row: (id: number) => number | null, host: (host: number) => number | null): number | null {
  const base = key >= CONTAINER ? CONTAINER : key >= GROUP ? GROUP : key >= COUNTER ? COUNTER : key >= DEVICES ? DEVICES : key >= SYSTEM ? SYSTEM : QUIET, now = base >= GROUP ? row(key - base) : host(key - base);
  return now === null ? null : base + now;
}
/** The children of a host in the order in which they are shown, those of which there is no room in a fold: `room` lines, threads of processes have lines, too. `container`: the pid namespace of a process in one. */
export function arranged(host: number, children: readonly Row[], rank: Rank, threads: (row: Row) => number, room: number, kept: ReadonlySet<number>, container: (row: Row) => number | null = () => null): (Row | Bundle)[] {
  const devices = children.filter((row) => row.kind === "cpu" || row.kind === "disk"), others = children.filter((row) => row.kind !== "cpu" && row.kind !== "disk");
  // Whatever a container runs is of it.
  const contained = new Map<number, Row[]>(), outside: Row[] = [], named = new Map<string, Row[]>();
  for (const row of others) { const it = container(row); if (it === null) outside.push(row); else contained.set(it, [...(contained.get(it) ?? []), row]); }
  const system = outside.filter((row) => SYSTEM_NAMES.test(row.label));
  for (const row of outside) if (!SYSTEM_NAMES.test(row.label)) named.set(row.label, [...(named.get(row.label) ?? []), row]);
  const entries: (Row | Bundle)[] = [...named].flatMap(([label, rows]): (Row | Bundle)[] => (rows.length < LEAST ? rows : [{ key: GROUP + rows[0]!.id, label: `${label} ×${rows.length}`, rows, isGroup: true }]));
  for (const [namespace, rows] of contained) entries.push({ key: CONTAINER + rows[0]!.id, label: `container ${namespace} (${rows.length})`, rows, isGroup: true });
  const sum = (it: Row | Bundle, of: (row: Row) => number) => (isBundle(it) ? it.rows.reduce((all, row) => all + of(row), 0) : of(it));
  const keys = new Map(entries.map((it) => [it, [sum(it, rank.parts), sum(it, rank.activity)] as const]));
  entries.sort((a, b) => { const [x, y] = [keys.get(a)!, keys.get(b)!]; return y[0] - x[0] || y[1] - x[1]; });
  const shown: (Row | Bundle)[] = [], quiet: Row[] = [];
  let left = room;
  for (const it of entries) {
    const lines = isBundle(it) ? 1 : 1 + threads(it), isKept = isBundle(it) ? it.rows.some((row) => kept.has(row.id)) : kept.has(it.id), [parts, activity] = keys.get(it)!;
    if (isKept || (lines <= left && parts + activity > 0)) { shown.push(it); left -= lines; } else quiet.push(...(isBundle(it) ? it.rows : [it]));
  }
  const fold = (key: number, label: string, rows: readonly Row[]) => { if (rows.length > 0) shown.push({ key: key + host, label, rows, isGroup: false }); };
  fold(QUIET, `${quiet.length} less active`, quiet);
  fold(SYSTEM, `tracer and kernel (${system.length})`, system);
  return devices.length > 0 ? [...shown, devicesOf(host, devices)] : shown;
}
/** The fold of CPUs and disks of a host. */
export function devicesOf(host: number, devices: readonly Row[]): Bundle {
  const cpus = devices.filter((row) => row.kind === "cpu").length, disks = devices.length - cpus;
  const parts = [cpus > 0 ? `${cpus} ${cpus === 1 ? "CPU" : "CPUs"}` : "", disks > 0 ? `${disks} ${disks === 1 ? "disk" : "disks"}` : ""];
  return { key: DEVICES + host, label: parts.filter((text) => text !== "").join(", "), rows: devices, isGroup: false };
}
export function isBundle(it: Row | Bundle): it is Bundle { return "key" in it; }
