// Answers in SQL as tables: units by the names of columns, instants as times. Talks to: none. Used by: the panel of SQL.
import type { CellValue, SqlAnswer, Time, Unit } from "../api";

export interface SqlTable { readonly columns: readonly { name: string; unit: Unit }[]; readonly rows: readonly (readonly CellValue[])[] }

/** "2026-11-20T06:11:21.622128791Z" since the origin; null where it is no instant. */
export function sqlInstant(value: unknown, origin: string): Time | null {
  const [, seconds, fraction = ""] = (typeof value === "string" ? /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z?$/.exec(value) : null) ?? [];
  const ms = seconds === undefined ? Number.NaN : Date.parse(`${seconds.replace(" ", "T")}Z`);
  return Number.isNaN(ms) ? null : Number(BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, "0")) - BigInt(origin));
}
/** The columns of the objects, in their order; a column all of whose values are instants has times. */
export function sqlTable({ rows }: SqlAnswer, origin: string): SqlTable {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = names.map((name) => {
    const values = rows.map((row) => row[name] ?? null).filter((value) => value !== null), areNumbers = values.length > 0 && values.every((value) => typeof value === "number");
    if (values.length > 0 && values.every((value) => sqlInstant(value, origin) !== null)) return { name, unit: "time" as const };
    return { name, unit: (!areNumbers ? "none" : /_ns$/.test(name) ? "ns" : /bytes$/.test(name) ? "bytes" : "none") as Unit };
  });
  const cell = (value: unknown, unit: Unit): CellValue => (value === null || value === undefined ? null : unit === "time" ? sqlInstant(value, origin) : typeof value === "object" ? JSON.stringify(value) : value as CellValue);
  return { columns, rows: rows.map((row) => columns.map(({ name, unit }) => cell(row[name], unit))) };
}
