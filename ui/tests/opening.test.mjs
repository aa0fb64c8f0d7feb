// While traces are being indexed: how much was traced when, a sample of what CPUs and threads did, how far the work is; then the time graph. What fails is said in words.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { chain3, generator, launch, rest, serve, tableOf } from "./page.mjs";

const directory = mkdtempSync(resolve(tmpdir(), "isochrone-opening-")), made = resolve(directory, "made");
let browser;
before(async () => {
  browser = await launch();
  execFileSync("python3", [generator, made, "--events", "300000", "--cpus", "3", "--subbuf", "16384"], { stdio: "ignore" });
});
after(async () => { await browser.close(); rmSync(directory, { recursive: true }); });

/** A page whose server says that it is still indexing, until `done`: small traces would be ready before anything is seen. */
async function opening(address) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, colorScheme: "light" }), stage = { name: "indexing", done: 3e6, total: 12e6, message: "" };
  let isDone = false;
  page.errors = [];
  page.on("pageerror", (error) => page.errors.push(error.message));
  await page.route("**/api/experiment", async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: isDone ? answer : { ...answer, stage } });
  });
  await page.goto(address);
  return { page, done: () => { isDone = true; } };
}
/** Pixels of a colour in the sample's picture, in some of its lines. */
const pixels = (page, [r, g, b], first = 0, last = 1000) => page.locator(".sample canvas").evaluate((canvas, [r, g, b, first, last]) => {
  const ratio = devicePixelRatio, top = Math.round(first * 20 * ratio), height = Math.min(canvas.height, Math.round(last * 20 * ratio)) - top, data = canvas.getContext("2d").getImageData(0, top, canvas.width, height).data;
  let found = 0;
  for (let at = 0; at < data.length; at += 4) if (data[at] === r && data[at + 1] === g && data[at + 2] === b) found += 1;
  return found;
}, [r, g, b, first, last]);
const RUNS = [0, 170, 120], IDLE = [200, 200, 200];

test("while a trace is indexed, CPUs and threads are drawn from a sample over all of it", async () => {
  const server = await serve(made, undefined, resolve(directory, "store")), { page, done } = await opening(server.address);
  await page.waitForSelector(".sample canvas:visible");
  assert.equal(await page.locator("progress").evaluate((bar) => bar.value), 0.25);
  assert.match(await page.locator(".stage-text").textContent(), /3 MB of 12 MB/);
  const sample = await page.evaluate(async () => (await fetch("api/sample")).json()), [host] = sample.hosts;
  assert.deepEqual(host.cpus.map(({ cpu }) => cpu), [0, 1, 2]);
  // How busy CPUs are in it is how busy they are.
  const cpus = tableOf(["analyze", "cputop"], made, "cpus");
  for (const { cpu, parts } of host.cpus) {
    const { busy_ns, idle_ns } = cpus.find((it) => it.cpu === cpu), whole = parts.reduce((sum, [begin, , end]) => sum + end - begin, 0);
    const busy = parts.reduce((sum, [begin, , end, idle]) => sum + ((end - begin) * (1000 - idle)) / 1000, 0) / whole;
    assert.ok(Math.abs(busy - busy_ns / (busy_ns + idle_ns)) < 0.1, `CPU ${cpu}: ${busy} and ${busy_ns / (busy_ns + idle_ns)}`);
    assert.ok(await pixels(page, RUNS, cpu + 1, cpu + 2) > 1000, `CPU ${cpu} runs`);
    assert.ok(parts.every(([begin, read, end]) => begin <= read && read <= end));
  }
  const named = tableOf(["analyze", "cputop"], made, "processes");
  assert.ok(host.threads.length >= 5);
  for (const { label, tid } of host.threads) assert.ok(label !== "" && named.some((it) => it.tid === tid), `${label} ${tid}`);
  assert.ok(await pixels(page, RUNS, 4, 6) > 300, "threads");
  assert.match(await page.locator(".sample canvas").getAttribute("aria-label"), /CPU 0 \d+ % busy/);
  // It makes way for the time graph.
  done();
  await page.waitForFunction(() => globalThis.isochrone?.isReady());
  await rest(page);
  assert.equal(await page.locator(".sample").count(), 0);
  assert.deepEqual(page.errors, []);
  await page.close();
  await server.stop();
  // The second time everything is there at once.
  const again = await serve(made, undefined, resolve(directory, "store")), second = await browser.newPage();
  const began = Date.now();
  await second.goto(again.address);
  await second.waitForFunction(() => globalThis.isochrone?.isReady());
  assert.equal((await second.evaluate(async () => (await fetch("api/sample")).status)), 404);
  assert.ok(Date.now() - began < 10_000);
  await second.close();
  await again.stop();
});

test("each host has its lines in the sample, on its own clock; both themes", async () => {
  const server = await serve(chain3, undefined, resolve(directory, "chain3")), { page, done } = await opening(server.address);
  await page.waitForSelector(".sample canvas:visible");
  const { hosts } = await page.evaluate(async () => (await fetch("api/sample")).json());
  assert.deepEqual(hosts.map(({ name }) => name), ["h1", "h2", "h3"]);
  for (const { cpus, threads } of hosts) assert.ok(cpus.length > 0 && threads.length > 0);
  assert.ok(await pixels(page, RUNS) > 100 && await pixels(page, IDLE) > 100);
  await page.locator(".header .icon").first().click();
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  assert.ok(await pixels(page, [0, 125, 90]) > 100);
  await page.locator(".header .icon").first().click();
  done();
  await page.waitForFunction(() => globalThis.isochrone?.isReady());
  assert.deepEqual(page.errors, []);
  await page.close();
  await server.stop();
});

test("traces that are still being recorded: a new look is shown by itself, and the place is kept", async () => {
  const server = await serve(chain3), page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  // What the server of `isochrone live --listen` says: nothing at first, then looks at more and more.
  let growth = { look: 1, grows: true, stage: { name: "failed", done: 0, total: 0, message: "there is no trace there" } }, short = true;
  await page.route("**/api/experiment", async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: { ...answer, ...growth, end: short ? answer.end - 1e9 : answer.end } });
  });
  await page.goto(server.address);
  await page.getByText("Nothing has come yet").waitFor();
  growth = { look: 2, grows: true };
  await rest(page);
  assert.ok(await page.locator(".growth").isVisible());
  const windowOf = () => page.evaluate(() => window.isochrone.navigation.window ?? window.isochrone.view.now.window);
  const go = (begin, end) => page.evaluate(([begin, end]) => window.isochrone.view.set({ window: { begin, end } }), [begin, end]);
  const { begin, end } = await page.evaluate(() => window.isochrone.navigation.boundsOf("common"));
  // The page is not loaded again: what is typed and where the focus is stay, too.
  await page.evaluate(() => { window.isSamePage = true; });
  const renewed = async (change) => {
    change();
    await page.waitForFunction((look) => window.isochrone.view.now.experiment.look === look, growth.look);
    await rest(page);
    assert.ok(await page.evaluate(() => window.isSamePage));
  };
  const close = (found, [from, to]) => assert.ok(Math.abs(found.begin - from) < 1e6 && Math.abs(found.end - to) < 1e6, `${found.begin} ${found.end}: ${from} ${to}`);
  // A window in the middle stays where it is, one at the end stays at the end.
  await go(begin + 1e9, begin + 2e9);
  await rest(page);
  const row = await page.evaluate(() => window.isochrone.view.now.rows.find((it) => it.kind === "thread").id);
  await page.evaluate((row) => { window.isochrone.view.set({ row, selection: { begin: window.isochrone.view.now.window.begin, end: window.isochrone.view.now.window.end } }); }, row);
  await page.locator("input.search").focus();
  await page.keyboard.type("wg");
  await rest(page);
  const lines = await page.evaluate(() => window.isochrone.rows.lines.map((line) => line.label));
  await renewed(() => { growth = { look: 3, grows: true }; });
  close(await windowOf(), [begin + 1e9, begin + 2e9]);
  await page.keyboard.type("et");
  assert.equal(await page.locator("input.search").inputValue(), "wget");
  assert.deepEqual(await page.evaluate(() => window.isochrone.rows.lines.map((line) => line.label)), lines);
  const { row: kept, selection } = await page.evaluate(() => ({ row: window.isochrone.view.now.row, selection: window.isochrone.view.now.selection }));
  assert.equal(kept, row);
  close(selection, [begin + 1e9, begin + 2e9]);
  await go(end - 1e9, end);
  await rest(page);
  await renewed(() => { growth = { look: 4, grows: false }; short = false; });
  close(await windowOf(), [end, end + 1e9]);
  assert.ok(await page.locator(".growth").isHidden());
  await page.close();
  await server.stop();
});

test("what is being looked at stays when more has been recorded: scroll position, undo, searches, the analysis, orders, arrows", async () => {
  const server = await serve(chain3), page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  let growth = { look: 1, grows: true };
  await page.route("**/api/experiment", async (route) => route.fulfill({ json: { ...await (await route.fetch()).json(), ...growth } }));
  await page.goto(server.address);
  await page.waitForFunction(() => globalThis.isochrone?.isReady());
  await rest(page);
  const panel = async (id) => { await page.evaluate((id) => isochrone.drawer.open(id), id); await rest(page); };
  const { begin } = await page.evaluate(() => isochrone.navigation.boundsOf("common"));
  await page.evaluate(() => { window.isSamePage = true; isochrone.activity.off(); });
  await page.locator("[role=tree]").focus();
  // Two windows, one after the other: the first is gone back to at the end.
  for (const at of [1e9, 3e9]) { await page.evaluate(([from, to]) => isochrone.navigation.set({ begin: from, end: to }, "glide"), [begin + at, begin + at + 1e9]); await rest(page); await page.waitForTimeout(700); }
  await panel("events");
  await page.locator(".events input").fill("sched_wakeup");
  await rest(page);
  await panel("analyses");
  await page.locator(".analyses [role=option]", { hasText: "schedtop" }).first().click();
  await rest(page);
  await page.locator(".analyses th button").nth(1).click();
  await rest(page);
  for (const key of ["g", "W"]) { await page.locator("[role=tree]").focus(); await page.keyboard.press(key); await rest(page); }
  await page.evaluate(() => isochrone.layout.scrollBy(160));
  await rest(page);
  const state = () => page.evaluate(() => ({
    first: isochrone.layout.shown().first, window: isochrone.view.now.window, arrows: [isochrone.graph.arrows.areMessagesOn, isochrone.graph.arrows.areWakeupsOn], analysis: document.querySelector(".analyses [aria-selected=true]").dataset.name,
    order: [...document.querySelectorAll(".analyses th")].map((it) => it.getAttribute("aria-sort")), lines: isochrone.rows.lines.length,
  }));
  const before = await state();
  assert.ok(before.first > 0 && before.arrows[0] === false && before.arrows[1] === true && before.analysis === "schedtop" && before.order.some((it) => it !== "none"), JSON.stringify(before));
  growth = { look: 2, grows: true };
  await page.waitForFunction(() => isochrone.view.now.experiment.look === 2);
  await rest(page);
  assert.ok(await page.evaluate(() => window.isSamePage));
  assert.deepEqual(await state(), before);
  await panel("events");
  assert.equal(await page.locator(".events input").inputValue(), "sched_wakeup");
  const names = await page.locator(".events tbody tr:not(.gap) td:nth-child(5)").allTextContents();
  assert.ok(names.length > 5 && names.every((it) => it.includes("sched_wakeup")), `${names.slice(0, 3)}`);
  await page.locator("[role=tree]").focus();
  await page.keyboard.press("z");
  await rest(page);
  const { window } = await page.evaluate(() => isochrone.view.now);
  assert.ok(Math.abs(window.begin - begin - 1e9) < 1e6 && Math.abs(window.end - begin - 2e9) < 1e6, JSON.stringify(window));
  await page.close();
  await server.stop();
});

test("a tab whose server shows other traces says so, and shows these; a link to others is not followed", async () => {
  const server = await serve(chain3), page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  await page.goto(server.address);
  await rest(page);
  await page.evaluate(() => window.isochrone.navigation.zoom(0.5));
  await rest(page);
  const link = page.url(), of = await page.evaluate(() => window.isochrone.view.now.experiment.store);
  assert.ok(link.includes(`of=${of.slice(0, 8)}`), link);
  // The server was started again, with other traces: an answer says whose it is.
  const store = "f".repeat(32);
  await page.route("**/api/**", async (route) => {
    const answer = await route.fetch(), headers = { ...answer.headers(), "isochrone-store": store };
    if (!route.request().url().endsWith("/experiment")) { await route.fulfill({ response: answer, headers }); return; }
    await route.fulfill({ json: { ...(await answer.json()), store }, headers });
  });
  await page.evaluate(() => window.isochrone.navigation.zoom(0.3));
  await page.getByText("The server shows other traces now").waitFor();
  await page.waitForEvent("load");
  await rest(page);
  assert.equal(await page.evaluate(() => window.isochrone.view.now.experiment.store), store);
  // What the link asks for is of the traces before.
  await page.goto("about:blank");
  await page.goto(link.replace(/w=[^&]*/, "w=1,2"));
  await rest(page);
  await page.getByText("The link is of other traces").waitFor();
  const { begin, end } = await page.evaluate(() => window.isochrone.view.now.window);
  assert.ok(end - begin > 1e9, `${begin} ${end}`);
  await page.close();
  await server.stop();
});
