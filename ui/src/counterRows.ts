// Counters of hosts as lines of the time graph: which there are, the numbers of their lines, and their values at an instant. Talks to: none. Used by: rows (lines), the graph (what is drawn there), tooltip.
import type { Series, Time } from "./api";
import { formatBytes } from "./format";

/** A line: one or two series of a host. `most`: the top of the line, where it does not go by what is seen. */
export interface CounterKind { readonly label: string; readonly kinds: readonly string[]; readonly words: readonly string[]; readonly most: number | null; text(value: number): string }
const bytesPerSecond = (value: number) => `${formatBytes(value)}/s`, few = (value: number) => (Math.round(value * 100) / 100).toString();
export const COUNTERS: readonly CounterKind[] = [
  { label: "CPU use", kinds: ["cpu"], words: [""], most: 100, text: (value) => `${Math.round(value * 10) / 10} %` }, { label: "waiting for CPUs", kinds: ["run-queue"], words: [""], most: null, text: (value) => `${few(value)} threads` },
  { label: "network", kinds: ["net-sent", "net-received"], words: ["sent", "received"], most: null, text: bytesPerSecond }, { label: "disk", kinds: ["disk-read", "disk-write"], words: ["read", "written"], most: null, text: bytesPerSecond },
  { label: "memory", kinds: ["memory"], words: [""], most: null, text: formatBytes },
];
/** Numbers of their lines go down from here: those of folds are above, that of the critical path is below. */
const FIRST = -500_000, PER_HOST = 8;

export function counterLine(host: number, kind: number): number { return FIRST - host * PER_HOST - kind; }
/** The host and the kind of a line; null if it is none of these. */
export function counterOf(line: number): { host: number; kind: CounterKind } | null {
  const place = FIRST - line, kind = COUNTERS[place % PER_HOST];
  return place < 0 || place >= 400_000 || kind === undefined ? null : { host: Math.floor(place / PER_HOST), kind };
}
/** The step of a series that an instant of the common clock is in; −1: none. */
export function placeAt(x: readonly Time[], at: Time): number {
  let low = 0, high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  // The last step is as long as the one before.
  const last = x.at(-1), before = x.at(-2);
  return last !== undefined && before !== undefined && at >= last + (last - before) ? -1 : low - 1;
}
/** "3.2 MB/s sent, 1 kB/s received"; what is unknown is said to be. */
export function counterText(kind: CounterKind, series: readonly Series[], at: Time): string {
  if (series.length === 0) return "not recorded";
  return series.map((it) => {
    const value = it.y[placeAt(it.x, at)], word = kind.words[kind.kinds.indexOf(it.kind)] ?? "";
    return `${value === null || value === undefined ? "unknown" : kind.text(value)}${word === "" ? "" : ` ${word}`}`;
  }).join(", ");
}
