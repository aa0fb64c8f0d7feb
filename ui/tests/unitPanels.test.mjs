// Unit tests of functions of panels and palettes that need no browser: commands, progress, answers in SQL, fields of events, durations, services, counters, colours.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { distance, seen, visions } from "./colourVision.mjs";
import { load } from "./source.mjs";

// What these functions use of a browser.
const kept = new Map();
globalThis.matchMedia = () => ({ matches: false, addEventListener() {} });
globalThis.window = globalThis;
const pen = { measureText: () => ({ width: 0 }) };
globalThis.document = { documentElement: { dataset: {}, style: { setProperty() {} } }, createElement: () => ({ style: {}, dataset: {}, getContext: () => pen, setAttribute() {}, append() {}, addEventListener() {} }), createElementNS: () => ({ setAttribute() {}, append() {} }), addEventListener() {} };
globalThis.localStorage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };

const keys = await load("keys"), asking = await load("panels/asking"), area = await load("panels/areaTables"), sql = await load("panels/sqlRows"), fields = await load("panels/eventFields"), histogram = await load("panels/histogram");
const latency = await load("panels/latency"), services = await load("panels/serviceGraph"), pair = await load("panels/pathPair"), counters = await load("counterRows"), parse = await load("parseTime"), groups = await load("rowGroups"), pairs = await load("panels/pairs"), users = await load("panels/users"), pivot = await load("panels/pivot");

test("keys are those that were pressed, and are written as people write them", () => {
  const key = (key, held = "") => keys.keyOf({ key, shiftKey: held === "shift", ctrlKey: held === "ctrl", metaKey: held === "meta" });
  assert.deepEqual([key("a"), key("A", "shift"), key("ArrowUp", "shift"), key("K", "ctrl"), key("k", "meta")], ["a", "A", "Shift+ArrowUp", "Ctrl+k", "Ctrl+k"]);
  assert.deepEqual(["a", "A", "Shift+ArrowUp", "Ctrl+k", " ", "+", "Escape"].map(keys.keyText), ["a", "Shift+A", "Shift+↑", "Ctrl+K", "Space", "+", "Esc"]);
});

test("commands are found by words of their names, groups and keys, those that begin with them first", () => {
  const command = (group, description, ...keys) => ({ group, description, keys, run() {} }), all = [command("Rows", "sort by activity", "o"), command("Time", "fit all", "f"), command("Page", "all commands by name", "Ctrl+k"), command("Panels", "open Statistics")];
  const names = (text) => keys.commandsFor(text, all).map((it) => it.description);
  assert.equal(names("").length, 4);
  assert.deepEqual(names("all"), ["all commands by name", "fit all"]);
  assert.deepEqual(names("STAT open"), ["open Statistics"]);
  assert.deepEqual(names("ctrl+k"), ["all commands by name"]);
  assert.deepEqual(names("nothing"), []);
});

test("progress is in percent where it is known, and never done before the answer is there", () => {
  assert.deepEqual([null, [0, 0], [0, 8], [3, 8], [8, 8]].map(asking.progressText), ["loading …", "loading …", "loading … 0 %", "loading … 37 %", "loading … 99 %"]);
});

test("sums of files are of all of them, also of those that are not listed", () => {
  const uses = { reads: 12, read_bytes: 3000, writes: 1, written_bytes: 0, others: 1234, errors: 2, total_ns: 4_100_000 };
  assert.equal(area.usesText(uses), "12 reads of 3 kB, 1 writes of 0 B, 1,234 other calls (2 errors), 4.1 ms");
  assert.deepEqual([area.cutText(5, 5), area.cutText(1000, 2345)], ["", "; the first 1,000 of 2,345"]);
});

test("answers in SQL have units by their names, instants to the nanosecond, and unknown where nothing is", () => {
  const origin = "1795154041000000000", at = (text) => sql.sqlInstant(text, origin);
  assert.deepEqual([at("2026-11-20T05:54:01.823216897Z"), at("2026-11-20 05:54:02"), at("2026-11-20"), at("x"), at(5), at(null)], [823_216_897, 1e9, null, null, null, null]);
  const rows = [{ host: "h1", n: 3, wait_ns: 5, read_bytes: null, at: "2026-11-20T05:54:01.000000007Z", fields: { a: 1 } }, { host: "h2", n: null, wait_ns: 6, read_bytes: 7, at: null, fields: null }];
  assert.deepEqual(sql.sqlTable({ rows }, origin), {
    columns: [{ name: "host", unit: "none" }, { name: "n", unit: "none" }, { name: "wait_ns", unit: "ns" }, { name: "read_bytes", unit: "bytes" }, { name: "at", unit: "time" }, { name: "fields", unit: "none" }],
    rows: [["h1", 3, 5, null, 7, '{"a":1}'], ["h2", null, 6, 7, null, null]],
  });
  assert.deepEqual(sql.sqlTable({ rows: [] }, origin), { columns: [], rows: [] });
});

test("fields of events are taken apart, whatever their values hold, and found again", () => {
  const text = '{ cpu_id = 0 }, { tid = 166, procname = "Client, } = x" }, { prev_comm = "a \\"b\\", c", prev_tid = -1, header = { version = 6, saddr = [ [0] = 0xFE80, [1] = 0x0 ] } }';
  const groups = fields.groupsOf(text);
  assert.equal(groups.length, 3);
  assert.deepEqual(fields.fieldsOf(groups[1]), [{ name: "tid", value: "166" }, { name: "procname", value: '"Client, } = x"' }]);
  assert.deepEqual(fields.fieldsOf(groups[2]).map((it) => it.name), ["prev_comm", "prev_tid", "header"]);
  assert.equal(fields.fieldsOf(groups[2])[2].value, "{ version = 6, saddr = [ [0] = 0xFE80, [1] = 0x0 ] }");
  assert.deepEqual([fields.groupsOf("{ cut"), fields.groupsOf("other"), fields.fieldsOf(" ")], [null, null, []]);
  const search = (value, isContext) => fields.searchFor("sched_switch", { name: "prev_tid", value }, isContext);
  assert.deepEqual([search("216"), search('"x"', true), search("( \"a\" : container = 2 )"), search("0xFE")], ['=$event == "sched_switch" && prev_tid == 216', '=$event == "sched_switch" && $ctx.prev_tid == "x"', null, null]);
});

test("a histogram has each duration in one bar, and no bar is missing between", () => {
  const durations = [1, 9, 10, 11, 999, 1000, 1001, 123_456, 10 ** 9], bars = histogram.barsOf(durations);
  assert.equal(bars.reduce((sum, bar) => sum + bar.count, 0), durations.length);
  for (const ns of durations) assert.equal(bars.filter((bar) => bar.from <= ns && ns < bar.to).length, 1, `${ns}`);
  bars.forEach((bar, place) => { if (place > 0) assert.equal(bar.from, bars[place - 1].to); });
  assert.deepEqual(histogram.barsOf([]), []);
});

test("the chosen requests are held against the others by means; without others, that is unknown", () => {
  const cause = { host: "h2", comm: "appsrv", cause: "disk", chosen_ns: 90, others_ns: 10 };
  assert.deepEqual(latency.meansOf({ chosen: 3, chosen_ns: 0, others: 5, others_ns: 0, causes: [cause] }), [{ where: "h2 appsrv", cause: "disk", chosen: 30, others: 2, more: 28 }]);
  assert.deepEqual(latency.meansOf({ chosen: 3, chosen_ns: 0, others: 0, others_ns: 0, causes: [cause] })[0].more, null);
});

test("who is asked stands right of all who ask it, programs that ask each other have places, too", () => {
  const edge = (client, server) => ({ client: { host: "h", comm: client }, server: { host: "h", comm: server }, service: "80", count: 2, total_ns: 8, median_ns: 4, p95_ns: 5, max_ns: 6, cpu_ns: client === "x" ? null : 6 });
  const columns = (edges) => Object.fromEntries(services.placed(edges).map((it) => [it.program.comm, it.column]));
  assert.deepEqual(columns([edge("web", "app"), edge("app", "db"), edge("web", "db")]), { web: 0, app: 1, db: 2 });
  const both = columns([edge("a", "b"), edge("b", "a"), edge("a", "a")]);
  assert.equal(Object.keys(both).length, 2);
  assert.equal(services.edgeText(edge("web", "app")), "2 × 4 ns, CPU 3 ns each");
  assert.equal(services.edgeText(edge("x", "app")), "2 × 4 ns, CPU unknown");
});

test("two paths are compared cause by cause, what differs most first", () => {
  const cause = (cause, total_ns) => ({ host: "h2", comm: "appsrv", cause, total_ns, median_ns: null }), path = (...causes) => ({ causes });
  assert.deepEqual(pair.pairsOf(path(cause("cpu", 5), cause("disk", 9)), path(cause("cpu", 6), cause("sleep", 20))).map(({ cause, first, second }) => [cause, first, second]), [["sleep", 0, 20], ["disk", 9, 0], ["cpu", 5, 6]]);
});

test("a filter of two ends means names that begin with these words; else words are anywhere", () => {
  const fits = (filter) => pairs.fitsFilter(filter, "h1 wget 208", "h2 appsrv 197", "3 10.0.0.2:8080");
  assert.deepEqual(["", "h1 wget → h2 appsrv", "h1 → h2", "→ h2", "h1 →", "APPSRV wget", "8080 h1"].map(fits), [true, true, true, true, true, true, true]);
  assert.deepEqual(["h2 → h1", "h → h2", "h1 wge → h2", "wget → appsrv", "redis"].map(fits), [false, false, false, false, false]);
  const request = (client, server) => ({ client, server });
  assert.deepEqual(pairs.programPairs([request("h1 wget 1", "h2 a 9"), request("h1 wget 2", "h2 a 8"), request("h2 a 9", "h3 db 7")]), [{ from: "h1 wget", to: "h2 a", count: 2 }, { from: "h2 a", to: "h3 db", count: 1 }]);
  // Within a host, and of rows that are not known, they are none between hosts.
  const pair = (from, to, count) => ({ from, to, count }), hostOf = (row) => [0, 0, 1][row];
  assert.deepEqual(pairs.hostPairs([pair(0, 2, 3), pair(1, 2, 4), pair(0, 1, 9), pair(0, 5, 9)], hostOf, (host) => `h${host}`), [{ from: "h0", to: "h1", count: 7 }]);
});

test("questions about files and peers name hosts, and addresses the other way round", () => {
  assert.match(users.isFile("it's", { file: "/a'b" }), /^host = 'it''s' AND fd_path\(.*\) = '\/a''b'$/);
  assert.match(users.isFile("h1", { file: null }), / IS NULL$/);
  const files = [{ host: 0, file: "10.0.0.1:5->10.0.0.2:80" }, { host: 0, file: "10.0.0.1:6->10.0.0.2:80" }, { host: 0, file: "10.0.0.1:6->10.0.0.3:80" }, { host: 1, file: "10.0.0.2:80->10.0.0.1:5" }, { host: 0, file: null }];
  assert.match(users.isOtherEnd("h1", { host: 0, peer: "10.0.0.2" }, files), /^host <> 'h1' AND \([^|]*LIKE '10\.0\.0\.2:%->10\.0\.0\.1:%'\)$/);
  assert.equal(users.isOtherEnd("h1", { host: 0, peer: "10.9.9.9" }, files), null);
});

test("a pivot lacks nothing of the sums: what is not listed has a line", () => {
  const states = [{ style: 1, total_ns: 10 }, { style: 5, total_ns: 90 }], thread = (row, user, blocked, dead = 0) => ({ row, label: "", by_state: [0, user, 0, 0, 0, blocked, 0, dead, 0] });
  const lines = (threads, count, by) => pivot.pivotLines({ states, threads, thread_count: count }, by, (row) => ({ row: by === "host" ? 0 : row, label: `r${row}` })).map(({ kind, byState, isWhole }) => [kind, byState[1] ?? 0, byState[5] ?? 0, isWhole]);
  assert.deepEqual(lines([thread(1, 4, 50, 1000), thread(2, 6, 40)], 2, "host"), [["one", 10, 90, true], ["all", 10, 90, true]]);
  assert.deepEqual(lines([thread(1, 4, 50), thread(2, 5, 10)], 3, "host"), [["one", 9, 60, false], ["rest", 1, 30, true], ["all", 10, 90, true]]);
  assert.deepEqual(lines([thread(1, 4, 50), thread(2, 5, 10)], 3, "thread"), [["one", 4, 50, true], ["one", 5, 10, true], ["rest", 1, 30, true], ["all", 10, 90, true]]);
});

test("lines of counters are known by their numbers, and say what they know of an instant", () => {
  for (const host of [0, 1, 900]) counters.COUNTERS.forEach((kind, place) => assert.deepEqual(counters.counterOf(counters.counterLine(host, place)), { host, kind }));
  assert.deepEqual([0, 5, -1, -1_000_000, -2_300_000].map(counters.counterOf), [null, null, null, null, null]);
  assert.deepEqual([5, 10, 19, 20, 29, 30].map((at) => counters.placeAt([10, 20], at)), [-1, 0, 0, 1, 1, -1]);
  const [cpu, , network] = counters.COUNTERS, series = (kind, ...y) => ({ host: 0, kind, x: [0, 10], y });
  assert.equal(counters.counterText(cpu, [series("cpu", 12.34, null)], 5), "12.3 %");
  assert.equal(counters.counterText(cpu, [series("cpu", 12.34, null)], 15), "unknown");
  assert.equal(counters.counterText(network, [series("net-sent", 1000, 0), series("net-received", 0, 0)], 5), "1 kB/s sent, 0 B/s received");
  assert.equal(counters.counterText(cpu, [], 5), "not recorded");
});

test("raw times of a host are read", () => {
  assert.deepEqual(parse.parseRaw(" h2 raw 123456789 "), { host: "h2", raw: [123_456_789] });
  assert.deepEqual(parse.parseRaw("h2 raw -5 .. 7"), { host: "h2", raw: [-5, 7] });
  for (const wrong of ["h2 123", "raw 5", "h2 raw x", "06:11:28"]) assert.equal(parse.parseRaw(wrong), null, wrong);
});

test("what a container runs is one line, apart from processes of the same name outside", () => {
  const row = (id, label, namespace) => ({ id, parent: 0, kind: "thread", host: 0, label, namespace }), rows = [row(1, "web", 7), row(2, "db", 7), row(3, "web"), row(4, "lttng-sessiond", 7)];
  const shown = groups.arranged(0, rows, { parts: () => 1, activity: () => 1 }, () => 0, 10, new Set(), (it) => it.namespace ?? null);
  const container = shown.find((it) => groups.isBundle(it) && it.label === "container 7 (3)");
  assert.deepEqual(container.rows.map((it) => it.id), [1, 2, 4]);
  assert.deepEqual(shown.filter((it) => !groups.isBundle(it)).map((it) => it.id), [3]);
  assert.equal(groups.renewedKey(container.key, (id) => id + 5, () => null), container.key + 5);
  assert.equal(groups.renewedKey(groups.countersKey(3), () => null, (host) => host + 1), groups.countersKey(4));
});

for (const theme of ["light", "dark"]) {
  test(`states that can touch are told apart with the palette for all eyes, and phases from states: ${theme}`, async () => {
    kept.set("isochrone.palette", "clear");
    kept.set("isochrone.theme", theme);
    const clear = await load("colours"), touching = [[0, 1, 2, 3, 4, 5, 6, 8], [9, 8, 10, 11, 0], [12, 13]];
    for (const group of touching) for (const a of group) for (const b of group) if (a < b) for (const vision of visions) {
      assert.ok(distance(seen(clear.rgbOf(a), vision), seen(clear.rgbOf(b), vision)) >= 15, `${clear.LOOKS[a].name}, ${clear.LOOKS[b].name}: ${vision}`);
    }
    // What is unknown is lower, and has the colour of other causes.
    const causes = clear.causeNames.filter((it) => it !== "unknown"), of = (cause) => clear.rgbOf(clear.causeStyle(cause));
    for (const a of causes) for (const b of causes) if (a < b) for (const vision of visions) assert.ok(distance(seen(of(a), vision), seen(of(b), vision)) >= 15, `${a}, ${b}: ${vision}`);
    // Phases touch each other; and what a thread does in one is not to be taken for another.
    const phases = [...new Set(Array.from({ length: clear.PHASES }, (_, phase) => clear.rgbOf(clear.FIRST_PHASE + phase).join()))].map((it) => it.split(",").map(Number)), doing = [1, 2, 4, 5, 8];
    assert.ok(phases.length >= 9, `${phases.length} colours of phases`);
    phases.forEach((phase, place) => {
      for (const vision of visions) {
        for (const other of phases.slice(0, place)) assert.ok(distance(seen(phase, vision), seen(other, vision)) >= 15, `phases ${phase}, ${other}: ${vision}`);
        for (const state of doing) assert.ok(distance(seen(phase, vision), seen(clear.rgbOf(state), vision)) >= 15, `phase ${phase}, ${clear.LOOKS[state].name}: ${vision}`);
        assert.ok(distance(seen(phase, vision), seen(theme === "light" ? [255, 255, 255] : [22, 24, 29], vision)) >= 15, `phase ${phase}, background: ${vision}`);
      }
    });
    // Text on them can be read.
    const light = (rgb) => { const [r, g, b] = rgb.map((value) => { const c = value / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    for (let phase = 0; phase < clear.PHASES; phase += 1) {
      const style = clear.FIRST_PHASE + phase, it = light(clear.rgbOf(style)), contrast = clear.inkOn(style) === "black" ? (it + 0.05) / 0.05 : 1.05 / (it + 0.05);
      assert.ok(contrast >= 4.4, `text on phase ${phase}: ${contrast}`);
    }
    kept.set("isochrone.palette", "usual");
    const usual = await load("colours");
    for (let phase = 0; phase < usual.PHASES; phase += 1) for (const state of [0, 1, 2, 3, 4, 5, 6, 8]) assert.ok(distance(usual.rgbOf(usual.FIRST_PHASE + phase), usual.rgbOf(state)) >= 15, `phase ${phase}, ${usual.LOOKS[state].name}`);
  });
}

test("the page is small as it is sent", () => {
  const directory = new URL("../../crates/server/page/", import.meta.url), bytes = readdirSync(directory).reduce((sum, name) => sum + gzipSync(readFileSync(new URL(name, directory))).length, 0);
  assert.ok(bytes <= 220_000, `${bytes} bytes`);
});
