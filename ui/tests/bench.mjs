// How long a frame takes while 60 rows with 60,000 states are panned and zoomed, and while 10,000 rows are scrolled, in Chromium without a GPU; fails above 25 ms (median).
// The data are made here, so that they are the same everywhere; the page is the built one.
import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { launch, rest } from "./page.mjs";

const ROWS = 60, MANY = 10_000, STATES = 60_000, MOST_MS = 25, FRAMES = 240, WIDTH = 1200;
/** The time that is shown has STATES states; there is ten times as much. */
const SHOWN = 1e9, ALL = 10 * SHOWN, MEAN = SHOWN / (STATES / ROWS);
const files = resolve(import.meta.dirname, "../../crates/server/page");
const STYLES = [1, 2, 1, 2, 4, 5, 3, 2], CALLS = ["read", "write", "futex", "epoll_wait"];

/** States of a row: of different lengths, about MEAN ns on average; the same each time. */
function statesOf(row) {
  let seed = row + 1;
  const random = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
  const list = [], mean = row < ROWS ? MEAN : 20 * MEAN;
  for (let at = 0; at < ALL;) {
    const end = Math.min(ALL, Math.round(at + mean * (0.2 + 1.6 * random())));
    list.push({ begin: at, end, style: STYLES[Math.floor(random() * STYLES.length)], label: Math.floor(random() * CALLS.length) });
    at = end;
  }
  return list;
}
const kept = new Map();
function binary({ rows, begin, end }) {
  const starts = [0], found = [];
  for (const row of rows) {
    if (!kept.has(row)) kept.set(row, statesOf(row));
    found.push(...kept.get(row).filter((it) => it.end > begin && it.begin < end));
    starts.push(found.length);
  }
  const json = Buffer.from(JSON.stringify(CALLS)), count = found.length, head = 16 + 4 * rows.length + 4 * (rows.length + 1) + 4 * count, times = Math.ceil((head + count) / 8) * 8;
  const out = new ArrayBuffer(times + 16 * count), view = new DataView(out);
  [0x314f5349, rows.length, count, json.length, ...rows, ...starts].forEach((value, at) => view.setUint32(4 * at, value, true));
  found.forEach((it, at) => {
    view.setUint32(head - 4 * count + 4 * at, it.style === 2 ? it.label : 0xffffffff, true);
    view.setUint8(head + at, it.style);
    view.setFloat64(times + 8 * at, it.begin, true);
    view.setFloat64(times + 8 * (count + at), it.end, true);
  });
  return Buffer.concat([Buffer.from(out), json]);
}
const hosts = [0, 1].map((host) => ({ host, name: `h${host}`, row: host, island: 0, is_reference: host === 0, likely_ns: 1000, sure_ns: 5000, begin: 0, end: ALL, cpus: [], shift_ns: host * 1e6 }));
let count = ROWS;
const threads = () => Array.from({ length: count - 2 }, (_, at) => ({ id: at + 2, parent: at % 2, kind: "thread", host: at % 2, label: "worker", pid: at, tid: at, begin: 0, end: ALL }));
const messages = Array.from({ length: 4000 }, (_, at) => {
  const sent = Math.round((at / 4000) * ALL);
  return [2 + (at % 58), 2 + ((at + 7) % 58), sent, sent + 3e5, 20000, -90000, 90000, 0];
});
const answers = {
  experiment: () => ({
    name: "bench", version: "", stage: { name: "ready", done: 1, total: 1, message: "" }, origin_unix_ns: "1795154041000000000", begin: 0, end: ALL, own: { begin: 0, end: ALL }, is_synchronized: true, hosts,
    messages: { count: messages.length, inverted_own: 0, inverted: 0 }, traces: [], command: "", notes: [],
  }),
  overview: () => ({ begin: 0, end: ALL, hosts: hosts.map(({ host, name }) => ({ host, name, bytes: new Array(1000).fill(1) })), losses: [], breaks: [] }),
  rows: () => ({ rows: [...hosts.map(({ host, name }) => ({ id: host, parent: null, kind: "host", host, label: name })), ...threads()] }),
  messages: (query) => ({ total: messages.length, messages: messages.filter((it) => it[3] >= query.get("begin") && it[2] < query.get("end")) }),
};

const browser = await launch();
// The graph itself is 1200 wide and has room for all rows.
const page = await browser.newPage({ viewport: { width: WIDTH + 230 + 4 + 14, height: ROWS * 20 + 200 } });
await page.route("**/*", async (route) => {
  const url = new URL(route.request().url()), name = url.pathname.replace(/^\/api\//, "");
  if (name === "states") return route.fulfill({ contentType: "application/octet-stream", body: binary(route.request().postDataJSON()) });
  if (url.pathname.startsWith("/api/")) return answers[name] ? route.fulfill({ json: answers[name](url.searchParams) }) : route.fulfill({ status: 404, json: { error: "none" } });
  const file = url.pathname === "/" ? "index.html" : basename(url.pathname);
  return route.fulfill({ path: resolve(files, file) });
});
await page.goto("http://bench.invalid/#d=&sort=0");
await page.waitForFunction(() => globalThis.isochrone?.isReady() && isochrone.frames().length > 0);
await page.evaluate((end) => isochrone.navigation.set({ begin: end, end: 2 * end }), SHOWN);
await rest(page);
await rest(page);

const result = await page.evaluate(async ([frames, shown]) => {
  const { graph, navigation, layout } = isochrone, median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
  let states = 0;
  for (const place of graph.shownPlaces()) for (const row of isochrone.rows.lines[place].sources) {
    for (const { tile, begin, end } of graph.pieces(row, 0).pieces) tile.begin.forEach((from, at) => { if (from < end && tile.end[at] > begin) states += 1; });
  }
  const run = async (move) => {
    const gaps = [], before = graph.frames().length;
    let last = 0;
    await new Promise((done) => {
      let frame = 0;
      const next = (now) => {
        if (last > 0) gaps.push(now - last);
        last = now;
        if (frame === frames) { done(); return; }
        move(frame);
        frame += 1;
        requestAnimationFrame(next);
      };
      requestAnimationFrame(next);
    });
    return { draw: median(graph.frames().slice(before > 60 ? -frames : before)), frame: median(gaps) };
  };
  const pan = await run((frame) => navigation.pan((frame % 80 < 40 ? 1 : -1) * shown * 0.005));
  const zoom = await run((frame) => navigation.zoom(frame % 40 < 20 ? 0.985 : 1 / 0.985));
  return { rows: graph.shownPlaces().length, states, size: `${layout.width}x${layout.height}`, arrows: graph.arrows.seen(graph.scene()).arrows.length, pan, zoom };
}, [FRAMES, SHOWN]);
console.log(JSON.stringify(result));

count = MANY;
await page.goto("http://bench.invalid/?many#d=&sort=0");
await page.waitForFunction(() => globalThis.isochrone?.isReady() && isochrone.frames().length > 0);
await rest(page);
result.scroll = await page.evaluate(async (frames) => {
  const { graph, layout, rows } = isochrone, median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1], gaps = [];
  let last = 0;
  await new Promise((done) => {
    let frame = 0;
    const next = (now) => {
      if (last > 0) gaps.push(now - last);
      last = now;
      if (frame === frames) { done(); return; }
      // Half of it row by row, half in leaps through all of them.
      if (frame < frames / 2) layout.scrollBy(30);
      else layout.scrollTo(((frame * 7919) % frames) / frames * layout.mostScroll);
      frame += 1;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  return { rows: rows.lines.length, draw: median(graph.frames().slice(-frames)), frame: median(gaps) };
}, FRAMES);
console.log(JSON.stringify(result.scroll));
await browser.close();
for (const way of ["pan", "zoom", "scroll"]) {
  const { draw, frame } = result[way];
  console.log(`${way}: drawing ${draw.toFixed(1)} ms, from frame to frame ${frame.toFixed(1)} ms (medians; at most ${MOST_MS})`);
  if (draw > MOST_MS || frame > MOST_MS) process.exitCode = 1;
}
