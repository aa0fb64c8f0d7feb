// Instants and windows as people type them: "06:11:28.259", "28.25 .. 28.30" s since the begin, "+40ms" after the start, Unix seconds or ns; and a window as such a text.
// Talks to: none. Used by: the times field, the panel of a state.
import type { Time } from "./api";
import { aheadOfUtc as ahead, formatUnix, formatUtc, placesFor, type TimeFormat } from "./format";
import type { Range } from "./view";

export const TIME_FORMATS: readonly TimeFormat[] = ["UTC", "local", "since begin", "Unix"];
/** Of the traces: the zero of times (Unix ns, whole seconds), their first event on the clock that is shown, and what is seen now. */
export interface TimeBase { readonly origin: string; readonly begin: Time; readonly near: Time; readonly format: TimeFormat }

const UNITS: Readonly<Record<string, number>> = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9 };
const DAY = 86_400n * 1_000_000_000n;

/** ns of a decimal number of seconds, to the last digit. */
function nsOf(seconds: string): bigint {
  const [whole = "0", fraction = ""] = seconds.split(".");
  return BigInt(whole === "" ? "0" : whole) * 1_000_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, "0"));
}

/** An instant; `start`: that of the window, after which "+40ms" is. Null: it is none. */
export function parseInstant(text: string, base: TimeBase, start: Time | null = null): Time | null {
  const origin = BigInt(base.origin), since = (unix: bigint) => Number(unix - origin);
  const [, sign = "", number = "", unit = ""] = /^([+-]?)\s*(\d+(?:\.\d+)?|\.\d+)\s*(ns|us|µs|ms|s|min|h)$/.exec(text) ?? [];
  if (number !== "") return (sign === "" || start === null ? base.begin : start) + (sign === "-" ? -1 : 1) * Number(number) * UNITS[unit]!;
  if (/^\d{16,20}$/.test(text)) return since(BigInt(text));
  if (/^\d{9,11}(\.\d+)?$/.test(text)) return since(nsOf(text));
  if (base.format === "since begin" && /^\d+(\.\d+)?$/.test(text)) return base.begin + Number(nsOf(text));
  const [, date, hours, minutes, seconds = "0", zone] = /^(?:(\d{4}-\d\d-\d\d)[ T])?(\d{1,2}):(\d\d)(?::(\d\d(?:\.\d+)?))?\s*(Z|UTC)?$/.exec(text) ?? [];
  if (hours === undefined || minutes === undefined || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) >= 60) return null;
  const ofDay = (BigInt(hours) * 60n + BigInt(minutes)) * 60_000_000_000n + nsOf(seconds), isLocal = base.format === "local" && zone === undefined;
  const near = origin + BigInt(Math.round(base.near)), shift = isLocal ? ahead(near) : 0n;
  if (date !== undefined) {
    const day = Date.parse(`${date}T00:00:00Z`);
    return Number.isNaN(day) ? null : since(BigInt(day) * 1_000_000n + ofDay - shift);
  }
  // Of all days, the one on which it is nearest to what is seen.
  const first = ((near + shift) / DAY) * DAY + ofDay - shift, distance = (unix: bigint) => (unix > near ? unix - near : near - unix);
  return since([first - DAY, first, first + DAY].reduce((best, unix) => (distance(unix) < distance(best) ? unix : best)));
}
/** An instant (its begin is its end), or a window "A .. B"; null where the text is neither. */
export function parseTimes(text: string, base: TimeBase): Range | null {
  const [from = "", to] = text.trim().split(/\s*(?:\.\.|…|\sto\s)\s*/), begin = parseInstant(from, base);
  if (begin === null || to === undefined) return begin === null ? null : { begin, end: begin };
  const end = parseInstant(to, base, begin);
  return end === null || end <= begin ? null : { begin, end };
}
/** "h2 raw 123456789", "h2 raw 1 .. 2": raw times of a host, ns, as events and `--raw` have them; null where the text is none. */
export function parseRaw(text: string): { host: string; raw: readonly number[] } | null {
  const [, host, from, to] = /^(\S+)\s+raw\s+(-?\d{1,18})(?:\s*(?:\.\.|…|\sto\s)\s*(-?\d{1,18}))?$/.exec(text.trim()) ?? [];
  return host === undefined || from === undefined ? null : { host, raw: [from, ...(to === undefined ? [] : [to])].map(Number) };
}
/** A window as a text that means it, with as many digits as it is worth. */
export function timesText({ begin, end }: Range, base: TimeBase): string {
  const places = Math.max(3, placesFor((end - begin) / 1000));
  const text = (at: Time) => {
    if (base.format === "since begin") return ((at - base.begin) / 1e9).toFixed(places);
    if (base.format === "Unix") return formatUnix(base.origin, at, places);
    return formatUtc(base.origin, base.format === "local" ? at + Number(ahead(BigInt(base.origin) + BigInt(Math.round(at)))) : at, places);
  };
  return `${text(begin)} .. ${text(end)}`;
}
