// What threads did with files, with which peers, and which messages they exchanged: tables of an area of rows and time, each with the sum of all. Talks to: none. Used by: statistics.
import type { AreaFiles, Exchanged, FileSum, FileUses, Pair, PeerSum } from "../api";
import { h } from "../dom";
import { formatBytes, formatCount, formatDuration } from "../format";
import { DataTable, type Column } from "./table";

type HostName = (host: number) => string;

/** "12 reads of 3 kB, 4 writes of 1.2 MB, 7 others (2 errors), 4.1 ms": all of it, whatever is listed. */
export function usesText({ reads, read_bytes: readBytes, writes, written_bytes: writtenBytes, others, errors, total_ns: total }: FileUses): string {
  return `${formatCount(reads)} reads of ${formatBytes(readBytes)}, ${formatCount(writes)} writes of ${formatBytes(writtenBytes)}, ${formatCount(others)} other calls${errors > 0 ? ` (${formatCount(errors)} errors)` : ""}, ${formatDuration(total)}`;
}
/** How many there are of something that lasts, how long in all, on average and at most. */
export const SUM_COLUMNS: readonly Column<{ count: number; total_ns: number; max_ns: number }>[] = [
  { title: "count", unit: "count", value: (it) => it.count }, { title: "time", unit: "ns", value: (it) => it.total_ns },
  { title: "mean", unit: "ns", value: (it) => it.total_ns / it.count }, { title: "longest", unit: "ns", value: (it) => it.max_ns },
];
/** "the first 1,000 of 2,345" where not all are listed. */
export function cutText(listed: number, count: number): string { return listed < count ? `; the first ${formatCount(listed)} of ${formatCount(count)}` : ""; }

function usesColumns<T extends FileUses>(): Column<T>[] {
  return [
    { title: "read", unit: "bytes", description: "What calls that read returned", value: (it) => it.read_bytes }, { title: "written", unit: "bytes", value: (it) => it.written_bytes },
    { title: "reads", unit: "count", value: (it) => it.reads }, { title: "writes", unit: "count", value: (it) => it.writes }, { title: "others", unit: "count", description: "Calls that do neither", value: (it) => it.others },
    { title: "errors", unit: "count", value: (it) => it.errors }, { title: "time", unit: "ns", description: "In these calls, from entry to exit", value: (it) => it.total_ns },
  ];
}
export class FileTables {
  readonly filesNote = h("span", { class: "muted" });
  readonly peersNote = h("span", { class: "muted" });
  readonly files: DataTable<FileSum>;
  readonly peers: DataTable<PeerSum>;
  /** What came of a click. */
  readonly said = h("span", { class: "said", role: "status" });
  readonly saidOfPeers = h("span", { class: "said", role: "status" });
  private answered: readonly FileSum[] = [];
  constructor(origin: () => string | null, host: HostName, doers: { file(it: FileSum): void; peer(it: PeerSum, files: readonly FileSum[]): void }) {
    const name = <T extends { host: number }>(): Column<T> => ({ title: "host", value: (it) => host(it.host) });
    this.files = new DataTable<FileSum>({
      label: "Files: a click goes to the thread that uses it most, at its first call", origin, sort: [2, true], pick: (it) => doers.file(it),
      columns: [name(), { title: "file", value: (it) => it.file ?? "unknown: it was open before the trace, or events are missing", grow: true }, ...usesColumns<FileSum>(), { title: "kind", value: (it) => it.kind ?? "–" }],
    });
    this.peers = new DataTable<PeerSum>({
      label: "Peers: a click goes to the other end, on the other host", origin, sort: [3, true], pick: (it) => doers.peer(it, this.answered),
      columns: [name(), { title: "peer", description: "The address at the other end of sockets", value: (it) => it.peer, grow: true }, { title: "connections", unit: "count", value: (it) => it.connections }, ...usesColumns<PeerSum>()],
    });
  }
  set({ files, file_count: fileCount, peers, peer_count: peerCount, all }: AreaFiles): void {
    this.filesNote.textContent = this.filesNote.title = `${usesText(all)}${cutText(files.length, fileCount)}`;
    this.answered = files;
    this.say("");
    this.peersNote.textContent = `${formatCount(peerCount)} peers${cutText(peers.length, peerCount)}`;
    this.files.set(files);
    this.peers.set(peers);
  }
  say(text: string): void { for (const it of [this.said, this.saidOfPeers]) it.textContent = it.title = text; }
}
export class ExchangedTable {
  readonly note = h("span", { class: "muted" });
  readonly table: DataTable<Pair>;
  constructor(origin: () => string | null, go: (row: number) => void) {
    this.table = new DataTable<Pair>({
      label: "Messages: a click goes to who sent them", origin, sort: [2, true], pick: (it) => go(it.from),
      columns: [
        { title: "from", value: (it) => it.from_label, grow: true }, { title: "to", value: (it) => it.to_label, grow: true }, { title: "messages", unit: "count", value: (it) => it.count }, { title: "of MPI", value: (it) => it.is_mpi },
        { title: "mean latency", unit: "ns", description: "From the send to the reception, on the common clock", value: (it) => it.total_ns / it.count }, { title: "least", unit: "ns", value: (it) => it.min_ns }, { title: "most", unit: "ns", value: (it) => it.max_ns },
        { title: "inverted", unit: "count", description: "Received before they were sent", value: (it) => it.inverted },
      ],
    });
  }
  set({ pairs, pair_count: count, total }: Exchanged): void {
    this.note.textContent = `${formatCount(total)} messages${cutText(pairs.length, count)}`;
    this.table.set(pairs);
  }
}
