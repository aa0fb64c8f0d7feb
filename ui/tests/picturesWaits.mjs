// The pictures of docs/tour-waits.md: a slow disk and a lock (chain4b), a lost message (lossy2), of the public corpus. Each is made as the tour says, with mouse and keys;
// what the tour says of figures is checked on the way. Used by: `npm run pictures`.
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { launch, lossy, open, pictures, rest, serve, unpacked } from "./page.mjs";

const MOST_BYTES = 150_000, SIZE = { width: 1060, height: 640 };
const browser = await launch();
const on = async (traces, tell) => {
  const server = await serve(traces), page = await open(browser, server.address, { isFirst: true, viewport: SIZE });
  const take = async (name) => {
    await page.mouse.move(2, 2);
    await rest(page);
    // What was answered a while ago is no longer in the line at the bottom.
    await page.waitForFunction(() => document.querySelector(".status .answer").textContent === "");
    const path = `${pictures}/${name}.png`;
    await page.screenshot({ path });
    const { size } = await stat(path);
    console.log(`${name}.png ${Math.round(size / 1000)} kB`);
    if (size > MOST_BYTES) process.exitCode = 1;
  };
  // Half of the page is the drawer; arrows are shown where they are what matters.
  await page.evaluate(() => { localStorage.setItem("isochrone.drawer", "260"); });
  await page.reload();
  await page.waitForFunction(() => globalThis.isochrone?.isReady());
  await rest(page);
  await page.keyboard.press("g");
  await tell(page, take);
  assert.deepEqual(page.errors, []);
  await page.close();
  await server.stop();
};
const request = async (page, number) => {
  await page.locator("table[aria-label=Requests] tbody tr:not(.gap)", { has: page.locator(`td:first-child:text-is("${number}")`) }).click();
  await page.waitForFunction((number) => isochrone.view.now.path?.request === number, number);
  await rest(page);
};

const chain = unpacked("chain4b");
await on(chain.traces, async (page, take) => {
  await page.locator(".header button", { hasText: "requests" }).click();
  await rest(page);
  await request(page, 20);
  assert.match(await page.locator(".sentence").textContent(), /h4 back-w0 waited 100\.5 ms for a disk \(median 0 s\)/);
  await take("slow-disk");
  await page.evaluate(() => isochrone.drawer.open("disks"));
  await rest(page);
  await take("slow-disk-requests");
  await page.locator(".header button", { hasText: "requests" }).click();
  await rest(page);
  await request(page, 22);
  // The red part of the path's row of h3 back-w0.
  const at = await page.evaluate(() => {
    const { path } = isochrone.view.now, step = path.steps.filter((it) => it.cause === "lock").sort((a, b) => b.end - b.begin - a.end + a.begin)[0], order = [...new Set(path.steps.map((it) => it.row).filter((row) => row !== null))];
    const [head, ...lines] = isochrone.rows.lines, of = lines.filter((line) => line.row === null && line.id < head.id)[order.indexOf(step.row)], scene = isochrone.graph.scene(), box = document.querySelector(".graph").getBoundingClientRect();
    return { detail: step.detail, x: box.x + scene.x((step.begin + step.end) / 2), y: box.y + scene.middle(isochrone.rows.placeOf(of.id)) };
  });
  assert.equal(at.detail, "futex, held by back-lk 135");
  await page.mouse.click(at.x, at.y);
  await page.evaluate(() => isochrone.drawer.open("state"));
  await rest(page);
  assert.match(await page.locator(".state-parts").textContent(), /ended by.*back-lk 135/);
  await take("lock");
});
chain.remove();
await on(lossy, async (page, take) => {
  await page.evaluate(() => isochrone.drawer.open("sql"));
  await rest(page);
  await page.locator(".sql select").selectOption({ label: "segments that were sent again" });
  await page.locator("button", { hasText: /^ask$/ }).click();
  await rest(page);
  const lines = page.locator("table[aria-label^=Answer] tbody tr:not(.gap)");
  assert.match(await page.locator(".sql .controls .muted").textContent(), /^23 rows$/);
  await page.locator("button", { hasText: /^as marks$/ }).click();
  await lines.first().dblclick();
  await rest(page);
  await take("lost-message");
});
await browser.close();
