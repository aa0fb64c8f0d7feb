// What is to be seen of wide tables, of colours, and of rows in the order of their activity.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chain3, eventsOf, generator, launch, mpi4, open, program, rest, serve, show, tableOf, unpacked } from "./page.mjs";

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });
async function on(traces, body, options = {}) {
  const server = await serve(traces), page = await open(browser, server.address, { isFirst: true, ...options });
  try { await body(page); assert.deepEqual(page.errors, []); } finally { await page.close(); await server.stop(); }
}
/** The heads of columns of a table that are wholly to be seen, all of them, and what is said of the others. */
const columns = (page, label) => page.evaluate((label) => {
  const table = document.querySelector(`table[aria-label^="${label}"]`), place = table.closest(".table"), { left, right } = place.getBoundingClientRect(), heads = [...table.querySelectorAll("th")];
  const hint = place.closest(".block").querySelector(".columns-beside"), first = heads[0].getBoundingClientRect().right;
  return {
    all: heads.map((it) => it.textContent), said: hint.checkVisibility() ? hint.textContent : "",
    // Those that are wider than the room are seen from their left.
    begun: heads.filter((it) => { const { left } = it.getBoundingClientRect(); return left >= first - 1 && left < right - 30; }).map((it) => it.textContent),
    seen: heads.filter((it, at) => { const box = it.getBoundingClientRect(); return box.left >= (at === 0 ? left : first) - 1 && box.right <= Math.min(right, innerWidth) + 1; }).map((it) => it.textContent),
  };
}, label);

test("wide tables say how many columns are out of sight, and show them; the first column stays", () => on(chain3, async (page) => {
  await page.evaluate(() => isochrone.drawer.open("critical-path"));
  await rest(page);
  await page.locator("button", { hasText: /^slowest$/ }).click();
  await page.waitForFunction(() => isochrone.view.now.path !== null);
  for (const width of [1280, 1400]) {
    await page.setViewportSize({ width, height: 900 });
    for (const [panel, label] of [["critical-path", "Requests"], ["critical-path", "Time by cause"], ["critical-path", "Steps"], ["synchronization", "Links"], ["synchronization", "Hosts"]]) {
      await page.evaluate((panel) => isochrone.drawer.open(panel), panel);
      await rest(page);
      const about = `${label}, ${width} pixels`, all = await columns(page, label), seen = new Set(all.seen), beside = all.all.length - all.seen.length;
      assert.equal(all.said, beside === 0 ? "" : `${beside} more ${beside === 1 ? "column" : "columns"} ▸`, about);
      if (label === "Time by cause") for (const title of ["median", "more"]) assert.ok(all.seen.includes(title), `${title}: ${about}`);
      assert.ok(label === "Time by cause" || beside > 0, about);
      const hint = page.locator(".block", { has: page.locator(`table[aria-label^="${label}"]`) }).last().locator(".columns-beside");
      for (let presses = 0; (await columns(page, label)).said.endsWith("▸"); presses += 1) {
        assert.ok(presses < 8, `${about}: ${[...seen]}`);
        await hint.click();
        await rest(page);
        const now = await columns(page, label);
        assert.ok(now.seen.includes(all.all[0]), `the first column stays: ${about}`);
        for (const it of now.begun) seen.add(it);
      }
      assert.deepEqual(all.all.filter((it) => !seen.has(it)), [], about);
      if (beside > 0) {
        assert.equal((await columns(page, label)).said, "◂ first columns", about);
        await hint.click();
        await rest(page);
        assert.deepEqual(await columns(page, label), all, about);
      }
    }
  }
}));

test("phases and calls of MPI are in the legend, with the colours in which they are drawn, while such rows are shown; and in the help", () => on(mpi4, async (page) => {
  const named = () => page.locator(".state-legend ul[aria-label='Colours of phases'] li").evaluateAll((all) => all.filter((it) => it.checkVisibility()).map((it) => [it.textContent, getComputedStyle(it.querySelector(".swatch")).backgroundColor]));
  await page.locator(".search").fill("kind:cpu");
  await rest(page);
  assert.deepEqual(await named(), [], "no phase is shown");
  await page.locator(".search").fill("kind:phase");
  await rest(page);
  const shown = new Map(await named());
  for (const call of ["MPI_Send", "MPI_Recv", "MPI_Barrier"]) assert.ok(shown.has(`mpi ${call}`), [...shown.keys()].join());
  assert.ok((await page.locator(".state-legend").boundingBox()).height <= 42);
  // The colour of the legend is that of the bar.
  const calls = tableOf(["analyze", "periodlog"], mpi4, "log").sort((a, b) => b.duration_ns - a.duration_ns);
  for (const call of ["mpi MPI_Recv", "mpi MPI_Barrier"]) {
    const { host, tid, begin_ns: begin, duration_ns: length } = calls.find((it) => it.period === call);
    const at = await page.evaluate(([host, tid, begin]) => {
      const { rows, experiment } = isochrone.view.now, of = experiment.hosts.findIndex((it) => it.name === host), thread = rows.find((it) => it.host === of && it.tid === tid && it.kind === "thread");
      return { row: rows.find((it) => it.kind === "phase" && it.parent === thread.id).id, begin: Number(BigInt(begin) - BigInt(experiment.origin_unix_ns)) };
    }, [host, tid, String(begin)]);
    await show(page, at.row, { begin: at.begin - length / 2, end: at.begin + 1.5 * length });
    // Arrows lie over the bar at some places.
    const drawn = await page.evaluate(([row, begin, length]) => {
      const scene = isochrone.graph.scene(), y = scene.middle(isochrone.rows.placeOf(row)) + 6;
      return Array.from({ length: 21 }, (_, at) => `rgb(${isochrone.pixel(scene.x(begin + (length * (at + 2)) / 25), y).join(", ")})`);
    }, [at.row, at.begin, length]);
    assert.ok(drawn.filter((it) => it === shown.get(call)).length > 10, `${call}: ${shown.get(call)}, drawn ${drawn}`);
  }
  await page.locator("[role=tree]").focus();
  await page.keyboard.press("?");
  const help = await page.locator("dialog.help .legend").first().textContent();
  for (const name of shown.keys()) assert.ok(help.includes(name), name);
  await page.keyboard.press("Escape");
  await page.locator(".search").fill("kind:cpu");
  await rest(page);
  assert.deepEqual(await named(), []);
}));

test("instants are shown in Unix seconds, to the ns; the times of a state are copied as commands take them", () => on(chain3, async (page) => {
  await page.locator(".time-field select").selectOption("Unix");
  await page.evaluate(() => {
    const { rows, experiment } = isochrone.view.now, row = rows.find((it) => it.kind === "thread" && it.label === "wget" && experiment.hosts[it.host].name === "h1"), at = (row.begin + row.end) / 2;
    isochrone.view.set({ row: row.id, selection: { begin: at, end: at + 10 } });
    isochrone.drawer.open("state");
  });
  await rest(page);
  const fields = async () => Object.fromEntries(await page.locator(".state-parts dl").first().evaluate((list) => [...list.querySelectorAll("dt")].map((it) => [it.textContent, it.nextElementSibling.textContent])));
  const copied = async (name) => {
    await page.evaluate(() => { globalThis.copiedText = ""; Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (text) => { globalThis.copiedText = text; } } }); });
    await page.locator(".state-title button", { hasText: name }).click();
    return page.evaluate(() => globalThis.copiedText);
  };
  const { begin, end } = await fields(), [, from, to] = /^--begin (\d{19}) --end (\d{19})$/.exec(await copied(/^copy times$/));
  const seconds = (ns) => `${ns.slice(0, -9)}.${ns.slice(-9)}`;
  assert.deepEqual([begin, end], [seconds(from), seconds(to)]);
  assert.match(await copied(/^copy$/), new RegExp(`\noptions\t--begin ${from} --end ${to}$`));
  assert.match(await page.evaluate(() => isochrone.svg()), />1795155\d{3}<[\s\S]*>seconds since 1970, common clock</);
  // The command takes it: the first event of that time is the switch that began the state; Unix seconds mean the same.
  for (const it of [from, begin]) {
    const [first] = execFileSync(program, ["-q", "events", "--host", "h1", "--begin", it, "--end", to, "--format", "jsonl", chain3], { encoding: "utf8", maxBuffer: 2 ** 28 }).split("\n", 1);
    assert.match(first, new RegExp(`^\\{"time_ns":${from},.*"event":"sched_switch",`));
  }
  // On the hosts' own clocks what is copied is the same: commands take the common one.
  await page.keyboard.press("k");
  await rest(page);
  await page.waitForFunction(() => !isochrone.clock.isSliding);
  await rest(page);
  assert.equal(await copied(/^copy times$/), `--begin ${from} --end ${to}`);
  await page.locator(".time-field select").selectOption("UTC");
}));

test("by activity, the only CPU of a host and disks that did nothing are in one fold; disks that did something, pinned rows and CPUs of larger hosts are not", async () => {
  const lines = (page) => page.evaluate(() => isochrone.rows.lines.map((it) => ({ label: it.label, kind: it.row?.kind ?? null, host: it.host, id: it.id, depth: it.depth, pinned: it.pinned })));
  const byActivity = async (page) => { await page.locator("button", { hasText: /^by activity$/ }).click(); await rest(page); };
  /** Disks with requests in the window, by the events of the trace. */
  const busyDisks = async (page, traces) => {
    const { window, origin, hosts, rows } = await page.evaluate(() => ({ window: isochrone.view.now.window, origin: isochrone.view.now.experiment.origin_unix_ns, hosts: isochrone.view.now.experiment.hosts, rows: isochrone.view.now.rows }));
    const named = new Map(eventsOf("lttng_statedump_block_device", traces).map(({ host, payload }) => [`${host} ${payload.dev}`, `disk ${payload.diskname}`])), busy = new Set();
    for (const { host, time_ns: at, payload } of eventsOf("block_rq_issue,block_rq_complete", traces)) if (at - Number(origin) > window.begin && at - Number(origin) < window.end) busy.add(`${host} ${named.get(`${host} ${payload.dev}`)}`);
    return rows.filter((it) => it.kind === "disk" && busy.has(`${hosts[it.host].name} ${it.label}`)).map((it) => it.id);
  };
  const disk = unpacked("disk1"), large = mkdtempSync(join(tmpdir(), "isochrone-look-"));
  execFileSync("python3", [generator, join(large, "made"), "--events", "30000", "--cpus", "3"], { stdio: "ignore" });
  try {
    await on(chain3, async (page) => {
      await page.evaluate(() => { const { begin } = isochrone.view.now.experiment; isochrone.navigation.set({ begin: begin + 3e9, end: begin + 6e9 }); });
      await rest(page);
      await byActivity(page);
      const shown = await lines(page), threads = shown.filter((it) => it.kind === "thread" || it.kind === "process");
      assert.deepEqual(shown.filter((it) => it.kind === "cpu").length, 0);
      const folds = shown.filter((it) => /^1 CPU/.test(it.label));
      assert.equal(folds.length, 3);
      // Below the host come the disks that did something, then what ran most.
      const busy = await busyDisks(page, chain3);
      assert.ok(busy.length > 0 && busy.length < 6, `${busy}`);
      assert.deepEqual(shown.filter((it) => it.kind === "disk").map((it) => it.id), busy);
      for (const host of shown.filter((it) => it.kind === "host")) {
        const below = shown.slice(shown.indexOf(host) + 1), first = below.findIndex((it) => !busy.includes(it.id));
        assert.ok(["thread", "process"].includes(below[first].kind), host.label);
      }
      assert.ok(threads.length >= 15, `${threads.length} threads have lines`);
      // It opens, by a click or where the row is gone to; a pinned row is not in it.
      await page.locator(`[data-id="${folds[0].id}"]`).click();
      const cpu = (await lines(page)).find((it) => it.kind === "cpu");
      assert.equal(cpu.host, folds[0].host);
      await page.evaluate((id) => isochrone.rows.pin(id), cpu.id);
      const pinned = await lines(page);
      assert.ok(pinned.find((it) => it.id === cpu.id).pinned && !pinned.some((it) => it.host === cpu.host && /^1 CPU/.test(it.label)));
      await page.evaluate((id) => isochrone.rows.pin(id), cpu.id);
      const other = await page.evaluate((host) => isochrone.view.now.rows.find((it) => it.kind === "cpu" && it.host !== host).id, cpu.host);
      await page.evaluate((id) => isochrone.navigation.go(id, isochrone.view.now.window.begin), other);
      assert.ok((await lines(page)).some((it) => it.id === other));
    });
    await on(disk.traces, async (page) => {
      const busy = await busyDisks(page, disk.traces);
      assert.ok(busy.length > 0);
      await byActivity(page);
      assert.deepEqual((await lines(page)).filter((it) => it.kind === "disk").map((it) => it.id), busy);
    });
    await on(join(large, "made"), async (page) => {
      await byActivity(page);
      assert.equal((await lines(page)).filter((it) => it.kind === "cpu").length, 3);
    });
  } finally { disk.remove(); rmSync(large, { recursive: true }); }
});
