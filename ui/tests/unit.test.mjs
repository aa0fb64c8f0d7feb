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
  assert.deepEqual([1, 10, 1_000, 1e9, 0].map(format.placesFor), [9, 8, 6, 0, 9]);
});

const nothing = {
  of: null, window: null, selection: null, row: null, clock: "common", drawer: null, search: "", sorted: null,
  rows: { collapsed: [], unfolded: [], pinned: [], hidden: [] }, only: [], bookmarks: [], path: null,
};

test("the address is read as it was written", () => {
  const states = [
    nothing,
    { ...nothing, of: "0a1b2c3d", window: { begin: -5, end: 1_000 }, selection: { begin: 1, end: 1 }, row: 0, clock: "own", drawer: "events", search: "a=b&c ü" },
    { ...nothing, sorted: false, only: [1, 2, 3, 7], path: { request: 14 } },
    { ...nothing, sorted: { begin: 0, end: 9 }, path: { row: 3, begin: -1, end: 8 }, rows: { collapsed: [5, 6], unfolded: [9], pinned: [8, 2, 3], hidden: [0] } },
    { ...nothing, bookmarks: [{ at: -7, row: null, clock: "own", span: 3, name: "a~b" }, { at: 1, row: 2, clock: "common", span: 0, name: "" }] },
  ];
  for (const state of states) {
    const drawer = state.drawer ?? "";
    assert.deepEqual(url.readAddress(url.writeAddress(state)), { ...state, drawer }, url.writeAddress(state));
  }
});

test("a wrong address is ignored", () => {
  const read = url.readAddress("#w=9,1&s=x&r=-3&x=4-2.z.7&o=0-99999999&path=1,2&request=a&b=1~2~q~3~n&sort=1");
  assert.deepEqual({ ...read, only: read.only.length }, { ...nothing, rows: { ...nothing.rows, collapsed: [7] }, only: 100_000 });
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
