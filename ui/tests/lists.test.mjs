// Lists of what is found: rows, states, events, messages, losses, one after the other, with n of N and marks on the strip; questions that are no longer wanted are given up, slow ones say how far they are.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { generator, launch, now, open, project, rest, serve } from "./page.mjs";

let browser, server, page;
before(async () => { browser = await launch(); server = await serve("examples/shop", project); });
after(async () => { await browser.close(); await server.stop(); });
beforeEach(async () => { await page?.close(); page = await open(browser, server.address); });

const tab = async (title, on = page) => { await on.getByRole("tab", { name: title, exact: true }).click(); await rest(on); };
const place = (id, on = page) => on.locator(`.${id} .place`).textContent(), isAt = (id, text, on = page) => on.waitForFunction(([id, text]) => document.querySelector(`.${id} .place`)?.textContent === text, [id, text]);
const marks = (on = page) => on.evaluate(() => isochrone.view.now.marks?.length ?? null);
const onGraph = (on = page) => on.locator("[role=tree]").focus();
const count = (number) => number.toLocaleString("en-US");
/** Text of the line that is selected in a table. */
const line = (id, on = page) => on.locator(`.${id} tr[aria-selected=true]`).textContent();

test("words and states of rows have a list, too: n and N go from row to row", async () => {
  for (const text of ["wget", "state:blocked host:h2"]) {
    await page.locator(".search").fill(text);
    await rest(page);
    const found = Number((/^(\d+) rows$/).exec(await page.locator(".search-box .count").textContent())[1]);
    assert.ok(found > 3);
    await page.locator(".search-box button", { hasText: "list" }).click();
    await rest(page);
    assert.equal(await page.locator(".matches .controls .muted").textContent(), `${found} rows`);
    assert.equal(await page.locator("table[aria-label^='Rows that fit']").getAttribute("aria-rowcount"), String(found + 1));
    assert.equal(await place("matches"), `– of ${found}`);
    await onGraph();
    const gone = [];
    for (const [key, at] of [["n", 1], ["n", 2], ["n", 3], ["N", 2]]) {
      await page.keyboard.press(key);
      await isAt("matches", `${at} of ${found}`);
      await rest(page);
      const { row } = await now(page), name = await page.evaluate((row) => isochrone.rows.fullName(isochrone.rows.row(row)), row);
      assert.ok((await line("matches")).startsWith(name), `${name} is selected in the list and in the graph`);
      gone.push(row);
    }
    assert.ok(new Set(gone).size === 3 && gone[3] === gone[1]);
    await page.locator(".matches tbody tr[data-at='0']").click();
    assert.equal((await now(page)).row, gone[0]);
    assert.equal(await marks(), null, "rows are no instants");
  }
  await page.locator(".search").fill("there is no such row");
  await rest(page);
  assert.match(await page.locator(".matches .notice").textContent(), /^No row is listed/);
  await page.locator(".search").fill("");
  await rest(page);
  assert.match(await page.locator(".matches .notice").textContent(), /^Nothing is searched for/);
});

test("events: n of N where all are there, at least N until then; the strip has marks of all that are listed, and says so where they are not all", async () => {
  await tab("Events");
  await page.locator(".events input[type=search]").fill("sched_process_exit");
  await page.waitForFunction(() => /^\d+ events$/.test(document.querySelector(".events .controls .muted").textContent));
  await rest(page);
  const all = Number((/^(\d+) events$/).exec(await page.locator(".events .controls .muted").textContent())[1]);
  assert.ok(all > 10);
  assert.deepEqual([await place("events"), await marks(), await page.locator(".events .marked").textContent()], [`– of ${all}`, all, ""]);
  await onGraph();
  await page.keyboard.press("n");
  await isAt("events", `1 of ${all}`);
  await page.keyboard.press("N");
  await isAt("events", `${all} of ${all}`);
  await page.locator(".events input[type=search]").fill("sched_switch");
  await page.waitForFunction(() => /^the first 500, more below$/.test(document.querySelector(".events .controls .muted").textContent));
  await rest(page);
  assert.deepEqual([await place("events"), await marks(), await page.locator(".events .marked").textContent()], ["– of at least 500", 500, "on the strip: these 500 only"]);
  // After the last one come those that were not there yet.
  await page.locator(".events .table").evaluate((it) => { it.scrollTop = 300 * 21; });
  await page.locator(".events tbody tr[data-at='310']").click();
  await isAt("events", "311 of at least 500");
  await page.locator(".events .table").evaluate((it) => { it.scrollTop = it.scrollHeight; });
  await page.waitForFunction(() => /^the first 1,000/.test(document.querySelector(".events .controls .muted").textContent));
  await rest(page);
  assert.deepEqual([await place("events"), await marks(), await page.locator(".events .marked").textContent()], ["311 of at least 1,000", 1000, "on the strip: these 1,000 only"]);
  // Without a search, all events are listed, and none stands out.
  await page.locator(".events input[type=search]").fill("");
  await page.waitForFunction(() => isochrone.view.now.marks === null);
});

test("messages: n of N of those that fit, marks of these; a thinned list says so", async () => {
  await tab("Messages");
  const all = await page.locator("table[aria-label^=Messages]").getAttribute("aria-rowcount").then(Number) - 1;
  assert.deepEqual([await place("messages"), await marks()], [`– of ${count(all)}`, all]);
  await onGraph();
  await page.keyboard.press("n");
  await isAt("messages", `1 of ${count(all)}`);
  const [first, second] = await page.evaluate(async () => {
    const { begin, end } = isochrone.view.now.experiment, all = (await (await fetch(`api/messages?begin=${begin}&end=${end}&limit=5000&received=true`)).json()).messages;
    return all.sort((a, b) => a[2] - b[2]).slice(0, 2);
  });
  assert.equal((await now(page)).row, first[0]);
  await page.keyboard.press("n");
  await isAt("messages", `2 of ${count(all)}`);
  assert.equal((await now(page)).row, second[0]);
  await page.locator(".messages input[type=search]").fill("h1 h2");
  await page.waitForFunction((all) => isochrone.view.now.marks.length < all, all);
  const some = await marks();
  assert.match(await place("messages"), new RegExp(` of ${count(some)}$`));
  assert.match(await page.locator(".messages .controls .muted").textContent(), new RegExp(`; ${count(some)} fit$`));
  await page.locator(".messages input[type=search]").fill("");
  await page.route("**/api/messages?*received=true*", async (route) => { const response = await route.fetch(), said = await response.json(); await route.fulfill({ response, json: { ...said, total: said.total + 1000 } }); });
  await tab("State");
  await tab("Messages");
  assert.match(await place("messages"), new RegExp(` of ${count(all)} listed$`));
  assert.equal(await page.locator(".messages .marked").textContent(), `on the strip: these ${count(all)} only`);
});

test("n and N go on in the list that was used last, where they were", async () => {
  await page.locator(".search").fill("duration > 5ms && state == wait-cpu && host == h2");
  await rest(page);
  await onGraph();
  await page.keyboard.press("n");
  await page.waitForFunction(() => /^1 of \d+$/.test(document.querySelector(".matches .place")?.textContent));
  await page.keyboard.press("n");
  await page.waitForFunction(() => /^2 of \d+$/.test(document.querySelector(".matches .place").textContent));
  const second = await now(page);
  await tab("State");
  await onGraph();
  await page.keyboard.press("n");
  await page.waitForFunction(() => /^3 of \d+$/.test(document.querySelector(".matches .place")?.textContent));
  await page.keyboard.press("N");
  await page.waitForFunction(() => /^2 of \d+$/.test(document.querySelector(".matches .place").textContent));
  await rest(page);
  assert.deepEqual((await now(page)).selection, second.selection);
  // Another list is used: it is that one, until something is searched for again.
  await page.keyboard.press("Escape");
  await tab("Messages");
  await tab("Statistics");
  await onGraph();
  await page.keyboard.press("n");
  await page.waitForFunction(() => /^1 of /.test(document.querySelector(".messages .place")?.textContent));
  await page.locator(".search").fill("wget");
  await rest(page);
  await onGraph();
  await page.keyboard.press("n");
  await page.waitForFunction(() => /^1 of \d+$/.test(document.querySelector(".matches .place")?.textContent));
  assert.match(await line("matches"), /wget/);
});

test("losses: n of N, marks, and how much of the time each CPU was recorded", async () => {
  const directory = mkdtempSync(join(tmpdir(), "isochrone-lists-"));
  execFileSync("python3", [generator, directory, "--events", "200000", "--cpus", "2", "--subbuf", "16384", "--gaps", "1", "--drop"], { stdio: "ignore" });
  const lossy = await serve(directory), there = await open(browser, lossy.address);
  try {
    const { losses } = await there.evaluate(async () => (await fetch("api/overview?bins=1")).json()), { begin, end } = await there.evaluate(() => isochrone.view.now.experiment);
    await there.locator(".chip.lost").click();
    await rest(there);
    assert.deepEqual([await place("losses", there), await marks(there)], [`– of ${losses.length}`, losses.length]);
    await onGraph(there);
    await there.keyboard.press("n");
    await isAt("losses", `1 of ${losses.length}`, there);
    assert.equal((await now(there)).selection.begin, Math.min(...losses.map((it) => it.begin)));
    // By ns, in another way than the page does: a sweep over all ends.
    const told = await there.locator("table[aria-label^='How much was recorded'] tbody tr:not(.gap)").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.title)));
    const cpus = await there.evaluate(() => isochrone.view.now.experiment.hosts[0].cpus);
    assert.deepEqual(told.map((cells) => Number(cells[1])), cpus);
    for (const [at, cpu] of cpus.entries()) {
      const of = losses.filter((it) => (it.cpu === null || it.cpu === cpu) && it.begin < end && it.end > begin), ends = [...new Set([begin, end, ...of.flatMap((it) => [Math.max(begin, it.begin), Math.min(end, it.end)])])].sort((a, b) => a - b);
      let lost = 0, absent = 0;
      for (const [place, from] of ends.slice(0, -1).entries()) {
        const to = ends[place + 1], here = of.filter((it) => it.begin <= from && it.end >= to), isAbsent = here.some((it) => /stream|CPU|chunk/.test(it.what));
        if (isAbsent) absent += to - from; else if (here.length > 0) lost += to - from;
      }
      assert.ok(lost > 0 && absent + lost < end - begin, `CPU ${cpu}: ${lost}, ${absent}`);
      assert.deepEqual(told[at].slice(3, 5), [`${lost} ns`, absent === 0 ? "0 ns" : `${absent} ns`], `CPU ${cpu}`);
      assert.equal(told[at][2], String(100 * (end - begin - lost - absent) / (end - begin)));
    }
    assert.deepEqual(there.errors, []);
  } finally {
    await there.close();
    await lossy.stop();
    rmSync(directory, { recursive: true });
  }
  // A host is recorded from its first event to its last at least; where the server says when it was, exactly.
  const shares = () => page.locator("table[aria-label^='How much was recorded'] tbody tr:not(.gap)").evaluateAll((rows) => rows.map((row) => row.cells[2].textContent)), { hosts, begin, end } = await page.evaluate(() => isochrone.view.now.experiment);
  const { hosts: said } = await page.evaluate(async () => (await fetch("api/overview?bins=1")).json());
  if (said[0].begin === undefined) {
    await tab("Losses");
    assert.deepEqual(await shares(), hosts.map((it) => `≥ ${(100 * (it.end - it.begin) / (end - begin)).toFixed(2)} %`));
    await tab("State");
  }
  await page.route("**/api/overview?*", async (route) => { const response = await route.fetch(), json = await response.json(); await route.fulfill({ response, json: { ...json, hosts: json.hosts.map((it, at) => ({ ...it, begin: at === 0 ? begin - 5 : begin + 1e9, end: end + 5 })) } }); });
  await tab("Losses");
  assert.deepEqual(await shares(), hosts.map((_, at) => (at === 0 ? "100 %" : `${(100 * (1 - 1e9 / (end - begin))).toFixed(2)} %`)));
});

test("a search that goes on is given up when another one is typed", async () => {
  const given = [], asked = [];
  page.on("requestfailed", (request) => { if (request.url().includes("/api/matching")) given.push(new URL(request.url()).searchParams.get("text")); });
  await page.route("**/api/matching?*", async (route) => {
    asked.push(new URL(route.request().url()).searchParams.get("text"));
    if (asked.length > 1) await route.continue();
  });
  await page.locator(".search").fill("duration > 1ms");
  while (asked.length === 0) await page.waitForTimeout(20);
  await page.locator(".search").press("End");
  await page.keyboard.type("0");
  while (given.length === 0) await page.waitForTimeout(20);
  await page.keyboard.press("Backspace");
  await page.keyboard.type("2 && state == blocked");
  await page.locator(".search").fill("duration > 12ms && state == blocked");
  await rest(page);
  assert.deepEqual(given, ["duration > 1ms"]);
  assert.equal(asked.at(-1), "duration > 12ms && state == blocked");
  assert.match(await page.locator(".search-box .count").textContent(), /^[\d,]+ states on \d+ rows$/);
  await page.unroute("**/api/matching?*");
});

test("all long answers of panels are asked for under a name, say how far they are, and can be given up", async () => {
  await page.route("**/api/progress?*", (route) => route.fulfill({ json: { progress: [37, 100] } }));
  await page.locator(".search").fill("duration > 5ms");
  await rest(page);
  for (const [title, path] of [["Matches", "matching"], ["Events", "events"], ["Messages", "messages"], ["Usage", "usage"], ["Lives", "lives"], ["Disks", "accesses"]]) {
    let name = null, isGivenUp = false;
    const failed = (request) => { if (name !== null && request.url().includes(`ask=${name}`)) isGivenUp = true; };
    page.on("requestfailed", failed);
    await page.route(`**/api/${path}?*`, (route) => {
      const ask = new URL(route.request().url()).searchParams.get("ask");
      if (ask === null) return route.continue();
      name = ask;
    });
    await page.getByRole("tab", { name: title, exact: true }).click();
    await page.waitForFunction(() => document.querySelector(".panel .busy")?.textContent === "loading … 37 %");
    assert.ok(name !== null && name.length <= 64, title);
    await page.locator(".panel-bar .stop").click();
    await page.waitForFunction(() => document.querySelector(".panel .busy")?.textContent === "");
    while (!isGivenUp) await page.waitForTimeout(20);
    await page.unroute(`**/api/${path}?*`);
    page.off("requestfailed", failed);
  }
  assert.deepEqual(page.errors, []);
});
