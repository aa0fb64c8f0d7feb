// What keyboard and mouse do: zoom, pan, undo, selection, search, rows, the address, export.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, beforeEach, test } from "node:test";
import { chain3, count, launch, now, open, rest, serve } from "./page.mjs";

let browser, server, page, box;
const span = ({ window }) => window.end - window.begin;
const near = (a, b, by) => assert.ok(Math.abs(a - b) <= by, `${a} is not ${b} ± ${by}`);

before(async () => { browser = await launch(); server = await serve(chain3); });
after(async () => { await browser.close(); await server.stop(); });
beforeEach(async () => {
  await page?.close();
  page = await open(browser, server.address);
  box = await page.locator(".graph").boundingBox();
});

test("Ctrl + wheel zooms at the pointer, z takes it back, Z does it again", async () => {
  const before = await now(page), x = box.x + box.width * 0.25;
  await page.mouse.move(x, box.y + 200);
  const at = () => page.evaluate((x) => isochrone.graph.scene().time(x), x - box.x);
  const under = await at();
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -400);
  await page.keyboard.up("Control");
  await rest(page);
  const zoomed = await now(page);
  assert.ok(span(zoomed) < span(before) * 0.6);
  near(await at(), under, span(zoomed) / 1000);
  await page.keyboard.press("z");
  assert.deepEqual((await now(page)).window, before.window);
  await page.keyboard.press("Z");
  assert.deepEqual((await now(page)).window, zoomed.window);
});

test("w, s, a, d and arrows move through time, f shows all", async () => {
  const all = await now(page);
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  await rest(page);
  const zoomed = await now(page);
  near(span(zoomed), span(all) / 2.56, span(all) / 1000);
  await page.keyboard.press("d");
  await rest(page);
  const right = await now(page);
  near(right.window.begin - zoomed.window.begin, span(zoomed) * 0.2, span(zoomed) / 1000);
  await page.locator(".header h1").click();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("ArrowLeft");
  await rest(page);
  near((await now(page)).window.begin, zoomed.window.begin, span(zoomed) / 1000);
  await page.keyboard.press("s");
  await page.keyboard.press("f");
  await rest(page);
  near(span(await now(page)), span(all), span(all) / 1000);
});

test("the wheel scrolls rows; with Shift it pans", async () => {
  await page.keyboard.press("o");
  await rest(page);
  await page.mouse.move(box.x + 300, box.y + 200);
  await page.mouse.wheel(0, 400);
  await rest(page);
  assert.equal(await page.evaluate(() => isochrone.layout.scrollTop), 400);
  await page.keyboard.press("w");
  await rest(page);
  const before = await now(page);
  await page.keyboard.down("Shift");
  await page.mouse.wheel(0, 120);
  await page.keyboard.up("Shift");
  assert.ok((await now(page)).window.begin > before.window.begin);
});

test("dragging selects time, Enter zooms to it, Esc clears it", async () => {
  await page.mouse.move(box.x + 300, box.y + 300);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 310, { steps: 4 });
  await page.mouse.up();
  const { selection, window } = await now(page), per = (window.end - window.begin) / (box.width);
  near(selection.end - selection.begin, 200 * per, 3 * per);
  // An edge can be taken.
  await page.mouse.move(box.x + 500, box.y + 300);
  await page.mouse.down();
  await page.mouse.move(box.x + 600, box.y + 300, { steps: 4 });
  await page.mouse.up();
  const wider = (await now(page)).selection;
  near(wider.end - wider.begin, 300 * per, 6 * per);
  await page.keyboard.press("Enter");
  await rest(page);
  near(span(await now(page)), 1.1 * (wider.end - wider.begin), 10 * per);
  await page.keyboard.press("Escape");
  assert.equal((await now(page)).selection, null);
});

test("a click selects a state; ] and [ go to the next and back", async () => {
  const place = await page.evaluate(() => {
    const { rows, graph } = isochrone, line = rows.lines.find((line) => line.row?.kind === "thread" && line.label.startsWith("bash"));
    const scene = graph.scene();
    return { row: line.id, x: scene.x(4e9), y: scene.middle(rows.placeOf(line.id)) };
  });
  await page.mouse.click(box.x + place.x, box.y + place.y);
  await rest(page);
  const first = await now(page);
  assert.equal(first.row, place.row);
  assert.ok(first.selection.begin <= 4e9 + 2e7 && first.selection.end >= 4e9 - 2e7);
  await page.keyboard.press("]");
  await page.waitForFunction((end) => isochrone.view.now.selection.begin === end, first.selection.end);
  await page.keyboard.press("[");
  await page.waitForFunction((begin) => isochrone.view.now.selection.begin === begin, first.selection.begin);
  assert.match(await page.locator(".status .answer").textContent(), /bash/);
});

test("m follows a message to its other end; hovering tells the state", async () => {
  const message = await page.evaluate(async () => {
    const { messages } = await (await fetch("api/messages?begin=2000000000&end=8000000000&clock=common&limit=5000")).json();
    const kind = (row) => isochrone.rows.row(row).kind, message = messages.find(([from, to]) => kind(from) === "thread" && kind(to) === "thread");
    isochrone.navigation.go(message[0], message[2], { begin: message[2] - 1e6, end: message[2] + 3e6 });
    return message;
  });
  await rest(page);
  const place = await page.evaluate(([row, , sent]) => { const scene = isochrone.graph.scene(); return { x: scene.x(sent) - 1, y: scene.middle(isochrone.rows.placeOf(row)) }; }, message);
  await page.mouse.move(box.x + place.x, box.y + place.y);
  await page.waitForFunction(() => document.querySelector(".status .about").textContent !== "");
  assert.equal(await page.locator(".tooltip").isVisible(), true);
  await page.mouse.click(box.x + place.x, box.y + place.y);
  await page.waitForFunction(() => isochrone.view.now.selection !== null);
  await rest(page);
  const host = (row) => page.evaluate((row) => isochrone.rows.row(row).host, row), from = await host((await now(page)).row);
  await page.keyboard.press("m");
  await page.waitForFunction((row) => isochrone.view.now.row !== row, message[0]);
  await rest(page);
  assert.notEqual(await host((await now(page)).row), from);
});

test("the search filters rows and counts them; Enter goes to one; Esc clears", async () => {
  const all = await page.evaluate(() => isochrone.rows.lines.length);
  await page.keyboard.press("/");
  await page.keyboard.type("redis host:h3");
  await page.waitForFunction(() => /rows?$/.test(document.querySelector(".search-box .count").textContent));
  await rest(page);
  const lines = await page.evaluate(() => isochrone.rows.lines.map((line) => line.label));
  assert.ok(lines.length > 1 && lines.length < all && lines[0] === "h3" && lines.slice(1).some((label) => label.startsWith("redis")), lines.join());
  assert.ok(await page.locator(".tree mark").count() > 0);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => isochrone.view.now.row !== null);
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => isochrone.rows.lines.length) >= all, true);
  await page.locator(".search").fill("kind:cpu state:idle");
  await page.waitForFunction(() => isochrone.rows.isFiltered && isochrone.rows.lines.length === 6);
  await page.locator(".search").fill("/(/");
  await page.waitForFunction(() => document.querySelector(".search").classList.contains("wrong"));
});

test("the tree can be used with keys and is one for screen readers", async () => {
  await page.locator("[role=tree]").focus();
  await page.keyboard.press("Home");
  assert.equal(await page.locator("[aria-selected=true][role=treeitem]").getAttribute("aria-level"), "1");
  const open = await page.evaluate(() => isochrone.rows.lines.length);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.locator("[aria-selected=true][role=treeitem]").getAttribute("aria-expanded"), "false");
  assert.ok(await page.evaluate(() => isochrone.rows.lines.length) < open);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.locator("[aria-selected=true][role=treeitem]").getAttribute("aria-level"), "2");
  const row = (await now(page)).row;
  await page.keyboard.press("p");
  assert.equal(await page.evaluate(() => isochrone.rows.lines[0].id), row);
  await page.keyboard.press("p");
  await page.keyboard.press("h");
  assert.equal(await page.evaluate((row) => isochrone.rows.placeOf(row), row), undefined);
  await page.keyboard.press("H");
  assert.notEqual(await page.evaluate((row) => isochrone.rows.placeOf(row), row), undefined);
});

test("a screen reader finds rows as a tree, what is selected in words, and tables as tables", async () => {
  // In the order of the tree, the CPU is the first line below its host.
  await page.evaluate(() => isochrone.activity.off());
  await rest(page);
  await page.locator("[role=tree]").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.evaluate(() => isochrone.view.set({ selection: { begin: 4e9, end: 4e9 + 1000 } }));
  await page.keyboard.press("]");
  await page.waitForFunction(() => isochrone.view.now.selection.begin > 4e9);
  await rest(page);
  await page.evaluate(() => isochrone.drawer.open("statistics"));
  await rest(page);
  const heard = await page.locator("body").ariaSnapshot();
  for (const part of [
    'switch "own clocks common clock" [checked]', "status: 0 of ", 'searchbox "Search rows', 'img "All hosts over the whole time', 'tree "Rows":', 'treeitem "h1 ± ', 'treeitem "CPU 0" [level=2] [selected]', 'img "Time graph: states of the rows over time',
    'tab "Statistics" [selected]', 'tabpanel "Statistics":', 'table "Time by state":', 'columnheader "time', 'cell "',
  ]) assert.ok(heard.includes(part), `${part} in\n${heard.slice(0, 4000)}`);
  // The state that a key went to is said, not only drawn.
  const said = page.locator(".status .answer");
  assert.match(await said.textContent(), /CPU 0/);
  assert.ok(await said.evaluate((element) => element.closest("[aria-live], [role=status]") !== null));
});

test("the address keeps the view over a reload", async () => {
  await page.keyboard.press("w");
  await rest(page);
  await page.keyboard.press("b");
  await page.locator("[role=tree]").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await rest(page);
  const before = await now(page), lines = await page.evaluate(() => isochrone.rows.lines.map((line) => line.id));
  await page.reload();
  await page.waitForFunction(() => globalThis.isochrone?.isReady() && isochrone.frames().length > 0);
  await rest(page);
  const after = await now(page);
  near(after.window.begin, before.window.begin, 2);
  near(after.window.end, before.window.end, 2);
  assert.equal(after.row, before.row);
  assert.deepEqual(await page.evaluate(() => isochrone.rows.lines.map((line) => line.id)), lines);
  assert.equal(await page.locator(".mark").count(), 1);
});

test("the address keeps how tables are sorted, what they add up, the chosen analysis, arrows, theme and palette", async () => {
  await page.evaluate(() => isochrone.drawer.open("statistics"));
  await rest(page);
  await page.locator("button:visible", { hasText: "by process" }).click();
  const heads = (label) => page.locator(`table[aria-label^='${label}'] th`).evaluateAll((all) => all.map((it) => it.getAttribute("aria-sort")));
  await page.locator("table[aria-label^='Time by process'] th button", { hasText: "blocked" }).click();
  await page.locator("table[aria-label='System calls'] th button", { hasText: "call" }).click();
  await page.locator("[role=tree]").focus();
  await page.keyboard.press("W");
  await page.keyboard.press("g");
  await page.locator(".header .icon").first().click();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("all kinds of colour vision");
  await page.keyboard.press("Enter");
  await rest(page);
  const seen = async () => ({ processes: await heads("Time by process"), calls: await heads("System calls"), theme: await page.evaluate(() => document.documentElement.dataset.theme), wait: await page.evaluate(() => getComputedStyle(document.querySelector(".state-legend .swatch")).backgroundColor), arrows: await page.evaluate(() => [isochrone.graph.arrows.areMessagesOn, isochrone.graph.arrows.areWakeupsOn]) });
  const before = await seen(), link = page.url();
  assert.ok(before.processes.includes("descending") && before.calls[0] === "ascending" && before.theme === "dark");
  assert.deepEqual(before.arrows, [false, true]);
  // As somebody else sees it, who chose nothing.
  const mine = page, context = await browser.newContext({ viewport: { width: 1400, height: 900 }, colorScheme: "light" });
  page = await context.newPage();
  const shown = async () => { await page.waitForFunction(() => globalThis.isochrone?.isReady()); await rest(page); };
  await page.goto(link);
  await shown();
  assert.deepEqual(await seen(), before);
  assert.ok(await page.locator("table[aria-label^='Time by process']").isVisible());
  assert.equal(await page.evaluate(() => localStorage.getItem("isochrone.theme")), null, "what they chose stays theirs");
  // Gone to in the page that is open; an order of a column that is not there is none.
  await page.evaluate(() => { location.hash = "#d=analyses&i=syscallstats&t=System calls~count~up&t=Requests~nothing~down"; });
  await page.waitForFunction(() => isochrone.drawer.id === "analyses");
  await rest(page);
  assert.equal(await page.locator("[data-name=syscallstats]").getAttribute("aria-selected"), "true");
  await page.evaluate(() => isochrone.drawer.open("statistics"));
  await rest(page);
  assert.equal((await heads("System calls"))[1], "ascending");
  await page.evaluate(() => isochrone.drawer.open("critical-path"));
  await rest(page);
  assert.equal((await heads("Requests"))[1], "descending");
  await context.close();
  page = mine;
});

test("the address keeps the request whose path is shown, its rows, and a path of a thread", async () => {
  await page.locator(".header button", { hasText: "requests" }).click();
  await page.locator("button", { hasText: /^slowest$/ }).click();
  await page.waitForFunction(() => isochrone.view.now.path !== null);
  await rest(page);
  const path = () => page.evaluate(() => isochrone.view.now.path), lines = () => page.evaluate(() => isochrone.rows.lines.map((line) => line.id));
  const reload = async () => {
    await page.reload();
    await page.waitForFunction(() => globalThis.isochrone?.isReady());
    await rest(page);
  };
  const before = await path(), shown = await lines();
  assert.match(page.url(), new RegExp(`[#&]request=${before.request}(&|$)`));
  await reload();
  assert.deepEqual(await path(), before);
  assert.deepEqual(await lines(), shown);
  const { row, begin, end } = before.steps[0];
  await page.evaluate(([row, selection]) => isochrone.view.set({ path: null, onlyRows: null, row, selection }), [row, { begin, end }]);
  await page.keyboard.press("c");
  await page.waitForFunction(() => isochrone.view.now.path !== null);
  await rest(page);
  const ofThread = await path();
  assert.equal(ofThread.request, null);
  await reload();
  assert.deepEqual(await path(), ofThread);
});

test("the critical path has rows of its own, in the order in which it comes to the threads", async () => {
  await page.locator(".header button", { hasText: "requests" }).click();
  await page.locator("button", { hasText: /^slowest$/ }).click();
  await page.waitForFunction(() => isochrone.view.now.path !== null);
  await rest(page);
  const { steps, head, lines } = await page.evaluate(() => {
    const { path } = isochrone.view.now, [head, ...rest] = isochrone.rows.lines;
    return { steps: path.steps, head, lines: rest.filter((line) => line.row === null && line.id < head.id) };
  });
  assert.match(head.label, /^critical path of request \d+$/);
  const order = [...new Set(steps.map((step) => step.row).filter((row) => row !== null))];
  assert.equal(lines.length, order.length);
  // The longest step of computing is green there.
  const longest = steps.filter((step) => step.cause === "cpu").sort((a, b) => b.end - b.begin - a.end + a.begin)[0], line = lines[order.indexOf(longest.row)];
  const at = await page.evaluate(([id, time]) => { const scene = isochrone.graph.scene(), x = scene.x(time), y = scene.middle(isochrone.rows.placeOf(id)) + 5; return { x, y, colour: isochrone.pixel(x, y) }; }, [line.id, longest.begin + 0.93 * (longest.end - longest.begin)]);
  assert.deepEqual(at.colour, [0, 170, 0]);
  await page.mouse.move(box.x + at.x, box.y + at.y);
  await page.waitForSelector(".tooltip:visible");
  assert.match(await page.locator(".tooltip").textContent(), /computes/);
  await page.mouse.click(box.x + at.x, box.y + at.y);
  await rest(page);
  const { row, selection } = await now(page);
  assert.deepEqual([row, selection], [longest.row, { begin: longest.begin, end: longest.end }]);
  // It can be closed, and goes with the path.
  const count = await page.evaluate(() => isochrone.rows.lines.length);
  await page.locator(`#line${head.id} .twist`).click();
  assert.equal(await page.evaluate(() => isochrone.rows.lines.length), count - order.length);
  await page.locator("button", { hasText: "close the path" }).click();
  await rest(page);
  const ids = [head, ...lines].map((line) => line.id);
  assert.equal(await page.evaluate((ids) => isochrone.rows.lines.some((line) => ids.includes(line.id)), ids), false);
});

test("the duration of the selection is written above it; the dark theme has its own colours", async () => {
  await page.evaluate(() => isochrone.view.set({ selection: { begin: 4e9, end: 4_041_320_000 } }));
  await rest(page);
  assert.match(await page.evaluate(() => isochrone.svg()), />41\.32 ms</);
  const background = () => page.evaluate(() => isochrone.pixel(2, 2));
  assert.deepEqual(await background(), [255, 255, 255]);
  await page.locator(".header .icon").first().click();
  await rest(page);
  assert.deepEqual(await background(), [22, 24, 29]);
  const dark = await page.evaluate(() => {
    const { canvas } = isochrone.graph, data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let found = 0;
    for (let at = 0; at < data.length; at += 4) if (data[at] === 0 && data[at + 1] === 150 && data[at + 2] === 0) found += 1;
    return found;
  });
  assert.ok(dark > 50, `${dark} pixels of user mode`);
  await page.locator(".header .icon").first().click();
});

test("the drawer keeps its height over a page that was small for a while", async () => {
  const height = async () => (await page.locator(".drawer").boundingBox()).height, before = await height();
  await page.setViewportSize({ width: 1400, height: 330 });
  await rest(page);
  assert.ok(await height() < before);
  await page.setViewportSize({ width: 1400, height: 900 });
  await rest(page);
  assert.equal(await height(), before);
});

test("? shows all keys; nothing that a key does is missing there", async () => {
  await page.keyboard.press("?");
  const help = page.locator("dialog.help");
  await help.waitFor({ state: "visible" });
  const text = await help.textContent();
  for (const word of ["zoom in", "undo of zoom", "next state", "follow the message", "critical path of the thread", "sort by activity", "bookmark", "search", "own clocks", "duration > 10ms"]) assert.ok(text.includes(word), word);
  assert.ok(await help.locator("kbd").count() > 30);
  await page.keyboard.press("Escape");
  await help.waitFor({ state: "hidden" });
});

test("what is kept in memory is bounded", async () => {
  const { tiles, states } = await page.evaluate(async () => {
    const { tiles } = isochrone.graph, many = 40_000, row = new Float64Array(60);
    // As if it had been looked at far more than can be kept.
    for (let at = 0; at < many; at += 1) tiles.keep({ rows: Uint32Array.of(1), starts: Uint32Array.of(0, 60), label: new Uint32Array(60).fill(0xffffffff), style: new Uint8Array(60), begin: row, end: row, labels: [] }, "common", 3, at);
    return tiles.size;
  });
  assert.ok(tiles <= 30_000 && states <= 2_000_000, `${tiles} tiles, ${states} states`);
});

test("what is seen can be saved as PNG and as SVG: with names, states and arrows", async () => {
  // How many pixels of user mode and of blocked threads a picture has, and how much is written in its left margin.
  const look = (data, type) => page.evaluate(async ([data, type]) => {
    const image = new Image();
    image.src = `data:${type};base64,${data}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }), ctx = canvas.getContext("2d");
    ctx.drawImage(image, 0, 0);
    const { data: pixels } = ctx.getImageData(0, 0, image.width, image.height), found = { running: 0, blocked: 0, names: 0, width: image.width };
    for (let at = 0; at < pixels.length; at += 4) {
      const [r, g, b] = pixels.subarray(at, at + 3), x = (at / 4) % image.width;
      if (r < 20 && g > 180 && b < 20) found.running += 1;
      if (r > 180 && g > 180 && b < 20) found.blocked += 1;
      if (x < 190 && r + g + b < 300) found.names += 1;
    }
    return found;
  }, [data.toString("base64"), type]);
  const seen = await count(page, [0, 200, 0]), pictures = [];
  for (const [text, type, check] of [["as PNG", "image/png", (data) => data.subarray(1, 4).toString() === "PNG"], ["as SVG", "image/svg+xml", (data) => data.toString().startsWith("<svg ")]]) {
    await page.locator(".menu summary", { hasText: "export" }).click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator("button", { hasText: text }).click()]), data = await readFile(await download.path());
    assert.ok(check(data), text);
    pictures.push(await look(data, type));
    await page.keyboard.press("Escape");
  }
  const [png, svg] = pictures;
  assert.ok(Math.abs(png.running - seen) <= seen * 0.05 + 20, `${png.running} pixels of user mode, ${seen} on the page`);
  assert.ok(svg.running > seen / 3 && svg.blocked > png.blocked / 3, JSON.stringify({ png, svg }));
  assert.ok(png.names > 200 && svg.names > 200, JSON.stringify({ png, svg }));
  const wrong = await page.evaluate(() => new DOMParser().parseFromString(isochrone.svg(), "image/svg+xml").querySelector("parsererror")?.textContent ?? null);
  assert.equal(wrong, null);
});

test("when the server is gone the page says so, and goes on when it is back", async () => {
  await page.route("**/api/**", (route) => route.abort());
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  await page.waitForSelector(".banner:not([hidden])");
  assert.match(await page.locator(".banner").textContent(), /server/);
  await page.unroute("**/api/**");
  await page.waitForSelector(".banner[hidden]", { state: "attached" });
  await rest(page);
  assert.deepEqual(page.errors, []);
});

test("the page loads nothing from elsewhere", async () => {
  const foreign = await page.evaluate(() => performance.getEntriesByType("resource").map((it) => it.name).filter((name) => !name.startsWith(location.origin) && !name.startsWith("data:")));
  assert.deepEqual(foreign, []);
});

test("the token does not stay in the address, and is not needed again", async () => {
  const server = await serve(chain3, undefined, null, ["--root", chain3]), context = await browser.newContext(), page = await context.newPage();
  assert.match(server.address, /\?token=[0-9a-f]{32}$/);
  await page.goto(`${server.address}#q=x`);
  await page.waitForFunction(() => !location.href.includes("token"));
  assert.equal(new URL(page.url()).search, "");
  assert.match(page.url(), /#.*q=x/);
  assert.equal((await page.reload()).status(), 200);
  const [cookie] = await context.cookies();
  assert.equal(cookie.name, `isochrone-token-${new URL(server.address).port}`);
  await context.close();
  await server.stop();
});

test("a time that is typed is gone to; the field shows the window as a text that means it", async () => {
  const { begin, origin_unix_ns: origin } = await page.evaluate(() => isochrone.view.now.experiment), field = page.locator(".times");
  const clock = (ns) => new Date(Number(BigInt(origin) / 1_000_000n) + ns / 1e6).toISOString().slice(11, 23), at = Math.ceil(begin / 1e9) * 1e9 + 2.5e9;
  const before = span(await now(page));
  await page.keyboard.press("t");
  assert.ok(await field.evaluate((it) => it === document.activeElement));
  await field.fill(clock(at));
  await page.keyboard.press("Enter");
  await rest(page);
  const { selection } = await now(page);
  assert.deepEqual(selection, { begin: at, end: at });
  near(span(await now(page)), before, before / 1000);
  await field.fill(`${clock(at)} .. +40ms`);
  await field.press("Enter");
  await rest(page);
  assert.deepEqual((await now(page)).window, { begin: at, end: at + 40e6 });
  assert.match(await field.inputValue(), new RegExp(`^${clock(at)}\\d* \\.\\. ${clock(at + 40e6)}`));
  // What it shows brings the same window back, in each format.
  for (const format of ["local", "since begin", "Unix", "UTC"]) {
    await page.locator(".time-field select").selectOption(format);
    const text = await field.inputValue();
    await page.evaluate(() => isochrone.navigation.fit());
    await rest(page);
    await field.fill(text);
    await field.press("Enter");
    await rest(page);
    const { window } = await now(page);
    near(window.begin, at, 1e5);
    near(window.end, at + 40e6, 1e5);
  }
  await field.fill("tomorrow");
  await field.press("Enter");
  assert.ok(await page.locator(".times.wrong").isVisible());
  assert.match(await page.locator(".status .answer.wrong").textContent(), /no instant and no window/);
  await field.fill("1000000000");
  await field.press("Enter");
  assert.match(await page.locator(".status .answer.wrong").textContent(), /Nothing was recorded at that time/);
});
