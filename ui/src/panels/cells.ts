// Values of tables as text, by their unit; and their order. Talks to: format. Used by: tables.
import type { CellValue, Unit } from "../api";
import { formatBytes, formatCount, formatDuration, formatTime } from "../format";

const MINUS = "−";

/** A number with four significant digits: a rate, a share. */
export function formatNumber(value: number): string {
  const size = Math.abs(value), places = size === 0 || Number.isInteger(value) ? 0 : Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(size))));
  return value.toFixed(places).replace("-", MINUS);
}
/** A cell as people read it. `–`: unknown. */
export function cellText(value: CellValue, unit: Unit, origin: string | null): string {
  if (value === null) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value;
  switch (unit) {
    case "ns": return formatDuration(value);
    case "time": return formatTime(origin, value);
    case "bytes": return formatBytes(value);
    case "count": return Number.isInteger(value) ? formatCount(value) : formatNumber(value);
    case "percent": return `${formatNumber(Math.round(value * 100) / 100)} %`;
    case "none": return formatNumber(value);
  }
}
const names = new Intl.Collator("en", { numeric: true });
/** Order of two values; what is unknown comes last, whichever way it is sorted. */
export function compare(a: CellValue, b: CellValue, isDown: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const order = typeof a === "number" && typeof b === "number" ? a - b : names.compare(String(a), String(b));
  return isDown ? -order : order;
}
/** "cpu_ns" → "cpu": the unit is with the values. */
export function columnTitle(name: string): string { return name.replace(/_(ns|bytes|percent|count)$/, "").replace(/_/g, " "); }
