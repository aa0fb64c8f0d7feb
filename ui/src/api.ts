// What the server answers: the types and requests of docs/page-api.md, and nothing else. Talks to: the server. Used by: everything that needs data.
import type { FoundKind } from "./foundText";

/** ns since the origin of the experiment. */
export type Time = number;
export type Clock = "common" | "own";

export interface Stage { name: "opening" | "synchronizing" | "indexing" | "ready" | "failed"; done: number; total: number; message: string }
export interface Host {
  host: number; name: string; row: number; island: number | null; is_reference: boolean;
  likely_ns: number | null; sure_ns: number | null; begin: Time; end: Time; cpus: number[]; shift_ns: number; traces: string[];
}
export interface Experiment {
  name: string; version: string; stage: Stage; origin_unix_ns: string | null; begin: Time | null; end: Time | null;
  own: { begin: Time; end: Time } | null; is_synchronized: boolean; hosts: Host[];
  traces: string[]; command: string; notes: string[];
  /** Which look at the traces it is, and whether another one is to be expected: they are still being recorded. */
  look: number; grows: boolean;
  /** What rows and times of answers are of; null until it is ready. */
  store: string | null;
}
/** Packets between hosts, and those that arrive before they are sent: on the hosts' own clocks, on the common one. */
export interface MessageCounts { count: number; inverted_own: number; inverted: number }
export interface Loss { host: number; cpu: number | null; begin: Time; end: Time; what: string; count: number | null }
export interface Break { host: number | string; at: Time; text: string }
/** `losses` are `losses_total` at most. `begin` and `end` of a host: from its first packet to its last; null where it has none. */
export interface Overview { begin: Time; end: Time; hosts: { host: number; name: string; bytes: number[]; begin: Time | null; end: Time | null }[]; losses: Loss[]; losses_total: number; breaks: Break[] }
/** Parts of CPUs: [begin, read, end, idle, threads, interrupts, softirqs]; of threads: [begin, read, end, on the CPU]. The shares are of a thousand; what lies after `read` is only likely. */
export interface Sample { share: number; hosts: { host: number; name: string; cpus: { cpu: number; parts: number[][] }[]; threads: { label: string; tid: number; parts: number[][] }[] }[] }
export type RowKind = "host" | "cpu" | "disk" | "phase" | "process" | "thread";
export interface Row {
  id: number; parent: number | null; kind: RowKind; host: number; label: string;
  cpu?: number; pid?: number; tid?: number; container?: string; namespace?: number; rank?: number; begin?: Time; end?: Time;
}
/** States of rows, as they come over the wire: columns. */
export interface States {
  rows: Uint32Array; starts: Uint32Array; label: Uint32Array; style: Uint8Array; begin: Float64Array; end: Float64Array; labels: string[];
}
/** [from_row, to_row, sent, received, likely_ns, sure_lo_ns, sure_hi_ns, is_inverted] */
export type Message = [number, number, Time, Time, number | null, number | null, number | null, 0 | 1];
export type Wakeup = [number | null, number, Time, string];
export interface StateAt {
  row: number; label: string; state: string; style: number; begin: Time; end: Time; fields: [string, string][];
  times: { own: string; common: string; sure?: string; likely?: string };
  /** Of a wait for a CPU: the thread that ended the wait before it, and what ran instead. */
  waker?: number; meanwhile?: Meanwhile;
}
/** `row` is null for an idle task. */
export interface Ran { row: number | null; label: string; total_ns: number }
export interface Meanwhile { cpu: number; ran: Ran[]; unknown_ns: number }
export interface Instead { waits: number; wait_ns: number; unknown_ns: number; ran: Ran[]; ran_count: number; command?: string }
/** What is asked of rows (null: of all) over a time; `ask`: the name by which it is asked how far the answer is. */
export interface Area { begin: Time; end: Time; rows: number[] | null; ask?: string }
/** What is done of an answer, and what there is to do in all; 0 of 0 where that is not known yet. */
export type Progress = [done: number, total: number];
export interface FileUses { reads: number; read_bytes: number; writes: number; written_bytes: number; others: number; errors: number; total_ns: number }
/** `file` is null where it is unknown what a descriptor was. */
export interface FileSum extends FileUses { host: number; file: string | null; kind: string | null }
export interface PeerSum extends FileUses { host: number; peer: string; connections: number }
export interface AreaFiles { files: FileSum[]; file_count: number; peers: PeerSum[]; peer_count: number; all: FileUses; command: string }
export interface Pair { from: number; from_label: string; to: number; to_label: string; is_mpi: boolean; count: number; inverted: number; min_ns: number; total_ns: number; max_ns: number }
export interface Exchanged { pairs: Pair[]; pair_count: number; total: number; command: string }
export type FlowKind = "message" | "mpi" | "wakeup";
/** [kind, which way, row, its instant, the row at the other end, the instant there, details] */
export type Flow = [FlowKind, "in" | "out", number, Time, number, Time, string];
/** `flows` are `total` at most, by their instants. Of `not_looked_up` ends of messages it is only known what ran then, not whose sockets they are. */
export interface Flows { total: number; flows: Flow[]; not_looked_up: number }
/** Waits of threads for one cause. */
export interface CauseSum { cause: string; count: number; total_ns: number; max_ns: number }
export interface Causes { causes: CauseSum[]; command: string }
export interface ThreadPhases { row: number; label: string; all_ns: number; outside_ns: number; phases: { phase: string; count: number; total_ns: number; max_ns: number }[] }
export interface Phases { threads: ThreadPhases[]; thread_count: number; command: string }
/** [row, style, label, begin, end] */
export type Match = [number, number, string | null, Time, Time];
/** `total_ns` is null where not each state was looked at. */
export interface Matching { rows: number[]; states: number; total_ns: number | null; kind: FoundKind; matches: Match[] }
export interface Request {
  request: number; service: string; client: string; server: string; begin: Time; end: Time; total_ns: number;
  client_row: number | null; server_row: number | null;
}
export interface Step {
  row: number | null; host: number; comm: string; tid: number | null; begin: Time; end: Time; cause: string; detail: string; uncertainty_ns: number | null;
}
/** What a path is of: a request, or a thread over some time. */
export type PathOf = { request: number } | { row: number; begin: Time; end: Time };
export interface Path {
  of: PathOf; request: number | null; begin: Time; end: Time; steps: Step[];
  causes: { host: string; comm: string; cause: string; total_ns: number; median_ns: number | null }[]; command: string;
}
/** Sums over the requests of a service that took as long as was asked for, and over the others. */
export interface Compared { chosen: number; chosen_ns: number; others: number; others_ns: number; causes: { host: string; comm: string; cause: string; chosen_ns: number; others_ns: number }[] }
export interface Program { host: string | null; comm: string | null }
/** `cpu_ns` is null where it is unknown of a request. */
export interface ServiceEdge { client: Program; server: Program; service: string; count: number; total_ns: number; median_ns: number; p95_ns: number; max_ns: number; cpu_ns: number | null }
/** Objects with the same columns, in order; `is_whole`: these are all. */
export interface SqlAnswer { rows: Record<string, CellValue | object>[]; is_whole: boolean; command: string }
export type Unit = "ns" | "time" | "bytes" | "count" | "percent" | "none";
export type CellValue = string | number | boolean | null;
export interface Table { name: string; title: string; columns: { name: string; unit: Unit }[]; rows: CellValue[][] }
export interface Answer { tables: Table[]; notes: string[]; command: string }
export interface Statistics {
  thread_count: number;
  states: { state: string; style: number; total_ns: number }[];
  threads: { row: number; label: string; by_state: number[] }[];
  calls: { call: string; count: number; total_ns: number; max_ns: number }[];
  /** Of the states, and of the calls; none where a query would have to name too many threads or hosts. */
  command: string; calls_command: string;
}
export interface Series { host: number; name: string; kind: string; unit: string; x: Time[]; y: (number | null)[] }
export interface Verdict { host: number; because: string; resource: string | null; of: string | null; verdict: string }
/** Parts of time in percent, by step. Null: unknown; absent: it has no such thing. */
export interface Resource {
  host: number; row: number | null; resource: string; of: string | null; busy_percent?: number | null; waited_percent?: number | null; mean_queue?: number | null; errors?: number | null; unknown_ns?: number | null;
  begin: Time[]; end: Time[]; busy?: (number | null)[]; waited?: (number | null)[]; unknown: (number | null)[];
}
/** `steps`: [begin, end, CPU time, how much more it may have been]. `page_faults`: null where they were not recorded; at least so many where `is_whole` is false. */
export interface Life {
  host: number; row: number | null; comm: string | null; pid: number; begin: Time; end: Time; is_begin_seen: boolean; is_end_seen: boolean; cpu_ns: number; unknown_ns: number;
  page_faults: number | null; is_whole: boolean; steps: [Time, Time, number, number][];
}
/** [issued, first byte, bytes, index of the process, whether it writes, latency] */
export type Access = [Time, number, number, number, boolean, number | null];
export interface Disk {
  host: number; row: number | null; disk: string; total: number; follow: number; elsewhere: number; mean_bytes: number;
  processes: { pid: number | null; comm: string | null; requests: number; read_bytes: number; written_bytes: number }[]; accesses: Access[];
}
export interface TraceEvent { at: Time; host: number; cpu: number | null; name: string; text: string; row: number | null }
export interface Link {
  a: string; b: string; quality: string; a_to_b: number; b_to_a: number; ambiguous: number; suspects: number; dropped: number; inversions: number;
  rate_ppm: [number | null, number | null]; offset_at_middle_ns: [number | null, number | null]; min_rtt_ns: number | null; likely_ns: number | null; sure_ns: number | null;
}
export interface Sync {
  hosts: Host[]; links: Link[]; formulas: { host: string; slope: string; offset_ns: string; assumption: string }[]; breaks: Break[];
  suspects: { link: [string, string]; at: Time; why: string }[]; refused: { what: string; name: string; why: string }[]; command: string;
}
export interface LinkPicture {
  a: string; b: string; forth: [Time, number][]; back: [Time, number][]; upper: [Time, number][]; lower: [Time, number][];
  bounds: [Time, number | null, number | null, number | null][]; suspects: [Time, number, string][]; breaks: Break[];
}

/** What the server says is wrong, in words. */
export class ApiError extends Error {
  constructor(readonly status: number, message: string) { super(message); }
}

/** What answers have to be of, and what to do when one is of something else. */
export const expected: { store: string | null; other: () => void } = { store: null, other: () => undefined };
/** The answer is of another store than what is shown: its rows and times are others. */
export const OTHER_STORE = 409;

async function answer(path: string, init: RequestInit | undefined, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(`api/${path}`, { ...init, signal }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "The server does not answer. Was it stopped? Start it again with the command that you used, and this page goes on.");
  });
  const store = response.headers.get("isochrone-store");
  if (path !== "experiment" && expected.store !== null && store !== null && store !== expected.store) {
    expected.other();
    throw new ApiError(OTHER_STORE, "The traces have changed: this page shows them anew in a moment.");
  }
  if (response.ok) return response;
  const said = await response.json().catch(() => ({})) as { error?: string };
  throw new ApiError(response.status, said.error ?? `The server answered ${response.status}.`);
}

/** The server takes whole ns; places between pixels have fractions of them. */
const whole = (value: unknown) => (typeof value === "number" ? Math.round(value) : value);
/** Names may hold signs that turn the direction of a text around, the digits beside them too: these are shown as unknown signs. */
const TURNS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const parsed = async <T>(response: Response): Promise<T> => JSON.parse((await response.text()).replace(TURNS, "\ufffd")) as T;
type Query = Record<string, string | number | boolean | null | undefined>;
async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const there = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const text = new URLSearchParams(there.map(([name, value]) => [name, String(whole(value))])).toString();
  return parsed<T>(await answer(text ? `${path}?${text}` : path, undefined, signal));
}
function posted(body: unknown): RequestInit {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body, (_, value: unknown) => whole(value)) };
}
async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return parsed<T>(await answer(path, posted(body), signal));
}

const NO_LABEL = 0xffffffff;
/** Decodes the binary form of states. */
export function decodeStates(buffer: ArrayBuffer): States {
  const head = new Uint32Array(buffer, 0, 4);
  if (head[0] !== 0x314f5349) throw new ApiError(0, "The server's answer is of another version: reload the page.");
  const [, rows, states, json] = head as unknown as [number, number, number, number];
  let at = 16;
  const u32 = (count: number) => { const it = new Uint32Array(buffer, at, count); at += 4 * count; return it; };
  const f64 = (count: number) => { const it = new Float64Array(buffer, at, count); at += 8 * count; return it; };
  const ids = u32(rows), starts = u32(rows + 1), label = u32(states);
  const style = new Uint8Array(buffer, at, states);
  at = Math.ceil((at + states) / 8) * 8;
  const begin = f64(states), end = f64(states);
  const labels = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, at, json)).replace(TURNS, "\ufffd")) as string[];
  return { rows: ids, starts, label, style, begin, end, labels };
}
/** The label of a state; "" if it has none. */
export function labelOf(states: States, place: number): string {
  const label = states.label[place] ?? NO_LABEL;
  return label === NO_LABEL ? "" : states.labels[label] ?? "";
}

export const api = {
  experiment: (signal?: AbortSignal) => get<Experiment>("experiment", {}, signal),
  overview: (bins: number, signal?: AbortSignal) => get<Overview>("overview", { bins }, signal),
  sample: (signal?: AbortSignal) => get<Sample>("sample", {}, signal),
  rows: async () => (await get<{ rows: Row[] }>("rows")).rows,
  async states(asked: { rows: number[]; begin: Time; end: Time; pixels: number; clock: Clock; filter?: string }, signal?: AbortSignal): Promise<States> {
    return decodeStates(await (await answer("states", posted(asked), signal)).arrayBuffer());
  },
  /** `isReceived`: only those that are received in the time, not also those that are sent in it or under way. */
  messages: (begin: Time, end: Time, clock: Clock, limit: number, signal?: AbortSignal, isReceived = false, ask: string | null = null) =>
    get<{ total: number; inverted: number; messages: Message[]; mpi_total: number; mpi: Message[]; command: string }>("messages", { begin, end, clock, limit, received: isReceived, ask }, signal),
  messageCounts: (signal?: AbortSignal) => get<MessageCounts>("message-counts", {}, signal),
  matching: (text: string, begin: Time, end: Time, clock: Clock, list: { limit: number; order: string; ask?: string } | null = null, signal?: AbortSignal) =>
    get<Matching>("matching", { text, begin, end, clock, ...list }, signal),
  wakeups: (begin: Time, end: Time, clock: Clock, rows: number[], limit: number, signal?: AbortSignal) =>
    get<{ total: number; wakeups: Wakeup[] }>("wakeups", { begin, end, clock, rows: rows.join(","), limit }, signal),
  state: (row: number, at: Time, clock: Clock, signal?: AbortSignal) => get<StateAt>("state", { row, at, clock }, signal),
  step: (row: number, at: Time, to: "next" | "previous", clock: Clock) => get<StateAt>("step", { row, at, to, clock }),
  follow: (row: number, at: Time, what: "message" | "wakeup" | "waker", clock: Clock) =>
    get<{ row: number; at: Time; text: string }>("follow", { row, at, what, clock }),
  raw: (host: number, raw: number) => get<{ common: Time; own: Time }>("raw", { host, raw }),
  requests: (ask: string | null = null, signal?: AbortSignal) => get<{ requests: Request[]; note: string; command: string }>("requests", { ask }, signal),
  compared: (service: string, fromNs: number, toNs: number, ask: string, signal?: AbortSignal) => post<Compared>("compared", { service, from_ns: Math.floor(fromNs), to_ns: Math.ceil(toNs), ask }, signal),
  services: (begin: Time, end: Time, ask: string, signal?: AbortSignal) => post<{ edges: ServiceEdge[]; command: string }>("services", { begin, end, ask }, signal),
  path: async (of: PathOf, ask: string | null = null, signal?: AbortSignal): Promise<Path> => ({ ...(await get<Omit<Path, "of">>("path", { ...of, ask }, signal)), of }),
  sql: (query: string, signal?: AbortSignal) => post<SqlAnswer>("sql", { query }, signal),
  analyses: async () => (await get<{ analyses: { name: string; about: string }[] }>("analyses")).analyses,
  table: (asked: { analysis: string; begin: Time | null; end: Time | null; limit: number; ask?: string }, signal?: AbortSignal) => post<Answer>("table", asked, signal),
  progress: async (ask: string) => (await get<{ progress: Progress | null }>("progress", { ask })).progress,
  statistics: (area: Area, signal?: AbortSignal) => post<Statistics>("statistics", area, signal),
  instead: (area: Area, signal?: AbortSignal) => post<Instead>("instead", area, signal),
  phases: (area: Area, signal?: AbortSignal) => post<Phases>("phases", area, signal),
  files: (area: Area, signal?: AbortSignal) => post<AreaFiles>("files", area, signal),
  exchanged: (area: Area, signal?: AbortSignal) => post<Exchanged>("exchanged", area, signal),
  /** What comes to these rows and goes from them; times are on the clock that is asked for. */
  flows: (asked: { rows: number[]; begin: Time; end: Time; clock: Clock; limit: number; ask: string }, signal?: AbortSignal) => post<Flows>("flows", asked, signal),
  /** Waits that end in the time, in full. */
  causes: (area: Area, signal?: AbortSignal) => post<Causes>("causes", area, signal),
  activity: (begin: Time, end: Time) => get<{ threads: [row: number, ns: number][]; messages: [row: number, count: number][] }>("activity", { begin, end }),
  usage: (begin: Time, end: Time, points: number, signal?: AbortSignal, queue = false, ask: string | null = null) => get<{ series: Series[]; command: string }>("usage", { begin, end, points, queue, ask }, signal),
  resources: (begin: Time, end: Time, steps: number, ask: string, signal?: AbortSignal) => get<{ verdicts: Verdict[]; resources: Resource[]; notes: string[]; command: string }>("resources", { begin, end, steps, ask }, signal),
  lives: (begin: Time, end: Time, steps: number, limit: number, ask: string, signal?: AbortSignal) => get<{ total: number; lives: Life[]; command: string }>("lives", { begin, end, steps, limit, ask }, signal),
  accesses: (begin: Time, end: Time, limit: number, ask: string, signal?: AbortSignal) => get<{ disks: Disk[]; command: string }>("accesses", { begin, end, limit, ask }, signal),
  events: (asked: { begin: Time; end: Time; limit: number; search?: string; hosts?: string; after?: string; ask?: string }, signal?: AbortSignal) =>
    get<{ events: TraceEvent[]; next: string | null; command: string }>("events", asked, signal),
  sync: () => get<Sync>("sync"),
  link: (a: string, b: string, points: number) => get<LinkPicture>("link", { a, b, points }),
};
