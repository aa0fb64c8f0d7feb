// What is missing of the traces, in words: events that were lost, times of CPUs without events. Talks to: none. Used by: tooltip, header, minimap, keys, the panel of losses, the first look.
import type { Host, Loss, Time } from "./api";
import { formatCount } from "./format";

const WORDS: Readonly<Record<string, string>> = {
  "rest of a packet": "the rest of a packet cannot be read", "order of packets": "packets are out of order", stream: "a stream is missing", chunk: "a chunk of the trace is missing", CPU: "the CPU was not recorded",
};
/** "1,234 events were lost". */
export function lossText({ what, count }: Loss): string {
  if (count !== null) return `${formatCount(count)} ${count === 1 ? what.replace(/s$/, "") : what} ${count === 1 ? "was" : "were"} lost`;
  return WORDS[what] ?? what;
}
/** Whether something is lost, not only recorded for a shorter time than elsewhere. */
export function isLost({ what }: Loss): boolean { return !what.startsWith("the stream "); }
/** Of a host, or of one of its CPUs (null: of any), at an instant of the common clock or as near to it as `room`. */
export function lossesAt(losses: readonly Loss[], host: number, cpu: number | null, at: Time, room = 0): Loss[] {
  return losses.filter((it) => it.host === host && (cpu === null || it.cpu === null || it.cpu === cpu) && at >= it.begin - room && at <= it.end + room);
}
/** What the header says: how many events, and how many other losses; "" if nothing is lost. */
export function lossesText(losses: readonly Loss[], total: number): string {
  const lost = losses.filter(isLost), events = lost.reduce((sum, it) => sum + (it.what === "events" ? it.count ?? 0 : 0), 0), others = lost.filter((it) => it.what !== "events").length;
  const parts = [events > 0 ? `${formatCount(events)} events` : "", others > 0 ? `${formatCount(others)} ${others === 1 ? "other loss" : "other losses"}` : ""].filter((part) => part !== "");
  return parts.length === 0 ? "" : `${total > losses.length ? "at least " : ""}${parts.join(", ")}${events > 0 && others === 0 ? " lost" : ""}`;
}

/** How much of the time a CPU was recorded: from when to when; how long nothing was missing, events were lost, and a stream was not there, ns. */
export interface Coverage {
  readonly host: number; readonly cpu: number; readonly begin: Time; readonly end: Time; readonly whole: number; readonly lost: number; readonly absent: number;
}
type Part = readonly [begin: Time, end: Time];

/** Parts of time that do not overlap, in order. */
function joined(parts: readonly Part[]): Part[] {
  const all: [Time, Time][] = [];
  for (const [begin, end] of [...parts].sort((a, b) => a[0] - b[0])) {
    const last = all.at(-1);
    if (last !== undefined && begin <= last[1]) last[1] = Math.max(last[1], end);
    else all.push([begin, end]);
  }
  return all;
}
const lengthOf = (parts: readonly Part[]) => parts.reduce((sum, [begin, end]) => sum + end - begin, 0);
/** Whether a stream is not there at all, not only some of its events. */
const isAbsent = ({ what }: Loss) => ["stream", "CPU", "chunk"].includes(what) || !isLost({ what } as Loss);

/** Of each CPU of a host, which was recorded from its begin to its end, in a time; what is missing twice counts once, as absent rather than as lost. */
export function coverageOf(
  losses: readonly Loss[], { host, cpus, ...recorded }: Pick<Host, "host" | "cpus" | "begin" | "end">, { begin, end }: { begin: Time; end: Time },
): Coverage[] {
  const of = losses.filter((it) => it.host === host), named = of.flatMap((it) => it.cpu ?? []), around: Part[] = [[begin, recorded.begin], [recorded.end, end]];
  return [...new Set([...cpus, ...named])].sort((a, b) => a - b).map((cpu) => {
    const times = (some: readonly Loss[]) => some.filter((it) => it.cpu === null || it.cpu === cpu).map((it): Part => [it.begin, it.end]);
    const inside = ([from, to]: Part): Part => [Math.max(from, begin), Math.min(to, end)];
    const parts = (some: readonly Loss[]) => joined([...times(some), ...around].map(inside).filter(([from, to]) => from < to));
    const absent = parts(of.filter(isAbsent)), missing = lengthOf(parts(of)), [first] = absent, last = absent.at(-1);
    const from = first?.[0] === begin ? first[1] : begin, to = last?.[1] === end && from < end ? last[0] : end;
    return { host, cpu, begin: from, end: to, whole: end - begin - missing, lost: missing - lengthOf(absent), absent: lengthOf(absent) };
  });
}
