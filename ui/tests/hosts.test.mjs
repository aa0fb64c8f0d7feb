// Many hosts, and hosts of one name: their order, the strip over the rows, what tells them apart.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { copied } from "./made.mjs";
import { chain3, hog2, launch, open, ping5, rest, serve } from "./page.mjs";
import { load } from "./source.mjs";

const directory = mkdtempSync(join(tmpdir(), "isochrone-hosts-")), ten = join(directory, "ten");
let browser;
before(async () => {
  browser = await launch();
  // Of three experiments, one after the other.
  const all = [...[1, 2, 3, 4, 5].map((it) => [ping5, it]), ...[1, 2, 3].map((it) => [chain3, it]), ...[1, 2].map((it) => [hog2, it])];
  all.forEach(([from, host], place) => copied(join(from, `h${host}`, "kernel"), join(ten, `t${place + 1}`), `h${place + 1}`));
});
after(async () => { await browser.close(); rmSync(directory, { recursive: true }); });
async function on(traces, body) {
  const server = await serve(traces, directory, join(directory, `store-${traces.replaceAll("/", "-").slice(-40)}`)), page = await open(browser, server.address, { isFirst: true });
  try { await body(page); assert.deepEqual(page.errors, []); } finally { await page.close(); await server.stop(); }
}
const names = Array.from({ length: 10 }, (_, place) => `h${place + 1}`);
/** What is said beside the pointer, in the middle of the lane of a host, at a share of the width of the strip. */
async function under(page, place, hosts, share = 0.5) {
  const box = await page.locator(".minimap-canvas").boundingBox();
  await page.mouse.move(box.x + share * box.width, box.y + ((place + 0.5) * box.height) / hosts);
  return page.locator(".minimap-host").textContent();
}
/** How much of the strip's lane of a host is bars, between two instants: parts of pixels, too. */
const bars = (page, place, hosts, begin, end) => page.evaluate(([place, hosts, begin, end]) => {
  const canvas = document.querySelector(".minimap-canvas"), { window } = isochrone.view.now, x = (at) => Math.round(((at - window.begin) / (window.end - window.begin)) * canvas.width);
  const top = Math.ceil((place * canvas.height) / hosts), bottom = Math.floor(((place + 1) * canvas.height) / hosts), left = Math.max(40, x(begin)), data = canvas.getContext("2d").getImageData(left, top, x(end) - left, bottom - top).data;
  let found = 0;
  for (let at = 0; at < data.length; at += 4) found += (255 - data[at]) / (255 - 0x7d);
  return found / (data.length / 4);
}, [place, hosts, begin, end]);

test("ten hosts are in the order of their numbers, in rows, in the strip and in lists; the strip stays low", () => on(ten, async (page) => {
  const rows = await page.evaluate(() => isochrone.rows.lines.filter((it) => it.row?.kind === "host").map((it) => it.label));
  assert.deepEqual(rows, names);
  assert.ok((await page.locator(".minimap").boundingBox()).height <= 60);
  const said = [];
  for (let place = 0; place < 10; place += 1) said.push((await under(page, place, 10)).split(":")[0]);
  assert.deepEqual(said, names);
  await page.mouse.move(700, 500);
  assert.ok(await page.locator(".minimap-host").isHidden());
  await page.evaluate(() => isochrone.drawer.open("events"));
  await rest(page);
  assert.deepEqual(await page.locator(".events select[aria-label=Host] option").allTextContents(), ["all hosts", ...names]);
  for (const [panel, table] of [["usage", "Usage in the window"], ["synchronization", "Hosts and formulas"]]) {
    await page.evaluate((panel) => isochrone.drawer.open(panel), panel);
    await rest(page);
    const column = await page.locator(`table[aria-label^="${table}"] tbody tr:not(.gap) td:first-child`).allTextContents();
    assert.deepEqual([...new Set(column)], names.slice(0, new Set(column).size), panel);
    assert.ok(new Set(column).size > 2, panel);
  }
}));

test("the strip is as high as CPUs were busy, and has the names of hosts", () => on(hog2, async (page) => {
  const { begin, end, series } = await page.evaluate(async () => {
    const { begin, end } = isochrone.view.now.experiment;
    return { begin, end, series: (await (await fetch(`api/usage?begin=${begin}&end=${end}&points=40`)).json()).series.filter((it) => it.kind === "cpu") };
  });
  await page.waitForFunction(() => document.querySelector(".minimap-canvas") !== null);
  let checked = 0;
  for (const { host, x, y } of series) {
    const place = Number(await page.evaluate((host) => isochrone.view.now.experiment.hosts[host].name.slice(1), host)) - 1;
    for (let step = 2; step < x.length - 2; step += 1) {
      if (y[step] === null) continue;
      const share = await bars(page, place, 2, x[step], x[step + 1]);
      assert.ok(Math.abs(share - y[step] / 100) < 0.2, `h${place + 1}, step ${step}: drawn ${share}, is ${y[step]} %`);
      checked += 1;
    }
    const known = y.filter((it) => it !== null);
    assert.ok(Math.max(...known) - Math.min(...known) > 50, `busy and idle times are there: ${known.map(Math.round)}`);
    // The same in words, under the pointer.
    const busiest = y.indexOf(Math.max(...y)), { window } = await page.evaluate(() => isochrone.view.now), at = (x[busiest] + x[busiest + 1]) / 2;
    const [, percent] = /^h\d: CPU use ([\d.]+) %$/.exec(await under(page, place, 2, (at - window.begin) / (window.end - window.begin))) ?? [];
    assert.ok(Math.abs(Number(percent) - y[busiest]) < 30, `${percent} % and ${y[busiest]} %`);
  }
  assert.ok(checked > 40 && begin < end);
}));

test("hosts of one name are told apart by the directories of their traces", async () => {
  const same = join(directory, "same");
  for (const [place, at] of ["monday/site/web", "tuesday/site/web"].entries()) copied(join(hog2, "h1", "kernel"), join(same, at), "web", place);
  await on(same, async (page) => {
    const lines = page.locator(".line.host");
    const days = await lines.locator(".directory").allTextContents();
    assert.deepEqual([...days].sort(), ["monday", "tuesday"]);
    assert.deepEqual(await lines.locator(".name").allTextContents(), [`web${days[0]}`, `web#2${days[1]}`]);
    for (const [place, day] of days.entries()) {
      const [box, name] = [await lines.nth(place).locator(".directory").boundingBox(), await lines.nth(place).locator(".name").boundingBox()];
      assert.ok(box.x + box.width <= name.x + name.width, "it is not cut off");
      assert.match(await lines.nth(place).locator(".name").getAttribute("title"), new RegExp(`/${day}/site/web`));
    }
  });
  // A host that is alone with its name has no directory beside it.
  await on(hog2, async (page) => assert.equal(await page.locator(".line .directory").count(), 0));
});

test("what tells directories apart is as short as can be", async () => {
  const { directoryOf } = await load("sameNames"), of = (...all) => { const hosts = all.map(([name, trace], host) => ({ host, name, traces: [trace] })); return hosts.map(({ host }) => directoryOf(hosts, host)); };
  assert.deepEqual(of(["web", "/t/a/web/kernel"], ["web#2", "/t/b/web/kernel"], ["db", "/t/a/db/kernel"]), ["a", "b", ""]);
  assert.deepEqual(of(["web", "/t/1/x/web"], ["web#2", "/t/2/y/web"], ["web#3", "/t/2/x/web"]), ["1/x", "2/y", "2/x"]);
  assert.deepEqual(of(["web", "/t/web"], ["web#2", "/t/web/old"]), ["web", "old"]);
});
