// What is missing of the traces, in words: events that were lost, times of CPUs without events. Talks to: none. Used by: tooltip, header, minimap, keys, the panel of losses.
import type { Loss, Time } from "./api";
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
