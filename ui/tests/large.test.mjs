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
  assert.match(await page.locator(".search-box .count").textContent(), /^at least [\d,]+ states? on [\d,]+ rows?: zoom in for all$/);
  const empty = page.locator(".graph .empty");
  if (await empty.isVisible()) assert.match(await empty.textContent(), /^No long state fits the search; there are too many states here to look at each/);
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
