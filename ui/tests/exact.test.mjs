// Every figure of an area, for random windows and sets of rows of several traces, against what SQL says of the same store: sums of states, calls, phases, messages, matches, and who ran instead.
// `isochrone-sql` is beside the program, or in PATH. ISOCHRONE_EXACT=all: of all traces of virtual machines, as the nightly tests have it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { launch, machine, machines, open, program, project, serve } from "./page.mjs";

const WINDOWS = 50, MATCHING = "duration > 300us && state == wait-cpu", LEAST_NS = 300_000;
const STATES = ["unknown", "usermode", "syscall", "interrupted", "wait-cpu", "blocked", "wait-fork", "dead", "running"], ON_CPU = [1, 2, 3, 8], WAIT_CPU = 4, DEAD = 7;

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

/** The same numbers each time. */
function randoms(seed) {
  let state = seed;
  return () => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return state / 2 ** 32; };
}
/** The part of a time that is in a window, by the clock of its host, as all durations are. */
const part = (it, { raw }) => Math.min(it.end_raw, raw[it.host][1]) - Math.max(it.begin_raw, raw[it.host][0]);
const isInside = (it, { raw }) => raw[it.host] !== undefined && it.begin_raw < raw[it.host][1] && it.end_raw > raw[it.host][0];
/** The windows of the hosts' clocks, from the query that the page gives. */
const rawWindows = (command) => Object.fromEntries([...command.matchAll(/\('\\''([\w.-]+)'\\'', (-?\d+), (-?\d+)\)/g)].map(([, host, from, to]) => [host, [Number(from), Number(to)]]));
/** Sums of values by key. */
function summed(list, key, value) {
  const sums = new Map();
  for (const it of list) sums.set(key(it), (sums.get(key(it)) ?? 0) + value(it));
  return sums;
}
/** More than what times on the common clock are rounded by, ns. */
const MARGIN_NS = 1_000;
/** Sorted by begin: those that overlap a window, by a search and the longest of all. */
class Spans {
  constructor(list) {
    this.list = list.sort((a, b) => a.begin - b.begin);
    this.longest = list.reduce((most, it) => Math.max(most, it.end - it.begin), 0);
  }
  in(window) {
    let low = 0, high = this.list.length;
    while (low < high) { const middle = (low + high) >> 1; if (this.list[middle].begin < window.begin - this.longest - MARGIN_NS) low = middle + 1; else high = middle; }
    const found = [];
    for (let at = low; at < this.list.length && this.list[at].begin < window.end + MARGIN_NS; at += 1) if (isInside(this.list[at], window)) found.push(this.list[at]);
    return found;
  }
}

for (const name of process.env.ISOCHRONE_EXACT === "all" ? machines() : ["chain3", "mpi4", "hog2", "web2"]) {
  describe(`random windows and rows of ${name}`, () => {
    const { traces, remove } = machine(name);
    let server, page, rows, hosts, extent, sql, areas, rowOf;
    before(async () => {
      server = await serve(traces);
      page = await open(browser, server.address);
      const { experiment, rows: all } = await page.evaluate(() => isochrone.view.now), origin = BigInt(experiment.origin_unix_ns);
      [rows, hosts, extent] = [all, experiment.hosts.map((it) => it.name), { begin: experiment.begin, end: experiment.end }];
      const query = (text) => JSON.parse(execFileSync(program, ["-q", "sql", "--format", "json", "-c", text.replace(/@(\w+)/g, (_, column) => `CAST(${column} AS BIGINT) - ${origin}`), traces], { cwd: project, maxBuffer: 2 ** 30, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
      // A thread of the store is the row of its host with its tid, and the same life.
      const threads = new Map(all.filter((it) => it.kind === "thread").map((it) => [`${hosts[it.host]} ${it.tid} ${it.begin}`, it.id])), numbers = new Map();
      for (const it of query("SELECT host, thread, tid, @begin_time AS begin FROM threads")) numbers.set(`${it.host} ${it.thread}`, threads.get(`${it.host} ${it.tid} ${it.begin}`));
      rowOf = ({ host, thread }) => numbers.get(`${host} ${thread}`) ?? null;
      const of = (list) => list.flatMap((it) => { const row = numbers.get(`${it.host} ${it.thread}`); return row === undefined ? [] : [{ ...it, row }]; });
      const cpus = new Map(all.filter((it) => it.kind === "cpu").map((it) => [`${hosts[it.host]} ${it.cpu}`, it.id])), hostRows = new Map(all.filter((it) => it.kind === "host").map((it) => [hosts[it.host], it.id]));
      const end = (host, thread, cpu) => numbers.get(`${host} ${thread}`) ?? cpus.get(`${host} ${cpu}`) ?? hostRows.get(host);
      sql = {
        states: new Spans(of(query("SELECT host, thread, state, cpu, begin_time_raw AS begin_raw, end_time_raw AS end_raw, @begin_time AS begin, @end_time AS end FROM thread_states"))),
        calls: new Spans(of(query("SELECT host, thread, name, begin_time_raw AS begin_raw, end_time_raw AS end_raw, @begin_time AS begin, @end_time AS end FROM syscalls"))),
        slices: new Spans(query("SELECT host, thread, cpu, begin_time_raw AS begin_raw, end_time_raw AS end_raw, @begin_time AS begin, @end_time AS end FROM slices").map((it) => ({ ...it, row: numbers.get(`${it.host} ${it.thread}`) ?? null }))),
        phases: new Spans(of(query("SELECT host, thread, name, begin_time_raw AS begin_raw, end_time_raw AS end_raw, @begin_time AS begin, @end_time AS end FROM phases"))),
        messages: query("SELECT sent_host, sent_thread, sent_cpu, @sent_time AS sent, received_host, received_thread, received_cpu, @received_time AS received FROM messages").map((it) => ({ from: end(it.sent_host, it.sent_thread, it.sent_cpu), to: end(it.received_host, it.received_thread, it.received_cpu), sent: it.sent, received: it.received })),
      };
      const random = randoms(1795154041 + name.length), length = extent.end - extent.begin;
      areas = Array.from({ length: WINDOWS }, (_, at) => {
        // From a µs to all of it, lengths of all magnitudes; a third of them of all rows.
        const span = at === 0 ? length : length * 10 ** (-6 * random()), begin = Math.floor(extent.begin + random() * (length - span));
        const some = Array.from({ length: 1 + Math.floor(random() * 9) }, () => rows[Math.floor(random() * rows.length)].id);
        return { begin, end: Math.max(begin + 1, Math.round(begin + span)), rows: at === 0 || random() < 0.34 ? null : some };
      });
      const ofAllRows = areas.map((area) => ({ ...area, rows: null }));
      for (const [at, { command }] of (await answers("statistics", ofAllRows)).entries()) areas[at].raw = rawWindows(command);
      assert.ok(areas.every((area) => Object.keys(area.raw).length > 0), "each window has one of a host");
    });
    after(async () => { await page.close(); await server.stop(); remove(); });

    /** Answers to a question about each of the areas. */
    const answers = (kind, areas) => page.evaluate(async ([kind, areas]) => {
      const answers = [];
      for (const { begin, end, rows } of areas) answers.push(await (await fetch(`api/${kind}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ begin, end, rows }) })).json());
      return answers;
    }, [kind, areas]);
    const asked = (kind) => answers(kind, areas);
    const get = (list) => page.evaluate(async (list) => Promise.all(list.map(async (it) => (await fetch(`api/${it}`)).json())), list);
    /** The rows below those of an area, and these; all of them. */
    function below({ rows: some }) {
      const found = new Set(some ?? rows.map((it) => it.id));
      for (const it of rows) if (it.parent !== null && found.has(it.parent)) found.add(it.id);
      return found;
    }
    const each = (answers, check) => areas.forEach((area, at) => check(answers[at], area, below(area), `${name}, ${JSON.stringify(area)}`));
    /** Sums of both are equal, key by key. */
    function same(told, expected, what) {
      for (const key of new Set([...told.keys(), ...expected.keys()])) assert.equal(told.get(key) ?? 0, expected.get(key) ?? 0, `${what}, ${key} by SQL`);
    }

    test("states by thread and in all, calls", async () => {
      each(await asked("statistics"), (answer, area, of, what) => {
        const states = sql.states.in(area).filter((it) => of.has(it.row) && it.state !== STATES[DEAD]), at = (row, state) => `row ${row} ${state}`;
        const told = new Map(answer.threads.flatMap((it) => it.by_state.map((ns, state) => [at(it.row, STATES[state]), state === DEAD ? 0 : ns])));
        same(told, summed(states, (it) => at(it.row, it.state), (it) => part(it, area)), what);
        same(new Map(answer.states.map((it) => [it.state, it.total_ns])), summed([...told], ([key]) => key.split(" ")[2], ([, ns]) => ns), what);
        const calls = sql.calls.in(area).filter((it) => of.has(it.row)), count = summed(calls, (it) => it.name, () => 1);
        same(new Map(answer.calls.map((it) => [it.call, it.count])), count, `${what}, calls`);
        same(new Map(answer.calls.map((it) => [it.call, it.total_ns])), summed(calls, (it) => it.name, (it) => part(it, area)), `${what}, time of calls`);
        for (const it of answer.calls) assert.equal(it.max_ns, Math.max(...calls.filter((call) => call.name === it.call).map((call) => part(call, area))), `${what}, longest ${it.call}`);
        const onCpu = answer.threads.map((it) => ON_CPU.reduce((sum, state) => sum + it.by_state[state], 0));
        assert.deepEqual(onCpu, [...onCpu].sort((a, b) => b - a), `${what}: those with the most CPU time come first`);
      });
    });

    test("CPU time of threads, of which rows are sorted", async () => {
      each(await get(areas.map(({ begin, end }) => `activity?begin=${begin}&end=${end}`)), (answer, area, _, what) => {
        const slices = sql.slices.in(area).filter((it) => it.row !== null);
        same(new Map(answer.threads), summed(slices, (it) => it.row, (it) => part(it, area)), what);
      });
    });

    test("who ran instead", async () => {
      // A wait is for the CPU on which its thread is next.
      const next = new Map(), last = new Map();
      for (const it of sql.states.list) { if (last.has(it.row)) next.set(last.get(it.row), it); last.set(it.row, it); }
      each(await asked("instead"), (answer, area, of, what) => {
        const waits = sql.states.in(area).filter((it) => of.has(it.row) && it.state === STATES[WAIT_CPU]), sums = new Map();
        for (const wait of waits) {
          const cpu = next.get(wait)?.cpu ?? null;
          if (cpu === null) continue;
          const [from, to] = area.raw[wait.host], time = { begin: wait.begin, end: wait.end, raw: { [wait.host]: [Math.max(wait.begin_raw, from), Math.min(wait.end_raw, to)] } };
          for (const it of sql.slices.in(time)) if (it.host === wait.host && it.cpu === cpu) sums.set(it.row, (sums.get(it.row) ?? 0) + part(it, time));
        }
        assert.equal(answer.waits, waits.length, what);
        assert.equal(answer.wait_ns, waits.reduce((sum, it) => sum + part(it, area), 0), what);
        assert.equal(answer.ran.reduce((sum, it) => sum + it.total_ns, 0) + answer.unknown_ns, answer.wait_ns, what);
        same(summed(answer.ran, (it) => it.row, (it) => it.total_ns), sums, what);
      });
    });

    test("phases by thread", async () => {
      each(await asked("phases"), (answer, area, of, what) => {
        const phaseRows = new Map(rows.filter((it) => it.kind === "phase").map((it) => [it.parent, it.id])), phases = sql.phases.in(area).filter((it) => of.has(phaseRows.get(it.row)));
        const told = answer.threads.flatMap((it) => it.phases.map((phase) => [`${it.row} ${phase.phase}`, phase])), key = (it) => `${it.row} ${it.name}`;
        same(new Map(told.map(([key, it]) => [key, it.count])), summed(phases, key, () => 1), what);
        same(new Map(told.map(([key, it]) => [key, it.total_ns])), summed(phases, key, (it) => part(it, area)), what);
      });
    });

    test("messages by pair, and how many there are", async () => {
      const inWindow = (at, { begin, end }) => begin <= at && at < end;
      each(await asked("exchanged"), (answer, area, of, what) => {
        const packets = sql.messages.filter((it) => (inWindow(it.sent, area) && of.has(it.from)) || (inWindow(it.received, area) && of.has(it.to))), pairs = answer.pairs.filter((it) => !it.is_mpi);
        const pair = (it) => `${it.from} to ${it.to}`, took = (it) => it.received - it.sent;
        same(new Map(pairs.map((it) => [pair(it), it.count])), summed(packets, pair, () => 1), what);
        same(new Map(pairs.map((it) => [pair(it), it.total_ns])), summed(packets, pair, took), what);
        same(new Map(pairs.map((it) => [pair(it), it.inverted])), summed(packets, pair, (it) => Number(took(it) < 0)), what);
      });
      const total = async (more, fits) => each(await get(areas.map(({ begin, end }) => `messages?begin=${begin}&end=${end}&clock=common&limit=1${more}`)), (answer, area, _, what) => {
        assert.equal(answer.total, sql.messages.filter((it) => fits(it, area)).length, `${what}${more}`);
      });
      // What is drawn: those on their way, too. What is listed: those that arrive.
      await total("", (it, area) => Math.min(it.sent, it.received) < area.end && Math.max(it.sent, it.received) >= area.begin);
      await total("&received=true", (it, area) => inWindow(it.received, area));
    });

    /** The tables of a command, its rows as they are in JSON. */
    const commanded = (command) => JSON.parse(execFileSync("sh", ["-c", `${command.replace(/^isochrone/, `'${program}' -q`)} --format json 2> /dev/null`], { cwd: project, maxBuffer: 2 ** 30, encoding: "utf8" })).tables;

    test("queries that the page gives have the same sums of calls and of what ran instead", async () => {
      const queried = (command) => JSON.parse(execFileSync("sh", ["-c", `${command.replace(/^isochrone/, `'${program}' -q`)} --format json 2> /dev/null`], { cwd: project, maxBuffer: 2 ** 30, encoding: "utf8" }));
      const [sums, instead] = [await asked("statistics"), await asked("instead")];
      for (const at of [0, 3, 7, 11]) {
        const what = `${name}, ${JSON.stringify(areas[at])}`, { calls, calls_command: command } = sums[at];
        assert.deepEqual(new Map(queried(command).map((it) => [it.name, [it.count, it.total_ns, it.max_ns]])), new Map(calls.map((it) => [it.call, [it.count, it.total_ns, it.max_ns]])), what);
        // Idle tasks of a host are one.
        const key = (host, row) => (row === null ? `${host} idle` : row);
        same(new Map(instead[at].ran.map((it) => [it.row ?? it.label, it.total_ns])), summed(queried(instead[at].command), (it) => key(it.host, rowOf(it)), (it) => it.total_ns), what);
      }
    });

    test("requests, and what each spent its time on", async () => {
      const [{ requests, command }] = await get(["requests"]);
      if (requests.length === 0) return;
      const tables = Object.fromEntries(commanded(command).map((it) => [it.name, it.rows.map((row) => Object.fromEntries(it.columns.map(({ name }, at) => [name, row[at]])))]));
      assert.deepEqual(requests.map((it) => [it.request, it.total_ns]).sort((a, b) => a[0] - b[0]), tables.requests.map((it) => [it.request, it.total_ns]).sort((a, b) => a[0] - b[0]));
      const key = (it) => `${it.host} ${it.comm || null} ${it.cause}`;
      for (const path of await get(requests.map((it) => `path?request=${it.request}`))) {
        same(new Map(path.causes.map((it) => [key(it), it.total_ns])), new Map(tables.causes.filter((it) => it.request === path.request).map((it) => [key(it), it.total_ns])), `${name}, request ${path.request}`);
        assert.equal(path.steps.reduce((sum, it) => sum + it.end - it.begin, 0), path.end - path.begin, "the steps make up the request");
      }
    });

    test("tables of analyses are those of the command that the page gives", async () => {
      const kinds = ["cputop", "syscallstats", "schedstats", "blocking", "messages", "iolatencystats"];
      for (const [place, analysis] of kinds.entries()) {
        const { begin, end } = areas[1 + place * 3 % 17], [answer] = await page.evaluate(async (body) => [await (await fetch("api/table", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).json()], { analysis, begin, end, limit: 100_000 });
        const tables = new Map(commanded(`${answer.command}`).map((it) => [it.name, it]));
        for (const table of answer.tables) {
          // Instants lose some hundred ns in JSON.
          const cells = (rows) => rows.map((row) => row.filter((_, at) => table.columns[at].unit !== "time"));
          assert.deepEqual(cells(table.rows), cells(tables.get(table.name)?.rows ?? []), `${answer.command}: ${table.name}`);
        }
      }
    });

    test("states that match an expression", async () => {
      each(await get(areas.map(({ begin, end }) => `matching?text=${encodeURIComponent(MATCHING)}&begin=${begin}&end=${end}&clock=common&limit=0`)), (answer, area, _, what) => {
        const found = sql.states.in(area).filter((it) => it.state === STATES[WAIT_CPU] && it.end - it.begin > LEAST_NS);
        assert.equal(answer.kind, "whole", what);
        assert.equal(answer.states, found.length, what);
        assert.equal(answer.total_ns, found.reduce((sum, it) => sum + it.end - it.begin, 0), what);
        assert.deepEqual([...answer.rows].sort((a, b) => a - b), [...new Set(found.map((it) => it.row))].sort((a, b) => a - b), what);
      });
    });
  });
}
