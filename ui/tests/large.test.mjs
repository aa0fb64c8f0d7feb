// What the page says of windows with more states than are looked at in a moment: exact, or marked.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { generator, launch, open, rest, serve, tableOf } from "./page.mjs";

const directory = mkdtempSync(join(tmpdir(), "isochrone-large-")), traces = join(directory, "made");
let browser, server, page;
before(async () => {
  // More than two million spans of one host, without gaps: all are short.
  execFileSync("python3", [generator, traces, "--events", "2500000", "--cpus", "4", "--gaps", "0"], { stdio: "ignore" });
  browser = await launch();
  server = await serve(traces, directory, join(directory, "store"));
  page = await open(browser, server.address);
});
after(async () => { await browser.close(); await server.stop(); rmSync(directory, { recursive: true }); });

test("rows are sorted by exact CPU time, and statistics are those of cputop", async () => {
  const { busy_ns } = tableOf(["analyze", "cputop"], traces, "total")[0], threads = tableOf(["analyze", "cputop", "--limit", "0"], traces, "processes");
  const { begin, end } = await page.evaluate(() => isochrone.view.now.experiment);
  const [active, sums] = await page.evaluate(async ([begin, end]) => [
    (await (await fetch(`api/activity?begin=${begin}&end=${end}`)).json()).threads.map(([row, ns]) => [isochrone.rows.row(row).tid, ns]),
    await (await fetch("api/statistics", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ begin, end, rows: null }) })).json(),
  ], [begin, end]);
  for (const it of threads) assert.equal(active.find(([tid]) => tid === it.tid)?.[1] ?? 0, it.cpu_ns, `thread ${it.tid}`);
  assert.ok(sums.calls.length > 0);
  assert.equal(sums.states.filter((it) => ["usermode", "syscall", "interrupted", "running"].includes(it.state)).reduce((sum, it) => sum + it.total_ns, 0), busy_ns);
  const first = await page.evaluate(() => isochrone.rows.lines.find((line) => line.row?.kind === "thread").row.tid);
  assert.equal(active.find(([tid]) => tid === first)[1], Math.max(...active.map(([, ns]) => ns)));
});

test("a search that cannot look at each state says so, and that there are none it never says", async () => {
  await page.locator(".search").fill("duration < 3ns");
  await rest(page);
  assert.match(await page.locator(".search-box .count").textContent(), /^(at least [\d,]+ states? on [\d,]+ rows?|none is known yet): zoom in for all$/);
  await page.locator(".search").fill("state:syscall");
  await rest(page);
  assert.match(await page.locator(".search-box .count").textContent(), /^at least [\d,]+ rows?: zoom in for all$/);
  const { begin, end } = await page.evaluate(() => isochrone.view.now.experiment), middle = (begin + end) / 2;
  await page.evaluate(([begin, end]) => isochrone.navigation.set({ begin, end }), [middle - 1e6, middle + 1e6]);
  await rest(page);
  assert.match(await page.locator(".search-box .count").textContent(), /^[\d,]+ rows?$/);
  await page.locator(".search").fill("");
  await page.evaluate(() => isochrone.navigation.fit());
  await rest(page);
});

const count = () => page.locator(".search-box .count").textContent(), listed = () => page.locator(".matches .controls .muted").textContent(), place = () => page.locator(".matches .place").textContent();
/** The list of what a search finds. */
async function list(text) {
  await page.locator(".search").fill(text);
  await rest(page);
  await page.locator(".search-box button", { hasText: "list" }).click();
  await rest(page);
}
async function fit() {
  await page.locator(".search").fill("");
  await page.evaluate(() => { isochrone.navigation.fit(); isochrone.drawer.open("state"); });
  await rest(page);
}

test("the list of a search that could not look at each state offers to look at those of the window, and does so when it is short enough", async () => {
  await list("state == syscall");
  assert.match(await listed(), /: too many states to look at each; [\d,]+ of them are listed$/);
  assert.match(await place(), /^– of at least [\d,]+$/);
  const each = page.locator(".matches button", { hasText: "look at each state of the window" });
  await each.click();
  await rest(page);
  assert.ok(await each.isHidden(), "it is done");
  assert.equal(await page.locator(".matches select").first().inputValue(), "window");
  assert.match(await listed(), /; zoom in until all are; [\d,]+ of them are listed$/);
  const { begin, end } = await page.evaluate(() => isochrone.view.now.experiment), middle = (begin + end) / 2;
  await page.evaluate(([begin, end]) => isochrone.navigation.set({ begin, end }), [middle - 1e6, middle + 1e6]);
  await page.waitForFunction(() => /^[\d,]+ states on \d+ rows, .* in all/.test(document.querySelector(".matches .controls .muted").textContent));
  assert.match(await place(), /^– of [\d,]+$/);
  const { states } = await page.evaluate(async () => { const { begin, end } = isochrone.view.now.window; return (await fetch(`api/matching?text=${encodeURIComponent("state == syscall")}&begin=${Math.round(begin)}&end=${Math.round(end)}`)).json(); });
  assert.equal(await place(), `– of ${states.toLocaleString("en-US")}`);
  await page.locator(".matches select").first().selectOption("all");
  await fit();
});

/** Lets the server answer searches with other fields. */
const answering = (fields) => page.route("**/api/matching?*", async (route) => { const response = await route.fetch(), said = await response.json(); await route.fulfill({ response, json: { ...said, ...fields } }); });

test("what is at least, or unknown, is said so, in the search box, in the list and in the graph", async () => {
  const rows = await page.evaluate(() => isochrone.view.now.rows.filter((row) => row.kind === "thread").slice(0, 2).map((row) => row.id)), matches = rows.map((row) => [row, 2, "read", 1e6, 2e6]);
  for (const [fields, box, inList, of] of [
    [{ kind: "at_least", states: 4, total_ns: null, rows, matches }, /^at least 4 states on 2 rows: zoom in for all$/, /^at least 4 states on 2 rows: too many/, "– of at least 4"],
    [{ kind: "at_least", states: 0, total_ns: null, rows: [], matches: [] }, /^none is known yet: zoom in for all$/, /^none is known yet: too many/, ""],
    [{ kind: "whole", states: 4, rows, matches, total_ns: 4e6 }, /^4 states on 2 rows$/, /^4 states on 2 rows, 4 ms in all; the first 2 are listed$/, "– of 4"],
  ]) {
    await answering(fields);
    await list("label == read");
    assert.match(await count(), box);
    assert.match(await listed(), inList);
    assert.equal(await place(), of);
    assert.equal(await page.evaluate(() => isochrone.view.now.marks.length), fields.matches.length);
    if (fields.states === 0) assert.match(await page.locator(".graph .empty").textContent(), /^No long state is known to fit the search; there are too many states here to look at each/);
    await page.unroute("**/api/matching?*");
    await fit();
  }
  // What is unknown is never none.
  const all = await page.evaluate(() => isochrone.rows.lines.length);
  await answering({ kind: "unknown", states: 0, rows: [], matches: [], total_ns: null });
  await list("label == read");
  assert.equal(await count(), "too many states to look at the label of each; choose a shorter window or list calls in Statistics → by call");
  assert.equal(await page.evaluate(() => isochrone.rows.lines.length), all, "no row is left out");
  assert.ok(await page.locator(".graph .empty").isHidden());
  assert.match(await page.locator(".matches .notice").textContent(), /^Too many states to look at the label of eachChoose a shorter window, or list calls in Statistics → by call\./);
  assert.ok(!/0 states|none/.test(await page.locator(".matches").textContent()));
  await page.unroute("**/api/matching?*");
  await page.locator(".matches .notice button", { hasText: "open Statistics" }).click();
  await rest(page);
  assert.equal(await page.evaluate(() => isochrone.drawer.id), "statistics");
  await fit();
});

test("a time that is selected by a click is about so long until the server has said it, for good where it says nothing", async () => {
  const at = await page.evaluate(() => {
    const { begin, end } = isochrone.view.now.experiment, scene = isochrone.graph.scene(), row = isochrone.rows.lines.find((line) => line.row?.kind === "thread").row.id;
    const box = document.querySelector(".graph").getBoundingClientRect();
    return { x: box.x + scene.x(begin + (end - begin) * 0.4), y: box.y + scene.middle(isochrone.rows.placeOf(row)) };
  });
  await page.getByRole("tab", { name: "Statistics", exact: true }).click();
  await rest(page);
  const heading = () => page.locator(".statistics .about").textContent(), axis = async () => (await page.evaluate(() => [...isochrone.svg().matchAll(/>(≈ )?([\d.]+ (?:ns|µs|ms|s))</g)].map((it) => [it[1] ?? "", it[2]]))).at(-1);
  const answers = [];
  await page.route("**/api/state?*", async (route) => { await new Promise((go) => answers.push(go)); await route.continue().catch(() => undefined); });
  await page.mouse.click(at.x, at.y);
  await page.waitForFunction(() => isochrone.view.now.selection !== null);
  const [selected, isAbout] = await page.evaluate(() => [isochrone.view.now.selection, isochrone.view.now.isAbout]);
  assert.ok(isAbout, `selected: ${JSON.stringify(selected)}, requests held: ${answers.length}`);
  assert.equal((await axis())[0], "≈ ");
  await page.waitForFunction(() => /^selection ≈ /.test(document.querySelector(".statistics .about").textContent));
  while (answers.length === 0) await page.waitForTimeout(20);
  await page.unroute("**/api/state?*");
  for (const go of answers) go();
  await page.waitForFunction(() => /^selection \d/.test(document.querySelector(".statistics .about").textContent));
  await rest(page);
  const { row, selection } = await page.evaluate(() => isochrone.view.now);
  const exact = await page.evaluate(async ([row, at]) => (await fetch(`api/state?row=${row}&at=${Math.round(at)}`)).json(), [row, (selection.begin + selection.end) / 2]);
  assert.deepEqual(selection, { begin: exact.begin, end: exact.end });
  assert.equal((await axis())[0], "");
  assert.match(await page.evaluate(() => location.hash), new RegExp(`[#&]s=${exact.begin},${exact.end}&`));
  await page.keyboard.press("Escape");
  await page.route("**/api/state?*", (route) => route.abort());
  await page.mouse.click(at.x, at.y);
  await page.waitForFunction(() => /^selection ≈ /.test(document.querySelector(".statistics .about").textContent));
  await rest(page);
  assert.equal((await axis())[0], "≈ ");
  assert.match(await heading(), /^selection ≈ [\d.]+ \S+ from /);
  assert.ok(!/[#&]s=/.test(await page.evaluate(() => location.hash)), "the address has no time that is not exact");
  // The same time stays so, whatever else is selected of it, on whatever clock.
  const chosen = await page.evaluate(() => { const { row, selection } = isochrone.view.now; isochrone.view.set({ row, selection }); return isochrone.view.now.isAbout; });
  assert.ok(chosen);
  for (let clock = 0; clock < 2; clock += 1) {
    await page.keyboard.press("k");
    await rest(page);
    assert.equal((await axis())[0], "≈ ");
  }
  await page.unroute("**/api/state?*");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.mouse.move(5, 5);
  await page.evaluate(() => isochrone.drawer.open("state"));
  await rest(page);
});

test("a click is one when the page moves under the pointer while the button is down", async () => {
  const at = await page.evaluate(() => {
    const { begin, end } = isochrone.view.now.experiment, scene = isochrone.graph.scene(), row = isochrone.rows.lines.find((line) => line.row?.kind === "thread").row.id;
    const box = document.querySelector(".graph").getBoundingClientRect();
    return { row, x: box.x + scene.x(begin + (end - begin) * 0.4), y: box.y + scene.middle(isochrone.rows.placeOf(row)) };
  });
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.evaluate(() => { document.body.style.paddingTop = "40px"; });
  await page.mouse.move(at.x + 1, at.y);
  await page.mouse.up();
  await rest(page);
  const { row, selection } = await page.evaluate(() => { document.body.style.paddingTop = ""; return isochrone.view.now; });
  const state = await page.evaluate(async ([row, at]) => (await fetch(`api/state?row=${row}&at=${Math.round(at)}`)).json(), [at.row, (selection.begin + selection.end) / 2]);
  assert.deepEqual([row, selection], [at.row, { begin: state.begin, end: state.end }]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.mouse.move(5, 5);
  await rest(page);
});

test("a state under the pointer is about so long until the server has said it; shares are those of Statistics", async () => {
  const at = await page.evaluate(() => {
    const { begin, end } = isochrone.view.now.experiment, scene = isochrone.graph.scene(), row = isochrone.rows.lines.find((line) => line.row?.kind === "thread").row.id;
    const box = document.querySelector(".graph").getBoundingClientRect();
    return { row, x: box.x + scene.x((begin + end) / 2), y: box.y + scene.middle(isochrone.rows.placeOf(row)) };
  });
  let answer;
  await page.route("**/api/state?*", async (route) => { await new Promise((go) => { answer = go; }); await route.continue().catch(() => undefined); });
  await page.mouse.move(at.x, at.y);
  await page.waitForFunction(() => document.querySelector(".tooltip:not([hidden])") !== null);
  assert.match(await page.locator(".graph ~ .tooltip, body .tooltip:visible").first().textContent(), /lasts≈ /);
  assert.match(await page.locator(".status .about").textContent(), /: [^,]+, ≈ [\d.]+ \S+ from \d\d:\d\d:\d\d\.\d{3,7}$/);
  while (answer === undefined) await page.waitForTimeout(20);
  answer();
  await page.waitForFunction(() => !/≈/.test(document.querySelector(".status .about").textContent));
  await page.unroute("**/api/state?*");
  assert.match(await page.locator(".status .about").textContent(), /: [^,]+, [\d.]+ \S+ from \d\d:\d\d:\d\d\.\d{9}$/);
  const box = await page.locator(".tooltip:visible").first().boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 1400);
  await page.mouse.click(at.x, at.y);
  await page.evaluate(() => isochrone.drawer.open("state"));
  await rest(page);
  const share = await page.locator(".state-parts .share").textContent();
  const states = await page.evaluate(async (row) => {
    const { begin, end } = isochrone.view.now.window, area = { begin: Math.floor(begin), end: Math.ceil(end), rows: [row] };
    return (await (await fetch("api/statistics", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(area) })).json()).states;
  }, at.row);
  const all = states.reduce((sum, it) => sum + it.total_ns, 0);
  for (const it of states.filter((it) => it.total_ns / all > 0.001)) assert.ok(share.includes(`, ${(100 * it.total_ns / all).toFixed(1)} %`), `${it.state}: ${share}`);
});
