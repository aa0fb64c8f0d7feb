// Panels with pictures over time: resources, lives of processes, requests to disks. Held against what the commands say, and what programs counted themselves.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { chain3, generator, hog2, launch, now, open, rest, serve, tableOf, unpacked } from "./page.mjs";

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

/** A page of traces with a panel open, in a high drawer. */
async function panelOf(traces, id, run) {
  const server = await serve(traces), page = await open(browser, server.address, { viewport: { width: 1400, height: 1200 } });
  try {
    await page.evaluate((id) => isochrone.drawer.open(id), id);
    await page.locator(".splitter.horizontal").focus();
    for (let times = 0; times < 14; times += 1) await page.keyboard.press("ArrowUp");
    await rest(page);
    await run(page);
    assert.equal(await page.locator(".notice.failed").count(), 0);
    assert.deepEqual(page.errors, []);
  } finally {
    await page.close();
    await server.stop();
  }
}
/** A table by its label, as it is copied: exact numbers. */
const copied = (page, label) => page.evaluate(async (label) => {
  let text = "";
  Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (it) => { text = it; } } });
  document.querySelector(`table[aria-label^="${label}"]`).closest(".block").querySelector(".copy").click();
  const [head, ...lines] = text.split("\n").map((line) => line.split("\t"));
  return lines.map((line) => Object.fromEntries(head.map((name, at) => [name, line[at]])));
}, label);
/** How many pixels of a picture have about a colour. */
const painted = (page, [r, g, b], place = 0) => page.locator(".time-picture canvas").nth(place).evaluate((canvas, [r, g, b]) => {
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let found = 0;
  for (let at = 0; at < data.length; at += 4) if (Math.abs(data[at] - r) < 8 && Math.abs(data[at + 1] - g) < 8 && Math.abs(data[at + 2] - b) < 8) found += 1;
  return found;
}, [r, g, b]);
/** Where in a picture a time is, on the page; `y` from its top. */
async function placeOf(page, at, y, place = 0) {
  const box = await page.locator(".time-picture").nth(place).boundingBox();
  const x = await page.evaluate(([at, place]) => isochrone.drawer.shown.pictures()[place].picture.frame().x(at), [at, place]);
  return [box.x + x, box.y + y];
}
/** What a panel is about: its time, its tables, and the time of its first picture. */
const seen = (page) => page.evaluate(() => {
  const panel = [...document.querySelectorAll(".panel")].find((it) => it.checkVisibility()), frame = isochrone.drawer.shown.pictures?.()[0].picture.frame();
  return { about: panel.querySelector(".about").textContent, lines: [...panel.querySelectorAll("tbody")].map((it) => it.textContent), picture: frame === undefined ? null : [frame.begin, frame.end] };
});
const tip = async (page) => (await page.locator(".time-picture .tooltip:visible > *").allTextContents()).join("\n");
/** Of unknown: grey on white. */
const CPU = [0, 170, 0], UNKNOWN = [185, 185, 185];

describe("resources", () => {
  for (const [name, traces] of [["hog2", hog2], ["chain3", chain3]]) {
    test(`${name}: the bottleneck of each host and the figures of its resources are those of the command`, async () => {
      await panelOf(traces, "resources", async (page) => {
        const verdicts = tableOf(["bottleneck"], traces, "verdicts"), resources = tableOf(["bottleneck"], traces, "resources");
        const shown = await copied(page, "The bottleneck"), listed = await copied(page, "Resources in the window");
        assert.deepEqual(shown.map((it) => [it.host, it.evidence]), verdicts.map((it) => [it.host, it.verdict]));
        assert.equal(listed.length, resources.length);
        for (const [place, it] of resources.entries()) {
          assert.deepEqual([listed[place].host, listed[place].resource], [it.host, it.of === null ? it.resource : `${it.resource} ${it.of}`]);
          assert.equal(listed[place].busy, it.busy_percent === null ? "" : String(it.busy_percent));
          assert.equal(listed[place]["unknown (ns)"], String(it.unknown_ns));
        }
        assert.match(await page.locator(".as-text code").textContent(), /^isochrone bottleneck /);
        for (const { host, verdict } of verdicts) assert.ok((await page.locator(".time-picture canvas").getAttribute("aria-label")).includes(`${host}: ${verdict}`));
        assert.ok(await painted(page, CPU) > 300);
      });
    });
  }

  test("a click selects a step in the time graph, a double click shows it alone; hovering says the numbers", async () => {
    await panelOf(hog2, "resources", async (page) => {
      const { window } = await now(page), at = window.begin + (window.end - window.begin) * 0.4, [x, y] = await placeOf(page, at, 22 + 18);
      await page.mouse.move(x, y);
      assert.match(await tip(page), /^h1 CPU\n.*\nbusy [\d.]+ %\nwaited for [\d.]+ %/);
      await page.mouse.click(x, y);
      await rest(page);
      const { selection, row } = await now(page);
      assert.ok(selection.begin <= at && at < selection.end && selection.end - selection.begin < (window.end - window.begin) / 15);
      assert.equal(await page.evaluate((row) => isochrone.rows.row(row).kind, row), "host");
      assert.deepEqual((await now(page)).window, window, "the window stays");
      const before = await seen(page), command = await page.locator(".as-text code").textContent();
      await page.mouse.dblclick(x, y);
      await rest(page);
      const zoomed = (await now(page)).window;
      assert.ok(zoomed.end - zoomed.begin < (window.end - window.begin) / 10 && zoomed.begin <= at && at <= zoomed.end);
      // What was clicked stays what it is about: figures, command and picture, for the next click, too.
      assert.deepEqual(await seen(page), before);
      assert.equal(await page.locator(".as-text code").textContent(), command);
      await page.mouse.click(x, y);
      await rest(page);
      assert.deepEqual(await seen(page), before);
      // Zooming asks for the figures of that window.
      await page.keyboard.press("w");
      await rest(page);
      assert.match(await page.locator(".as-text code").textContent(), /^isochrone bottleneck --begin /);
      assert.notDeepEqual(await seen(page), before);
    });
  });

  test("what is unknown is drawn as unknown: where events were lost, of all resources and processes", async () => {
    const lossy = mkdtempSync(join(tmpdir(), "isochrone-losses-"));
    try {
      execFileSync("python3", [generator, lossy, "--events", "200000", "--cpus", "2", "--subbuf", "16384", "--gaps", "1", "--drop"], { stdio: "ignore" });
      await panelOf(lossy, "resources", async (page) => {
        assert.ok(await painted(page, UNKNOWN) > 30);
        const { begin, end } = await page.evaluate(() => isochrone.graph.losses.find((it) => it.end > it.begin));
        await page.mouse.move(...await placeOf(page, (begin + end) / 2, 22 + 18));
        assert.match(await tip(page), /unknown [\d.]+ %$/);
        await page.evaluate(() => isochrone.drawer.open("lives"));
        await rest(page);
        const texts = await page.locator("table[aria-label^='Processes'] tbody tr td:nth-child(4)").allTextContents();
        assert.ok(texts.some((text) => text.startsWith("≥ ")), texts.join());
      });
    } finally {
      rmSync(lossy, { recursive: true });
    }
  });
});

describe("lives", () => {
  let fault1;
  before(() => { fault1 = unpacked("fault1"); });
  after(() => fault1.remove());

  test("start, end, CPU time and page faults are those of the commands, and what the program counted", async () => {
    await panelOf(fault1.traces, "lives", async (page) => {
      const listed = await copied(page, "Processes in the window"), byPid = new Map(listed.map((it) => [it.process.split(" ").at(-1), it]));
      const used = tableOf(["analyze", "cputop", "--by-process"], fault1.traces, "processes"), faults = tableOf(["analyze", "pagefaults", "--by-process", "--limit", "1000"], fault1.traces, "pagefaults");
      assert.ok(used.length > 20);
      assert.equal(listed.length, used.filter((it) => it.cpu_ns > 0).length);
      for (const it of used.filter((it) => it.cpu_ns > 0)) {
        assert.equal(byPid.get(String(it.pid ?? it.tid))["CPU time (ns)"], String(it.cpu_ns));
        assert.equal(byPid.get(String(it.pid ?? it.tid))["page faults"], String(faults.find((other) => other.pid === (it.pid ?? it.tid))?.recorded ?? 0));
      }
      // What is surely all has no mark; of a process that was there before the CPU's first switch, CPU time is at least so much.
      const texts = await page.locator("table[aria-label^='Processes'] tbody tr").allInnerTexts();
      assert.match(texts.find((it) => it.includes("pf 194")), /\t1,108$/);
      assert.match(texts.find((it) => it.includes("lttng-consumerd")), /≥ [\d.]+ ms/);
      assert.match(await page.locator(".block-head .muted").first().textContent(), /^26 of 26 processes that ran$/);
      assert.ok(await painted(page, CPU) > 100);
    });
  });

  test("edges are where starts and ends were seen; a click goes to the row, and the list stays; zooming asks for the window alone", async () => {
    await panelOf(fault1.traces, "lives", async (page) => {
      const row = await page.evaluate(() => isochrone.view.now.rows.find((it) => it.pid === 194)), order = (await copied(page, "Processes")).findIndex((it) => it.process.endsWith(" 194"));
      const top = 18 + 18 * order + 9, [x, y] = await placeOf(page, (row.begin + row.end) / 2, top);
      await page.mouse.move(x, y);
      assert.match(await tip(page), /^h1 pf 194\nstarted .*, ended .*\nCPU time 235\.8 ms\npage faults 1,108\nhere [\d.]+ % of a CPU/);
      const text = (at) => page.evaluate(([at, top]) => { const it = document.querySelector(".time-picture canvas"), frame = isochrone.drawer.shown.pictures()[0].picture.frame(); return [...it.getContext("2d").getImageData(Math.round(frame.x(at) * devicePixelRatio) - 1, (top - 7) * devicePixelRatio, 2, 1).data.slice(0, 3)]; }, [at, top]);
      for (const at of [row.begin, row.end]) assert.deepEqual(await text(at), [28, 32, 38], "an edge");
      const before = await seen(page);
      await page.mouse.click(x, y);
      await rest(page);
      assert.equal((await now(page)).row, row.id);
      await page.mouse.dblclick(x, y);
      await rest(page);
      const { window } = await now(page);
      assert.ok(window.begin < row.begin && window.end > row.end && window.end - window.begin < (row.end - row.begin) * 1.2);
      assert.deepEqual(await seen(page), before, "the list and the picture stay");
      await page.locator(".lives .panel-bar button", { hasText: "the range is another" }).click();
      await rest(page);
      const listed = await copied(page, "Processes");
      assert.ok(listed.length < 26 && listed.some((it) => it.process.endsWith(" 194")) && !listed.some((it) => it.process.endsWith(" 192")));
    });
  });

  test("page faults that were not recorded are a dash, and no column of the picture", async () => {
    await panelOf(hog2, "lives", async (page) => {
      assert.ok((await copied(page, "Processes")).every((it) => it["page faults"] === ""));
      const svg = await page.evaluate(() => isochrone.drawer.shown.svg());
      assert.ok(svg.includes("CPU time") && !svg.includes("page faults"));
    });
  });
});

describe("disks", () => {
  let disk1;
  before(() => { disk1 = unpacked("disk1"); });
  after(() => disk1.remove());

  test("bytes by process are those that the programs read and wrote; requests are where they are", async () => {
    await panelOf(disk1.traces, "disks", async (page) => {
      const listed = await copied(page, "Requests to disks"), { disk_runs: runs } = JSON.parse(readFileSync(join(disk1.traces, "truth.json"), "utf8")).hosts.h1;
      for (const { role, pid, bytes } of runs.filter((it) => it.role !== "dk_warm")) {
        const line = listed.find((it) => it.disk === "h1 vdc" && it.process === `${role} ${pid}`);
        assert.equal(Number(line.read) + Number(line.written), bytes, role);
        assert.equal(line[role === "dk_seqw" ? "read" : "written"], "0");
      }
      // Of the file that was in memory nothing was read.
      assert.ok(!listed.some((it) => it.process.startsWith("dk_warm")));
      const { disks } = await page.evaluate(async () => { const { begin, end } = isochrone.view.now.experiment; return await (await fetch(`api/accesses?begin=${begin}&end=${end}`)).json(); });
      const vdc = disks.find((it) => it.disk === "vdc"), place = disks.indexOf(vdc), seeks = await page.locator(".seeks").nth(place).textContent();
      assert.equal(seeks, `${vdc.total} requests, ${vdc.follow} start where the one before ends, ${vdc.elsewhere} elsewhere, 31.2 MB away on average`);
      assert.equal(vdc.accesses.length, vdc.total);
      assert.match(await page.locator(".as-text code").textContent(), /^isochrone sql -c 'SELECT /);
      for (const colour of [[20, 130, 220], [215, 110, 0], [47, 158, 68]]) assert.ok(await painted(page, colour, place) > 30);
    });
  });

  test("hovering says which request it is, a click selects it", async () => {
    await panelOf(disk1.traces, "disks", async (page) => {
      const { disk, access, y } = await page.evaluate(() => {
        const { disk, picture } = isochrone.drawer.shown.drawn.find((it) => it.disk.disk === "vdc"), frame = picture.frame(), content = picture.content;
        // One that lies alone: nothing else is near.
        const access = disk.accesses.find(([, , bytes, process]) => disk.processes[process].pid === 211 && bytes > 65_536);
        for (let y = frame.top; y < frame.bottom; y += 1) if (content.tip(access[0], y, frame)[1] === `at byte ${access[1].toLocaleString("en-US")}`) return { disk, access, y };
        return null;
      });
      const [x, top] = await placeOf(page, access[0], y, 0);
      await page.mouse.move(x, top);
      assert.match(await tip(page), /^dk_cold 211 reads [\d.]+ kB\nat byte [\d,]+\nissued 07:03:5[\d.]+\ntook [\d.]+ [mµ]s$/);
      await page.mouse.click(x, top);
      await rest(page);
      const { selection, row } = await now(page);
      assert.deepEqual(selection, { begin: access[0], end: access[0] + access[5] });
      assert.equal(row, disk.row);
    });
  });

  test("a click that moves the window leaves list and pictures as they are; zooming takes them along", async () => {
    await panelOf(disk1.traces, "disks", async (page) => {
      const access = await page.evaluate(() => { const { disk } = isochrone.drawer.shown.drawn.find((it) => it.disk.disk === "vdc"); return disk.accesses[Math.floor(disk.accesses.length / 2)]; });
      // The request is at the very end of the window: to show it, that has to move.
      await page.evaluate((at) => isochrone.navigation.set({ begin: at - 2e8, end: at + 1e6 }), access[0]);
      await rest(page);
      const { window } = await now(page), before = await seen(page), canvas = await page.evaluate(() => isochrone.drawer.shown.drawn.findIndex((it) => it.disk.disk === "vdc"));
      const y = await page.evaluate(([at, canvas]) => { const { picture } = isochrone.drawer.shown.drawn[canvas], frame = picture.frame(); for (let y = frame.top; y < frame.bottom; y += 1) if (picture.content.tip(at, y, frame).length > 0) return y; return null; }, [access[0], canvas]);
      await page.mouse.click(...await placeOf(page, access[0], y, canvas));
      await rest(page);
      const moved = (await now(page)).window;
      assert.ok(moved.begin > window.begin && (await now(page)).selection !== null);
      assert.deepEqual(await seen(page), before);
      await page.locator("[role=tree]").focus();
      await page.keyboard.press("w");
      await rest(page);
      assert.notDeepEqual(await seen(page), before);
    });
  });

  test("the SVG file has all requests, reads full and writes hollow, with names; more than is sent says so", async () => {
    await panelOf(disk1.traces, "disks", async (page) => {
      const svg = await page.evaluate(() => isochrone.drawer.shown.svg()), parsed = await page.evaluate((svg) => new DOMParser().parseFromString(svg, "image/svg+xml").querySelector("parsererror") === null, svg);
      const { disks } = await page.evaluate(async () => { const { begin, end } = isochrone.view.now.experiment; return await (await fetch(`api/accesses?begin=${begin}&end=${end}`)).json(); });
      const of = (isWrite) => disks.reduce((sum, it) => sum + it.accesses.filter((access) => access[4] === isWrite).length, 0);
      assert.ok(parsed && svg.includes("h1 vdc: 622 requests"));
      assert.equal(svg.match(/width="3.5" height="3.5"/g).length, of(false));
      assert.equal(svg.match(/width="4" height="4"/g).length, of(true));
      const [download] = await Promise.all([page.waitForEvent("download"), page.locator(".save").click()]);
      assert.equal(download.suggestedFilename(), "disk1-disks.svg");
      await page.route("**/api/accesses*", (route) => route.continue({ url: route.request().url().replace("limit=5000", "limit=100") }));
      await page.keyboard.press("w");
      await rest(page);
      assert.match(await page.locator(".seeks").first().textContent(), /; 100 of \d+ drawn, evenly chosen$/);
    });
  });
});

describe("usage", () => {
  test("a click on a line goes to the instant of most, also where the window has to move; charts and table stay, until the window is zoomed", async () => {
    await panelOf(hog2, "usage", async (page) => {
      const most = (await copied(page, "Usage"))[0], origin = await page.evaluate(() => isochrone.view.now.experiment.origin_unix_ns), at = Number(BigInt(most["most at (unix ns)"]) - BigInt(origin));
      await page.evaluate((at) => isochrone.navigation.set({ begin: at, end: at + 5e8 }), at);
      await rest(page);
      const times = () => page.evaluate(() => isochrone.drawer.shown.charts.flatMap(({ plot }) => (plot === null ? [] : [[plot.scales.x.min, plot.scales.x.max]])));
      const lines = page.locator("table[aria-label^=Usage] tbody tr:not(.gap)");
      let isMoved = false;
      for (let place = 0; place < await lines.count(); place += 1) {
        const { window } = await now(page), before = await seen(page), charts = await times();
        await lines.nth(place).click();
        await rest(page);
        assert.deepEqual(await seen(page), before, `line ${place}`);
        assert.deepEqual(await times(), charts, `charts, line ${place}`);
        const there = await page.evaluate(() => ({ hover: isochrone.view.now.hover, window: isochrone.view.now.window }));
        assert.ok(there.hover >= there.window.begin && there.hover <= there.window.end);
        isMoved ||= there.window.begin !== window.begin;
      }
      assert.ok(isMoved, "one of them is at the edge");
      const before = await seen(page);
      await page.locator("[role=tree]").focus();
      await page.keyboard.press("s");
      await rest(page);
      assert.notDeepEqual(await seen(page), before);
      const { window } = await now(page);
      assert.deepEqual((await times())[0], [window.begin, window.end]);
    });
  });
});
