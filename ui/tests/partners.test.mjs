// A process and its partners: from lines about two ends to each of them, from peers and files to threads, with few clicks. On the shop of the example;
// `isochrone-sql` is beside the program, or in PATH.
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

const fullName = (row) => page.evaluate((row) => isochrone.rows.fullName(isochrone.rows.row(row)), row);
const chosen = async () => fullName((await now(page)).row);
const ask = (kind, body) =>
  page.evaluate(
    async ([kind, body]) =>
      (await fetch(`api/${kind}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).json(),
    [kind, body],
  );
const cellsOf = (line) => line.locator("td").allTextContents();

test("a line of ipc leads to both of its processes, by clicks and by keys; the list stays as it is", async () => {
  await page.evaluate(() => isochrone.drawer.open("analyses", "ipc"));
  await rest(page);
  const lines = page.locator(".analyses .pickable tbody tr:not(.gap)"),
    count = () => page.locator(".analyses .block-head .muted").allTextContents(),
    all = await count(),
    table = () => lines.first().evaluate((it) => it.closest("tbody").textContent),
    text = await table();
  assert.match(all[0], /a click goes to “from”, the link \(Ctrl \+ click, Ctrl \+ Enter\) to “to”/);
  for (const at of [0, 3, 5]) {
    const [fromHost, fromPid, , toHost, toPid, toComm] = await cellsOf(lines.nth(at));
    await lines.nth(at).locator("td").first().click();
    await rest(page);
    const from = await page.evaluate((row) => isochrone.rows.row(row).pid, (await now(page)).row);
    assert.ok(String(from) === fromPid && (await chosen()).startsWith(`${fromHost} `), `${await chosen()} is ${fromHost} ${fromPid}`);
    await lines.nth(at).locator("button", { hasText: toComm }).click();
    await rest(page);
    const to = await page.evaluate((row) => isochrone.rows.row(row).pid, (await now(page)).row);
    assert.ok(String(to) === toPid && (await chosen()).startsWith(`${toHost} `), `${await chosen()} is ${toHost} ${toPid}`);
    assert.deepEqual(await count(), all);
    assert.equal(await table(), text);
  }
  // By keys alone.
  await lines.nth(1).locator("td").first().click();
  await page.keyboard.press("ArrowDown");
  const [fromHost, fromPid, , toHost, toPid] = await cellsOf(lines.nth(2));
  for (const [key, host, pid] of [
    ["Enter", fromHost, fromPid],
    ["Control+Enter", toHost, toPid],
  ]) {
    await page.keyboard.press(key);
    await rest(page);
    assert.ok(
      String(await page.evaluate((row) => isochrone.rows.row(row).pid, (await now(page)).row)) === pid && (await chosen()).startsWith(`${host} `),
      `${key}: ${await chosen()}`,
    );
  }
  assert.equal(await table(), text);
});

test("a line of requests leads to the client, its link to the server", async () => {
  await page.evaluate(() => isochrone.drawer.open("analyses", "critical-path"));
  await rest(page);
  const block = page.locator(".analyses .block", { has: page.locator("th", { hasText: "client pid" }) }),
    line = block.locator("tbody tr:not(.gap)").first(),
    heads = (await block.locator("th").allTextContents()).map((it) => it.trim()),
    cells = await cellsOf(line),
    cell = (name) => cells[heads.indexOf(name)];
  await line.locator("td").first().click();
  await rest(page);
  assert.equal(await chosen(), `${cell("client host")} ${cell("client comm")} ${cell("client tid")}`);
  const { selection } = await now(page);
  assert.ok(selection.end > selection.begin);
  await line.locator("button", { hasText: cell("server comm") }).click();
  await rest(page);
  assert.equal(await chosen(), `${cell("server host")} ${cell("server comm")} ${cell("server tid")}`);
});

test("from first sight, a process and its partners take three clicks", async () => {
  const first = await open(browser, server.address, { isFirst: true });
  await first.evaluate(() => {
    globalThis.clicks = 0;
    addEventListener(
      "click",
      (event) => {
        if (event.isTrusted) globalThis.clicks += 1;
      },
      true,
    );
  });
  await first.locator("#tab-analyses").click();
  await first.locator(".analyses [data-name=ipc]").click();
  await rest(first);
  // Its partners are the lines that have it; one of these leads there.
  const line = first.locator(".analyses .pickable tbody tr:not(.gap)", { hasText: "appsrv" }).first(),
    [, fromPid] = await line.locator("td").allTextContents();
  await line.locator("td").first().click();
  await rest(first);
  assert.equal(await first.evaluate(() => globalThis.clicks), 3);
  assert.equal(await first.evaluate(() => String(isochrone.rows.row(isochrone.view.now.row).pid)), fromPid);
  assert.ok(await first.evaluate(() => isochrone.rows.placeOf(isochrone.view.now.row) !== undefined), "it has a line of its own");
  await first.close();
});

test("a peer leads to the thread at the other end on the other host; a file to the thread that uses it most, at its first call", async () => {
  await page.evaluate(() => isochrone.drawer.open("statistics", "peer"));
  await rest(page);
  const body = () => page.locator(".statistics tbody:visible").last().textContent(),
    peers = page.locator("table[aria-label^=Peers] tbody tr:not(.gap)");
  // Whose address is whose, by the sockets of the trace.
  const addresses = { "10.0.0.1": "h1", "10.0.0.2": "h2", "10.0.0.3": "h3" };
  for (let at = 0; at < (await peers.count()); at += 1) {
    const text = await body(),
      [host, peer] = await cellsOf(peers.nth(at));
    if (addresses[peer] === undefined) continue;
    await peers.nth(at).click();
    await page.waitForFunction(() =>
      /, its first call$|known/.test(document.querySelector(".statistics .block:not([hidden]) .said:not(:empty)")?.textContent ?? ""),
    );
    await rest(page);
    assert.ok((await chosen()).startsWith(`${addresses[peer]} `), `${host} ${peer}: ${await chosen()}`);
    assert.equal(await body(), text);
  }
  await page.locator(".turns button:visible", { hasText: /^files$/ }).click();
  await rest(page);
  const files = page.locator("table[aria-label^=Files] tbody tr:not(.gap)");
  const [host, file] = await cellsOf(files.first());
  await files.first().click();
  await page.waitForFunction(() =>
    /, its first call$/.test([...document.querySelectorAll(".statistics .said")].find((it) => it.checkVisibility())?.textContent ?? ""),
  );
  await rest(page);
  const { rows } = await ask("sql", {
    query: `SELECT tid, comm, min(begin_time) AS first, sum(duration_ns) AS total FROM syscalls
            WHERE host = '${host}' AND fd_path(host, coalesce(pid, tid), fd, begin_time) = '${file}' GROUP BY tid, comm ORDER BY total DESC LIMIT 1`,
  });
  assert.equal(await chosen(), `${host} ${rows[0].comm} ${rows[0].tid}`);
  const hover = await page.evaluate(() => String(BigInt(isochrone.view.now.experiment.origin_unix_ns) + BigInt(Math.round(isochrone.view.now.hover))));
  assert.equal(new Date(Number(BigInt(hover) / 1_000_000n)).toISOString().slice(0, 23), rows[0].first.slice(0, 23));
  assert.deepEqual(page.errors, []);
});
