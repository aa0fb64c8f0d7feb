// Unit tests of functions of the page that need no browser: texts, the address, times of panels, tiles, pixels of bars.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./source.mjs";

// What these functions use of a browser.
globalThis.matchMedia = () => ({ matches: false, addEventListener() {} });
globalThis.window = globalThis;
globalThis.document = { documentElement: { dataset: {}, style: { setProperty() {} } }, createElement: () => ({ style: {}, dataset: {} }), addEventListener() {} };
globalThis.localStorage = { getItem: () => null, setItem() {} };
globalThis.ImageData = class { constructor(width, height) { this.width = width; this.height = height; this.data = new Uint8ClampedArray(width * height * 4); } };

const format = await load("format"), url = await load("url"), times = await load("panels/times"), tiles = await load("graph/tiles"), paint = await load("graph/paint"), view = await load("view"), renewal = await load("renewal");
const parse = await load("parseTime"), arrows = await load("graph/arrows"), picture = await load("panels/timePicture"), resources = await load("panels/resourceScene"), lives = await load("panels/livesScene"), disks = await load("panels/diskScene");

test("durations have the unit that fits", () => {
  const check = (ns, text) => assert.equal(format.formatDuration(ns), text, `${ns}`);
  check(0, "0 s");
  check(812, "812 ns");
  check(41_320_000, "41.32 ms");
  check(-1_500, "−1.5 µs");
  check(119e9, "119 s");
  check(123.5e9, "2 min 3.5 s");
  check(3_720e9, "1 h 2 min");
  check(null, "–");
  check(Number.NaN, "–");
});

test("numbers of bytes and counts are short", () => {
  assert.equal(format.formatBytes(999), "999 B");
  assert.equal(format.formatBytes(12_345), "12.35 kB");
  assert.equal(format.formatBytes(undefined), "–");
  assert.equal(format.formatCount(-1_125), "−1,125");
});

test("times keep every nanosecond of an origin that numbers cannot hold", () => {
  const origin = "1795154041000000000";
  assert.equal(format.formatTime(origin, 823_216_897), "05:54:01.823216897");
  assert.equal(format.formatTime(origin, -1, 9), "05:54:00.999999999");
  assert.equal(format.formatTime(origin, 823_216_897, 0), "05:54:01");
  assert.equal(format.formatDate(origin, 0), "2026-11-20");
  assert.deepEqual([823_216_897, -1].map((it) => format.formatUnix(origin, it)), ["1795154041.823216897", "1795154040.999999999"]);
  assert.deepEqual([823_216_897, -1].map((it) => format.unixNs(origin, it)), ["1795154041823216897", "1795154040999999999"]);
  format.shownAs.format = "Unix";
  assert.deepEqual([format.formatTime(origin, 823_216_897), format.formatTime(origin, 823_216_897, 0), format.formatDay(origin, 0)], ["1795154041.823216897", "1795154041", "seconds since 1970"]);
  format.shownAs.format = "UTC";
  assert.deepEqual([1, 10, 1_000, 1e9, 0].map(format.placesFor), [9, 8, 6, 0, 9]);
});

test("instants and windows are read as people type them", () => {
  const origin = "1795154041000000000", base = { origin, begin: 823_216_897, near: 2e9, format: "UTC" };
  const check = (text, begin, end = begin, by = base) => assert.deepEqual(parse.parseTimes(text, by), begin === null ? null : { begin, end }, text);
  check("05:54:01.823216897", 823_216_897);
  check(" 05:54:02 .. 05:54:03.5 ", 1e9, 2.5e9);
  check("05:54:02 to +40ms", 1e9, 1.04e9);
  check("2026-11-20 05:54:02Z", 1e9);
  check("2026-11-21T05:54:02", 1e9 + 86_400e9);
  check("1795154042.5", 1.5e9);
  check("1795154041000000007", 7);
  check("+1.5s", 823_216_897 + 1.5e9);
  check("250 ms..300 ms", 823_216_897 + 250e6, 823_216_897 + 300e6);
  check("23:59:59", -21_242e9, undefined, { ...base, near: -30_000e9 });
  check("2.25", 823_216_897 + 2.25e9, undefined, { ...base, format: "since begin" });
  check("0.1 .. 0.2", 823_216_897 + 0.1e9, 823_216_897 + 0.2e9, { ...base, format: "since begin" });
  for (const wrong of ["", "..", "x", "25:00", "05:60", "2.25", "05:54:03 .. 05:54:02", "05:54:02 .. x", "2026-13-40 00:00"]) check(wrong, null);
  // What is shown means what is seen.
  for (const format of parse.TIME_FORMATS) {
    const text = parse.timesText({ begin: 1e9, end: 2.5e9 }, { ...base, format }), { begin, end } = parse.parseTimes(text, { ...base, format });
    assert.ok(Math.abs(begin - 1e9) < 1e6 && Math.abs(end - 2.5e9) < 1e6, `${format} ${text}`);
  }
  assert.equal(parse.timesText({ begin: 1e9, end: 2.5e9 }, base), "05:54:02.000 .. 05:54:03.500");
  assert.equal(parse.timesText({ begin: 1e9, end: 2.5e9 }, { ...base, format: "Unix" }), "1795154042.000 .. 1795154043.500");
});

const nothing = {
  area: [], isByCpu: false, arrows: { messages: true, wakeups: false }, others: {}, times: null, legend: null, isPathClosed: false,
  of: null, window: null, selection: null, row: null, clock: "common", drawer: null, inner: "", search: "", sorted: null,
  rows: { collapsed: [], unfolded: [], pinned: [], hidden: [] }, only: [], bookmarks: [], path: null, orders: {}, theme: null, isClear: false,
};

test("the address is read as it was written", () => {
  const states = [
    nothing,
    { ...nothing, of: "0a1b2c3d", window: { begin: -5, end: 1_000 }, selection: { begin: 1, end: 1 }, row: 0, clock: "own", drawer: "events", inner: "=a == \"b\" && c", search: "a=b&c ü" },
    { ...nothing, area: [4, 5, 9], isByCpu: true, arrows: { messages: false, wakeups: true } },
    { ...nothing, orders: { "System calls": { column: "time", isDown: true }, Requests: { column: "#", isDown: false } }, theme: "dark", isClear: true },
    { ...nothing, sorted: false, only: [1, 2, 3, 7], path: { request: 14 }, isPathClosed: true },
    { ...nothing, times: "since begin", legend: false, others: { events: "~2~window~a~b", messages: "inverted~" } },
    { ...nothing, times: "UTC", legend: true },
    { ...nothing, sorted: { begin: 0, end: 9 }, path: { row: 3, begin: -1, end: 8 }, rows: { collapsed: [5, 6], unfolded: [9], pinned: [8, 2, 3], hidden: [0] } },
    { ...nothing, bookmarks: [{ at: -7, row: null, clock: "own", span: 3, name: "a~b" }, { at: 1, row: 2, clock: "common", span: 0, name: "" }] },
  ];
  for (const state of states) {
    const drawer = state.drawer ?? "";
    assert.deepEqual(url.readAddress(url.writeAddress(state)), { ...state, drawer }, url.writeAddress(state));
  }
});

test("a wrong address is ignored", () => {
  const read = url.readAddress("#w=9,1&s=x&r=-3&x=4-2.z.7&o=0-99999999&path=1,2&request=a&b=1~2~q~3~n&sort=1&t=x&t=a~b~left&theme=pink&time=noon&k=x&k=~y");
  assert.deepEqual({ ...read, only: read.only.length }, { ...nothing, rows: { ...nothing.rows, collapsed: [7] }, only: 100_000 });
});

test("only what is far from the place before is a step of the browser's history", () => {
  const at = (begin, end, more = {}) => ({ ...nothing, window: { begin, end }, ...more });
  const check = (a, b, expect) => assert.equal(url.isStep(a, b), expect);
  check(at(0, 100), at(20, 120), false);
  check(at(0, 100), at(60, 160), true);
  check(at(0, 100), at(10, 40), true);
  check(at(0, 100), at(0, 100, { path: { request: 3 } }), true);
  check(at(0, 100), at(0, 100, { clock: "own" }), true);
  check(at(0, 100), at(0, 100, { row: 3, drawer: "events", selection: { begin: 1, end: 2 } }), false);
});

test("losses are said in words", async () => {
  const { lossText, lossesText, lossesAt } = await load("losses"), loss = (what, count, more = {}) => ({ host: 0, cpu: 1, begin: 5, end: 9, what, count, ...more });
  assert.equal(lossText(loss("events", 1234)), "1,234 events were lost");
  assert.equal(lossText(loss("packets", 1)), "1 packet was lost");
  assert.equal(lossText(loss("the stream ends earlier", null)), "the stream ends earlier");
  assert.equal(lossesText([loss("events", 7), loss("events", 3), loss("the stream ends earlier", null)], 3), "10 events lost");
  assert.equal(lossesText([loss("chunk", null), loss("events", 3)], 9), "at least 3 events, 1 other loss");
  assert.equal(lossesText([loss("the stream begins later", null)], 1), "");
  assert.deepEqual([[0, 1, 5], [0, null, 9], [0, 2, 5], [1, 1, 5], [0, 1, 4]].map(([host, cpu, at]) => lossesAt([loss("events", 1)], host, cpu, at).length), [1, 1, 0, 0, 0]);
});

test("how much of a CPU was recorded: what is missing twice counts once, what is absent is not lost", async () => {
  const { coverageOf } = await load("losses"), loss = (cpu, begin, end, what = "events", host = 0) => ({ host, cpu, begin, end, what, count: what === "events" ? 1 : null });
  const of = (losses, more = {}) => coverageOf(losses, { host: 0, cpus: [0], begin: 0, end: 100, ...more }, { begin: 0, end: 100 }).map((it) => [it.cpu, it.begin, it.end, it.whole, it.lost, it.absent]);
  assert.deepEqual(of([]), [[0, 0, 100, 100, 0, 0]]);
  assert.deepEqual(of([loss(0, 10, 30), loss(0, 20, 40), loss(0, 60, 70), loss(0, 0, 99, "events", 1), loss(1, 5, 6)]), [[0, 0, 100, 60, 40, 0], [1, 0, 100, 99, 1, 0]]);
  assert.deepEqual(of([loss(0, -5, 20, "the stream begins later"), loss(0, 10, 30), loss(0, 90, 200, "the stream ends earlier")]), [[0, 20, 90, 60, 10, 30]]);
  assert.deepEqual(of([loss(null, 40, 50, "chunk"), loss(2, -9, 900, "CPU")], { cpus: [0] }), [[0, 0, 100, 90, 0, 10], [2, 100, 100, 0, 0, 100]]);
  assert.deepEqual(of([loss(0, 95, 99)], { begin: 10, end: 97 }), [[0, 10, 97, 85, 2, 13]]);
});

test("processes of one name are a group; rows are ranked by messages, then by CPU time; tracer, kernel and devices are folds", async () => {
  const { arranged } = await load("rowGroups"), row = (id, label, kind = "thread") => ({ id, label, kind, host: 2, parent: 0 });
  const rows = [row(1, "CPU 0", "cpu"), row(2, "disk vda", "disk"), row(3, "wget"), row(4, "wget"), row(5, "wget"), row(6, "sh"), row(7, "lttng-sessiond"), row(8, "kworker/0:1"), row(9, "redis", "process"), row(10, "cat"), row(11, "idler")];
  const parts = new Map([[3, 1], [4, 1], [9, 9]]), activity = new Map([[5, 50], [6, 70], [9, 1], [10, 5]]), rank = { parts: (it) => parts.get(it.id) ?? 0, activity: (it) => activity.get(it.id) ?? 0 };
  const told = (room, kept = []) => arranged(2, rows, rank, () => 0, room, new Set(kept)).map((it) => ("key" in it ? it.label : it.id));
  assert.deepEqual(told(9), [9, "wget ×3", 6, 10, "1 less active", "tracer and kernel (2)", "1 CPU, 1 disk"]);
  assert.deepEqual(told(2), [9, "wget ×3", "3 less active", "tracer and kernel (2)", "1 CPU, 1 disk"]);
  assert.deepEqual(told(1, [11]), [9, 11, "5 less active", "tracer and kernel (2)", "1 CPU, 1 disk"]);
});

test("rows and times are found again in another look at the traces", () => {
  const experiment = (names, origin) => ({ hosts: names.map((name) => ({ name })), origin_unix_ns: origin });
  const before = {
    experiment: experiment(["a", "b"], "1795154041000000005"),
    rows: [
      { id: 0, host: 0, kind: "host", label: "a" }, { id: 1, host: 0, kind: "cpu", label: "CPU 0", cpu: 0 }, { id: 2, host: 0, kind: "thread", label: "sh", tid: 7, pid: 7 },
      { id: 3, host: 0, kind: "thread", label: "old", tid: 9, pid: 9 }, { id: 4, host: 0, kind: "thread", label: "new", tid: 9, pid: 9 }, { id: 5, host: 1, kind: "host", label: "b" }, { id: 6, host: 1, kind: "thread", label: "sh", tid: 7, pid: 7 },
    ],
  };
  const after = {
    experiment: experiment(["0", "b", "a"], "1795154041000000001"),
    rows: [
      { id: 0, host: 0, kind: "host", label: "0" }, { id: 1, host: 1, kind: "host", label: "b" }, { id: 2, host: 1, kind: "thread", label: "sh", tid: 7, pid: 7 }, { id: 3, host: 2, kind: "host", label: "a" },
      { id: 4, host: 2, kind: "cpu", label: "CPU 0", cpu: 0 }, { id: 5, host: 2, kind: "thread", label: "bash", tid: 7, pid: 7 }, { id: 6, host: 2, kind: "thread", label: "old", tid: 9, pid: 9 },
      { id: 7, host: 2, kind: "thread", label: "new", tid: 9, pid: 9 }, { id: 8, host: 2, kind: "thread", label: "newest", tid: 9, pid: 9 },
    ],
  };
  const by = renewal.renewal(before, after);
  assert.deepEqual([0, 1, 2, 3, 4, 5, 6, 99].map(by.row), [3, 4, 5, 6, 7, 1, 2, null]);
  assert.deepEqual([0, 1, 2].map(by.host), [2, 1, null]);
  // Origins are beyond what numbers hold exactly; their distance is not.
  assert.equal(by.shift, 4);
  assert.deepEqual(by.range({ begin: -1, end: 6 }), { begin: 3, end: 10 });
  // A row that is gone is none.
  assert.equal(renewal.renewal(after, before).row(8), null);
});

const rows = [{ id: 4, host: 0, kind: "host", label: "h1" }, { id: 9, host: 1, kind: "thread", label: "wget", tid: 228 }];
const hosts = [{ name: "h1", shift_ns: 0 }, { name: "h2", shift_ns: 100 }];
const viewOf = (parts) => { const made = new view.View(); made.set({ experiment: { begin: 0, end: 1_000, hosts }, rows, window: { begin: 200, end: 400 }, ...parts }); return made; };

test("panels show the selected time, else the window, on the common clock", () => {
  const check = (parts, scope, expected) => assert.deepEqual(times.panelRange(viewOf(parts), scope), expected);
  check({}, "range", { begin: 200, end: 400, what: "window" });
  check({ selection: { begin: 250, end: 300.4 } }, "range", { begin: 250, end: 300, what: "selection" });
  check({ selection: { begin: 250, end: 300 } }, "window", { begin: 200, end: 400, what: "window" });
  check({ selection: { begin: 250, end: 250 } }, "range", { begin: 200, end: 400, what: "window" });
  check({ clock: "own", row: 9 }, "range", { begin: 100, end: 300, what: "window" });
  check({ clock: "own" }, "range", { begin: 100, end: 400, what: "window" });
  check({ window: { begin: 5_000, end: 6_000 } }, "range", { begin: 0, end: 1_000, what: "window" });
});

test("times go to the clock that is shown and back", () => {
  const own = viewOf({ clock: "own" });
  assert.equal(times.toShown(own, 9, 50), 150);
  assert.equal(times.toCommon(own, 9, 150), 50);
  assert.equal(times.toShown(viewOf({}), 9, 50), 50);
  assert.deepEqual([4, 9, 5, null].map((id) => times.nameOf(own, id)), ["h1", "h2 wget 228", "", ""]);
});

test("watchers are called for what has changed", () => {
  const it = new view.View(), calls = [];
  const stop = it.watch((_, changed) => calls.push([...changed]), "row");
  it.set({ row: 3 });
  it.set({ row: 3 });
  it.set({ filter: "x" });
  stop();
  it.set({ row: 4 });
  assert.deepEqual(calls, [["row"]]);
});

test("levels of tiles fit the window", () => {
  const check = (span, pixels, level) => assert.equal(tiles.levelOf({ begin: 0, end: span }, pixels), level, `${span} ${pixels}`);
  check(1_000, 1_000, 0);
  check(1_999, 1_000, 0);
  check(2_000, 1_000, 1);
  check(10, 1_000, 0);
  check(2 ** 40, 2 ** 10, 30);
  check(8, 0, 3);
});

const tile = (spans, level = 0) => ({
  from: 0, to: 1_024, level, begin: Float64Array.from(spans, (it) => it[0]), end: Float64Array.from(spans, (it) => it[1]),
  style: Uint8Array.from(spans, (it) => it[2]), label: new Uint32Array(spans.length), labels: [""],
});

test("the first state that ends after a time is found", () => {
  const it = tile([[0, 5, 1], [5, 9, 2], [12, 20, 3]]);
  assert.deepEqual([-1, 0, 4, 5, 9, 19, 20].map((at) => tiles.firstEndingAfter(it, at)), [0, 0, 0, 1, 2, 2, 3]);
  assert.equal(tiles.labelOfTile(it, 0), "");
  assert.equal(tiles.labelOfTile(it, 7), "");
});

/** The colours of the middle line of a row that is drawn from a tile. */
function drawn(spans, width, scale) {
  const raster = new paint.Raster(width, 20), of = tile(spans), bars = [];
  raster.row([{ tile: of, begin: 0, end: 1_024 }], 0, scale, 0, 0, 20, [0, 20], 3, bars);
  const pixels = new Uint32Array(raster.image.data.buffer);
  return { line: [...pixels.subarray(10 * width, 11 * width)], bars };
}

test("bars cover their pixels, and short ones the column of the longer", () => {
  const whole = drawn([[0, 4, 1], [6, 8, 1]], 8, 1);
  const colour = whole.line[0];
  assert.notEqual(colour, 0);
  assert.deepEqual(whole.line, [colour, colour, colour, colour, 0, 0, colour, colour]);
  assert.deepEqual(whole.bars.map(({ x0, x1 }) => [x0, x1]), [[0, 4]]);
  // Ten states a pixel: a column with one style has its colour, however many states.
  const many = drawn(Array.from({ length: 40 }, (_, at) => [at * 2, at * 2 + 2, 1]), 8, 0.1);
  assert.ok(many.line.every((it) => it === colour), `${many.line}`);
  // Of two states in a column, the longer.
  const two = drawn([[0, 7, 1], [7, 10, 2]], 1, 0.1), other = drawn([[0, 10, 2]], 1, 0.1);
  assert.equal(two.line[0], colour);
  assert.equal(drawn([[0, 3, 1], [3, 10, 2]], 1, 0.1).line[0], other.line[0]);
});

test("arrows that are left out are counted; those that arrive before they were sent stay", () => {
  assert.deepEqual([arrows.some([1, 2, 3, 4, 5, 6], 3), arrows.some([1, 2], 9), arrows.some([1, 2], 0), arrows.some([], 5), arrows.some([1], -3)], [[1, 3, 5], [1, 2], [], [], []]);
  const check = (drawn, seen, factor, text) => assert.equal(arrows.leftText(drawn, seen, factor), text);
  check(12, 12, 1, "");
  check(1_000, 4_536, 1, "1,000 of 4,536 arrows are drawn");
  check(1_000, 4_536, 3, "1,000 of about 13,608 arrows are drawn");
  check(0, 0, 3, "");
  const scene = { layout: { width: 100, scrollTop: 0, full: 1_000, fixed: 0 }, top: () => 0, rowY: (id) => id * 20, hostOf: () => 0, hostX: (_, t) => t };
  const it = new arrows.Arrows(viewOf({}), () => undefined);
  // The last three of 1,500 arrive before they were sent.
  it.messages.value = [Array.from({ length: 1_500 }, (_, at) => [1, 2, 50, at < 1_497 ? 60 : 40, null, null, null, 0]), []];
  const { arrows: seen, left } = it.seen(scene);
  assert.deepEqual([seen.length, seen.filter((arrow) => arrow.isInverted).length, left], [1_000, 3, "1,000 of 1,500 arrows are drawn"]);
  // Of many that arrive before they were sent, none is left out, nor are all of the others.
  it.messages.value = [Array.from({ length: 5_000 }, (_, at) => [1, 2, 50, at < 1_000 ? 60 : 40, null, null, null, 0]), []];
  const many = it.seen(scene);
  assert.deepEqual([many.arrows.length, many.arrows.filter((arrow) => arrow.isInverted).length, many.left], [4_200, 4_000, "4,200 of 5,000 arrows are drawn"]);
  assert.equal(arrows.redText(20_000, 34_567), "20,000 of 34,567 red arrows in and around the window are drawn");
  assert.deepEqual([[2_000, 2_000], [0, 0], [2_000, 3_456]].map(([known, total]) => arrows.wakeupsText(known, total)), ["", "", "2,000 of 3,456 wake-ups in and around the window are drawn"]);
});

/** What is drawn of a picture: rectangles and lines with their colours, texts. */
class Pen {
  rects = []; texts = []; strokes = []; path = [];
  fillRect(x, y, width, height) { this.rects.push([Math.round(x), Math.round(y), Math.round(width), Math.round(height), this.fillStyle]); }
  strokeRect(x, y) { this.strokes.push([this.strokeStyle, [[x, y]]]); }
  beginPath() { this.path = []; }
  moveTo(x, y) { this.path.push(["M", Math.round(x), Math.round(y)]); }
  lineTo(x, y) { this.path.push(["L", Math.round(x), Math.round(y)]); }
  stroke() { this.strokes.push([this.strokeStyle, this.path]); }
  fillText(text) { this.texts.push(text); }
  measureText(text) { return { width: 6 * text.length }; }
  rect() {} clip() {} save() {} restore() {} fill() {} closePath() {}
}
/** A picture that is drawn in 100 pixels for 100 ns, with what it has beside. */
function painted(content, height = 200, scrolled = 0) {
  const frame = new picture.Frame({ begin: 0, end: 100 }, null, content.left, content.left + 100, content.left + 100 + content.right, content.above, height, scrolled), pen = new Pen();
  content.draw(pen, frame);
  return { frame, pen, of: (colour) => pen.rects.filter((it) => it[4] === colour).map((it) => [it[0] - content.left, ...it.slice(1, 4)]) };
}

test("pictures over time have times between their sides", () => {
  const frame = new picture.Frame({ begin: 1_000, end: 2_000 }, null, 50, 150, 200, 0, 100, 0);
  assert.deepEqual([frame.x(1_000), frame.x(1_500), frame.time(150)], [50, 100, 2_000]);
  assert.deepEqual([frame.part(0, 1_500), frame.part(1_900, 5_000), frame.part(1_200, 1_200), frame.part(0, 10), frame.part(2_100, 2_200)], [[50, 50], [140, 10], [70, 1], null, null]);
  assert.equal(picture.fitting(new Pen(), "a long name", 36), "a lon…");
});

const RESOURCE = { host: 0, row: 3, resource: "disk", of: "vda", busy_percent: 40, waited_percent: null, unknown_ns: 0, begin: [0, 50], end: [50, 100], busy: [40, null], waited: [25, null], unknown: [10, 100] };
const doers = { hostName: (host) => `h${host + 1}`, shift: () => 0, click: () => undefined, open: () => undefined, pick: () => undefined };

test("resources are drawn as they are known: what is unknown is never zero", () => {
  const verdict = { host: 0, because: "saturated", resource: "disk", of: "vda", verdict: "disk vda: 98 % busy" };
  const content = resources.resourceContent([verdict, { ...verdict, host: 1 }], [RESOURCE, { ...RESOURCE, resource: "locks", of: null, busy: undefined, busy_percent: undefined }], doers);
  const { frame, pen, of } = painted(content);
  // 40 of 100 busy, 10 more unknown; then all unknown, in both.
  const [busy] = of(resources.resourceColour("disk")), unknown = of(resources.unknownColour());
  assert.deepEqual([busy[0], busy[2], busy[3]], [0, 50, 10]);
  assert.deepEqual(unknown.map(([x, , width, height]) => [x, width, height]), [[0, 50, 3], [50, 50, 26], [0, 50, 3], [50, 50, 26]]);
  // The line of what waited ends where it is unknown.
  const waited = pen.strokes.find(([colour]) => colour === resources.waitedColour())[1];
  assert.deepEqual(waited.map(([kind, x]) => [kind, x - content.left]), [["M", 0], ["L", 50]]);
  assert.ok(pen.texts.includes("disk vda: 98 % busy") && pen.texts.includes("busy 40 %") && pen.texts.includes("waited unknown") && pen.texts.includes("locks"), pen.texts.join());
  assert.ok(!pen.texts.some((text) => text.startsWith("busy –")));
  assert.deepEqual(content.tip(20, 30, frame), ["h1 disk vda", "00:00:00.000000000, 50 ns", "busy 40 %", "waited for 25 %", "unknown 10 %"]);
  assert.deepEqual(content.tip(70, 30, frame).slice(2), ["busy unknown", "waited for unknown", "unknown 100 %"]);
  assert.deepEqual(content.tip(120, 30, frame), ["h1 disk vda", "no host was recorded then"]);
  assert.deepEqual(content.tip(20, 5, frame), ["h1", "disk vda: 98 % busy"]);
});

test("a click on a step is one on its resource", () => {
  const clicked = [], content = resources.resourceContent([{ host: 0, verdict: "" }], [RESOURCE], { ...doers, click: (it, step) => clicked.push([it.of, step]), pick: (host) => clicked.push(host) });
  const { frame } = painted(content);
  content.click(60, 40, frame);
  content.click(60, 10, frame);
  content.click(500, 40, frame);
  assert.deepEqual(clicked, [["vda", 1], 0, 0]);
  assert.deepEqual([undefined, null, 12.34, 0].map(resources.percentText), ["–", "unknown", "12.3 %", "0 %"]);
});

const LIFE = { host: 0, row: 5, comm: "sh", pid: 7, begin: -50, end: 60, is_begin_seen: true, is_end_seen: true, cpu_ns: 20, unknown_ns: 0, page_faults: 1_108, is_whole: true, steps: [[0, 20, 10, 0], [20, 40, 10, 5]] };

test("lives have edges where they were seen, and figures that say at least", () => {
  const content = lives.livesContent([LIFE, { ...LIFE, pid: 8, is_end_seen: false, page_faults: null }], { ...doers, nameOf: (it) => `h1 ${it.comm} ${it.pid}` });
  const { frame, pen, of } = painted(content);
  const [first, second] = of(lives.cpuColour());
  assert.deepEqual([first.slice(2), second.slice(2)], [[20, 6], [20, 6]]);
  assert.deepEqual(of(lives.unknownColour()).map((it) => it.slice(2)), [[20, 3], [20, 3]]);
  // Of the start, which is before the window, there is no edge; of the end of the first, one.
  assert.equal(pen.rects.filter((it) => it[2] === 2 && it[3] === 16).length, 1);
  assert.ok(pen.texts.includes("page faults") && pen.texts.includes("1,108") && pen.texts.includes("–"));
  assert.deepEqual(content.tip(30, 20, frame).slice(-2), ["page faults 1,108", "here 50 % of a CPU, up to 25 % more"]);
  assert.deepEqual(content.tip(50, 20, frame).at(-1), "here 0 % of a CPU");
  assert.equal(content.tip(30, 10, frame).length, 0);
  assert.match(content.tip(80, 20 + 18, frame).join("; "), /there until .*; page faults were not recorded$/);
  const check = (cpu_ns, unknown_ns, text) => assert.equal(lives.cpuText({ cpu_ns, unknown_ns }), text);
  check(1_234_567, 0, "1.235 ms");
  check(1_234_567, 100, "1.235 ms");
  check(1_234_567, 1_000_000, "≥ 1.235 ms");
  assert.deepEqual([[12, true], [12, false], [null, true]].map(([page_faults, is_whole]) => lives.faultsText({ page_faults, is_whole })), ["12", "≥ 12", "–"]);
});

const DISK = { host: 0, row: 3, disk: "vda", total: 3, follow: 1, elsewhere: 1, mean_bytes: 4_096, processes: [{ pid: 7, comm: "dd" }, { pid: null, comm: null }], accesses: [[0, 0, 4_096, 0, false, 1_000], [50, 4_096, 4_096, 1, true, null], [99, 0, 512, 0, false, 5]] };

test("requests to a disk are where their first byte is, reads and writes apart", () => {
  const clicked = [], content = disks.diskContent(DISK, { shift: () => 0, click: (_, access) => clicked.push(access[0]) }), { frame, pen, of } = painted(content);
  assert.deepEqual(of(disks.processColour(0)).map(([x]) => x), [-2, 97]);
  assert.deepEqual(pen.strokes.filter(([colour]) => colour === disks.processColour(1)).length, 1);
  const y = (offset) => frame.bottom - ((offset - disks.offsetsOf(DISK.accesses)[0]) / (disks.offsetsOf(DISK.accesses)[1] - disks.offsetsOf(DISK.accesses)[0])) * (frame.bottom - frame.top);
  assert.deepEqual(content.tip(51, y(4_096) + 2, frame), ["unknown writes 4.096 kB", "at byte 4,096", "issued 00:00:00.000000050", "its completion was not seen"]);
  assert.deepEqual(content.tip(1, y(0), frame).slice(0, 2), ["dd 7 reads 4.096 kB", "at byte 0"]);
  assert.deepEqual(content.tip(25, y(4_096), frame), []);
  content.click(98, y(0), frame);
  assert.deepEqual(clicked, [99]);
  assert.equal(disks.seeksText(DISK), "3 requests, 1 starts where the one before ends, 1 elsewhere, 4.096 kB away on average");
  assert.equal(disks.seeksText({ ...DISK, total: 9_000 }), "9,000 requests, 1 starts where the one before ends, 1 elsewhere, 4.096 kB away on average; 3 of 9,000 drawn, evenly chosen");
  assert.equal(disks.seeksText({ ...DISK, total: 1, accesses: [1] }), "1 request");
  assert.deepEqual(disks.marksOf(-100, 2_600, 4), [0, 1_000, 2_000]);
  assert.deepEqual(disks.offsetsOf([]), [0, 1]);
});
