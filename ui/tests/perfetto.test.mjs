// What `isochrone export` writes, as Perfetto's trace processor understands it: slices, sums and flows are those of our own reports.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { open } from "./perfetto.mjs";

const ui = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const program = resolve(ui, process.env.ISOCHRONE_BIN ?? "../target/release/isochrone");
const shop = resolve(ui, "../examples/shop");
const directory = mkdtempSync(join(tmpdir(), "isochrone-export-"));
after(() => rmSync(directory, { recursive: true }));

const isochrone = (...words) => execFileSync(program, ["-q", ...words], { encoding: "utf8", maxBuffer: 2 ** 30 });
/** A table of a report, as objects of texts: numbers of ns are more than JavaScript's hold. */
function table(name, ...words) {
  const [head, ...rows] = isochrone(...words, "--table", name, "--format", "csv", shop).trim().split("\n").map((line) => line.split(","));
  return rows.map((row) => Object.fromEntries(head.map((column, at) => [column, row[at]])));
}
const hosts = ["h1", "h2", "h3"];
/** The number that a host's process or thread has in the file. */
const numbered = (host, number) => BigInt(hosts.indexOf(host)) * 10_000_000n + BigInt(number);
const sorted = (rows) => rows.map((row) => row.map(String).join(" ")).sort();
/** Two lists of rows are one, whatever their order. */
function same(found, expect, atLeast) {
  assert.equal(found.length, expect.length);
  assert.equal(expect.length >= atLeast, true, `${expect.length} rows`);
  assert.deepEqual(sorted(found), sorted(expect));
}
const bad = "select name, value from stats where severity in ('error', 'data_loss') and value > 0";
const arg = (name, of = "s") => `extract_arg(${of}.arg_set_id, 'debug.${name}')`;

let trace;
before(async () => {
  const file = join(directory, "shop.pftrace");
  isochrone("export", "--to", "perfetto", "--every", "500ms", "-o", file, shop);
  trace = await open(file);
});
after(() => trace.close());

test("nothing is wrong with the file", async () => {
  assert.deepEqual(await trace.query(bad), []);
  assert.deepEqual(trace.errors, []);
  assert.deepEqual(await trace.query("select count(*) from slice where dur < 0"), [[0n]]);
});

test("processes and threads have their names", async () => {
  const found = await trace.query("select t.tid, t.name, p.pid from thread t join process p using (upid) join thread_track using (utid) where t.tid > 0 group by t.utid");
  // The same number may be that of several threads, one after the other: the last name counts.
  const names = new Map(table("states", "analyze", "states").map((row) => [numbered(row.host, row.tid), row.comm]));
  assert.equal(found.length, names.size);
  for (const [tid, name] of found) assert.equal(name, names.get(tid));
});

test("states of threads", async () => {
  const found = await trace.query(`select t.tid, s.ts, s.dur, s.name, ${arg("cpu")} c from slice s join thread_track k on s.track_id = k.id join thread t using (utid) where s.category = 'state'`);
  const expect = table("states", "analyze", "states").filter((row) => row.state !== "dead");
  same(found.map(([tid, ts, dur, name, cpu]) => [tid, ts, ts + dur, name, cpu ?? ""]),
    expect.map((row) => [numbered(row.host, row.tid), row.begin_ns, row.end_ns, row.state, row.cpu]), 10_000);
});

test("system calls", async () => {
  const found = await trace.query(`select t.tid, s.ts, s.dur, s.name from slice s join thread_track k on s.track_id = k.id join thread t using (utid) where s.category = 'syscall'`);
  const expect = table("syscalls", "analyze", "syscalls").filter((row) => row.begin_ns !== "" && row.end_ns !== "");
  same(found.map(([tid, ts, dur, name]) => [tid, ts, ts + dur, name]),
    expect.map((row) => [numbered(row.host, row.tid), row.begin_ns, row.end_ns, row.syscall]), 10_000);
});

test("interrupts", async () => {
  const found = await trace.query(`select h.name, s.ts, s.dur, s.name, c.name from slice s join track k on s.track_id = k.id join track c on k.parent_id = c.id join track h on c.parent_id = h.id where s.category in ('irq', 'softirq')`);
  const expect = table("log", "analyze", "irqlog");
  const name = (row) => `${row.type} ${row.number}${row.name === "" ? "" : ` ${row.name}`}`;
  same(found.map(([host, ts, dur, name, cpu]) => [host, ts, ts + dur, name, cpu]),
    expect.map((row) => [row.host, row.begin_ns, row.end_ns, name(row), `CPU ${row.cpu}`]), 1000);
});

test("messages are flows, with what the clocks leave open", async () => {
  const of = (slice, name) => arg(name, slice);
  const found = await trace.query(`select ${of("i", "from")}, ${of("o", "to")}, o.ts, i.ts, ${of("i", "latency_ns")} l, ${of("i", "latency_lo_ns")} a, ${of("i", "latency_hi_ns")} b,
    ${of("o", "sent_raw_ns")} x, ${of("i", "received_raw_ns")} y from flow f join slice o on f.slice_out = o.id join slice i on f.slice_in = i.id where o.category = 'message'`);
  const expect = table("messages", "messages");
  same(found, expect.map((row) => [row.from, row.to, row.sent_ns, row.received_ns, row.latency_ns, row.latency_lo_ns, row.latency_hi_ns, row.sent_raw_ns, row.received_raw_ns]), 700);
});

test("wake-ups are flows to the wait for a CPU", async () => {
  const found = await trace.query(`select t.tid, o.ts, i.ts, i.name, i.dur, ${arg("tid", "o")} from flow f join slice o on f.slice_out = o.id join slice i on f.slice_in = i.id
    join thread_track k on i.track_id = k.id join thread t using (utid) where o.category = 'wakeup'`);
  for (const [tid, out, into, name, , told] of found) assert.deepEqual([out, name, told], [into, "wait-cpu", tid % 10_000_000n]);
  // Every wait from a wake-up to a switch.
  const expect = table("log", "analyze", "schedlog");
  const waits = new Set(found.map(([tid, ts, , , dur]) => `${tid} ${ts} ${ts + dur}`));
  const missing = expect.filter((row) => row.wakeup_ns !== "" && !waits.has(`${numbered(row.host, row.tid)} ${row.wakeup_ns} ${row.switch_ns}`));
  assert.deepEqual(missing, []);
  assert.equal(expect.length > 1000, true);
});

test("the scheduler's tables have switches, waits for a CPU and blocked times", async () => {
  const first = (host) => BigInt(hosts.indexOf(host));
  const log = table("log", "analyze", "schedlog"), states = table("states", "analyze", "states");
  // What ran: the states on a CPU, joined where one follows another.
  const runs = new Map();
  for (const row of states.filter((row) => ["usermode", "syscall", "interrupted", "running"].includes(row.state))) {
    const key = `${row.host} ${row.tid} ${row.cpu}`, all = runs.get(key) ?? runs.set(key, []).get(key), last = all.at(-1);
    if (last?.[1] === row.begin_ns) last[1] = row.end_ns;
    else all.push([row.begin_ns, row.end_ns]);
  }
  const expect = [...runs].flatMap(([key, all]) => { const [host, tid, cpu] = key.split(" "); return all.map(([from, to]) => [numbered(host, tid), first(host) + BigInt(cpu), from, to]); });
  const ran = await trace.query("select t.tid, c.cpu, s.ts, s.ts + s.dur from sched s join thread t using (utid) join cpu c using (ucpu) where t.tid > 0");
  same(ran, expect, 5000);
  const running = await trace.query("select t.tid, c.cpu, s.ts, s.ts + s.dur from thread_state s join thread t using (utid) join cpu c using (ucpu) where state = 'Running'");
  same(running, expect, 5000);
  // Waits for a CPU after a wake-up, with who woke.
  const woken = await trace.query("select t.tid, s.ts, s.ts + s.dur from thread_state s join thread t using (utid) where state = 'R' and dur >= 0 and waker_utid is not null");
  const waits = new Set(woken.map((row) => row.join(" ")));
  const missing = log.filter((row) => row.wakeup_ns !== "" && !waits.has(`${numbered(row.host, row.tid)} ${row.wakeup_ns} ${row.switch_ns}`));
  assert.deepEqual(missing, []);
  assert.equal(log.length > 1000, true);
  // Blocked times that end within the trace.
  const blocked = await trace.query("select t.tid, s.ts, s.ts + s.dur from thread_state s join thread t using (utid) where state in ('S', 'D', 'T') and dur >= 0");
  const known = new Set(states.filter((row) => row.state === "blocked").map((row) => `${numbered(row.host, row.tid)} ${row.begin_ns} ${row.end_ns}`));
  assert.deepEqual(blocked.filter((row) => !known.has(row.join(" "))), []);
  assert.equal(blocked.length > 1000, true);
  assert.deepEqual(await trace.query("select distinct state from thread_state where dur = -1 and state not in ('S', 'D', 'T', 'X', '?', 'R')"), []);
  assert.equal((await trace.query("select count(*) from thread_state where state = '?'"))[0][0] <= 3n, true);
});

test("counters are those of usage", async () => {
  const found = await trace.query(`select h.name, c.ts, c.value from counter c join track k on c.track_id = k.id join track h on k.parent_id = h.id where k.name = 'CPUs busy'`);
  const expect = table("host", "analyze", "usage", "--every", "500ms");
  same(found.map(([host, ts, value]) => [host, ts, Math.round(value * 5e8)]), expect.map((row) => [row.host, row.begin_ns, row.cpu_ns]), 60);
});

test("clocks of hosts are in snapshots", async () => {
  const [, offset] = /"host": ?"h2".*?"clock_offset_ns": ?(\d+)/.exec(isochrone("sync", "--format", "json", shop));
  for (const [place, host] of hosts.entries()) {
    const shown = await trace.query(`select s.ts, s.clock_value from clock_snapshot s where s.clock_id = ${128 + place} order by s.ts`);
    assert.equal(shown.length >= 2, true);
    for (const [ts, raw] of shown) {
      const [told] = JSON.parse(isochrone("convert", "--from", host, "--raw", String(raw), "--format", "json", "--traces", shop));
      assert.equal(BigInt(told.to_ns) + BigInt(offset), ts, `${host} ${raw}`);
    }
  }
});

test("CPUs ran what cputop says, in the ns of the host's own clock", async () => {
  const file = join(directory, "client.pftrace");
  isochrone("export", "--to", "perfetto", "--no-sync", "-o", file, join(shop, "client"));
  const own = await open(file);
  try {
    assert.deepEqual(await own.query(bad), []);
    const found = await own.query(`select replace(k.name, 'CPU ', ''), sum(s.dur) filter (where s.category = 'cpu'), sum(s.dur) filter (where s.category = 'unknown') from slice s join track k on s.track_id = k.id where s.category in ('cpu', 'unknown') group by 1`);
    const expect = table("cpus", "analyze", "cputop", "--no-sync", "--host", "h1");
    same(found.map(([cpu, busy, unknown]) => [cpu, busy, unknown ?? 0n]), expect.map((row) => [row.cpu, row.busy_ns, row.unknown_ns]), 1);
    const threads = await own.query(`select t.tid, sum(s.dur) from slice s join thread_track k on s.track_id = k.id join thread t using (utid) where s.name in ('usermode', 'syscall', 'interrupted') and s.category = 'state' group by 1`);
    const ran = table("processes", "analyze", "cputop", "--no-sync", "--host", "h1").filter((row) => row.cpu_ns !== "0");
    same(threads, ran.map((row) => [row.tid, row.cpu_ns]), 10);
    const scheduled = await own.query("select c.cpu, sum(s.dur) from sched s join cpu c using (ucpu) where s.utid != 0 group by 1");
    same(scheduled, expect.map((row) => [row.cpu, row.busy_ns]), 1);
  } finally {
    await own.close();
  }
});

test("Chrome's JSON holds the same", async () => {
  const file = join(directory, "shop.json");
  isochrone("export", "--to", "chrome", "--every", "500ms", "-o", file, shop);
  const chrome = await open(file);
  try {
    assert.deepEqual(await chrome.query(bad), []);
    const sums = "select category, count(*), sum(dur) from slice group by 1 order by 1";
    assert.deepEqual(await chrome.query(sums), await trace.query(sums));
    const flows = "select count(*), sum(i.ts - o.ts) from flow f join slice o on f.slice_out = o.id join slice i on f.slice_in = i.id";
    assert.deepEqual(await chrome.query(flows), await trace.query(flows));
  } finally {
    await chrome.close();
  }
});
