// What the time graph shows: colours of states where the command says they are, arrows between the right rows, impossible messages before and after.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { chain3, count, launch, now, open, ping5, pixelAt, rest, serve, show, tableOf, web2 } from "./page.mjs";

const COLOURS = { usermode: [0, 200, 0], syscall: [0, 0, 200], interrupted: [200, 0, 100], "wait-cpu": [200, 100, 0], blocked: [200, 200, 0] };
const RED = [224, 0, 27];
let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

for (const traces of [chain3, ping5]) {
  describe(traces.split("/").at(-1), () => {
    let server, page, rows, hosts, origin;
    before(async () => {
      server = await serve(traces);
      page = await open(browser, server.address);
      ({ rows, hosts, origin } = await page.evaluate(() => {
        const { rows, experiment } = isochrone.view.now;
        return { rows, hosts: experiment.hosts, origin: experiment.origin_unix_ns };
      }));
    });
    after(async () => { await page.close(); await server.stop(); });
    const since = (t) => Number(BigInt(t) - BigInt(origin));

    test("states have their colour where the command says they are", async () => {
      await page.keyboard.press("g");
      const states = tableOf(["states"], traces, "states");
      for (const [state, colour] of Object.entries(COLOURS)) {
        // Those that are long enough that the rounding of JSON numbers does not matter.
        const long = states.filter((it) => it.state === state && it.end_ns - it.begin_ns > 50_000).sort((a, b) => (b.end_ns - b.begin_ns) - (a.end_ns - a.begin_ns));
        for (const place of [0, 0.3, 0.7]) {
          const it = long[Math.floor(place * long.length)];
          if (it === undefined) continue;
          const row = rows.find((row) => row.kind === "thread" && hosts[row.host].name === it.host && row.tid === it.tid);
          const begin = since(it.begin_ns), end = since(it.end_ns), length = end - begin;
          await show(page, row.id, { begin: begin - length / 2, end: end + length / 2 });
          assert.deepEqual((await pixelAt(page, row.id, begin + 0.9 * length)).colour, colour, `${it.host} ${it.comm} ${it.tid}: ${state} at ${it.begin_ns}`);
        }
      }
      await page.keyboard.press("g");
    });

    test("narrow states are not lost when all is seen", async () => {
      await page.keyboard.press("f");
      // The test before has scrolled to rows of its own.
      await page.evaluate(() => isochrone.layout.see(0));
      await rest(page);
      const green = await count(page, COLOURS.usermode);
      assert.ok(green > 50, `${green} green pixels`);
    });

    test("messages are arrows between the rows of their hosts", async () => {
      const message = tableOf(["messages"], traces, "messages").at(-1);
      const sent = since(message.sent_ns), received = since(message.received_ns), room = Math.max(received - sent, 1e5) * 2;
      await page.evaluate(() => isochrone.view.set({ row: null, selection: null }));
      await page.evaluate((window) => isochrone.navigation.set(window), { begin: sent - room, end: received + room });
      await rest(page);
      // The test before has scrolled to rows of its own: the sender's is shown, whatever height the drawer leaves.
      await page.evaluate((sent) => {
        const message = isochrone.graph.arrows.messages.value[0].find((it) => Math.abs(it[2] - sent) < 1000);
        isochrone.layout.see(isochrone.rows.lineOf(message[0]));
      }, sent);
      await rest(page);
      const arrow = await page.evaluate(([sent]) => {
        const scene = isochrone.graph.scene(), all = isochrone.graph.arrows.seen(scene).arrows;
        const arrow = all.find((it) => Math.abs(it.message[2] - sent) < 1000);
        if (arrow === undefined) return null;
        const host = (y) => isochrone.rows.lines[isochrone.layout.lineAt(y - 34)]?.host;
        // On the way there must be something that is not there without messages.
        const [x, y] = [(arrow.x0 + arrow.x1) / 2, (arrow.y0 + arrow.y1) / 2], near = [-1, 0, 1].map((by) => isochrone.pixel(x + by, y));
        return { from: isochrone.rows.row(arrow.message[0]).host, to: isochrone.rows.row(arrow.message[1]).host, ends: [host(arrow.y0), host(arrow.y1)], near, at: [x, y], isInverted: arrow.isInverted };
      }, [sent]);
      assert.notEqual(arrow, null);
      assert.deepEqual([hosts[arrow.from].name, hosts[arrow.to].name], [message.from, message.to]);
      assert.equal(arrow.isInverted, false);
      await page.keyboard.press("g");
      await rest(page);
      const without = await page.evaluate(([x, y]) => [-1, 0, 1].map((by) => isochrone.pixel(x + by, y)), arrow.at);
      await page.keyboard.press("g");
      const inView = arrow.ends.every((end) => end !== undefined);
      if (inView) {
        assert.deepEqual(arrow.ends, [arrow.from, arrow.to]);
        assert.notDeepEqual(arrow.near, without);
      }
    });

    test("impossible messages are red on the hosts' own clocks, and gone on the common one", async () => {
      await page.keyboard.press("f");
      await rest(page);
      const messages = await page.evaluate(async () => (await fetch("api/message-counts")).json());
      const said = () => page.locator(".inverted").textContent();
      const figure = (value) => new RegExp(`^${value.toLocaleString("en-US")} of ${messages.count.toLocaleString("en-US")} messages`);
      assert.equal(await count(page, RED), 0);
      assert.match(await said(), figure(messages.inverted));
      await page.keyboard.press("k");
      await rest(page);
      assert.equal((await now(page)).clock, "own");
      assert.match(await said(), figure(messages.inverted_own));
      if (messages.inverted_own > 0) assert.ok(await count(page, RED) > 20, "red pixels");
      await page.locator(".clock-switch").click();
      await rest(page);
      assert.equal((await now(page)).clock, "common");
      assert.equal(await count(page, RED), 0);
      assert.match(await said(), figure(messages.inverted));
    });

    test("no error of the page's script", () => assert.deepEqual(page.errors, []));
  });
}

test("a critical path is drawn over the rows of its request", async () => {
  const server = await serve(chain3), page = await open(browser, server.address);
  await page.evaluate(async () => {
    const path = { ...(await (await fetch("api/path?request=14")).json()), of: { request: 14 } };
    isochrone.view.set({ path, onlyRows: new Set(path.steps.map((step) => step.row).filter((row) => row !== null)) });
    isochrone.navigation.show(path);
  });
  await rest(page);
  const shown = await page.evaluate(() => isochrone.rows.lines.filter((line) => line.row !== null).map((line) => [line.row.kind, line.label]));
  assert.ok(shown.some(([, label]) => label.startsWith("wget")) && shown.some(([, label]) => label.startsWith("appsrv")), JSON.stringify(shown));
  assert.ok(shown.length < 20);
  // The blue of the network and the green of the CPU, which no state has.
  assert.ok(await count(page, [20, 130, 220]) > 20 && await count(page, [0, 170, 0]) > 20);
  await page.close();
  await server.stop();
});

test("all messages that arrive before they were sent are drawn; where not all are known, the picture says so, of wake-ups, too", async () => {
  const server = await serve(web2), page = await open(browser, server.address), texts = () => page.evaluate(() => [...isochrone.svg().matchAll(/>([^<>]*(?:arrows|wake-ups)[^<>]*drawn[^<>]*)</g)].map((it) => it[1]));
  try {
    // Hosts alone: no end of a message is out of sight.
    await page.keyboard.press("X");
    await page.keyboard.press("k");
    await page.waitForFunction(() => isochrone.view.now.clock === "own");
    await rest(page);
    await page.keyboard.press("f");
    await rest(page);
    const { count, inverted_own: inverted } = await page.evaluate(async () => (await fetch("api/message-counts")).json());
    assert.ok(inverted > 1000, `${inverted} of ${count}`);
    const seen = () => page.evaluate(() => { const { arrows, left } = isochrone.graph.arrows.seen(isochrone.graph.scene()); return { red: arrows.filter((it) => it.isInverted).length, all: arrows.length, left }; });
    const { red, all, left } = await seen();
    assert.equal(red, inverted);
    assert.equal(left, all < count ? `${all.toLocaleString("en-US")} of ${count.toLocaleString("en-US")} arrows are drawn` : "");
    assert.deepEqual(await texts(), left === "" ? [] : [left]);
    // A server that has more of them than it sends is asked for as many as it may send, and the picture says how many there are.
    const limits = [];
    await page.route("**/api/messages?*", async (route) => {
      const url = new URL(route.request().url()), response = await route.fetch(), said = await response.json();
      limits.push(url.searchParams.get("limit"));
      await route.fulfill({ response, json: { ...said, total: 50_000, inverted: 40_000, messages: said.messages.filter((it) => it[7] === 1) } });
    });
    await page.evaluate(() => isochrone.graph.arrows.renew());
    await page.keyboard.press("f");
    await page.waitForFunction(() => isochrone.graph.arrows.messages.value !== null);
    await rest(page);
    assert.deepEqual(limits.slice(0, 2), ["5000", "20000"]);
    assert.deepEqual(await texts(), [`${(await seen()).red.toLocaleString("en-US")} of 40,000 red arrows in and around the window are drawn`]);
    await page.unroute("**/api/messages?*");
    await page.keyboard.press("g");
    const row = await page.evaluate(() => isochrone.view.now.rows.find((it) => it.label === "nginx" && it.kind === "thread").id);
    await page.evaluate((row) => isochrone.navigation.go(row, isochrone.view.now.window.begin + 1e9), row);
    await page.route("**/api/wakeups?*", async (route) => { const response = await route.fetch(), said = await response.json(); await route.fulfill({ response, json: { ...said, total: said.total + 1000 } }); });
    await page.keyboard.press("W");
    await page.waitForFunction(() => isochrone.graph.arrows.wakeups.value !== null);
    await rest(page);
    const known = await page.evaluate(() => isochrone.graph.arrows.wakeups.value.length);
    assert.deepEqual(await texts(), [`${known.toLocaleString("en-US")} of ${(known + 1000).toLocaleString("en-US")} wake-ups in and around the window are drawn`]);
    assert.deepEqual(page.errors, []);
  } finally {
    await page.close();
    await server.stop();
  }
});
