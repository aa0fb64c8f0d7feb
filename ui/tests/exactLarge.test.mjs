// Sums of an area of traces with millions of states, evenly dense and with gaps, for random windows and rows: what the page is answered against what SQL adds up of each state and call.
// ISOCHRONE_EVENTS: events of a trace (10 million); ISOCHRONE_WINDOWS: windows of each (100). `isochrone-sql` is beside the program, or in PATH. Part of the nightly tests.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { generator, program, serve } from "./page.mjs";

const EVENTS = process.env.ISOCHRONE_EVENTS ?? "10000000", WINDOWS = Number(process.env.ISOCHRONE_WINDOWS ?? 100);
const STATES = ["unknown", "usermode", "syscall", "interrupted", "wait-cpu", "blocked", "wait-fork", "dead", "running"];
const run = promisify(execFile);

function randoms(seed) {
  let state = seed;
  return () => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return state / 2 ** 32; };
}

for (const [kind, options] of [["evenly dense", ["--gaps", "0"]], ["with gaps", []]]) {
  describe(`a trace that is ${kind}`, () => {
    const directory = mkdtempSync(join(tmpdir(), "isochrone-exact-")), traces = join(directory, "made"), store = join(directory, "store");
    let server, threads, areas, answers;
    const sql = async (query) => {
      const { stdout } = await run(program, ["-q", "sql", "--store", store, "--format", "json", "-c", query, traces], { maxBuffer: 2 ** 30 });
      return JSON.parse(stdout);
    };
    const get = async (path) => (await fetch(new URL(path, server.address))).json();
    const post = async (path, body) => (await fetch(new URL(path, server.address), { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).json();
    before(async () => {
      execFileSync("python3", [generator, traces, "--events", EVENTS, "--cpus", "4", ...options], { stdio: "ignore" });
      server = await serve(traces, directory, store);
      while ((await fetch(new URL("api/rows", server.address))).status !== 200) await new Promise((done) => setTimeout(done, 500));
      const experiment = await get("api/experiment"), { rows } = await get("api/rows"), origin = BigInt(experiment.origin_unix_ns);
      const begins = new Map((await sql(`SELECT thread, tid, CAST(begin_time AS BIGINT) - ${origin} AS begin FROM threads`)).map((it) => [`${it.tid} ${it.begin}`, it.thread]));
      threads = new Map(rows.filter((it) => it.kind === "thread").map((it) => [it.id, begins.get(`${it.tid} ${it.begin}`)]));
      const random = randoms(20261201), ids = [...threads.keys()], length = experiment.end - experiment.begin;
      areas = Array.from({ length: WINDOWS }, (_, at) => {
        // From a ms to all of it, lengths of all magnitudes; a third of them of all rows.
        const span = at === 0 ? length : length * 10 ** (-4 * random()), begin = Math.floor(experiment.begin + random() * (length - span));
        const some = Array.from({ length: 1 + Math.floor(random() * 5) }, () => ids[Math.floor(random() * ids.length)]);
        return { begin, end: Math.max(begin + 1, Math.round(begin + span)), rows: at === 0 || random() < 0.34 ? null : [...new Set(some)] };
      });
      answers = [];
      for (const area of areas) answers.push(await post("api/statistics", area));
    });
    after(async () => { await server.stop(); rmSync(directory, { recursive: true }); });

    /** A query of each area, and what it is held against. */
    async function each(query, check) {
      for (const [at, area] of areas.entries()) {
        // The window of the host's own clock, from the query that the page gives.
        const { command } = await post("api/statistics", { ...area, rows: null }), found = /\('\\''[\w.-]+'\\'', (-?\d+), (-?\d+)\)/.exec(command);
        assert.ok(found !== null, command);
        const some = area.rows === null ? "" : ` AND thread IN (${area.rows.map((row) => threads.get(row)).join(", ")})`;
        check(answers[at], await sql(query(found[1], found[2], some)), JSON.stringify(area));
      }
    }
    const cut = (from, to) => `least(end_time_raw, ${to}) - greatest(begin_time_raw, ${from})`, inside = (from, to) => `begin_time_raw < ${to} AND end_time_raw > ${from}`;

    test("states by thread", async () => {
      await each((from, to, some) => `SELECT thread, state, sum(${cut(from, to)}) AS ns FROM thread_states WHERE state <> 'dead' AND ${inside(from, to)}${some} GROUP BY thread, state`, (answer, rows, what) => {
        const told = new Map(answer.threads.flatMap((it) => it.by_state.map((ns, state) => [`${threads.get(it.row)} ${STATES[state]}`, ns])).filter(([key, ns]) => ns > 0 && !key.endsWith(" dead")));
        const expected = new Map(rows.map((it) => [`${it.thread} ${it.state}`, it.ns]).filter(([key, ns]) => ns > 0 && [...threads.values()].includes(Number(key.split(" ")[0]))));
        assert.deepEqual(told, expected, what);
      });
    });

    test("calls by name: number, time, the longest", async () => {
      const idle = new Set(threads.values());
      await each((from, to, some) => `SELECT name, thread, count(*) AS count, sum(${cut(from, to)}) AS ns, max(${cut(from, to)}) AS longest FROM syscalls WHERE ${inside(from, to)}${some} GROUP BY name, thread`, (answer, rows, what) => {
        const expected = new Map();
        for (const it of rows.filter(({ thread }) => idle.has(thread))) {
          const [count, ns, longest] = expected.get(it.name) ?? [0, 0, 0];
          expected.set(it.name, [count + it.count, ns + it.ns, Math.max(longest, it.longest)]);
        }
        assert.deepEqual(new Map(answer.calls.map((it) => [it.call, [it.count, it.total_ns, it.max_ns]])), expected, what);
      });
    });
  });
}
