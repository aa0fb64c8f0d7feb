// What readers notice: order and contrast, names that are odd, forced colours, large screens, the edges of the window.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { copied } from "./made.mjs";
import { chain3, eventsOf, hog2, launch, open, ping5, project, rest, serve, web2 } from "./page.mjs";

const directory = mkdtempSync(join(tmpdir(), "isochrone-polish-"));
let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); rmSync(directory, { recursive: true }); });
async function on(traces, body, options = {}) {
  const server = await serve(traces, directory, join(directory, `store${traces.replaceAll("/", "-").slice(-60)}`)), page = await open(browser, server.address, { isFirst: true, ...options });
  try { await body(page); assert.deepEqual(page.errors, []); } finally { await page.close(); await server.stop(); }
}
const panel = async (page, id, inner) => { await page.evaluate(([id, inner]) => isochrone.drawer.open(id, inner), [id, inner]); await rest(page); };
/** The place on the page of a row at a time. */
const placeOf = (page, row, at) => page.evaluate(([row, at]) => {
  const box = document.querySelector(".graph").getBoundingClientRect(), scene = isochrone.graph.scene();
  return [box.x + scene.x(at), box.y + scene.middle(isochrone.rows.placeOf(row))];
}, [row, at]);
/** The colour of an element's background, as it is computed; and that of what is around it. */
const backgrounds = (page, selector) => page.locator(selector).evaluateAll((all) => all.filter((it) => it.checkVisibility()).map((it) => {
  const around = (up) => (up === null ? "rgb(255, 255, 255)" : getComputedStyle(up).backgroundColor === "rgba(0, 0, 0, 0)" ? around(up.parentElement) : getComputedStyle(up).backgroundColor);
  return [getComputedStyle(it).backgroundColor, around(it.parentElement)];
}));

test("in Statistics, what is unknown is the last state, however it is sorted by time; a bar does not lie under its text", () => on(ping5, async (page) => {
  await panel(page, "statistics");
  const rows = page.locator("table[aria-label='Time by state'] tbody tr:not(.gap)"), states = async () => (await rows.locator("td:first-child").allTextContents());
  const seen = await rows.evaluateAll((all) => all.map((row) => { const bar = row.querySelector(".meter").getBoundingClientRect(), text = document.createRange(); text.selectNodeContents(row.querySelector(".value")); return { bar: bar.width, free: text.getBoundingClientRect().left - bar.right, ns: Number.parseInt(row.cells[1].title, 10) }; }));
  assert.equal((await states()).at(-1), "unknown");
  const unknown = seen.at(-1), most = Math.max(...seen.slice(0, -1).map((it) => it.ns));
  assert.ok(unknown.ns > 0 && unknown.bar < 3, JSON.stringify(unknown));
  for (const it of seen) assert.ok(it.free >= 0, `a bar reaches under its text: ${JSON.stringify(seen)}`);
  assert.ok(seen.some((it) => it.ns === most && it.bar > 20), "the longest known state has the longest bar");
  await page.locator("table[aria-label='Time by state'] th button", { hasText: "time" }).click();
  await rest(page);
  assert.equal((await states()).at(-1), "unknown");
}));

test("what is unknown is lighter than what is known", () => on(ping5, async (page) => {
  // By how much the pixels of a state's bar differ from the background, added up over the height of a row.
  const ink = await page.evaluate(async () => {
    const found = {};
    isochrone.activity.off();
    await new Promise((go) => setTimeout(go, 800));
    const scene = isochrone.graph.scene(), back = [255, 255, 255];
    for (const line of isochrone.rows.lines.slice(0, 20)) {
      if (line.row === null || !["thread"].includes(line.row.kind)) continue;
      for (let x = 4; x < 1100; x += 1) {
        const state = isochrone.graph.stateAt(line.row.id, scene.time(x));
        if (state === null || scene.x(state.end) - scene.x(state.begin) < 12 || scene.x(state.end) - x < 2 || x - scene.x(state.begin) < 2) continue;
        const middle = scene.middle(isochrone.rows.placeOf(line.row.id));
        let sum = 0;
        for (let y = middle - 8; y <= middle + 8; y += 1) sum += isochrone.pixel(x, y).reduce((all, value, at) => all + Math.abs(value - back[at]), 0);
        (found[state.style] ??= []).push(sum);
      }
    }
    return Object.fromEntries(Object.entries(found).map(([style, sums]) => [style, [sums.reduce((a, b) => a + b, 0) / sums.length, sums.length]]));
  });
  const [unknown, blocked] = [ink[0], ink[5]];
  assert.ok(unknown[1] > 50 && blocked[1] > 50, JSON.stringify(ink));
  assert.ok(unknown[0] > 100, "it is seen");
  assert.ok(unknown[0] < blocked[0] * 0.75, JSON.stringify(ink));
}));

test("a control character in the name of a host does not break the page, nor its SVG", async () => {
  const traces = join(directory, "control");
  copied(join(hog2, "h1", "kernel"), join(traces, "h1"), "a\\001b");
  await on(traces, async (page) => {
    assert.equal(await page.evaluate(() => isochrone.view.now.experiment.hosts[0].name), "a\u0001b");
    const [wrong, texts] = await page.evaluate(() => {
      const svg = new DOMParser().parseFromString(isochrone.svg(), "image/svg+xml");
      return [svg.querySelector("parsererror")?.textContent ?? null, [...svg.querySelectorAll("text")].map((it) => it.textContent)];
    });
    assert.equal(wrong, null);
    assert.ok(texts.includes("a\ufffdb"), texts.slice(0, 20).join("|"));
  });
});

test("a host with a name of 300 characters is opened; its name does not widen anything", async () => {
  const traces = join(directory, "long"), name = "n".repeat(300);
  copied(join(hog2, "h1", "kernel"), join(traces, "h1"), name);
  await on(traces, async (page) => {
    const shown = page.locator(".line.host .name").first();
    assert.equal(await shown.textContent(), name);
    assert.ok((await shown.boundingBox()).width < 230);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await panel(page, "usage");
    assert.ok((await page.locator("table[aria-label^='Usage'] tbody td").first().boundingBox()).width < 400);
  });
});

test("colours that mean something are there where the system has its own colours", () => on(chain3, async (page) => {
  const selectors = [".state-legend .swatch", ".knob"];
  const unlike = async (selector, least) => {
    const found = await backgrounds(page, selector);
    assert.ok(found.length >= least, `${selector}: ${found.length}`);
    assert.ok(found.filter(([own, around]) => own !== around && own !== "rgba(0, 0, 0, 0)").length >= Math.min(found.length, least), `${selector}: ${JSON.stringify(found.slice(0, 12))}`);
    return found.map(([own]) => own);
  };
  const before = await unlike(selectors[0], 12);
  await page.emulateMedia({ forcedColors: "active" });
  assert.deepEqual(await unlike(selectors[0], 12), before, "the legend has the colours of the graph");
  await unlike(selectors[1], 1);
  const knob = await page.locator(".knob").evaluate((it) => [getComputedStyle(it, "::after").backgroundColor, getComputedStyle(it).backgroundColor]);
  assert.notEqual(knob[0], knob[1], "the knob's place is seen");
  await panel(page, "statistics");
  await unlike("table[aria-label='Time by state'] .meter", 3);
  await unlike("table[aria-label^='Time by thread'] .stack > span", 10);
  await panel(page, "critical-path");
  await page.locator("button", { hasText: /^slowest$/ }).click();
  await page.waitForFunction(() => isochrone.view.now.path !== null);
  await rest(page);
  await unlike(".path-bar .stack > span", 3);
  await unlike("table[aria-label='Time by cause'] .swatch", 3);
}));

test("where the window is far shorter than what clocks leave open, the order across hosts is said to be unknown", () => on(chain3, async (page) => {
  const { begin, hosts } = await page.evaluate(() => isochrone.view.now.experiment), most = Math.max(...hosts.map((it) => it.likely_ns)), doubt = async (length) => {
    await page.evaluate(([begin, length]) => isochrone.navigation.set({ begin: begin + 4e9, end: begin + 4e9 + length }), [begin, length]);
    await rest(page);
    return /order across hosts is not known here: clocks are ± ([\d.]+ \S+)</.exec((await page.evaluate(() => isochrone.svg())).replace(/; no window is shorter/, ""))?.[1] ?? null;
  };
  assert.ok(most > 10_000, `${most}`);
  assert.match(await doubt(300), /^[\d.]+ µs$/);
  assert.match(await doubt(most / 2), /^[\d.]+ µs$/);
  assert.equal(await doubt(most * 20), null);
  // Each host's own clock is never said to be comparable: nothing is doubted that is not shown.
  await doubt(300);
  await page.keyboard.press("k");
  await page.waitForFunction(() => isochrone.view.now.clock === "own" && !isochrone.clock.isSliding);
  await rest(page);
  assert.doesNotMatch(await page.evaluate(() => isochrone.svg()), /order across hosts/);
}));

test("at the edges of the window, what is said under the pointer stays in it, also when more of it is known", () => on(chain3, async (page) => {
  await page.evaluate(() => { const { begin } = isochrone.view.now.experiment; isochrone.activity.off(); isochrone.navigation.set({ begin: begin + 3e9, end: begin + 6e9 }); });
  await rest(page);
  const row = await page.evaluate(() => isochrone.rows.lines.find((it) => it.row?.kind === "cpu").id), box = await page.locator(".graph").boundingBox(), [, y] = await placeOf(page, row, 0);
  for (const x of [box.x + box.width - 12, box.x + 3]) {
    await page.mouse.move(700, 300);
    await page.mouse.move(x, y);
    // At once, then with what the server says.
    for (const isExact of [false, true]) {
      if (isExact) await page.waitForFunction(() => /common clock/.test(document.querySelector(".tooltip").textContent));
      else await page.waitForFunction(() => !document.querySelector(".tooltip").hidden);
      const tip = await page.locator(".tooltip").boundingBox();
      assert.ok(tip.width > 60 && tip.x >= 0 && tip.x + tip.width <= 1400 && tip.y >= 0 && tip.y + tip.height <= 900, `${x}: ${JSON.stringify(tip)}`);
    }
  }
}));

test("on a 4K screen with two pixels for one, the graph fills its place, and is used as elsewhere", () => on(chain3, async (page) => {
  const boxes = await page.evaluate(() => Object.fromEntries([".header", ".minimap", ".body", ".tree", ".graph", ".state-legend", ".drawer", ".status"].map((it) => { const { left, right, top, bottom } = document.querySelector(it).getBoundingClientRect(); return [it, { left, right, top, bottom }]; })));
  assert.deepEqual([boxes[".body"].left, boxes[".body"].right], [0, 3840]);
  const down = [".header", ".minimap", ".body", ".state-legend", ".drawer", ".status"];
  for (let place = 1; place < down.length; place += 1) assert.ok(boxes[down[place]].top >= boxes[down[place - 1]].bottom - 1, `${down[place]} lies over ${down[place - 1]}`);
  assert.ok(boxes[".status"].bottom <= 2160 && boxes[".tree"].right <= boxes[".graph"].left);
  const { canvas, width, ratio } = await page.evaluate(() => { const { canvas } = isochrone.graph; return { canvas: [canvas.width, canvas.height], width: document.querySelector(".graph").clientWidth, ratio: devicePixelRatio }; });
  assert.equal(ratio, 2);
  assert.ok(width > 3500 && Math.abs(canvas[0] - 2 * width) <= 2, `${canvas} ${width}`);
  // States are drawn at the left and at the right end of what is seen.
  const colours = await page.evaluate(() => {
    const { canvas } = isochrone.graph, { data } = canvas.getContext("2d").getImageData(0, 80, canvas.width, 400), found = new Array(8).fill(0);
    for (let at = 0; at < data.length; at += 4) if (Math.max(data[at], data[at + 1], data[at + 2]) - Math.min(data[at], data[at + 1], data[at + 2]) > 60) found[Math.floor((((at / 4) % canvas.width) * 8) / canvas.width)] += 1;
    return found;
  });
  for (const it of colours) assert.ok(it > 200, `${colours}`);
  const box = await page.locator(".graph").boundingBox(), line = await page.evaluate(() => isochrone.rows.lines.find((it) => it.row?.kind === "host").id), [, y] = await placeOf(page, line, 0);
  await page.mouse.move(box.x + 3000, y);
  await page.waitForFunction(() => !document.querySelector(".tooltip").hidden);
  const hover = await page.evaluate(() => [isochrone.view.now.hover, isochrone.graph.scene().time(3000)]);
  assert.ok(Math.abs(hover[0] - hover[1]) < 2e6, `${hover}`);
  await page.mouse.move(box.x + 1000, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 2500, box.y + 20, { steps: 5 });
  await page.mouse.up();
  await rest(page);
  const { selection, from, to } = await page.evaluate(() => ({ selection: isochrone.view.now.selection, from: isochrone.graph.scene().time(1000), to: isochrone.graph.scene().time(2500) }));
  assert.ok(Math.abs(selection.begin - from) < 6e6 && Math.abs(selection.end - to) < 6e6, JSON.stringify({ selection, from, to }));
}, { viewport: { width: 3840, height: 2160 }, deviceScaleFactor: 2 }));

test("where arrows are left out, how many are drawn is said in the graph; where all are drawn, nothing", () => on(ping5, async (page) => {
  const said = async () => /([\d,]+) of (?:about )?([\d,]+) arrows are drawn/.exec(await page.evaluate(() => isochrone.svg()));
  const { total } = await page.evaluate(async () => { const { begin, end } = isochrone.view.now.window; return (await fetch(`api/messages?begin=${Math.floor(begin)}&end=${Math.ceil(end)}&limit=5000`)).json(); });
  const [, drawn, all] = await said(), number = (text) => Number(text.replaceAll(",", ""));
  assert.ok(number(drawn) === 1000 && number(all) === total && total > 1000, `${drawn} of ${all}, ${total}`);
  // On the screen, too, in the corner at the right: as many dark pixels as letters have.
  const dark = () => page.evaluate(() => {
    const { canvas } = isochrone.graph, width = 190, height = 20, { data } = canvas.getContext("2d").getImageData(canvas.width - width - 6, canvas.height - height - 2, width, height);
    let found = 0, light = 0;
    for (let at = 0; at < data.length; at += 4) { if (data[at] + data[at + 1] + data[at + 2] < 200) found += 1; if (data[at] > 230 && data[at + 1] > 230) light += 1; }
    return { found, light };
  });
  const told = await dark();
  assert.ok(told.found > 60 && told.light > 1500, JSON.stringify(told));
  const { begin, end } = await page.evaluate(() => isochrone.view.now.experiment);
  await page.evaluate(([begin, end]) => isochrone.navigation.set({ begin, end }), [(begin + end) / 2, (begin + end) / 2 + (end - begin) / 40]);
  await rest(page);
  assert.equal(await said(), null);
}));

test("a blocked state says which file or peer its descriptor is of", () => on(web2, async (page) => {
  const opened = new Set(eventsOf("syscall_entry_openat,syscall_entry_open", web2).map((it) => it.payload.filename)), blocked = await page.evaluate(async () => {
    const ask = async (path) => { const answer = await fetch(`api/${path}&clock=common`); return answer.ok ? answer.json() : null; }, found = [];
    for (const { id, begin } of isochrone.view.now.rows.filter((it) => it.kind === "thread" && it.label === "nginx")) {
      for (let state = await ask(`state?row=${id}&at=${begin}`), steps = 0; state !== null && steps < 300; steps += 1) {
        if (state.state === "blocked" && /\(fd (\d+)\)/.test(state.fields[0]?.[1] ?? "")) found.push(state);
        state = await ask(`step?row=${id}&at=${state.begin}&to=next`);
      }
    }
    return found;
  });
  const file = blocked.find((it) => it.fields.some(([name, value]) => name.startsWith("fd ") && opened.has(value)));
  assert.ok(file !== undefined, JSON.stringify(blocked.slice(0, 3)));
  await page.evaluate(({ row, begin, end }) => isochrone.view.set({ row, selection: { begin, end } }), file);
  await panel(page, "state");
  const number = /\(fd (\d+)\)/.exec(file.fields[0][1])[1], shown = await page.locator(".state-parts dl").first().evaluate((list) => Object.fromEntries([...list.querySelectorAll("dt")].map((it) => [it.textContent, it.nextElementSibling.textContent])));
  assert.ok(opened.has(shown[`fd ${number}`]), JSON.stringify(shown));
  assert.match(shown.call, new RegExp(`\\(fd ${number}\\)`));
}));

test("a row that moves while the button is pressed is the one that was clicked", async () => {
  const shop = await serve("examples/shop", project);
  try {
    const page = await open(browser, shop.address);
    await page.locator(".header button", { hasText: "requests" }).click();
    await rest(page);
    const line = page.locator("table[aria-label=Requests] tbody tr:not(.gap)").nth(2), number = await line.locator("td").first().textContent(), { x, y, height } = await line.boundingBox();
    await page.mouse.move(x + 60, y + height / 2);
    await page.mouse.down();
    // What is above it takes more room, and the table has another height: its rows would be drawn anew.
    await page.evaluate(() => { document.querySelector(".critical-path .block-head").style.paddingTop = "50px"; });
    await page.evaluate(() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(go)))));
    await page.mouse.up();
    await page.waitForFunction((number) => document.querySelector(".path-title")?.textContent.startsWith(`Request ${number}:`), number);
    assert.deepEqual(page.errors, []);
    await page.close();
  } finally {
    await shop.stop();
  }
});
