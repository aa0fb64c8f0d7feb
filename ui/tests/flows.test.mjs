// What comes to a row and goes from it, as a list to follow; what threads waited for. On the shop of the example, held against the messages, wake-ups
// and waits that the server and the commands have.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { launch, now, open, project, rest, serve } from "./page.mjs";

let browser, server, page;
before(async () => {
  browser = await launch();
  server = await serve("examples/shop", project);
});
after(async () => {
  await browser.close();
  await server.stop();
});
beforeEach(async () => {
  await page?.close();
  page = await open(browser, server.address);
});

const get = (path) => page.evaluate(async (path) => (await fetch(`api/${path}`)).json(), path);
const lines = () => page.locator("table[aria-label^='Messages and wake-ups'] tbody tr:not(.gap)");
const place = (page) =>
  page.evaluate(() => {
    const { row, hover, window, selection } = isochrone.view.now;
    return { row, hover, window, selection };
  });
/** The thread that sent most messages itself, not a CPU in its place. */
const talker = () =>
  page.evaluate(async () => {
    const { begin, end } = isochrone.view.now.experiment,
      { pairs } = await (
        await fetch("api/exchanged", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ begin, end, rows: null }) })
      ).json();
    return pairs.filter((it) => isochrone.rows.row(it.from).kind === "thread").sort((a, b) => b.count - a.count)[0].from;
  });
/** Messages and wake-ups of a row in a time: [kind, way, its instant, the other row, the other instant]. */
async function expected(row, { begin, end }) {
  const { messages } = await get(`messages?begin=${Math.floor(begin) - 1e9}&end=${Math.ceil(end) + 1e9}&clock=common&limit=100000&received=false`),
    { wakeups } = await get(`wakeups?begin=${Math.floor(begin)}&end=${Math.ceil(end)}&clock=common&rows=${row}&limit=100000`);
  const sent = messages.filter((it) => it[0] === row).map(([, to, at, other]) => ["message", "out", at, to, other]),
    received = messages.filter((it) => it[1] === row).map(([from, , other, at]) => ["message", "in", at, from, other]);
  const wakes = wakeups.filter((it) => it[0] === row).map(([, to, at]) => ["wake-up", "out", at, to, at]),
    woken = wakeups.filter((it) => it[1] === row && it[0] !== null).map(([from, , at]) => ["wake-up", "in", at, from, at]);
  return [...sent, ...received, ...wakes, ...woken].filter(([, , at]) => at >= begin && at < end).sort((a, b) => a[2] - b[2]);
}

test("messages and wake-ups of a row are those of the time graph; a click goes to the other end, and the list stays", async () => {
  const row = await talker(),
    { window } = await place(page);
  await page.evaluate((row) => isochrone.view.set({ row, selection: null }), row);
  await page.locator("#tab-flows").click();
  await rest(page);
  const all = await expected(row, window),
    name = await page.evaluate((row) => isochrone.rows.fullName(isochrone.rows.row(row)), row);
  assert.ok(
    all.some(([kind]) => kind === "message") &&
      all.some(([kind]) => kind === "wake-up") &&
      all.some(([, way]) => way === "in") &&
      all.some(([, way]) => way === "out"),
  );
  const told = await page.locator(".flows .controls .muted").textContent(),
    [, listed, total] = /^([\d,]+) of ([\d,]+) messages and wake-ups; [\d,]+ ends of messages are of what ran then, sockets are not looked up: take less time$/.exec(told).map((it) => Number(it.replace(/,/g, "")));
  assert.equal(listed, total);
  // What an interrupt wakes comes from no thread: those of `wakeups` are not all.
  assert.ok(total >= all.length, `${total} of ${all.length}`);
  assert.ok((await page.locator(".flows .about").textContent()).startsWith(name));
  assert.equal(await page.locator(".flows .as-text").innerText(), "no command gives this");
  const kinds = await page.evaluate(() => {
    let text = "";
    Object.defineProperty(navigator, "clipboard", {
      configurable: true,
      value: {
        writeText: async (it) => {
          text = it;
        },
      },
    });
    document.querySelector(".flows .controls .copy").click();
    return text
      .split("\n")
      .slice(1)
      .map((line) => line.split("\t"));
  });
  const origin = await page.evaluate(() => isochrone.view.now.experiment.origin_unix_ns),
    names = await page.evaluate(
      (rows) => rows.map((row) => isochrone.rows.fullName(isochrone.rows.row(row))),
      all.map((it) => it[3]),
    );
  const shown = new Set(kinds.map(([at, what, way, other]) => `${at} ${what} ${way} ${other}`));
  for (const [place, [kind, way, at]] of all.entries())
    assert.ok(shown.has(`${BigInt(origin) + BigInt(Math.round(at))} ${kind} ${way} ${names[place]}`), `${kind} ${way} ${at} ${names[place]}`);
  // The other end of the third one, by a click; of the next one, by keys.
  const heading = await page.locator(".flows .about").textContent(),
    at = (line) => lines().nth(line).locator("td").nth(3).textContent();
  const other = await at(2);
  await lines().nth(2).click();
  await rest(page);
  const there = await place(page);
  assert.equal(await page.evaluate((row) => isochrone.rows.fullName(isochrone.rows.row(row)), there.row), other);
  assert.ok(there.hover >= there.window.begin && there.hover <= there.window.end, "it is seen");
  if (there.selection !== null) assert.ok(there.selection.begin <= there.hover && there.hover <= there.selection.end);
  assert.equal(await page.locator(".flows .about").textContent(), heading);
  assert.equal(await page.locator(".flows .controls .muted").textContent(), told);
  const next = await at(3);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await rest(page);
  assert.equal(await page.evaluate((row) => isochrone.rows.fullName(isochrone.rows.row(row)), (await place(page)).row), next);
  assert.equal(await page.locator(".flows .controls .muted").textContent(), told);
  // Another row that is selected elsewhere is another list.
  await page.evaluate((row) => isochrone.view.set({ row, selection: null }), await page.evaluate(() => isochrone.view.now.experiment.hosts[1].row));
  await rest(page);
  assert.match(await page.locator(".flows .about").textContent(), /^h2, /);
  assert.deepEqual(page.errors, []);
});

test("of a selected state, only what comes and goes in it; the panel of the state leads there", async () => {
  const row = await talker(),
    all = await expected(row, (await now(page)).window),
    [, , at] = all.find(([kind]) => kind === "message");
  await page.evaluate((row) => isochrone.view.set({ row }), row);
  const state = await get(`state?row=${row}&at=${at}&clock=common`);
  await page.evaluate(({ begin, end }) => isochrone.view.set({ selection: { begin, end } }), state);
  await page.evaluate(() => isochrone.drawer.open("state"));
  await rest(page);
  await page.locator(".state button", { hasText: "all of these" }).click();
  await rest(page);
  assert.equal(await page.evaluate(() => isochrone.drawer.id), "flows");
  const inside = all.filter(([, , at]) => at >= state.begin && at < state.end),
    instants = await lines().evaluateAll((all) => all.map((it) => it.cells[0].textContent));
  assert.ok(inside.length > 0 && instants.length >= inside.length && instants.length < all.length, `${instants.length} ${inside.length} ${all.length}`);
  assert.match(await page.locator(".flows .about").textContent(), /, selection /);
});

test("nothing selected is said; what does not fit into the list is, too", async () => {
  await page.evaluate(() => {
    isochrone.view.set({ row: null, selection: null });
    isochrone.drawer.open("flows");
  });
  await rest(page);
  assert.match(await page.locator(".flows .notice").textContent(), /^No row is selected/);
  await page.route("**/api/flows", async (route) => {
    const asked = route.request().postDataJSON();
    await route.continue({ postData: JSON.stringify({ ...asked, limit: 3 }) });
  });
  await page.evaluate((row) => isochrone.view.set({ row }), await talker());
  await rest(page);
  assert.match(await page.locator(".flows .controls .muted").textContent(), /^3 of [\d,]+ messages and wake-ups, the first ones; [\d,]+ ends of messages /);
  assert.equal(await lines().count(), 3);
});
