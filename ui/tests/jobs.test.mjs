// What people do with the page, job by job, on the shop of the example: lists that stay, ways back, narrow windows, what is lost, who ran instead, matches one after the other.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { launch, now, open, project, rest, serve } from "./page.mjs";

let browser, server, page;
before(async () => { browser = await launch(); server = await serve("examples/shop", project); });
after(async () => { await browser.close(); await server.stop(); });
beforeEach(async () => { await page?.close(); page = await open(browser, server.address); });

const panel = async (id) => { await page.evaluate((id) => isochrone.drawer.open(id), id); await rest(page); };
/** Picks the slowest request. */
async function slowest() {
  await page.locator(".header button", { hasText: "requests" }).click();
  await rest(page);
  await page.locator("button", { hasText: /^slowest$/ }).click();
  await page.waitForFunction(() => isochrone.view.now.path !== null);
  await rest(page);
}

test("in a narrow window everything of the header can be reached, with a request and a search", async () => {
  await slowest();
  await page.locator(".search").fill("duration > 10ms");
  for (const width of [900, 700, 500]) {
    await page.setViewportSize({ width, height: 700 });
    await rest(page);
    const outside = await page.evaluate(() => [...document.querySelectorAll(".header button, .header summary, .header input")].filter((it) => it.checkVisibility() && (it.getBoundingClientRect().right > innerWidth || it.getBoundingClientRect().left < 0)).map((it) => it.textContent));
    assert.deepEqual(outside, [], `${width}`);
    if (width < 600) continue;
    const { clientWidth, scrollWidth } = await page.locator(".inverted").evaluate(({ clientWidth, scrollWidth }) => ({ clientWidth, scrollWidth }));
    assert.ok(clientWidth >= scrollWidth - 1, `${width}: ${clientWidth} of ${scrollWidth} pixels of the count of messages`);
  }
});

test("a line of an analysis goes to its thread and time; the list stays, and goes on with the page when it is asked to", async () => {
  await panel("analyses");
  await page.locator("[data-name=schedtop]").click();
  await rest(page);
  const counts = () => page.evaluate(() => [...document.querySelectorAll(".analyses .block-head .muted")].map((it) => it.textContent)), all = await counts(), heading = await page.locator(".analyses .about").textContent();
  const lines = page.locator(".analyses .pickable tbody tr:not(.gap)"), again = page.locator(".analyses .panel-bar button", { hasText: "the range is another" });
  for (const at of [0, 1, 2]) {
    await lines.nth(at).click();
    await rest(page);
    assert.deepEqual(await counts(), all);
    const { row, selection } = await now(page), cells = await lines.nth(at).locator("td").allTextContents();
    assert.ok(selection.end > selection.begin);
    // The thread of the line is the row that is selected.
    const { host, tid } = await page.evaluate((row) => ({ host: isochrone.view.now.experiment.hosts[isochrone.rows.row(row).host].name, tid: isochrone.rows.row(row).tid }), row);
    assert.ok(cells.includes(host) && cells.includes(String(tid)), `${host} ${tid} is in ${cells.join(", ")}`);
  }
  const { selection } = await now(page);
  await lines.nth(2).dblclick();
  await rest(page);
  const { window } = await now(page);
  assert.ok(window.begin <= selection.begin && window.end >= selection.end && window.end - window.begin < 1.5 * (selection.end - selection.begin));
  assert.deepEqual(await counts(), all);
  assert.equal(await page.locator(".analyses .about").textContent(), heading);
  await again.click();
  await rest(page);
  assert.notDeepEqual(await counts(), all);
  // A time that is selected by hand is followed at once.
  await lines.first().click();
  const box = await page.locator(".graph").boundingBox();
  await page.mouse.move(box.x + 200, box.y + 15);
  await page.mouse.down();
  await page.mouse.move(box.x + 700, box.y + 15, { steps: 4 });
  await page.mouse.up();
  await rest(page);
  assert.match(await page.locator(".analyses .about").textContent(), /^selection/);
  assert.ok(await again.isHidden());
});

test("all rows are shown without losing the path; closing the path is a step of its own", async () => {
  await slowest();
  const lines = () => page.evaluate(() => isochrone.rows.lines.length), few = await lines();
  await page.locator("button", { hasText: /^show all rows$/ }).click();
  await rest(page);
  assert.ok(await lines() > few && await page.evaluate(() => isochrone.view.now.path !== null));
  await page.locator("button", { hasText: /^its rows only$/ }).click();
  await page.locator(".chip", { hasText: "rows of one request" }).click();
  await rest(page);
  assert.ok(await lines() > few && await page.evaluate(() => isochrone.view.now.path !== null));
  await page.locator("button", { hasText: "close the path" }).click();
  await rest(page);
  assert.ok(await page.evaluate(() => isochrone.view.now.path === null));
});

test("a link that is pasted is gone to, and Back leads back", async () => {
  const first = (await now(page)).window;
  await page.evaluate(() => { location.hash = "#w=5000000000,6000000000&d=events"; });
  await page.waitForFunction(() => isochrone.view.now.window.begin === 5e9);
  await rest(page);
  assert.equal(await page.evaluate(() => isochrone.drawer.id), "events");
  await page.evaluate(() => isochrone.drawer.open("critical-path"));
  await rest(page);
  await page.locator("button", { hasText: /^slowest$/ }).click();
  await page.waitForFunction(() => isochrone.view.now.path !== null);
  await rest(page);
  await page.goBack();
  await page.waitForFunction(() => isochrone.view.now.path === null && isochrone.view.now.window.begin === 5e9);
  await rest(page);
  assert.equal((await now(page)).window.end, 6e9);
  await page.goBack();
  await page.waitForFunction((begin) => Math.abs(isochrone.view.now.window.begin - begin) < 2, first.begin);
  await rest(page);
  await page.goForward();
  await page.goForward();
  await page.waitForFunction(() => isochrone.view.now.path !== null);
  await rest(page);
  assert.deepEqual(page.errors, []);
});

test("names that turn the direction of texts are shown without doing so", async () => {
  await page.route("**/api/rows", async (route) => { const answer = await route.fetch(); await route.fulfill({ response: answer, body: (await answer.text()).replace('"appsrv"', '"app\u202esrv"') }); });
  await page.reload();
  await page.waitForFunction(() => globalThis.isochrone?.isReady());
  assert.ok(await page.evaluate(() => isochrone.view.now.rows.some((row) => row.label === "app\ufffdsrv")));
});

test("what is resized says its size, and texts have contrast", async () => {
  for (const it of await page.locator("[role=separator]").all()) {
    const before = Number(await it.getAttribute("aria-valuenow"));
    assert.ok(before > 50);
    await it.focus();
    await it.press(await it.getAttribute("aria-orientation") === "vertical" ? "ArrowRight" : "ArrowUp");
    assert.equal(Number(await it.getAttribute("aria-valuenow")), before + 16);
  }
  const ratio = await page.locator("h1").evaluate((it) => {
    const light = (colour) => { const [r, g, b] = colour.match(/\d+/g).map((value) => { const part = value / 255; return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    return (light(getComputedStyle(it.parentElement).backgroundColor) + 0.05) / (light(getComputedStyle(it).color) + 0.05);
  });
  assert.ok(ratio >= 4.5, `${ratio}`);
});
