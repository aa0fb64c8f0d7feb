// What is there to see before anything is selected: each link of it leads where it says. On the shop of the example.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { launch, open, project, rest, serve } from "./page.mjs";

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
  page = await open(browser, server.address, { isFirst: true });
});

const number = (text) => Number(text.replace(/,/g, ""));
const links = () => page.locator(".first-look button.link");
const link = (text) => page.locator(".first-look button.link", { hasText: text });
const panel = () => page.evaluate(() => isochrone.drawer.id);
const ask = (kind, body) =>
  page.evaluate(
    async ([kind, body]) =>
      (
        await fetch(`api/${kind}`, body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
      ).json(),
    [kind, body],
  );
/** What a line says. */
const told = (line) => page.locator(".first-look li", { hasText: line }).first().textContent();

test("the slowest request is a link to its path", async () => {
  const { requests } = await ask("requests"),
    slowest = requests.reduce((a, b) => (b.total_ns > a.total_ns ? b : a));
  assert.match(await told("requests to"), /24 requests to .*median [\d.]+ ms, p95 [\d.]+ ms, the slowest 205\.6 ms/);
  await link(/^the slowest 205\.6 ms$/).click();
  await page.waitForFunction(() => isochrone.drawer.id === "critical-path");
  await rest(page);
  const { path, window, onlyRows } = await page.evaluate(() => ({
    path: isochrone.view.now.path,
    window: isochrone.view.now.window,
    onlyRows: [...isochrone.view.now.onlyRows],
  }));
  assert.equal(path.request, slowest.request);
  assert.ok(window.begin <= slowest.begin && window.end >= slowest.end && window.end - window.begin < 1.2 * slowest.total_ns, "its time is shown");
  assert.deepEqual(onlyRows.sort(), [...new Set(path.steps.flatMap((step) => step.row ?? []))].sort());
  assert.match(await page.locator(".path-title").textContent(), new RegExp(`^Request ${slowest.request}: .* the slowest of `));
  assert.match(await page.locator("table[aria-label=Requests] tr.picked").textContent(), new RegExp(`^${slowest.request}`));
});

test("who talks to whom: each pair is a link to its requests, or to its messages", async () => {
  const line = await told("who talks to whom"),
    pairs = [...line.replace("who talks to whom: ", "").matchAll(/([^;,]+ → .+?) (\d[\d,]*) (request|message)s?(?=[,;]|$)/g)].map(([, pair, count, what]) => ({
      pair: pair.trim(),
      count: number(count),
      what,
    }));
  assert.ok(pairs.some((it) => it.what === "request") && pairs.filter((it) => it.what === "message").length === 3, line);
  const { requests } = await ask("requests"),
    { begin, end } = await page.evaluate(() => isochrone.view.now.experiment),
    { pairs: exchanged } = await ask("exchanged", { begin, end: end + 1, rows: null });
  for (const { pair, count, what } of pairs) {
    const [from, to] = pair.split(" → ");
    // As many as there are.
    if (what === "request") assert.equal(count, requests.filter((it) => it.client.startsWith(`${from} `) && it.server.startsWith(`${to} `)).length);
    else
      assert.equal(
        count,
        exchanged.filter((it) => it.from_label.startsWith(`${from} `) && it.to_label.startsWith(`${to} `)).reduce((sum, it) => sum + it.count, 0),
      );
    await link(new RegExp(`^${pair}$`)).click();
    await rest(page);
    assert.equal(await panel(), what === "request" ? "critical-path" : "messages");
    const [table, filter] = what === "request" ? ["table[aria-label=Requests]", "Filter requests"] : ["table[aria-label^=Messages]", "Filter messages"];
    assert.equal(await page.locator(`input[aria-label='${filter}']`).inputValue(), pair);
    assert.equal(Number(await page.locator(table).getAttribute("aria-rowcount")) - 1, count, pair);
    // The link has it.
    await page.waitForFunction((pair) => (new URLSearchParams(location.hash.slice(1)).get("i") ?? "").endsWith(pair), pair);
    await page.evaluate(() => isochrone.drawer.open("state"));
    await rest(page);
  }
});

test("which host waits for CPUs, and how long: each is a link to what ran instead", async () => {
  const hosts = await page.evaluate(() => isochrone.view.now.experiment.hosts),
    { begin, end } = await page.evaluate(() => isochrone.view.now.experiment),
    waits = new Map();
  for (const { name, row } of hosts)
    waits.set(name, (await ask("statistics", { begin, end, rows: [row] })).states.find((it) => it.state === "wait-cpu").total_ns);
  const order = [...waits].sort((a, b) => b[1] - a[1]).map(([name]) => name),
    shown = [...(await told("waits for CPUs")).matchAll(/(h\d) [\d.]+ m?s \(([\d.]+) threads on average\)/g)];
  assert.deepEqual(
    shown.map((it) => it[1]),
    order,
  );
  for (const [, name, mean] of shown) {
    const host = hosts.find((it) => it.name === name);
    assert.equal(mean, (waits.get(name) / (host.end - host.begin)).toFixed(2));
    await link(new RegExp(`^${name} [\\d.]+ m?s$`)).click();
    await rest(page);
    assert.deepEqual([await panel(), await page.evaluate(() => isochrone.rows.row(isochrone.view.now.row).label)], ["statistics", name]);
    assert.ok(await page.locator("table[aria-label^='What ran while']").isVisible());
    assert.equal(await page.locator(".statistics select[aria-label='Of which threads']").inputValue(), "row");
    const { wait_ns: waited } = await ask("instead", { begin, end, rows: [host.row] });
    assert.equal(waited, waits.get(name));
    await page.evaluate(() => {
      isochrone.view.set({ row: null });
      isochrone.drawer.open("state");
    });
    await rest(page);
  }
});

test("all other links open their panels; where there are no requests, messages alone are told", async () => {
  const texts = await links().allTextContents();
  for (const [text, id] of [
    [/^3 hosts on one clock$/, "synchronization"],
    [/ messages between hosts$/, "messages"],
    [/^24 requests$/, "critical-path"],
    [/^resources$/, "resources"],
    [/^statistics$/, "statistics"],
    [/^analyses$/, "analyses"],
  ]) {
    assert.ok(
      texts.some((it) => text.test(it)),
      `${text} of ${texts.join()}`,
    );
    await link(text).click();
    await rest(page);
    assert.equal(await panel(), id);
    await page.evaluate(() => isochrone.drawer.open("state"));
    await rest(page);
  }
  assert.deepEqual(page.errors, []);
  // Nothing is selected, and nobody asks anybody: as after a reload.
  await page.route("**/api/requests*", (route) => route.fulfill({ json: { requests: [], note: "", command: "" } }));
  await page.evaluate(() => isochrone.view.set({ row: null, selection: null }));
  await page.reload();
  await page.waitForFunction(() => globalThis.isochrone?.isReady());
  await rest(page);
  assert.match(await told("who talks to whom"), /^who talks to whom: h\d → h\d [\d,]+ messages, /);
  assert.equal((await told("requests")).trim(), "0 requests");
});
