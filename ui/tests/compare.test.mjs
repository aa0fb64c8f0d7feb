// Requests against each other: two side by side, the slow ones of a histogram against the others, services and who asks them. On the shop of the example.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { launch, open, project, rest, serve, tableOf } from "./page.mjs";

let browser, server, page;
before(async () => { browser = await launch(); server = await serve("examples/shop", project); });
after(async () => { await browser.close(); await server.stop(); });
beforeEach(async () => { await page?.close(); page = await open(browser, server.address); });

const panel = async (id) => { await page.evaluate((id) => isochrone.drawer.open(id), id); await rest(page); };
const ask = (path, body) => page.evaluate(async ([path, body]) => (await fetch(`api/${path}`, body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).json(), [path, body]);

test("two requests are held against each other: both from their begins, and cause by cause", async () => {
  await panel("critical-path");
  const rows = page.locator("table[aria-label=Requests] tbody tr:not(.gap)");
  await rows.nth(0).click();
  await page.waitForFunction(() => isochrone.view.now.path !== null);
  await rest(page);
  const first = await page.evaluate(() => isochrone.view.now.path);
  await page.locator("button", { hasText: /^compare with another$/ }).click();
  await rows.nth(5).click();
  await page.waitForFunction((number) => isochrone.view.now.path.request !== number, first.request);
  await rest(page);
  const second = await page.evaluate(() => isochrone.view.now.path), strips = page.locator(".path-pair .strip");
  assert.equal(await strips.count(), 2);
  // One scale: widths are as the durations.
  const widths = await strips.evaluateAll((all) => all.map((it) => { const steps = [...it.querySelectorAll(".steps span")].map((step) => step.getBoundingClientRect()); return Math.max(...steps.map((box) => box.right)) - Math.min(...steps.map((box) => box.left)); }));
  const ratio = (second.end - second.begin) / (first.end - first.begin);
  assert.ok(Math.abs(widths[1] / widths[0] - ratio) < 0.03, `${widths} ${ratio}`);
  const cells = await page.locator("table[aria-label='Time of both by cause'] tbody tr:not(.gap)").evaluateAll((all) => all.map((row) => [row.cells[0].textContent, ...[...row.cells].slice(2, 4).map((cell) => Number.parseInt(cell.title, 10) || 0)]));
  const spent = (path, where) => path.causes.filter((it) => `${it.host} ${it.comm}`.trim() === where).map((it) => it.total_ns);
  // What one of them lacks took no time in it.
  for (const [where, a, b] of cells) assert.ok((a === 0 || spent(first, where).includes(a)) && (b === 0 || spent(second, where).includes(b)), `${where} ${a} ${b}`);
  assert.ok(cells.length > 3 && cells.some(([, a, b]) => a > 0 && b > 0));
  // The address has both, and what the list is filtered by.
  await page.locator("input[aria-label='Filter requests']").fill("h1");
  await rest(page);
  await page.waitForFunction((number) => new URLSearchParams(location.hash.slice(1)).get("i") === `${number}~~h1`, first.request);
  const address = page.url(), names = await strips.locator(".of").allTextContents();
  await page.goto("about:blank");
  await page.goto(address);
  await page.waitForFunction(() => document.querySelectorAll(".path-pair .strip").length === 2);
  assert.deepEqual(await strips.locator(".of").allTextContents(), names);
  assert.equal((await page.evaluate(() => isochrone.view.now.path)).request, second.request);
  assert.equal(await page.locator("input[aria-label='Filter requests']").inputValue(), "h1");
  await page.locator("button", { hasText: "end the comparison" }).click();
  await rest(page);
  assert.ok(await page.locator("table[aria-label='Time by cause']").isVisible());
});

test("from first sight, two requests are compared with three clicks; by keys, too", async () => {
  await page.evaluate(() => { globalThis.clicks = 0; addEventListener("click", (event) => { if (event.isTrusted) globalThis.clicks += 1; }, true); });
  await page.locator(".header button", { hasText: "requests" }).click();
  await rest(page);
  assert.match(await page.locator(".critical-path .notice").textContent(), /With Ctrl or Shift, a click on a second one compares both/);
  const rows = page.locator("table[aria-label=Requests] tbody tr:not(.gap)"), number = (at) => rows.nth(at).locator("td").first().textContent(), names = async () => (await page.locator(".path-pair .of").allTextContents()).map((it) => it.split(" · ")[0]);
  const shown = async (first, second) => {
    await page.waitForFunction((names) => [...document.querySelectorAll(".path-pair .of")].map((it) => it.textContent.split(" · ")[0]).join() === names, `request ${await number(first)},request ${await number(second)}`);
    await rest(page);
  };
  await rows.nth(0).click();
  await page.waitForFunction(() => isochrone.view.now.path !== null);
  await rest(page);
  assert.equal(await page.locator(".critical-path .controls .muted:visible").textContent(), "or Ctrl + click one");
  await rows.nth(3).click({ modifiers: ["Control"] });
  await shown(0, 3);
  assert.equal(await page.evaluate(() => globalThis.clicks), 3);
  assert.ok(await page.locator("table[aria-label='Time of both by cause'] tbody tr:not(.gap)").count() > 3);
  // With Shift, too: the first stays, and no text is selected.
  await rows.nth(5).click({ modifiers: ["Shift"] });
  await shown(0, 5);
  assert.equal(await page.evaluate(() => getSelection().toString()), "");
  // By keys: the line below.
  await page.locator("table[aria-label=Requests]").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Control+Enter");
  await shown(0, 6);
  // The one that is kept, against itself, is no comparison.
  await page.locator("button", { hasText: "end the comparison" }).click();
  const kept = await page.evaluate(() => isochrone.view.now.path.request), at = (await rows.locator("td:first-child").allTextContents()).indexOf(String(kept));
  await rows.nth(at).click({ modifiers: ["Control"] });
  await rest(page);
  assert.deepEqual(await names(), []);
  await page.keyboard.press("?");
  assert.match(await page.locator("dialog.help").textContent(), /on a second request: compare it with the one that is shown \(Ctrl \+ Enter\)/);
});

test("of requests that are chosen in the histogram, all paths together are held against the others", async () => {
  await panel("latency");
  const { requests } = await ask("requests"), service = await page.locator("select[aria-label=Service]").inputValue(), of = requests.filter((it) => it.service === service);
  const box = await page.locator(".histogram .columns").boundingBox(), bars = await page.locator(".histogram .columns span").count();
  assert.ok(bars > 1);
  // The upper half of the bars.
  await page.mouse.move(box.x + box.width * 0.55, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 2, box.y + 10, { steps: 4 });
  await page.mouse.up();
  await rest(page);
  const listed = await page.locator("table[aria-label^='The chosen requests'] tbody tr:not(.gap)").evaluateAll((all) => all.map((row) => Number(row.cells[0].textContent)));
  assert.ok(listed.length > 0 && listed.length < of.length);
  const least = Math.min(...of.filter((it) => listed.includes(it.request)).map((it) => it.total_ns));
  assert.ok(of.every((it) => listed.includes(it.request) === (it.total_ns >= least)));
  // Sums of their paths.
  const sums = new Map(), add = (key, ns, at) => { const sum = sums.get(key) ?? [0, 0]; sum[at] += ns; sums.set(key, sum); };
  for (const it of of) for (const cause of (await ask(`path?request=${it.request}`)).causes) add(`${cause.host} ${cause.comm} ${cause.cause}`, cause.total_ns, listed.includes(it.request) ? 0 : 1);
  const compared = await ask("compared", { service, from_ns: least, to_ns: Number.MAX_SAFE_INTEGER });
  assert.deepEqual([compared.chosen, compared.others], [listed.length, of.length - listed.length]);
  assert.equal(compared.causes.length, sums.size);
  for (const it of compared.causes) assert.deepEqual([it.chosen_ns, it.others_ns], sums.get(`${it.host} ${it.comm} ${it.cause}`), it.cause);
  // By keys, too.
  await page.locator(".histogram").focus();
  await page.keyboard.press("ArrowLeft");
  await rest(page);
  assert.equal(await page.locator(".histogram .columns .chosen").count(), 1);
  await page.locator("table[aria-label^='The chosen requests'] tbody tr:not(.gap)").first().click().catch(() => undefined);
});

test("services are a graph, with how long they take and their CPU time, as accounting has them", async () => {
  await panel("services");
  const requests = tableOf(["accounting", "--table", "requests", "--limit", "0"], `${project}/examples/shop`, "requests"), edges = page.locator(".service-graph .edge");
  assert.ok(await edges.count() > 0);
  const counts = await page.locator("table[aria-label='Who asks whom'] tbody tr:not(.gap)").evaluateAll((all) => all.map((row) => Number(row.cells[3].textContent.replace(/,/g, "")))), cpu = await page.locator("table[aria-label='Who asks whom'] tbody tr:not(.gap)").evaluateAll((all) => all.map((row) => Number.parseInt(row.cells[7].title, 10)));
  assert.equal(counts.reduce((a, b) => a + b, 0), requests.length);
  // Of all of them it is known.
  assert.ok(cpu.length > 2 && cpu.every((ns) => ns > 0), `${cpu}`);
  assert.equal(cpu.reduce((a, b) => a + b, 0), requests.reduce((sum, it) => sum + it.service_cpu_ns, 0));
  await edges.first().focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".service-graph .edge.picked").count(), 1);
  // No line leads to the left where nobody asks back.
  const ways = await page.evaluate(() => [...document.querySelectorAll(".service-graph .program rect")].map((it) => Number(it.getAttribute("x"))));
  assert.ok(new Set(ways).size > 1);
  assert.deepEqual(page.errors, []);
});
