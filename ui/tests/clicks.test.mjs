// Jobs from first sight, with the mouse and keys only, and how many clicks each takes: three at most. A drag is a click; what is typed is none.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { count, eventsOf, generator, launch, mpi4, now, open, project, rest, serve, tableOf } from "./page.mjs";

const MOST = 3, RED = [224, 0, 27], shop = join(project, "examples/shop");
let browser, server;
const clicks = new Map();
before(async () => { browser = await launch(); server = await serve("examples/shop", project); });
after(async () => { await browser.close(); await server.stop(); });

/** The page at first sight, with clicks counted; more than `MOST` fail. */
function job(name, body, traces = null) {
  test(name, async () => {
    const there = traces === null ? server : await serve(traces), page = await open(browser, there.address, { isFirst: true });
    page.clicks = 0;
    try {
      await body(page);
      assert.deepEqual(page.errors, []);
      assert.ok(page.clicks <= MOST, `${page.clicks} clicks`);
      clicks.set(name, page.clicks);
    } finally {
      await page.close();
      if (traces !== null) await there.stop();
    }
  });
}
async function click(page, locator) {
  page.clicks += 1;
  await locator.click();
  await rest(page);
}
async function clickAt(page, x, y) {
  page.clicks += 1;
  await page.mouse.click(x, y);
  await rest(page);
}
async function drag(page, [x0, y0], [x1, y1]) {
  page.clicks += 1;
  await page.mouse.move(x0, y0);
  await page.mouse.down();
  await page.mouse.move(x1, y1, { steps: 6 });
  await page.mouse.up();
  await rest(page);
}
const tab = (page, title) => page.getByRole("tab", { name: title, exact: true });
const lines = (page, table) => page.locator(`table[aria-label^='${table}'] tbody tr:not(.gap)`);
/** What is typed into the search box, from the keyboard. */
async function search(page, text) {
  await page.keyboard.press("/");
  await page.keyboard.type(text);
  await rest(page);
}
/** Where the graph has a line and an instant. */
const placeOf = async (page, label, at) => {
  const box = await page.locator(".graph").boundingBox();
  const { x, y } = await page.evaluate(([label, at]) => { const scene = isochrone.graph.scene(); return { x: scene.x(at), y: scene.middle(isochrone.rows.lines.findIndex((line) => line.label.startsWith(label))) }; }, [label, at]);
  return [box.x + x, box.y + y];
};
/** Texts of the picture, as they are drawn. */
const drawn = (page) => page.evaluate(() => [...isochrone.svg().matchAll(/>([^<>]+)<\/text>/g)].map((it) => it[1]));
/** A number with a unit of time, in ns. */
const ns = (text) => { const [, number, unit] = /([\d.]+) (ns|µs|ms|s)$/.exec(text); return Number(number) * { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 }[unit]; };

job("why request 14 is slow", async (page) => {
  await click(page, page.locator(".header button", { hasText: "requests" }));
  await click(page, lines(page, "Requests").filter({ has: page.locator("td:first-child", { hasText: /^14$/ }) }));
  await page.waitForFunction(() => document.querySelector(".path-title") !== null);
  const { request, total_ns: total } = tableOf(["critical-path"], shop, "requests").find((it) => it.request === 14), title = await page.locator(".path-title").textContent();
  assert.equal(request, 14);
  assert.ok(title.startsWith("Request 14: h1 wget 247 → h2 appsrv 210 · ") && Math.abs(ns(/· ([\d.]+ \S+) ·/.exec(title)[1]) - total) < 1e5, title);
  assert.match(await page.locator(".critical-path .sentence").textContent(), /^Where it differs from the others: h2 appsrv waited [\d.]+ ms for a CPU \(median [\d.]+ ms\)/);
});

job("a message to its receiver", async (page) => {
  // One of those that a client sent to a server, not to its kernel alone.
  const [sender, receiver, at] = await page.evaluate(() => { const label = (row) => isochrone.rows.row(row).label; return isochrone.graph.arrows.messages.value[0].find(([from, to]) => label(from) === "wget" && label(to) === "appsrv"); });
  // Zoomed in at the pointer, with the keyboard.
  await page.mouse.move(...await placeOf(page, "wget", at));
  for (let times = 0; times < 22; times += 1) { await page.keyboard.press("w"); await rest(page); await page.mouse.move(...await placeOf(page, "wget", at)); }
  assert.ok(await now(page).then(({ window }) => window.end - window.begin < 1e6));
  await clickAt(page, ...await placeOf(page, "wget", at));
  assert.equal((await now(page)).row, sender);
  await page.keyboard.press("m");
  await page.waitForFunction(() => /: received by /.test(document.querySelector(".status .answer").textContent));
  assert.match(await page.locator(".status .answer").textContent(), /^h2 appsrv \d+: received by h2 appsrv \d+/);
  await rest(page);
  assert.equal((await now(page)).row, receiver);
});

job("who ran while a thread waited for the CPU", async (page) => {
  await search(page, "state == wait-cpu && duration > 10ms && comm == appsrv");
  await page.locator(".search").press("Enter");
  await page.locator("[role=tree]").focus();
  await page.keyboard.press("n");
  await page.waitForFunction(() => isochrone.view.now.selection !== null);
  await rest(page);
  await click(page, tab(page, "State"));
  assert.match(await page.locator(".state-title").textContent(), /^wait-cpu/);
  assert.match(await page.locator(".meanwhile h3").textContent(), /^Ran instead, on h2 CPU 0$/);
  const ran = await page.locator(".meanwhile dt").allTextContents(), { selection } = await now(page), sum = ran.reduce((all, it) => all + ns(it), 0);
  assert.ok(Math.abs(sum / (selection.end - selection.begin) - 1) < 0.01, `${ran} of ${selection.end - selection.begin}`);
  assert.ok((await page.locator(".meanwhile dd button").allTextContents()).every((it) => /\d+$|swapper/.test(it)));
});

job("states of a thread that last longer than 10 ms", async (page) => {
  await search(page, "tid == 134 && host == h3 && duration > 10ms && kind == thread");
  const told = tableOf(["states"], shop, "states").filter((it) => it.host === "h3" && it.tid === 134 && it.end_ns - it.begin_ns > 10_000_000 && it.state !== "dead");
  const [, found] = /^(\d+) states? on 1 row$/.exec(await page.locator(".search-box .count").textContent());
  assert.ok(told.length > 20);
  assert.equal(Number(found), told.length, "as many as the command has");
  await click(page, page.locator(".search-box button", { hasText: "list" }));
  assert.equal(await lines(page, "States for which").first().evaluate((it) => it.closest("table").getAttribute("aria-rowcount")), String(Number(found) + 1));
  assert.ok((await lines(page, "States for which").evaluateAll((rows) => rows.map((row) => Number.parseInt(row.cells[1].title, 10)))).every((it) => it > 10_000_000));
  await page.locator("[role=tree]").focus();
  await page.keyboard.press("n");
  await page.waitForFunction((found) => document.querySelector(".matches .place").textContent === `1 of ${found}`, found);
});

job("a time that is typed by hand", async (page) => {
  const { begin } = await page.evaluate(() => isochrone.navigation.bounds);
  await page.keyboard.press("t");
  await page.keyboard.type("2.3s .. +40ms");
  await page.keyboard.press("Enter");
  await rest(page);
  const { window } = await now(page);
  assert.ok(Math.abs(window.begin - begin - 2.3e9) < 1 && Math.abs(window.end - window.begin - 40e6) < 1);
  assert.ok((await drawn(page)).includes("window 40 ms"));
});

job("measuring between two points", async (page) => {
  const box = await page.locator(".graph").boundingBox(), { window } = await now(page);
  await drag(page, [box.x + 400, box.y + 40], [box.x + 700, box.y + 40]);
  const texts = await drawn(page), expected = 300 * (window.end - window.begin) / box.width, found = texts.filter((it) => /^[\d.]+ (ms|s)$/.test(it)).map(ns);
  assert.ok(found.some((it) => Math.abs(it / expected - 1) < 0.02), `${texts}, ${expected} ns`);
});

job("events by text", async (page) => {
  const expected = eventsOf("sched_process_exit", shop).length;
  await click(page, tab(page, "Events"));
  await click(page, page.locator(".events input[type=search]"));
  await page.keyboard.type("sched_process_exit");
  await page.waitForFunction((expected) => document.querySelector(".events .controls .muted").textContent === `${expected} events`, expected);
  await rest(page);
  assert.ok((await lines(page, "Events").evaluateAll((rows) => rows.map((row) => row.cells[4].textContent))).every((it) => it === "sched_process_exit"));
  assert.equal(await page.evaluate(() => isochrone.view.now.marks.length), expected);
});

job("before and after synchronization", async (page) => {
  const text = () => page.locator(".header .inverted").textContent();
  assert.match(await text(), /^0 of 775 messages arrive before they were sent$/);
  assert.equal(await count(page, RED), 0);
  await click(page, page.locator(".clock-switch"));
  assert.match(await text(), /^[1-9]\d* of 775 messages arrive before they were sent$/);
  assert.ok(await count(page, RED) > 100, "arrows that go back in time");
  await click(page, page.locator(".clock-switch"));
  assert.match(await text(), /^0 of 775 /);
  assert.equal(await count(page, RED), 0);
});

job("export of the picture", async (page) => {
  await click(page, page.locator(".menu summary", { hasText: "export" }));
  const download = page.waitForEvent("download");
  await click(page, page.locator("button", { hasText: "as SVG" }));
  const svg = readFileSync(await (await download).path(), "utf8");
  assert.ok(svg.startsWith("<svg") && svg.includes("wget ×24") && svg.includes("common clock"), svg.slice(0, 200));
});

job("sharing what is seen", async (page) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const box = await page.locator(".graph").boundingBox();
  await drag(page, [box.x + 300, box.y + 40], [box.x + 500, box.y + 40]);
  await page.keyboard.press("Enter");
  await rest(page);
  await click(page, page.locator(".menu summary", { hasText: "export" }));
  await click(page, page.locator("button", { hasText: "copy the link" }));
  const link = await page.evaluate(() => navigator.clipboard.readText()), other = await open(browser, link, { isFirst: true }), whole = ({ window, selection }) => [window, selection].flatMap((it) => [Math.round(it.begin), Math.round(it.end)]);
  assert.deepEqual(whole(await now(other)), whole(await now(page)));
  const names = (of) => of.locator("[role=treeitem]").allTextContents();
  assert.ok((await names(page)).length > 10);
  assert.deepEqual(await names(other), await names(page));
  await other.close();
});

const lossy = mkdtempSync(join(tmpdir(), "isochrone-clicks-"));
execFileSync("python3", [generator, lossy, "--events", "200000", "--cpus", "2", "--subbuf", "16384", "--gaps", "1", "--drop"], { stdio: "ignore" });
after(() => rmSync(lossy, { recursive: true }));

job("where events were lost", async (page) => {
  await click(page, page.locator(".chip.lost"));
  const first = await lines(page, "What is missing").filter({ hasText: "lost" }).first().evaluate((row) => [...row.cells].map((cell) => cell.textContent));
  assert.match(first.at(-1), /^[\d,]+ events? (was|were) lost$/);
  await click(page, lines(page, "What is missing").filter({ hasText: "lost" }).first());
  const { row, selection } = await now(page);
  assert.equal(await page.evaluate((row) => isochrone.rows.row(row).label, row), `CPU ${first[1]}`);
  assert.ok(Math.abs(ns(first[4]) / (selection.end - selection.begin) - 1) < 0.001);
  assert.match((await lines(page, "How much was recorded").first().evaluate((row) => row.cells[2].textContent)), /^\d\d?\.\d\d %$/);
}, lossy);

job("bounds of an instant", async (page) => {
  const { begin, end } = await page.evaluate(() => isochrone.view.now.experiment);
  await clickAt(page, ...await placeOf(page, "srvhog", (begin + end) / 2));
  const told = Object.fromEntries(await page.locator(".state-parts dl").evaluateAll((lists) => lists.flatMap((list) => [...list.querySelectorAll("dt")].map((it) => [it.textContent, it.nextElementSibling.textContent]))));
  assert.match(told["surely within"], /\d.*(…|±|to|–).*\d/, JSON.stringify(told));
  assert.match(told["likely within"], /\d/);
  assert.notEqual(told["own clock"], told["common clock"]);
});

job("CPU use in a selection", async (page) => {
  const box = await page.locator(".graph").boundingBox();
  await drag(page, [box.x + 400, box.y + 20], [box.x + 700, box.y + 20]);
  await click(page, tab(page, "Statistics"));
  const { selection } = await now(page), origin = BigInt(await page.evaluate(() => isochrone.view.now.experiment.origin_unix_ns)), at = (time) => String(origin + BigInt(Math.round(time)));
  const told = await lines(page, "Time by thread").evaluateAll((rows) => rows.map((row) => [row.cells[0].textContent, Number.parseInt(row.cells[1].title, 10)]));
  const rows = tableOf(["analyze", "cputop", "--limit", "0", "--begin", at(selection.begin), "--end", at(selection.end)], shop, "processes");
  for (const [name, cpu] of told.slice(0, 5)) {
    const { cpu_ns: expected } = rows.find((it) => name === `${it.host} ${it.comm} ${it.tid}`);
    // Clocks of hosts run at rates that differ by parts in a million.
    assert.ok(Math.abs(cpu - expected) <= 1e-4 * expected + 10, `${name}: ${cpu}, ${expected}`);
  }
  assert.match(await page.locator(".statistics .about").textContent(), /^selection [\d.]+ s from /);
});

job("MPI: communication and computation by rank", async (page) => {
  await click(page, tab(page, "Statistics"));
  await click(page, page.locator(".statistics button:visible", { hasText: "by phase" }));
  const told = await lines(page, "Time by phase").evaluateAll((rows) => rows.map((row) => ({ name: row.cells[0].textContent, outside: Number.parseInt(row.cells[1].title, 10), mean: row.cells[2].textContent, phases: row.cells[4].textContent })));
  const ranks = told.filter((it) => /rank \d/.test(it.name)), mean = ranks.reduce((sum, it) => sum + it.outside, 0) / ranks.length, most = Math.max(...ranks.map((it) => it.outside));
  assert.deepEqual(ranks.map((it) => /rank (\d)/.exec(it.name)[1]).sort(), ["0", "1", "2", "3"]);
  assert.ok(ranks.every((it) => /mpi MPI_Recv [\d.]+ m?s \(\d+\)/.test(it.phases)));
  for (const it of ranks) assert.equal(it.mean, `${(100 * it.outside / mean).toFixed(0)} %`);
  assert.ok(told.filter((it) => !ranks.includes(it)).every((it) => it.mean === "–"), "helper threads do not compute");
  assert.ok((await page.locator(".statistics .legend").textContent()).endsWith(`imbalance ${(100 * most / mean - 100).toFixed(0)} % (the most in no phase, above the mean of 4 ranks)`));
}, mpi4);

test("clicks of each job", (t) => {
  for (const [name, number] of clicks) t.diagnostic(`${name}: ${number} ${number === 1 ? "click" : "clicks"}`);
  assert.equal(clicks.size, 14);
});
