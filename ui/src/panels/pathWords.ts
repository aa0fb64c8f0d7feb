// Causes of a critical path in words, and the sentence that says where a request differs from the others. Talks to: none. Used by: the critical path.
import type { Path } from "../api";
import { formatDuration } from "../format";

type CauseOf = Path["causes"][number];

const WORDS: Readonly<Record<string, string>> = {
  cpu: "computes", "wait-cpu": "waits for a CPU", irq: "interrupt", softirq: "softirq", network: "network", disk: "waits for a disk", sleep: "sleeps", lock: "waits for a lock", pipe: "waits for a pipe",
  socket: "waits for a socket", child: "waits for a child", signal: "waits for a signal", other: "other", unknown: "unknown",
};
const PAST: Readonly<Record<string, (time: string) => string>> = {
  cpu: (time) => `computed ${time}`, "wait-cpu": (time) => `waited ${time} for a CPU`, irq: (time) => `was interrupted for ${time}`, softirq: (time) => `spent ${time} in softirqs`, network: (time) => `network took ${time}`,
  disk: (time) => `waited ${time} for a disk`, sleep: (time) => `slept ${time}`, lock: (time) => `waited ${time} for a lock`, pipe: (time) => `waited ${time} for a pipe`, socket: (time) => `waited ${time} for a socket`,
  child: (time) => `waited ${time} for a child`, signal: (time) => `waited ${time} for a signal`,
};
/** A difference is worth a word from this share of the whole time on. */
const WORTH = 0.03, MOST = 3;

export function causeWord(cause: string): string { return WORDS[cause] ?? cause; }
export function who(cause: Pick<CauseOf, "host" | "comm">): string { return cause.comm === "" ? cause.host : `${cause.host} ${cause.comm}`; }

/** "h2 appsrv waited 16.5 ms for a CPU (median 1.9 ms)": what took most longer than usual; null for paths of threads. */
export function differs(path: Path): string | null {
  const known = path.causes.filter((it) => it.median_ns !== null), all = path.end - path.begin;
  if (path.request === null || known.length === 0) return null;
  const more = known.map((it) => ({ it, by: it.total_ns - it.median_ns! })).filter(({ by }) => by > WORTH * all).sort((a, b) => b.by - a.by).slice(0, MOST);
  if (more.length === 0) return "It does not differ from the others: nothing took much longer than the median of its service.";
  const said = more.map(({ it }) => `${who(it)} ${(PAST[it.cause] ?? ((time: string) => `${it.cause} took ${time}`))(formatDuration(it.total_ns))} (median ${formatDuration(it.median_ns)})`);
  return `Where it differs from the others: ${said.join("; ")}.`;
}
/** An address may be wrong: what is no encoded text stands for itself. */
export function decoded(text: string): string {
  try { return decodeURIComponent(text); } catch { return text; }
}
