// Which thread uses a file most, or is at the other end of sockets to a peer, and when first: questions in SQL to go on with from a line of these. Talks
// to: api, view. Used by: statistics.
import { api, type FileSum, type PeerSum, type Time } from "../api";
import { formatDate, formatUtc } from "../format";
import type { Range, View } from "../view";
import { sqlInstant } from "./sqlRows";
import { rowOf, rowOfLine } from "./times";

/** `at`: its first such call in the time. */
export interface User {
  readonly row: number;
  readonly at: Time;
}
const PATH = "fd_path(host, coalesce(pid, tid), fd, begin_time)";
const quoted = (text: string) => `'${text.replace(/'/g, "''")}'`;

/** What a descriptor of a call is, where it is the file of a line. */
export function isFile(host: string, { file }: Pick<FileSum, "file">): string {
  return `host = ${quoted(host)} AND ${file === null ? `${PATH} IS NULL` : `${PATH} = ${quoted(file)}`}`;
}
/**
 * The same of the other end of the sockets to a peer: on other hosts, with the addresses the other way round. `files`: of the same answer, whose sockets
 * have the addresses of the host; null: it has none.
 */
export function isOtherEnd(hostName: string, { host, peer }: Pick<PeerSum, "host" | "peer">, files: readonly Pick<FileSum, "host" | "file">[]): string | null {
  const pairs = files.flatMap((it) => {
    const [local, other] = it.host === host ? (it.file?.split("->") ?? []) : [];
    return other?.replace(/:\d+$/, "") === peer ? [local!.replace(/:\d+$/, "")] : [];
  });
  const of = [...new Set(pairs)].map((local) => `${PATH} LIKE ${quoted(`${peer}:%->${local}:%`)}`);
  return of.length === 0 ? null : `host <> ${quoted(hostName)} AND (${of.join(" OR ")})`;
}
/** The thread with the most time in such calls that end in a time of the common clock: one of `rows` or below them, if there are any; null: none. */
export async function mostOf(view: View, condition: string, range: Range, rows: readonly number[] | null): Promise<User | null> {
  const origin = view.now.experiment?.origin_unix_ns ?? "0",
    time = (at: Time) => quoted(`${formatDate(origin, at)} ${formatUtc(origin, at)}`),
    wanted = rows === null ? null : new Set(rows);
  const { rows: found } = await api.sql(
    `SELECT host, tid, min(begin_time) AS first FROM syscalls
     WHERE fd IS NOT NULL AND end_time >= ${time(range.begin)} AND end_time < ${time(range.end)} AND ${condition}
     GROUP BY host, thread, tid ORDER BY sum(duration_ns) DESC, host, thread`,
  );
  for (const it of found) {
    const at = sqlInstant(it.first, origin),
      row = rowOfLine(
        view,
        (column) => {
          const value = it[column];
          return typeof value === "object" ? null : (value ?? null);
        },
        at,
      );
    if (at === null || row === null) continue;
    for (let up = rowOf(view, row); up !== undefined; up = rowOf(view, up.parent)) if (wanted === null || wanted.has(up.id)) return { row, at };
  }
  return null;
}
