// Rows of all kinds, and what is drawn over them: CPUs with interrupts, disks, phases of programs and calls of MPI, losses, bounds of clocks, wake-ups; which rows are shown, and in
// which order; the minimap; what is not asked for again. Pixels are compared with what the commands say.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { chain3, count, eventsOf, generator, launch, mpi4, now, open, phases3, ping5, pixelAt, rest, serve, show, tableOf, ustMpi } from "./page.mjs";

const IRQ = [200, 0, 100], SOFTIRQ = [200, 150, 100], IDLE = [200, 200, 200], RUNS = [0, 170, 120], WAKEUP = [150, 60, 200], EDGE = [47, 111, 214];
let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

/** A page of traces, for some tests. */
function on(traces, body) {
  const it = { page: null, rows: [], hosts: [], origin: "0" };
  describe(traces.split("/").at(-1), () => {
    let server;
    before(async () => {
      server = await serve(traces);
      it.page = await open(browser, server.address);
      Object.assign(it, await it.page.evaluate(() => {
        const { rows, experiment } = isochrone.view.now;
        return { rows, hosts: experiment.hosts, origin: experiment.origin_unix_ns };
      }));
    });
    after(async () => { await it.page.close(); await server.stop(); });
    body(it, (t) => Number(BigInt(t) - BigInt(it.origin)));
    test("no error of the page's script", () => assert.deepEqual(it.page.errors, []));
  });
}
const near = (a, b, by, what = "") => assert.ok(Math.abs(a - b) <= by, `${what} ${a} is not ${b} ± ${by}`);
/** All of the time, all rows, the most active first. */
async function first(page) {
  await page.evaluate(() => { document.activeElement.blur(); isochrone.view.set({ row: null, selection: null }); });
  await page.keyboard.press("f");
  await rest(page);
  await page.keyboard.press("O");
  await page.evaluate(() => isochrone.layout.scrollTo(0));
  await rest(page);
}
const isLike = (a, b, by = 6) => a.every((value, place) => Math.abs(value - b[place]) <= by);

for (const traces of [chain3, ping5]) {
  on(traces, (it, since) => {
    test("CPUs show interrupts, softirqs, and when they are idle", async () => {
      await it.page.keyboard.press("g");
      const all = tableOf(["analyze", "irqlog"], traces, "log");
      for (const [kind, colour] of [["IRQ", IRQ], ["SoftIRQ", SOFTIRQ]]) {
        const long = all.filter((line) => line.type === kind).sort((a, b) => b.duration_ns - a.duration_ns)[0];
        const row = it.rows.find((row) => row.kind === "cpu" && it.hosts[row.host].name === long.host && row.cpu === long.cpu);
        const begin = since(long.begin_ns), end = since(long.end_ns), length = end - begin;
        await show(it.page, row.id, { begin: begin - length, end: end + length });
        // A hard interrupt may come into a softirq: most of it has the colour.
        const colours = [];
        for (let at = 0.05; at < 1; at += 0.1) colours.push((await pixelAt(it.page, row.id, begin + at * length)).colour);
        assert.ok(colours.filter((it) => isLike(it, colour, 0)).length >= 6, `${kind} on ${long.host} CPU ${long.cpu}: ${colours.join(" ")}`);
      }
      const cpu = it.rows.find((row) => row.kind === "cpu");
      await show(it.page, cpu.id, await it.page.evaluate(() => isochrone.navigation.padded(isochrone.navigation.bounds)));
      assert.ok(await count(it.page, IDLE) > 50 && await count(it.page, RUNS) > 10);
      await it.page.keyboard.press("g");
    });

    test("a message's end has a bar as wide as the clocks leave open", async () => {
      const message = await it.page.evaluate(async () => {
        const { begin, end } = isochrone.view.now.experiment, inside = await (await fetch(`api/messages?begin=${begin}&end=${end}&limit=20000`)).json();
        const message = inside.messages.slice(Math.floor(inside.total / 3)).find((it) => it[6] - it[5] > 20_000 && it[4] > 1000);
        const [, to, , received, , low, high] = message, room = high - low;
        isochrone.view.set({ row: null, selection: null });
        isochrone.navigation.go(to, received);
        isochrone.view.set({ row: null });
        isochrone.navigation.set({ begin: received - 2 * room, end: received + 2 * room });
        return message;
      });
      await rest(it.page);
      const seen = await it.page.evaluate(([message]) => {
        const scene = isochrone.graph.scene(), [, to, , received, likely, low, high] = message, y = Math.round(scene.rowY(to)) + 5, x = (t) => scene.x(received + t);
        // Beside the likely band, at the edge of the bar, within and outside of what is sure.
        return { inside: isochrone.pixel(x(low * 0.8), y), outside: isochrone.pixel(x(low * 1.3), y), width: x(high) - x(low), likely: isochrone.pixel(x(likely * 0.5), y - 5), far: isochrone.pixel(x(low * 1.3), y - 5) };
      }, [message]);
      assert.ok(seen.width > 100);
      assert.notDeepEqual(seen.inside, seen.outside, "the light bar ends where the clocks leave nothing open");
      assert.notDeepEqual(seen.likely, seen.far, "the dark band");
    });

    test("wake-ups are arrows, when they are asked for", async () => {
      const row = await it.page.evaluate(async () => {
        const { rows, experiment: { begin, end } } = isochrone.view.now, threads = isochrone.rows.lines.filter((line) => line.row?.kind === "thread").map((line) => line.id);
        const counts = await Promise.all(threads.map(async (id) => (await (await fetch(`api/wakeups?begin=${begin}&end=${end}&rows=${id}`)).json()).total));
        const most = threads[counts.indexOf(Math.max(...counts))];
        isochrone.navigation.fit();
        isochrone.navigation.go(most, begin);
        isochrone.view.set({ row: most, selection: null });
        return rows[most];
      });
      await rest(it.page);
      assert.equal(await count(it.page, WAKEUP), 0);
      await it.page.keyboard.press("W");
      await rest(it.page);
      const wakeups = await it.page.evaluate(() => isochrone.graph.arrows.wakeups.value);
      assert.ok(wakeups.length > 0 && wakeups.every(([, to]) => to === row.id));
      const purple = await it.page.evaluate(() => {
        const { canvas } = isochrone.graph, data = canvas.getContext("2d").getImageData(0, 34, canvas.width, canvas.height - 34).data;
        let found = 0;
        for (let at = 0; at < data.length; at += 4) if (data[at] > 130 && data[at] < 190 && data[at + 1] < 110 && data[at + 2] > 170) found += 1;
        return found;
      });
      assert.ok(purple > 20, `${purple} purple pixels`);
      await it.page.keyboard.press("W");
      await rest(it.page);
      // Who it wakes, and who woke it.
      const [from, , at] = wakeups.find(([from]) => from !== null && from !== row.id) ?? [];
      if (from === undefined) return;
      await it.page.evaluate(([row, at]) => isochrone.view.set({ row, selection: { begin: at, end: at + 2 } }), [row.id, at]);
      await it.page.keyboard.press("E");
      await it.page.waitForFunction((row) => isochrone.view.now.row !== row, row.id);
      await rest(it.page);
      const { waker, text } = await it.page.evaluate(() => ({ waker: isochrone.view.now.row, text: document.querySelector(".status .answer").textContent }));
      assert.ok(waker !== row.id, text);
    });

    test("rows are sorted by their CPU time in the window; the order stays while the window moves", async () => {
      const window = await it.page.evaluate(() => { const { begin, end } = isochrone.view.now.experiment; return { begin: begin + (end - begin) * 0.4, end: begin + (end - begin) * 0.6 }; });
      await it.page.evaluate((window) => { isochrone.navigation.set(window); isochrone.view.set({ row: null, selection: null }); }, window);
      await it.page.keyboard.press("O");
      await rest(it.page);
      const order = () => it.page.evaluate(() => {
        const { rows } = isochrone, host = rows.childrenOf(null)[0];
        return rows.lines.filter((line) => line.row !== null && line.depth === 1 && line.host === host.host && (line.row.kind === "process" || line.row.kind === "thread")).map((line) => line.id);
      });
      const sorted = await order(), times = await it.page.evaluate(async ([{ begin, end }, sorted]) => {
        const answer = await (await fetch("api/statistics", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ begin: Math.round(begin), end: Math.round(end), rows: null }) })).json();
        const of = (row) => answer.threads.filter((it) => it.row === row || isochrone.rows.row(it.row).parent === row).reduce((sum, it) => sum + it.by_state[1] + it.by_state[2] + it.by_state[3] + it.by_state[8], 0);
        return sorted.map(of);
      }, [window, sorted]);
      assert.ok(times.length > 2 && times[0] > 0);
      assert.deepEqual(times, [...times].sort((a, b) => b - a));
      await it.page.keyboard.press("d");
      await rest(it.page);
      assert.deepEqual(await order(), sorted);
      await it.page.keyboard.press("o");
      await rest(it.page);
      assert.equal(await it.page.evaluate(() => isochrone.rows.isSorted), false);
    });

    test("an expression shows the rows with such states, and makes all other states pale", async () => {
      await first(it.page);
      await it.page.locator(".search").fill("duration > 20ms && state == blocked && kind == thread");
      await rest(it.page);
      const expected = new Set(tableOf(["states"], traces, "states").filter((line) => line.state === "blocked" && line.end_ns - line.begin_ns > 20_001_000).map((line) => `${line.host} ${line.tid}`));
      const found = await it.page.evaluate(() => isochrone.rows.lines.filter((line) => isochrone.rows.matches(line.id)).map((line) => `${isochrone.view.now.experiment.hosts[line.host].name} ${line.row.tid}`));
      assert.ok([...expected].every((name) => found.includes(name)) && found.length <= expected.size + 2, `${found.length} of ${expected.size}`);
      assert.match(await it.page.locator(".search-box .count").textContent(), /^[\d,]+ states on [\d,]+ rows$/);
      // Nothing but what was asked for has its full colour.
      await it.page.keyboard.press("Escape");
      await it.page.locator(".search").fill("state == blocked");
      await rest(it.page);
      assert.ok(await count(it.page, [200, 200, 0]) > 50, "blocked");
      assert.equal(await count(it.page, [0, 200, 0]), 0, "user mode is pale");
      await it.page.locator(".search").fill("duration >");
      await it.page.waitForFunction(() => document.querySelector(".search").classList.contains("wrong"));
      await it.page.keyboard.press("Escape");
      await rest(it.page);
      assert.ok(await count(it.page, [0, 200, 0]) > 50, "all have their colours again");
    });

    test("the minimap shows the window as a lens that can be moved and made", async () => {
      await it.page.evaluate(() => { const { begin, end } = isochrone.view.now.experiment; isochrone.view.set({ selection: null, row: null }); isochrone.navigation.set({ begin: begin + (end - begin) * 0.4, end: begin + (end - begin) * 0.6 }); });
      await rest(it.page);
      const box = await it.page.locator(".minimap-canvas").boundingBox(), before = (await now(it.page)).window;
      const pixel = (x, y) => it.page.locator(".minimap-canvas").evaluate((canvas, [x, y]) => [...canvas.getContext("2d").getImageData(Math.round(x * devicePixelRatio), Math.round(y * devicePixelRatio), 1, 1).data.subarray(0, 3)], [x, y]);
      const edges = await it.page.evaluate((width) => {
        const all = isochrone.navigation.padded(isochrone.navigation.bounds), { begin, end } = isochrone.view.now.window, at = (t) => ((t - all.begin) / (all.end - all.begin)) * width;
        return [at(begin), at(end)];
      }, box.width);
      for (const edge of edges) assert.ok(isLike(await pixel(edge, box.height / 2), EDGE, 40), "the lens has edges");
      await it.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await it.page.mouse.down();
      await it.page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2, { steps: 4 });
      await it.page.mouse.up();
      await rest(it.page);
      const moved = (await now(it.page)).window;
      near(moved.end - moved.begin, before.end - before.begin, 2, "as wide as before");
      assert.ok(moved.begin > before.begin);
      await it.page.mouse.move(box.x + box.width * 0.05, box.y + box.height / 2);
      await it.page.mouse.down();
      await it.page.mouse.move(box.x + box.width * 0.15, box.y + box.height / 2, { steps: 4 });
      await it.page.mouse.up();
      await rest(it.page);
      const made = (await now(it.page)).window;
      near(made.end - made.begin, (before.end - before.begin) / 2, (before.end - before.begin) * 0.1, "a tenth of all");
      await it.page.mouse.dblclick(box.x + box.width * 0.5, box.y + box.height / 2);
      await rest(it.page);
      await it.page.mouse.move(2, 2);
    });

    test("what is there is scaled until better comes; nothing is asked for twice", async () => {
      await first(it.page);
      // What the tests before have looked at is there already.
      await it.page.reload();
      await it.page.waitForFunction(() => globalThis.isochrone?.isReady());
      await rest(it.page);
      const asked = [], note = (request) => { if (request.url().endsWith("/api/states")) asked.push(request.postData()); };
      let answer = () => undefined;
      const held = new Promise((done) => { answer = done; });
      await it.page.route("**/api/states", async (route) => { await held; await route.continue(); });
      // What is taken back, because the window has moved on, is not loaded.
      it.page.on("requestfinished", note);
      // To another level of detail: all of it is missing.
      for (let at = 0; at < 3; at += 1) await it.page.keyboard.press("w");
      await it.page.waitForFunction(() => !isochrone.navigation.isMoving && isochrone.graph.tiles.size.requests > 0);
      await it.page.waitForFunction(() => isochrone.graph.frame === 0);
      assert.ok(await count(it.page, [0, 200, 0]) > 50, "a picture while the server has not answered");
      answer();
      await rest(it.page);
      await it.page.unroute("**/api/states");
      const before = asked.length;
      assert.ok(before > 0);
      for (const key of ["s", "s", "s", "w", "w", "w", "a", "d", "z"]) {
        await it.page.keyboard.press(key);
        await rest(it.page);
      }
      await it.page.keyboard.press("Z");
      await rest(it.page);
      it.page.off("requestfinished", note);
      assert.equal(new Set(asked).size, asked.length, "each request once");
      const rows = asked.flatMap((body) => { const { rows, begin, end } = JSON.parse(body); return rows.map((row) => `${row} ${begin} ${end}`); });
      assert.equal(new Set(rows).size, rows.length, "each tile once");
    });
  });
}

on(chain3, (it, since) => {
  test("disks are rows, busy where requests are issued and completed", async () => {
    const open = new Map(), requests = [];
    for (const { host, event, time_ns, payload: { dev, sector, rwbs } } of eventsOf("block_rq_*", chain3)) {
      const place = `${host} ${dev} ${sector}`;
      if (event === "block_rq_issue") open.set(place, { host, dev, begin: since(time_ns), isWrite: (rwbs & 1) === 1 });
      else if (event === "block_rq_complete" && open.has(place)) { requests.push({ ...open.get(place), end: since(time_ns) }); open.delete(place); }
    }
    const named = new Map(eventsOf("lttng_statedump_block_device", chain3).map(({ host, payload }) => [`${host} ${payload.dev}`, payload.diskname]));
    await it.page.keyboard.press("g");
    for (const [isWrite, colour] of [[true, [150, 60, 170]], [false, [0, 140, 160]]]) {
      const [long] = requests.filter((request) => request.isWrite === isWrite).sort((a, b) => b.end - b.begin - a.end + a.begin), { host, dev, begin, end } = long, length = end - begin;
      const row = it.rows.find((row) => row.kind === "disk" && it.hosts[row.host].name === host && row.label === `disk ${named.get(`${host} ${dev}`)}`);
      await show(it.page, row.id, { begin: begin - length, end: end + length });
      assert.deepEqual((await pixelAt(it.page, row.id, begin + length * 0.6)).colour, colour, `${host} ${row.label}`);
    }
    await it.page.keyboard.press("g");
  });

  test("e follows a wake-up to the thread that is woken, E goes back to the one that woke it", async () => {
    const wake = await it.page.evaluate(async () => {
      const { begin, end } = isochrone.view.now.experiment, threads = isochrone.view.now.rows.filter((row) => row.kind === "thread").map((row) => row.id);
      const { wakeups } = await (await fetch(`api/wakeups?begin=${begin}&end=${end}&rows=${threads.slice(0, 300).join()}&limit=20000`)).json();
      return wakeups.find(([from, to, , cause]) => from !== null && from !== to && cause === "thread");
    });
    const [from, to, at] = wake;
    await show(it.page, from, { begin: at - 1e6, end: at + 1e6 });
    await it.page.evaluate(([row, at]) => isochrone.view.set({ row, selection: { begin: at - 1, end: at } }), [from, at]);
    await it.page.keyboard.press("e");
    await it.page.waitForFunction((row) => isochrone.view.now.row === row, to);
    await rest(it.page);
    const { window } = await now(it.page);
    assert.ok(window.begin < at && at < window.end, "the instant is seen");
    await it.page.evaluate(([row, at]) => isochrone.view.set({ row, selection: { begin: at, end: at + 1 } }), [to, at]);
    await it.page.keyboard.press("E");
    await it.page.waitForFunction((row) => isochrone.view.now.row === row, from);
  });
});

on(phases3, (it, since) => {
  test("phases of programs are rows, coloured by name", async () => {
    const phases = tableOf(["analyze", "periodlog"], phases3, "log").sort((a, b) => b.duration_ns - a.duration_ns);
    const [long] = phases, shown = it.rows.filter((row) => row.kind === "phase" && it.hosts[row.host].name === long.host && it.rows[row.parent].tid === long.tid);
    assert.equal(shown.length, 1);
    const begin = since(long.begin_ns), end = since(long.end_ns), length = end - begin;
    const state = await it.page.evaluate(async ([rows, at]) => {
      for (const row of rows) {
        const answer = await fetch(`api/state?row=${row}&at=${Math.round(at)}`);
        if (answer.ok) return { row, ...(await answer.json()) };
      }
      return null;
    }, [shown.map((row) => row.id), begin + length / 2]);
    assert.equal(state.style, 14);
    await show(it.page, state.row, { begin: begin - length / 2, end: end + length / 2 });
    const { colour } = await pixelAt(it.page, state.row, begin + 0.9 * length);
    assert.ok(Math.max(...colour) - Math.min(...colour) > 40, `a hue of its own: ${colour}`);
  });
});

on(mpi4, (it, since) => {
  test("calls of MPI are rows below the threads that made them, with a colour for each call", async () => {
    const found = it.rows.filter((row) => row.kind === "phase");
    assert.ok(new Set(found.map((row) => row.host)).size >= 4, "one for each host at least");
    for (const row of found) assert.equal(it.rows[row.parent].kind, "thread");
    const labels = await it.page.evaluate(async ([rows, begin, end]) => {
      const bytes = await (await fetch("api/states", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ rows, begin, end, pixels: 2000, clock: "common" }) })).arrayBuffer();
      const head = new Uint32Array(bytes, 0, 4);
      return JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, bytes.byteLength - head[3])));
    }, [found.map((row) => row.id), ...await it.page.evaluate(() => [isochrone.view.now.experiment.begin, isochrone.view.now.experiment.end])]);
    for (const call of ["MPI_Send", "MPI_Recv", "MPI_Barrier"]) assert.ok(labels.includes(`mpi ${call}`), labels.join());
    const calls = tableOf(["analyze", "periodlog"], mpi4, "log").sort((a, b) => b.duration_ns - a.duration_ns), colours = [];
    for (const call of ["mpi MPI_Send", "mpi MPI_Recv", "mpi MPI_Barrier"]) {
      const long = calls.find((it) => it.period === call), begin = since(long.begin_ns), length = long.duration_ns;
      const row = found.find((row) => it.hosts[row.host].name === long.host && it.rows[row.parent].tid === long.tid);
      await show(it.page, row.id, { begin: begin - length / 2, end: begin + 1.5 * length });
      const [x, outside] = await it.page.evaluate(([row, at, before]) => {
        const scene = isochrone.graph.scene(), y = scene.middle(isochrone.rows.placeOf(row)) + 6;
        return [isochrone.pixel(scene.x(at), y), isochrone.pixel(scene.x(before), y)];
      }, [row.id, begin + 0.9 * length, begin - 0.02 * length]);
      assert.notDeepEqual(x, outside, `${call} begins where the command says`);
      colours.push(x.join());
    }
    assert.equal(new Set(colours).size, 3, colours.join(" "));
  });
});

for (const [traces, sent] of [[mpi4, 240], [ustMpi, 300]]) on(traces, (it, since) => {
  test("messages of MPI are arrows of a colour of their own, between the threads that sent and received them", async () => {
    // Unix ns are not exact as numbers of JavaScript.
    const MPI = [0, 120, 140], FLOAT = 256;
    await it.page.emulateMedia({ colorScheme: "light" });
    const all = await it.page.evaluate(async () => {
      const { begin, end } = isochrone.view.now.experiment;
      return (await fetch(`api/messages?begin=${begin}&end=${end}&clock=common&limit=5000`)).json();
    });
    assert.equal(all.mpi_total, sent);
    assert.equal(all.mpi.length, sent);
    const calls = tableOf(["analyze", "periodlog", "--limit", "0"], traces, "log"), inside = (name, row, at) =>
      calls.some((call) => call.period === name && call.tid === row.tid && call.host === it.hosts[row.host].name && since(call.begin_ns) <= at + FLOAT && at - FLOAT <= since(call.begin_ns) + call.duration_ns);
    for (const [from, to, left, arrived] of all.mpi) {
      assert.equal(it.rows[from].kind, "thread");
      assert.ok(inside("mpi MPI_Send", it.rows[from], left) && inside("mpi MPI_Recv", it.rows[to], arrived), `${from} → ${to} at ${left}`);
    }
    // One that is long enough to be seen, between rows that are near each other.
    const [from, to, left, arrived] = all.mpi.filter(([from, to]) => from !== to).sort((a, b) => (Math.abs(a[0] - a[1]) - Math.abs(b[0] - b[1])) || (b[3] - b[2]) - (a[3] - a[2]))[0];
    const room = Math.max(arrived - left, 2e4);
    await show(it.page, to, { begin: left - room, end: arrived + room });
    const colour = await it.page.evaluate(([from, left]) => {
      const arrow = isochrone.graph.arrows.seen(isochrone.graph.scene()).arrows.find((it) => it.isMpi && it.message[0] === from && it.message[2] === left);
      // Its head is filled.
      const length = Math.hypot(arrow.x1 - arrow.x0, arrow.y1 - arrow.y0);
      return isochrone.pixel(arrow.x1 - (arrow.x1 - arrow.x0) / length * 3, arrow.y1 - (arrow.y1 - arrow.y0) / length * 3);
    }, [from, left]);
    assert.ok(colour.every((part, place) => Math.abs(part - MPI[place]) < 40), colour.join());
  });
});

const lossy = mkdtempSync(resolve(tmpdir(), "isochrone-losses-"));
execFileSync("python3", [generator, lossy, "--events", "200000", "--cpus", "2", "--subbuf", "16384", "--gaps", "1", "--drop"], { stdio: "ignore" });
after(() => rmSync(lossy, { recursive: true }));

on(lossy, (it) => {
  test("lost events are hatched in the minimap and over the rows of their CPU", async () => {
    const losses = await it.page.evaluate(() => isochrone.graph.losses);
    assert.ok(losses.length > 0);
    const red = (selector) => it.page.locator(selector).evaluate((canvas) => {
      const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      let found = 0;
      for (let at = 0; at < data.length; at += 4) if (data[at] > 200 && data[at + 1] < 150 && data[at + 2] < 150 && data[at] - data[at + 1] > 80) found += 1;
      return found;
    });
    assert.ok(await red(".minimap-canvas") > 10);
    await it.page.keyboard.press("g");
    await rest(it.page);
    assert.ok(await red(".graph canvas") > 10);
  });
});
