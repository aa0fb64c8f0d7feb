// From rows and times as they were to those of another look at the same traces: numbers of rows and hosts, and the origin of times, may be others.
// Talks to: none. Used by: growth, and all parts that keep rows or times.
import type { Experiment, Row, Time } from "./api";
import type { Range } from "./view";

export interface Renewal {
  /** How much later the same instant is now. */
  readonly shift: Time;
  /** The number of the same row now; null: it is not there any more. */
  row(id: number): number | null;
  host(host: number): number | null;
  time(at: Time): Time;
  range(range: Range): Range;
}

/** A row by what it is of. Several can be of one name: threads of one number, one after the other. */
function keysOf(experiment: Experiment, rows: readonly Row[]): Map<string, number> {
  const keys = new Map<string, number>(), counts = new Map<string, number>();
  for (const row of rows) {
    const host = experiment.hosts[row.host]?.name ?? "", numbers = [row.cpu, row.pid, row.tid];
    // Programs change their names; what has a number is known by it.
    const name = numbers.every((number) => number === undefined) ? row.label : "";
    const key = [host, row.kind, ...numbers, row.container, name].join("\0"), count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    keys.set(`${key}\0${count}`, row.id);
  }
  return keys;
}

export function renewal(before: { experiment: Experiment; rows: readonly Row[] }, after: { experiment: Experiment; rows: readonly Row[] }): Renewal {
  const now = keysOf(after.experiment, after.rows), ids = new Map<number, number>();
  for (const [key, id] of keysOf(before.experiment, before.rows)) {
    const there = now.get(key);
    if (there !== undefined) ids.set(id, there);
  }
  const hosts = before.experiment.hosts.map(({ name }) => after.experiment.hosts.findIndex((host) => host.name === name));
  const shift = Number(BigInt(before.experiment.origin_unix_ns ?? 0) - BigInt(after.experiment.origin_unix_ns ?? 0));
  const time = (at: Time) => at + shift;
  return {
    shift, time,
    row: (id) => ids.get(id) ?? null,
    host: (host) => { const there = hosts[host] ?? -1; return there < 0 ? null : there; },
    range: ({ begin, end }) => ({ begin: time(begin), end: time(end) }),
  };
}
