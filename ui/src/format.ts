// Numbers, durations and times as text. Talks to: none. Used by: all parts of the page, the panels too.
import type { Time } from "./api";

const MINUS = "−";
const counts = new Intl.NumberFormat("en-US");

/** 1125 → "1,125". */
export function formatCount(count: number): string { return counts.format(count).replace("-", MINUS); }

/** Four significant digits at most, without zeros at the end. */
function digits(value: number): string {
  const places = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
  const text = value.toFixed(places);
  return places > 0 ? text.replace(/\.?0+$/, "") : text;
}

/** A duration in the unit that suits it: "41.32 ms", "812 ns", "2 min 3.5 s"; "–" for what is unknown. */
export function formatDuration(ns: number | null | undefined): string {
  if (ns === null || ns === undefined || !Number.isFinite(ns)) return "–";
  const sign = ns < 0 ? MINUS : "", size = Math.abs(ns);
  if (size === 0) return "0 s";
  if (size < 1e3) return `${sign}${digits(size)} ns`;
  if (size < 1e6) return `${sign}${digits(size / 1e3)} µs`;
  if (size < 1e9) return `${sign}${digits(size / 1e6)} ms`;
  if (size < 120e9) return `${sign}${digits(size / 1e9)} s`;
  const minutes = Math.floor(size / 60e9), hours = Math.floor(minutes / 60);
  if (hours > 0) return `${sign}${hours} h ${minutes % 60} min`;
  return `${sign}${minutes} min ${digits((size - minutes * 60e9) / 1e9)} s`;
}

/** 12345 → "12.3 kB". */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined || !Number.isFinite(bytes)) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = Math.abs(bytes), unit = 0;
  while (size >= 1000 && unit < units.length - 1) { size /= 1000; unit += 1; }
  return `${bytes < 0 ? MINUS : ""}${unit === 0 ? Math.round(size) : digits(size)} ${units[unit]}`;
}

/** Whole seconds since 1970 and the ns after them. The origin has whole seconds: no digit is lost. */
function parts(origin: string | null, t: Time): [seconds: number, ns: number] {
  const seconds = Math.floor(t / 1e9);
  return [(origin === null ? 0 : Number(origin.slice(0, -9) || "0")) + seconds, Math.round(t - seconds * 1e9)];
}

/** How instants are shown everywhere: UTC, as this machine has them, seconds since the begin of the traces, or seconds since 1970, as commands take them. */
export type TimeFormat = "UTC" | "local" | "since begin" | "Unix";
export const shownAs: { format: TimeFormat; begin: Time } = { format: "UTC", begin: 0 };
/** How much local time is ahead of UTC at an instant, ns. */
export function aheadOfUtc(unix: bigint): bigint { return -60_000_000_000n * BigInt(new Date(Number(unix / 1_000_000n)).getTimezoneOffset()); }
/** An instant moved so that its UTC is the local time. */
function localized(origin: string | null, t: Time): Time { return t + Number(aheadOfUtc(BigInt(origin ?? "0") + BigInt(Math.round(t)))); }

/** An instant as all instants are shown: "05:54:31.203216897", "12.203216897 s", or "1795154071.203216897". */
export function formatTime(origin: string | null, t: Time, places = 9): string {
  if (shownAs.format === "since begin") return `${((t - shownAs.begin) / 1e9).toFixed(places).replace("-", MINUS)} s`;
  if (shownAs.format === "Unix") return formatUnix(origin, t, places);
  return formatUtc(origin, shownAs.format === "local" ? localized(origin, t) : t, places);
}
/** Seconds since 1970: "1795154071.203216897". */
export function formatUnix(origin: string | null, t: Time, places = 9): string {
  const [seconds, ns] = parts(origin, t);
  return places <= 0 ? String(seconds) : `${seconds}.${String(ns).padStart(9, "0").slice(0, places)}`;
}
/** Nanoseconds since 1970: "1795154071203216897". */
export function unixNs(origin: string | null, t: Time): string { return String(BigInt(origin ?? "0") + BigInt(Math.round(t))); }
/** Time of the day (UTC) with as many decimal places as asked for: "05:54:31.203216897". */
export function formatUtc(origin: string | null, t: Time, places = 9): string {
  const [seconds, ns] = parts(origin, t);
  const clock = new Date(seconds * 1000).toISOString().slice(11, 19);
  return places <= 0 ? clock : `${clock}.${String(ns).padStart(9, "0").slice(0, places)}`;
}

/** The day and what times are: "2026-11-20 UTC". */
export function formatDay(origin: string | null, t: Time): string {
  if (shownAs.format === "since begin") return "seconds since the begin";
  if (shownAs.format === "Unix") return "seconds since 1970";
  return shownAs.format === "UTC" ? `${formatDate(origin, t)} UTC` : `${formatDate(origin, localized(origin, t))}, local time`;
}
/** The day (UTC): "2026-11-20". */
export function formatDate(origin: string | null, t: Time): string {
  return new Date(parts(origin, t)[0] * 1000).toISOString().slice(0, 10);
}

/** How many decimal places of a second are needed to tell times apart that are `step` ns from each other. */
export function placesFor(step: number): number { return Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(Math.max(step, 1))))); }
