// What the panels of the drawer show: compared with what the commands say; and what can be done in them with mouse and keys.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, beforeEach, describe, test } from "node:test";
import { chain3, count, launch, now, open, ping5, program, rest, serve, tableOf } from "./page.mjs";

const NETWORK = [20, 130, 220], CPU = [0, 170, 0];
let browser, server, page, origin;
const since = (t) => Number(BigInt(t) - BigInt(origin));
const near = (a, b, by, what = "") => assert.ok(Math.abs(a - b) <= by, `${what} ${a} is not ${b} ± ${by}`);

before(async () => { browser = await launch(); server = await serve(chain3); });
after(async () => { await browser.close(); await server.stop(); });
beforeEach(async () => {
  await page?.close();
  page = await open(browser, server.address);
  origin = await page.evaluate(() => isochrone.view.now.experiment.origin_unix_ns);
});
/** Opens a panel, and waits until it has asked for all it needs. */
async function panel(id) {
  await page.evaluate((id) => isochrone.drawer.open(id), id);
  await settled();
}
const settled = () => rest(page);
/** A table by its label, as it is copied: exact numbers. */
const copied = (label) => page.evaluate(async (label) => {
  const table = document.querySelector(`table[aria-label^="${label}"]`), copy = table.closest(".block")?.querySelector(".copy") ?? table.closest(".panel").querySelector(".controls .copy");
  let text = "";
  Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (it) => { text = it; } } });
  copy.click();
  const [head, ...lines] = text.split("\n").map((line) => line.split("\t"));
  return lines.map((line) => Object.fromEntries(head.map((name, at) => [name, line[at]])));
}, label);
const command = () => page.locator(".as-text code").textContent();
const lines = (label) => page.locator(`table[aria-label^="${label}"] tbody tr:not(.gap)`);
describe("critical path", () => {
  test("the list has the requests of the command; percentiles, the slowest", async () => {
    await page.locator(".header button", { hasText: "requests" }).click();
    await settled();
    const expected = tableOf(["critical-path"], chain3, "requests"), listed = await copied("Requests");
    assert.equal(listed.length, expected.length);
    for (const it of listed) {
      const like = expected.find((other) => String(other.request) === it["#"]);
      assert.equal(it["total (ns)"], String(like.total_ns));
      assert.equal(it.client, `${like.client_host} ${like.client_comm} ${like.client_tid}`);
      assert.equal(it.service, like.service);
    }
    const [service] = tableOf(["critical-path"], chain3, "services");
    assert.match(await page.locator(".spread").textContent(), new RegExp(`${service.requests}, median ${(service.median_ns / 1e6).toFixed(1)} ms, p95 ${(service.p95_ns / 1e6).toFixed(1)} ms`));
    assert.equal(listed[0]["#"], String(service.slowest), "sorted by time");
    assert.equal(await page.locator("tr.slowest td").first().textContent(), String(service.slowest));
  });

  test("three clicks from the page to the slow tier: the slowest request, its rows, its causes", async () => {
    await page.locator(".header button", { hasText: "requests" }).click();
    await page.locator("button", { hasText: /^slowest$/ }).click();
    await page.waitForFunction(() => isochrone.view.now.path !== null);
    await settled();
    const { slowest } = tableOf(["critical-path"], chain3, "services")[0];
    const causes = tableOf(["critical-path"], chain3, "causes").filter((it) => it.request === slowest);
    assert.equal(await page.evaluate(() => isochrone.view.now.path.request), slowest);
    assert.ok(await count(page, NETWORK) > 20 && await count(page, CPU) > 20, "the path is drawn over the rows");
    const shown = await page.evaluate(() => isochrone.rows.lines.map((line) => line.label));
    assert.ok(shown.length < 20 && shown.some((label) => label.startsWith("wget")), shown.join());
    const listed = await copied("Time by cause"), medians = tableOf(["critical-path"], chain3, "breakdown");
    assert.equal(listed.length, causes.length);
    for (const it of causes) {
      const where = it.comm === null ? it.host : `${it.host} ${it.comm}`, line = listed.find((other) => other.where === where && other.cause === it.cause);
      assert.equal(line["time (ns)"], String(it.total_ns), `${where} ${it.cause}`);
      const median = medians.find((other) => other.host === it.host && other.comm === it.comm && other.cause === it.cause);
      if (median !== undefined) assert.equal(line["median (ns)"], String(median.median_ns), `median of ${where} ${it.cause}`);
    }
    assert.match(await page.locator(".sentence").textContent(), /^Where it differs from the others: h2 appsrv waited [\d.]+ ms for a CPU \(median [\d.]+ ms\)/);
    assert.match(await command(), new RegExp(`^isochrone critical-path --request ${slowest} `));
  });

  test("a step goes there; the way back shows all rows; keys work", async () => {
    await panel("critical-path");
    const all = await page.evaluate(() => isochrone.rows.lines.length);
    await page.locator("table[aria-label=Requests]").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => isochrone.view.now.path !== null);
    await settled();
    const step = await page.evaluate(() => isochrone.view.now.path.steps[0]);
    await lines("Steps").first().click();
    const { row, selection } = await now(page);
    assert.equal(row, step.row);
    assert.deepEqual(selection, { begin: step.begin, end: step.end });
    assert.ok((await page.evaluate(() => isochrone.rows.lines.length)) < all);
    await page.locator("button", { hasText: "show all rows" }).click();
    await rest(page);
    assert.notEqual(await page.evaluate(() => isochrone.view.now.path), null);
    assert.ok((await page.evaluate(() => isochrone.rows.lines.length)) > all, "all rows, and those of the path");
    await page.locator("button", { hasText: "close the path" }).click();
    await rest(page);
    assert.equal(await page.evaluate(() => isochrone.view.now.path), null);
    assert.equal(await page.evaluate(() => isochrone.rows.lines.length) >= all, true);
  });

  test("c gives the path of the selected thread in the selected time", async () => {
    await page.evaluate(() => {
      const row = isochrone.view.now.rows.find((it) => it.kind === "thread" && it.label.startsWith("wget"));
      isochrone.view.set({ row: row.id, selection: { begin: row.begin, end: row.end } });
    });
    await page.keyboard.press("c");
    await page.waitForFunction(() => isochrone.view.now.path !== null);
    await settled();
    const path = await page.evaluate(() => isochrone.view.now.path);
    assert.equal(path.request, null);
    assert.match(await page.locator(".path-title").textContent(), new RegExp(`${path.steps.length} steps`));
    assert.match(await command(), /^isochrone critical-path --thread h1:\d+ --begin /);
    const sum = (await copied("Time by cause")).reduce((all, it) => all + Number(it["time (ns)"]), 0);
    near(sum, path.end - path.begin, 1, "the causes add up");
  });
});

const unixSeconds = (t) => { const unix = BigInt(origin) + BigInt(Math.round(t)); return `${unix / 1_000_000_000n}.${String(unix % 1_000_000_000n).padStart(9, "0")}`; };
describe("statistics", () => {
  test("sums by state, thread, process are those of the command, for the window and the selection", async () => {
    await panel("statistics");
    for (const selection of [null, { begin: 8_000_000_000, end: 9_000_000_000 }]) {
      await page.evaluate((selection) => isochrone.view.set({ selection }), selection);
      await settled();
      const range = selection === null ? [] : ["--begin", selection.begin, "--end", selection.end].map((it) => (typeof it === "number" ? unixSeconds(it) : it));
      const states = tableOf(["states", ...range], chain3, "states"), sums = new Map(), threads = new Map(), last = new Map(), [begin, end] = selection === null ? [-Infinity, Infinity] : [selection.begin, selection.end];
      // The command has the name that a thread had then, and the page its last one.
      for (const it of [...states].sort((a, b) => since(a.end_ns) - since(b.end_ns))) last.set(`${it.host} ${it.tid}`, it.comm);
      for (const it of states) {
        const ns = Math.min(since(it.end_ns), end) - Math.max(since(it.begin_ns), begin), name = `${it.host} ${last.get(`${it.host} ${it.tid}`)} ${it.tid}`;
        if (it.state === "dead") continue;
        sums.set(it.state, (sums.get(it.state) ?? 0) + ns);
        if (["usermode", "syscall", "interrupted"].includes(it.state)) threads.set(name, (threads.get(name) ?? 0) + ns);
      }
      const words = { usermode: "usermode", "system call": "syscall", interrupted: "interrupted", "waits for a CPU": "wait-cpu", blocked: "blocked", unknown: "unknown" };
      const listed = await copied("Time by state");
      assert.ok(listed.length >= 5);
      // The query that the panel shows has the same sums, to the ns.
      const answered = execFileSync("sh", ["-c", `${(await page.locator(".statistics .query:visible").getAttribute("title")).replace(/^isochrone sql/, `'${program}' sql --format json -q`)} 2> /dev/null`], { maxBuffer: 2 ** 30, encoding: "utf8" }), queried = new Map();
      for (const it of JSON.parse(answered)) queried.set(it.state, (queried.get(it.state) ?? 0) + it.total_ns);
      for (const it of listed) if (words[it.state] !== undefined) assert.equal(Number(it["time (ns)"]), queried.get(words[it.state]), it.state);
      // Numbers of JSON lose some hundred ns in each state of the command's answer; the page adds up by each host's own clock, whose rate is up to 100 ppm another.
      const room = (ns) => 300 * states.length ** 0.5 + 3e4 + ns * 1e-4;
      for (const it of listed) if (words[it.state] !== undefined) near(Number(it["time (ns)"]), sums.get(words[it.state]), room(sums.get(words[it.state])), it.state);
      const most = (await copied("Time by thread"))[0];
      near(Number(most["on a CPU (ns)"]), threads.get(most.thread), room(threads.get(most.thread)), most.thread);
    }
    await page.locator("button:visible", { hasText: "by process" }).click();
    assert.ok(await lines("Time by process").count() > 5);
    const bar = await page.locator("tbody .stack:visible").first().getAttribute("aria-label");
    assert.match(bar, /usermode [\d.]+ ms/);
  });

  test("bars have the colours of their states; of one row alone", async () => {
    await panel("statistics");
    const colour = await page.locator("table[aria-label='Time by state'] tr", { hasText: "usermode" }).locator(".meter").evaluate((it) => getComputedStyle(it).backgroundColor);
    assert.equal(colour, "rgb(0, 200, 0)");
    await page.evaluate(() => isochrone.view.set({ row: isochrone.view.now.rows.find((it) => it.kind === "thread" && it.label.startsWith("clockg")).id }));
    await page.locator("select[aria-label='Of which threads']").selectOption("row");
    await settled();
    assert.equal(await lines("Time by thread").count(), 1);
  });

  test("waits by cause are those of the command, of all and of the selected row", async () => {
    await panel("statistics");
    await page.locator("button:visible", { hasText: "by cause" }).click();
    await settled();
    const waits = tableOf(["blocking", "--limit", "0"], chain3, "causes"), sum = (of) => of.reduce((all, it) => all + it.total_ns, 0);
    const words = { sleep: "sleeps", disk: "a disk", child: "a child", pipe: "a pipe", lock: "a lock", signal: "a signal", socket: "a socket", irq: "interrupt" };
    const check = async (of) => {
      const listed = await copied("Waits by cause"), causes = [...new Set(of.map((it) => it.cause))];
      assert.deepEqual(listed.map((it) => it["waits for"]).sort(), causes.map((cause) => words[cause] ?? cause).sort());
      for (const cause of causes) assert.equal(Number(listed.find((it) => it["waits for"] === (words[cause] ?? cause))["time (ns)"]), sum(of.filter((it) => it.cause === cause)), cause);
    };
    await check(waits);
    assert.match(await command(), /^isochrone /);
    const told = () => page.locator(".statistics .block:visible", { has: page.locator("table[aria-label='Waits by cause']") }).locator(".block-head span.muted").textContent();
    assert.match(await told(), new RegExp(`^${waits.reduce((all, it) => all + it.count, 0).toLocaleString("en-US")} waits that end in the time, in full: `));
    const row = await page.evaluate(() => isochrone.view.now.rows.find((it) => it.kind === "thread" && it.label.startsWith("srvhog")));
    await page.evaluate((row) => isochrone.view.set({ row: row.id }), row);
    await page.locator("select[aria-label='Of which threads']").selectOption("row");
    await settled();
    // Of this thread alone, not of its whole process.
    await check(tableOf(["blocking", "--limit", "0", "--tid", `h3:${row.tid}`], chain3, "causes"));
    // A wait that ends in the time counts in full, one that goes on after it does not.
    const { begin, end } = await page.evaluate(async (row) => {
      for (let state = await (await fetch(`api/state?row=${row.id}&at=${row.begin + 1}&clock=common`)).json(); ; state = await (await fetch(`api/step?row=${row.id}&at=${state.begin}&to=next&clock=common`)).json()) if (state.state === "blocked" && state.end - state.begin > 1e6) return state;
    }, row);
    for (const [from, to, count] of [[begin + 1000, end + 1000, 1], [begin + 1000, end - 1000, 0]]) {
      await page.evaluate((selection) => isochrone.view.set({ selection }), { begin: from, end: to });
      await settled();
      const listed = await copied("Waits by cause");
      assert.equal(listed.reduce((all, it) => all + Number(it.count), 0), count);
      if (count === 1) near(Number(listed[0]["time (ns)"]), end - begin, 2000 + (end - begin) * 1e-4);
    }
  });

  test("nothing is asked for by panels that are not seen, and once when the window has come to rest", async () => {
    await panel("statistics");
    const asked = [];
    page.on("request", (request) => { if (/api\/(statistics|usage|resources|lives|accesses|events|table|sync|requests)/.test(request.url())) asked.push(request.url()); });
    for (let at = 0; at < 6; at += 1) { await page.keyboard.press("w"); }
    await settled();
    assert.ok(asked.length <= 2 && asked.every((url) => url.endsWith("statistics")), asked.join());
    await panel("state");
    asked.length = 0;
    await page.keyboard.press("s");
    await settled();
    assert.deepEqual(asked, []);
  });
});

describe("usage", () => {
  test("charts have lines of the hosts, the cursor of the time graph, and the window", async () => {
    await panel("usage");
    assert.ok(await page.locator(".chart:visible").count() >= 3);
    for (const chart of await page.locator(".chart:visible").all()) {
      const painted = await chart.locator("canvas").evaluate((canvas) => {
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data, colours = new Map();
        // The lines have colours: red, green and blue far from each other.
        for (let at = 0; at < data.length; at += 4) if (data[at + 3] > 200 && Math.max(data[at], data[at + 1], data[at + 2]) - Math.min(data[at], data[at + 1], data[at + 2]) > 90) colours.set(`${data[at]},${data[at + 1]},${data[at + 2]}`, 1 + (colours.get(`${data[at]},${data[at + 1]},${data[at + 2]}`) ?? 0));
        return [...colours.values()].filter((pixels) => pixels > 40).length;
      });
      assert.ok(painted >= 2, `${painted} colours of lines`);
      assert.match(await chart.locator("[role=img]").getAttribute("aria-label"), /h1 .*(mean|nothing known)/);
    }
    await page.evaluate(() => isochrone.view.set({ hover: 5e9 }));
    assert.match(await page.locator(".chart .readout").first().textContent(), /h1 [\d.]+ %/);
    const cursor = await page.locator(".chart .u-cursor-x").first().evaluate((it) => it.getBoundingClientRect().x), box = await page.locator(".chart .u-over").first().boundingBox();
    const { window } = await now(page);
    near(cursor, box.x + box.width * (5e9 - window.begin) / (window.end - window.begin), 3);
    // Pointing at a chart moves the cursor of the time graph; Ctrl and wheel zoom both.
    await page.mouse.move(box.x + box.width / 2, box.y + 20);
    near(await page.evaluate(() => isochrone.view.now.hover), (window.begin + window.end) / 2, (window.end - window.begin) / 100);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -400);
    await page.keyboard.up("Control");
    await settled();
    const zoomed = (await now(page)).window;
    assert.ok(zoomed.end - zoomed.begin < (window.end - window.begin) * 0.6);
  });

  test("the CPU of hosts is that of cputop", async () => {
    await panel("usage");
    const total = tableOf(["analyze", "cputop"], chain3, "total");
    for (const it of (await copied("Usage")).filter((line) => line.what === "CPU")) near(Number(it.mean), total.find((host) => host.host === it.host).percent, 1.5, it.host);
  });
});

describe("events", () => {
  test("the search finds what the command finds; an expression, too; a wrong one says so", async () => {
    await panel("events");
    const selection = { begin: 4_000_000_000, end: 4_300_000_000 };
    await page.evaluate((selection) => isochrone.view.set({ selection }), selection);
    await page.locator(".events input").fill("=$event == \"sched_wakeup\" && $host == \"h1\"");
    await settled();
    const shown = await command(), where = /--where '(.*)'/.exec(shown)[1], times = /--begin (\S+) --end (\S+)/.exec(shown);
    const found = execFileSync(program, ["-q", "events", "--begin", times[1], "--end", times[2], "--where", where, chain3], { encoding: "utf8", maxBuffer: 2 ** 28, stdio: ["ignore", "pipe", "ignore"] }).trim().split("\n").length;
    const listed = await copied("Events");
    assert.equal(listed.length, found);
    assert.ok(found > 5 && listed.every((it) => it.event === "sched_wakeup" && it.host === "h1" && since(it["time (unix ns)"]) >= selection.begin && since(it["time (unix ns)"]) < selection.end));
    await page.locator(".events input").fill("=((");
    await page.waitForSelector(".events input.wrong");
    await page.waitForSelector(".events .notice.failed");
    await page.locator(".events input").fill("no such text anywhere");
    await page.waitForSelector(".events .notice.empty");
  });

  test("a switch is listed under the thread that was switched out, in the graph, too", async () => {
    await panel("events");
    await page.locator(".events input").fill("=$event == \"sched_switch\" && prev_tid > 0");
    await settled();
    const listed = await copied("Events"), wrong = listed.filter(({ thread, fields }) => Number(/ (\d+)$/.exec(thread)?.[1]) !== Number(/prev_tid = (\d+)/.exec(fields)[1]));
    assert.ok(listed.length > 100);
    // Before the first switch of a CPU, what ran there is not known: that one is listed under the CPU.
    const first = new Set(listed.filter((it, place) => listed.findIndex((other) => other.host === it.host) === place));
    assert.deepEqual(wrong.filter((it) => !first.has(it)), []);
    // Others than those that come next: the two are told apart.
    assert.ok(listed.every(({ fields }) => /prev_tid = (\d+)/.exec(fields)[1] !== /next_tid = (\d+)/.exec(fields)[1]));
    await lines("Events").nth(9).click();
    await settled();
    // The click shows the line of that thread.
    const seen = await page.evaluate(() => { const { first, last } = isochrone.layout.shown(); return isochrone.rows.lines.slice(first, last).map((it) => `${isochrone.view.now.experiment.hosts[it.host].name} ${it.label}`); });
    assert.ok(seen.includes(`${listed[9].host} ${listed[9].thread}`), `${listed[9].thread}: ${seen}`);
  });

  test("rows come page after page, and few exist; a click goes there", async () => {
    await panel("events");
    const first = await page.locator(".events tbody tr").count();
    assert.ok(first > 5 && first < 100);
    assert.match(await page.locator(".events .controls .muted").textContent(), /^the first 500, more below$/);
    await page.locator(".events .table").evaluate((it) => { it.scrollTop = it.scrollHeight; });
    await page.waitForFunction(() => /^the first 1,000/.test(document.querySelector(".events .controls .muted").textContent));
    await rest(page);
    assert.ok(await page.locator(".events tbody tr").count() < 100);
    const line = lines("Events").nth(8), time = await line.locator("td").first().textContent();
    await line.click();
    await rest(page);
    const there = await page.evaluate(() => ({ hover: isochrone.view.now.hover, window: isochrone.view.now.window }));
    assert.ok(there.hover >= there.window.begin && there.hover <= there.window.end);
    // The instant of the hover is that of the row to the nanosecond; both are cut to the same digits.
    const ms = Number((BigInt(origin) + BigInt(Math.round(there.hover))) / 1_000_000n);
    assert.equal(new Date(ms).toISOString().slice(11, 22), time.slice(0, 11));
  });

  test("the event next to the selected instant stands out", async () => {
    await panel("events");
    await page.evaluate(() => isochrone.view.set({ selection: { begin: 5_000_000_000, end: 5_000_100_000 } }));
    await settled();
    await page.locator(".jump").click();
    await settled();
    await page.waitForSelector(".events tr.nearest");
    const listed = await copied("Events");
    assert.ok(since(listed[0]["time (unix ns)"]) >= 5_000_000_000);
    assert.equal(await page.locator(".events tr.nearest td").nth(4).textContent(), listed[0].event);
  });
});

test("messages: those of the command, with what the clocks leave open; inverted ones on the own clocks; a click goes there", async () => {
  await panel("messages");
  const expected = tableOf(["messages"], chain3, "messages"), listed = await copied("Messages");
  assert.equal(listed.length, expected.length);
  const sorted = (list) => list.map(Number).sort((a, b) => a - b);
  assert.deepEqual(sorted(listed.map((it) => it["latency (ns)"])), sorted(expected.map((it) => it.latency_ns)));
  const line = await lines("Messages").nth(3).locator("td").allTextContents();
  await lines("Messages").nth(3).click();
  const { row } = await now(page), hover = await page.evaluate(() => isochrone.view.now.hover);
  assert.equal(await page.evaluate((row) => { const it = isochrone.rows.row(row); return it.kind === "host" ? it.label : `${isochrone.view.now.experiment.hosts[it.host].name} ${isochrone.rows.name(it)}`; }, row), line[0]);
  near(hover, since(listed[3]["sent (unix ns)"]), 1);
  await page.locator(".messages input[type=checkbox]").check();
  await page.waitForSelector(".messages .notice.empty");
  await page.keyboard.press("Escape");
  await page.locator(".clock-switch").click();
  await settled();
  assert.ok(await page.locator(".messages tr.bad").count() > 5);
});

describe("synchronization", () => {
  test("hosts, links and counts are those of the command", async () => {
    await panel("synchronization");
    const answer = JSON.parse(execFileSync(program, ["-q", "sync", "--format", "json", chain3], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
    assert.equal(await page.locator(".host-graph .host").count(), answer.clocks.length);
    assert.equal(await page.locator(".host-graph .link").count(), answer.links.length);
    const links = await copied("Links");
    for (const link of answer.links) {
      const line = links.find((it) => it.link === `${link.a} ↔ ${link.b}`);
      assert.deepEqual([line.quality, line["→"], line["←"], line["least RTT (ns)"]], [link.quality, String(link.messages.a_to_b), String(link.messages.b_to_a), String(link.min_rtt_ns)]);
    }
    assert.equal((await copied("Hosts")).length, 3);
    assert.equal((await copied("Suspects")).length, answer.suspects.length);
  });

  test("a link shows its messages, half hulls and bounds; zoom and cursor are those of the time graph", async () => {
    await panel("synchronization");
    await page.locator("[data-link='h2-h3']").focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector(".link-picture h3")?.textContent === "h2 ↔ h3");
    await settled();
    const picture = await page.evaluate(async () => await (await fetch("api/link?a=h2&b=h3&points=4000")).json());
    assert.match(await page.locator(".link-canvas canvas").getAttribute("aria-label"), new RegExp(`${picture.forth.length} messages from h2 to h3, ${picture.back.length} back, ${picture.suspects.length} suspects`));
    const painted = (colour) => page.locator(".link-canvas canvas").evaluate((canvas, [r, g, b]) => {
      const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      let found = 0;
      for (let at = 0; at < data.length; at += 4) if (data[at] === r && data[at + 1] === g && data[at + 2] === b) found += 1;
      return found;
    }, colour);
    assert.ok(await painted([0x14, 0x82, 0xdc]) > 100, "messages there");
    assert.ok(await painted([0xd2, 0x69, 0x1e]) > 100, "messages back");
    assert.ok(await painted([0xe0, 0x00, 0x1b]) > 3, "the suspect is crossed");
    const before = (await now(page)).window, box = await page.locator(".link-canvas").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 40);
    await page.waitForFunction(() => /surely .* likely ± /.test(document.querySelector(".readout-text").textContent));
    assert.notEqual(await page.evaluate(() => isochrone.view.now.hover), null);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -500);
    await page.keyboard.up("Control");
    await rest(page);
    const zoomed = (await now(page)).window;
    assert.ok(zoomed.end - zoomed.begin < (before.end - before.begin) * 0.6);
  });

  test("five hosts on one network: ten links or fewer, each with its picture", async () => {
    const other = await serve(ping5);
    await page.close();
    page = await open(browser, other.address);
    await panel("synchronization");
    assert.equal(await page.locator(".host-graph .host").count(), 5);
    const links = await page.locator(".host-graph .link").count();
    assert.ok(links >= 4);
    for (let at = 0; at < links; at += 1) {
      await lines("Links").nth(at).click();
      await settled();
      assert.equal(await page.locator(".notice.failed").count(), 0);
      assert.equal(await page.locator(".link-picture h3").textContent(), await lines("Links").nth(at).locator("td").first().textContent());
    }
    assert.deepEqual(page.errors, []);
    await page.close();
    await other.stop();
    page = undefined;
  });
});

describe("analyses", () => {
  test("tables are those of the command, and sort; the command can be copied", async () => {
    await panel("analyses");
    await page.locator(".option[data-name=syscalls], .option[data-name=syscallstats], .option[data-name=cputop]").last().click();
    await settled();
    await page.locator(".option[data-name=cputop]").click();
    await settled();
    const expected = tableOf(["analyze", "cputop"], chain3, "processes");
    const label = await page.locator(".tables table").first().getAttribute("aria-label"), listed = await copied(label);
    assert.equal(listed.length, expected.length);
    assert.deepEqual(listed.map((it) => it["cpu (ns)"]).sort(), expected.map((it) => String(it.cpu_ns)).sort());
    const head = page.locator(".tables table").first().locator("th", { hasText: "tid" });
    await head.locator("button").click();
    assert.equal(await head.getAttribute("aria-sort"), "descending");
    const tids = (await copied(label)).map((it) => Number(it.tid));
    assert.deepEqual(tids, [...tids].sort((a, b) => b - a));
    await head.locator("button").click();
    assert.equal(await head.getAttribute("aria-sort"), "ascending");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => undefined);
    const text = await page.evaluate(async () => {
      let text = "";
      Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (it) => { text = it; } } });
      document.querySelector(".as-text .copy").click();
      await new Promise((done) => requestAnimationFrame(done));
      return [text, document.querySelector(".as-text .copy").textContent];
    });
    assert.deepEqual(text, [`isochrone analyze cputop ${chain3}`, "copied ✓"]);
  });

  test("every analysis has tables, or says in words why not; arrow keys go through them", async () => {
    await panel("analyses");
    const names = await page.evaluate(async () => (await (await fetch("api/analyses")).json()).analyses.map((it) => it.name));
    assert.equal(await page.locator(".option").count(), names.length);
    await page.locator(".list").focus();
    await page.keyboard.press("Home");
    for (const name of names) {
      await settled();
      assert.equal(await page.locator(".option[aria-selected=true]").getAttribute("data-name"), name);
      assert.equal(await page.locator(".tables .notice.failed").count(), 0, name);
      assert.ok(await page.locator(".tables table, .tables .notice").count() > 0, name);
      assert.match(await command(), new RegExp(`^isochrone (analyze )?${name} `));
      await page.keyboard.press("ArrowDown");
    }
    assert.deepEqual(page.errors, []);
  });
});

describe("state", () => {
  test("all that is known of the state, its neighbours, and where it leads", async () => {
    await panel("state");
    assert.match(await page.locator(".state .notice").textContent(), /Nothing is selected/);
    const row = await page.evaluate(() => isochrone.view.now.rows.find((it) => it.kind === "thread" && it.label.startsWith("wget") && isochrone.view.now.experiment.hosts[it.host].name === "h1"));
    await page.evaluate((row) => isochrone.view.set({ row: row.id, selection: { begin: (row.begin + row.end) / 2, end: (row.begin + row.end) / 2 + 10 } }), row);
    await settled();
    const state = await page.evaluate(async (row) => await (await fetch(`api/state?row=${row.id}&at=${Math.round((row.begin + row.end) / 2)}`)).json(), row);
    const text = await page.locator(".state-parts").textContent();
    for (const [name, value] of [...state.fields, ["own clock", state.times.own], ["common clock", state.times.common], ["surely within", state.times.sure], ["likely within", state.times.likely]]) assert.ok(text.includes(name) && text.includes(value), `${name} ${value}`);
    await page.locator(".state [data-to=next]").click();
    await page.waitForFunction((end) => isochrone.view.now.selection.begin === end, state.end);
    await settled();
    await page.locator(".state [data-to=previous]").click();
    await page.waitForFunction((begin) => isochrone.view.now.selection.begin === begin, state.begin);
    await settled();
    await page.locator("button", { hasText: "follow the message" }).click();
    await page.waitForFunction((row) => isochrone.view.now.row !== row, row.id);
  });
});

test("all panels live in both themes and on a small page, say what they are, and leave no error", async () => {
  await page.setViewportSize({ width: 1000, height: 700 });
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const tab of await page.locator(".tabs [role=tab]").all()) {
      await panel(await tab.getAttribute("data-id"));
      assert.equal(await page.locator(".notice.failed").count(), 0);
      const unnamed = await page.evaluate(() => [...document.querySelectorAll(".panel button, .panel input, .panel select, .panel table, .panel canvas[role], .panel [tabindex='0']")]
        .filter((it) => !(it.getAttribute("aria-label") ?? it.textContent ?? "").trim() && it.closest("label") === null && !it.querySelector("table")).map((it) => it.outerHTML.slice(0, 90)));
      assert.deepEqual(unnamed, []);
    }
  }
  assert.deepEqual(page.errors, []);
});

test("a failing server is told in the panel, and can be asked again", async () => {
  await page.route("**/api/statistics", (route) => route.fulfill({ status: 500, contentType: "application/json", body: "{\"error\": \"the store cannot be read: it was removed\"}" }));
  await page.evaluate(() => isochrone.drawer.open("statistics"));
  await page.waitForSelector(".notice.failed");
  assert.match(await page.locator(".notice.failed").textContent(), /it was removed/);
  await page.unroute("**/api/statistics");
  await page.locator("button", { hasText: "try again" }).click();
  await settled();
  assert.ok(await lines("Time by state").count() > 3);
});
