// Lines beside threads and ways around: counters of hosts, containers, ranks of MPI; all commands by name, the legend, palettes, paper, raw times, fields of events, what a link keeps of a panel.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { launch, mpi4, now, open, pixelAt, project, rest, serve, unpacked } from "./page.mjs";

let browser, server, page;
before(async () => { browser = await launch(); server = await serve("examples/shop", project); });
after(async () => { await browser.close(); await server.stop(); });
beforeEach(async () => { await page?.close(); page = await open(browser, server.address); });

const panel = async (id) => { await page.evaluate((id) => isochrone.drawer.open(id), id); await rest(page); };

test("counters of a host are lines beside its threads, with the values of Usage", async () => {
  await page.keyboard.press("Shift+C");
  await rest(page);
  const labels = await page.locator(".line.counter .name").allTextContents();
  assert.deepEqual(labels.slice(0, 5), ["CPU use", "waiting for CPUs", "network", "disk", "memory"]);
  const { begin, end } = (await now(page)).window, at = await page.evaluate(() => {
    const scene = isochrone.graph.scene(), place = isochrone.rows.lines.findIndex((line) => line.label === "CPU use"), box = document.querySelector(".graph").getBoundingClientRect();
    return { x: box.x + isochrone.layout.width * 0.4, y: box.y + scene.middle(place), host: isochrone.rows.lines[place].host };
  });
  await page.mouse.move(at.x, at.y);
  const said = await page.locator(".status .about").textContent();
  assert.match(said, /^h1 CPU use: (\d[\d.]* %|unknown)$/);
  // The queue is what waits for CPUs on average: as much as the states of all threads say.
  const { series } = await page.evaluate(async ([begin, end]) => (await fetch(`api/usage?begin=${Math.round(begin)}&end=${Math.round(end)}&points=100&queue=true`)).json(), [begin, end]), queue = series.find((it) => it.kind === "run-queue" && it.host === at.host);
  const sums = await page.evaluate(async ([begin, end, host]) => (await fetch("api/statistics", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ begin: Math.round(begin), end: Math.round(end), rows: [isochrone.view.now.experiment.hosts[host].row] }) })).json(), [begin, end, at.host]);
  const waited = sums.states.find((it) => it.state === "wait-cpu").total_ns, host = await page.evaluate((host) => isochrone.view.now.experiment.hosts[host], at.host), span = host.end - host.begin;
  assert.ok(Math.abs(queue.y.reduce((a, b) => a + b, 0) / 100 - waited / span) < 1e-3 + 1e-3 * (waited / span));
  // They are drawn, on paper as vectors, too.
  assert.ok(await page.evaluate(() => isochrone.svg().includes("%")));
  await page.evaluate(() => isochrone.clock.toggle());
  await rest(page);
  assert.deepEqual(page.errors, []);
});

test("all commands are found by name, and done; the help is the same list", async () => {
  for (const key of ["Control+k", ":"]) {
    await page.keyboard.press(key);
    await page.locator("dialog.palette[open] input").waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("dialog.palette[open]").count(), 0);
  }
  // From within a field, too.
  await page.locator(".search").focus();
  await page.keyboard.press("Control+k");
  await page.locator("dialog.palette[open] input").waitFor();
  await page.keyboard.type("open statist");
  assert.equal(await page.locator(".palette [role=option]").count(), 1);
  await page.keyboard.press("Enter");
  await rest(page);
  assert.equal(await page.evaluate(() => isochrone.drawer.id), "statistics");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("zoom");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.locator(".palette [aria-selected=true]").count(), 1);
  const named = await page.locator(".palette [role=option] .name").allTextContents();
  await page.keyboard.press("Escape");
  await page.locator(".header").click({ position: { x: 5, y: 5 } });
  await page.keyboard.press("?");
  const helped = await page.locator("dialog.help dd").allTextContents();
  for (const name of named) assert.ok(helped.includes(name), name);
  assert.deepEqual(page.errors, []);
});

test("a raw time of a host is gone to", async () => {
  const host = await page.evaluate(() => isochrone.view.now.experiment.hosts.find((it) => !it.is_reference)), raw = 5_000_000_000;
  const found = await page.evaluate(async (host) => (await fetch(`api/raw?host=${host}&raw=0`)).json(), host.host);
  // Raw times count from somewhere before the traces: one within them.
  const wanted = Math.round((host.begin + host.end) / 2) - found.common + 0 * raw, there = await page.evaluate(async ([host, raw]) => (await fetch(`api/raw?host=${host}&raw=${raw}`)).json(), [host.host, wanted]);
  await page.locator("input.times").fill(`${host.name} raw ${wanted}`);
  await page.keyboard.press("Enter");
  await rest(page);
  const { window } = await now(page);
  assert.ok(Math.abs((window.begin + window.end) / 2 - there.common) < (window.end - window.begin) / 100);
});

test("an event has all its fields one below the other; a value leads to the events that have it; the link keeps that", async () => {
  await panel("events");
  await page.locator("input[type=search].wide").fill("sched_switch");
  await page.waitForTimeout(400);
  await rest(page);
  await page.locator("table[aria-label^=Events] tbody tr:not(.gap)").nth(3).click();
  await rest(page);
  const names = await page.locator(".event-fields dt").allTextContents();
  assert.ok(["prev_comm", "prev_tid", "next_tid", "procname"].every((name) => names.includes(name)), names.join());
  const value = page.locator(".event-fields dt", { hasText: /^next_tid$/ }).locator("+ dd button"), tid = await value.textContent();
  await value.click();
  await rest(page);
  assert.equal(await page.locator("input[type=search].wide").inputValue(), `=$event == "sched_switch" && next_tid == ${tid}`);
  const fields = await page.locator("table[aria-label^=Events] tbody tr:not(.gap) td:last-child").allTextContents();
  assert.ok(fields.length > 0 && fields.every((it) => it.includes(`next_tid = ${tid}`)));
  const other = await open(browser, await page.evaluate(() => location.href));
  assert.equal(await other.locator("input[type=search].wide").inputValue(), `=$event == "sched_switch" && next_tid == ${tid}`);
  await other.close();
  await panel("analyses");
  await page.locator("[data-name=schedtop]").click();
  await rest(page);
  const third = await open(browser, await page.evaluate(() => location.href));
  assert.equal(await third.locator(".analyses [aria-selected=true]").getAttribute("data-name"), "schedtop");
  await third.close();
});

test("the legend is beside the graph; another palette has other colours in all of it; paper is light", async () => {
  const colours = () => page.locator(".state-legend .swatch").evaluateAll((all) => all.map((it) => getComputedStyle(it).backgroundColor)), usual = await colours();
  assert.ok(usual.length > 8 && await page.locator(".state-legend").isVisible());
  await page.keyboard.press("Control+k");
  await page.keyboard.type("colour vision");
  await page.keyboard.press("Enter");
  await rest(page);
  const clear = await colours();
  assert.ok(clear.every((colour, place) => colour !== usual[place]));
  await page.keyboard.press("Control+k");
  await page.keyboard.type("colour vision");
  await page.keyboard.press("Enter");
  assert.deepEqual(await colours(), usual);
  await page.keyboard.press("Shift+L");
  assert.ok(await page.locator(".state-legend").isHidden());
  await page.keyboard.press("Shift+L");
  const dark = await open(browser, server.address, { colorScheme: "dark" }), row = await dark.evaluate(() => isochrone.rows.lines.find((line) => line.row?.kind === "cpu" || line.row?.kind === "thread").id), edge = async () => (await pixelAt(dark, row, (await now(dark)).window.begin)).colour;
  const screen = await edge();
  await dark.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await dark.evaluate(() => document.documentElement.dataset.theme), "light");
  assert.notDeepEqual(await edge(), screen);
  await dark.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await dark.evaluate(() => document.documentElement.dataset.theme), "dark");
  await dark.close();
});

test("a message is followed to the thread whose socket it is of, not to the CPU of a softirq", async () => {
  const found = await page.evaluate(async () => {
    const { begin, end } = isochrone.view.now.experiment, { messages } = await (await fetch(`api/messages?begin=${begin}&end=${end}&limit=20000`)).json(), kind = (row) => isochrone.rows.row(row).kind;
    let owned = 0, cpus = 0;
    for (const [from, to, sent, received] of messages) {
      if (kind(from) !== "thread" || kind(to) === "thread") continue;
      const target = await (await fetch(`api/follow?row=${from}&at=${sent}&what=message`)).json();
      if (target.at !== received) continue;
      if (kind(target.row) === "thread") owned += 1; else cpus += 1;
      if (owned + cpus > 20) break;
    }
    return { owned, cpus };
  });
  assert.ok(found.owned > found.cpus, JSON.stringify(found));
});

test("where a message was followed to is what is seen then: the line of the thread, selected, at the instant at which it was received", async () => {
  const message = await page.evaluate(async () => {
    const { begin, end } = isochrone.view.now.experiment, { messages } = await (await fetch(`api/messages?begin=${begin}&end=${end}&limit=20000`)).json(), kind = (row) => isochrone.rows.row(row).kind;
    for (const [from, to, sent, received] of messages) {
      if (kind(from) !== "thread" || kind(to) === "thread") continue;
      const state = await (await fetch(`api/state?row=${from}&at=${sent}`)).json(), target = await (await fetch(`api/follow?row=${from}&at=${(state.begin + state.end) / 2}&what=message`)).json();
      if (target.at === received && kind(target.row) === "thread") return { from, to, state, target, received };
    }
    return null;
  });
  await page.evaluate(({ from, state }) => { isochrone.navigation.go(from, state.begin, { begin: state.begin - 2e6, end: state.begin + 4e6 }); isochrone.view.set({ row: from, selection: { begin: state.begin, end: state.end } }); }, message);
  await rest(page);
  await page.locator("[role=tree]").focus();
  await page.keyboard.press("m");
  await page.waitForFunction((row) => isochrone.view.now.row === row, message.target.row);
  await rest(page);
  const selected = page.locator("[role=treeitem][aria-selected=true]"), { tid, label } = await page.evaluate((row) => isochrone.rows.row(row), message.target.row);
  assert.equal(await selected.locator(".name").textContent(), `${label} ${tid}`);
  const { window } = await now(page), box = await page.locator(".graph").boundingBox(), line = await selected.boundingBox(), drawer = await page.locator(".drawer").boundingBox();
  assert.ok(window.begin <= message.received && message.received <= window.end);
  assert.ok(line.y >= box.y && line.y + line.height <= drawer.y, "its line is on the screen");
  // The band of the selected row is drawn there, and the end of the arrow: at the instant of receipt.
  const drawn = await page.evaluate(([row, at]) => {
    const scene = isochrone.graph.scene(), middle = scene.middle(isochrone.rows.placeOf(row)), x = scene.x(at);
    return { x, band: isochrone.pixel(3, middle - 9), width: isochrone.graph.canvas.clientWidth };
  }, [message.target.row, message.received]);
  assert.ok(drawn.x >= 0 && drawn.x <= drawn.width);
  assert.ok(drawn.band[2] > drawn.band[0] + 15, `the selected row stands out: ${drawn.band}`);
});

test("threads of MPI programs have the names of their ranks, in all of the page", async () => {
  const other = await serve(mpi4, project), seen = await open(browser, other.address);
  const ranks = await seen.evaluate(() => isochrone.view.now.rows.filter((row) => row.rank !== undefined).map((row) => isochrone.rows.name(row)).sort());
  assert.ok(ranks.length >= 2 && ranks.every((name, rank) => name.startsWith(`rank ${rank} · `)), ranks.join());
  await seen.evaluate(() => isochrone.drawer.open("statistics"));
  await rest(seen);
  await seen.locator("button:visible", { hasText: /^by phase$/ }).click();
  await rest(seen);
  assert.match(await seen.locator("table[aria-label^='Time by phase'] tbody tr:not(.gap)").first().textContent(), /rank \d+ · /);
  await seen.close();
  await other.stop();
});

test("what a container runs is one line of its host, which can be opened", async () => {
  const traces = unpacked("cont1"), other = await serve(traces.traces, project), seen = await open(browser, other.address, { isFirst: true });
  const container = seen.locator(".line.group", { hasText: /^▸?container \d+ \(\d+\)/ }).first();
  const lines = await seen.evaluate(() => isochrone.rows.lines.length);
  await container.click();
  await rest(seen);
  assert.ok(await seen.evaluate(() => isochrone.rows.lines.length) > lines);
  await seen.close();
  await other.stop();
  traces.remove();
});
