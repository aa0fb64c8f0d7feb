// Everything that can be switched is in the address: who opens it in another browser sees the same.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, open, project, rest, serve } from "./page.mjs";

let browser, server;
before(async () => { browser = await launch(); server = await serve("examples/shop", project); });
after(async () => { await browser.close(); await server.stop(); });

const tab = async (page, title) => { await page.getByRole("tab", { name: title, exact: true }).click(); await rest(page); };
/** Half of the requests are of another service. */
async function withServices(page) {
  await page.route("**/api/requests*", async (route) => { const response = await route.fetch(), said = await response.json(); await route.fulfill({ response, json: { ...said, requests: said.requests.map((it) => (it.request > 14 ? { ...it, service: "other ~ one" } : it)) } }); });
  await page.route("**/api/compared", (route) => route.continue({ postData: route.request().postData().replace("other ~ one", "10.0.0.2:8080") }));
}
/** Does a command by its name, from the palette. */
async function command(page, name) {
  await page.locator("[role=tree]").focus();
  await page.keyboard.press("Control+k");
  await page.locator(".palette input").fill(name);
  await page.locator(".palette li .name", { hasText: name }).first().click();
  await rest(page);
}
/** What is switched how, on the whole page: of each panel as it is when it is opened. */
async function seen(page) {
  const all = { };
  const note = async (name, get) => { all[name] = await get; };
  const field = (selector) => page.locator(selector).first().inputValue();
  await note("times", field(".time-field select"));
  await note("axis", page.evaluate(() => /seconds since the begin|UTC|local time/.exec(isochrone.svg())[0]));
  await note("legend", page.locator(".state-legend").isVisible());
  await note("theme", page.evaluate(() => document.documentElement.dataset.theme));
  await note("colours", page.evaluate(() => getComputedStyle(document.querySelector(".state-legend .swatch")).backgroundColor));
  await note("arrows", page.evaluate(() => [isochrone.graph.arrows.areMessagesOn, isochrone.graph.arrows.areWakeupsOn]));
  await note("clock", page.locator(".clock-switch").getAttribute("aria-checked"));
  await note("sort", page.locator(".tree-head [aria-pressed=true]").allTextContents());
  await note("search", field(".search"));
  await note("path", page.locator("[role=treeitem]", { hasText: "critical path of request" }).getAttribute("aria-expanded"));
  await note("panel", page.locator(".tabs [aria-selected=true]").textContent());
  await tab(page, "Matches");
  await note("matches", Promise.all([field(".matches select >> nth=0"), field(".matches select >> nth=1"), page.locator(".matches tbody tr:not(.gap)").first().textContent()]));
  await tab(page, "Events");
  await note("events", Promise.all([field(".events input"), field(".events select >> nth=0"), field(".events select >> nth=1"), page.locator(".events tbody tr:not(.gap)").first().textContent()]));
  await tab(page, "Messages");
  await note("messages", Promise.all([field(".messages input[type=search]"), page.locator(".messages input[type=checkbox]").isChecked(), page.locator(".messages .muted[role=status]").textContent()]));
  await tab(page, "Latency");
  await note("latency", Promise.all([field(".latency select"), page.locator(".latency .sentence").textContent()]));
  await tab(page, "Statistics");
  await note("statistics", page.locator(".statistics .turns button[aria-pressed=true]:visible").allTextContents());
  await tab(page, "Critical path");
  await note("requests", page.locator(".critical-path .filter").first().inputValue());
  await tab(page, "Analyses");
  await note("analysis", page.locator(".analyses [aria-selected=true]").getAttribute("data-name"));
  await note("order", page.locator(".analyses th[aria-sort=descending], .analyses th[aria-sort=ascending]").allTextContents());
  return all;
}

test("each switch is in the address: another browser shows them all as they were set", async () => {
  const page = await open(browser, server.address, { isFirst: true });
  await withServices(page);
  // A path, its rows closed.
  await page.locator(".header button", { hasText: "requests" }).click();
  await rest(page);
  await page.locator(".critical-path .filter").first().fill("h1");
  await page.locator("button", { hasText: /^slowest$/ }).click();
  await page.waitForFunction(() => isochrone.view.now.path !== null);
  await rest(page);
  await page.locator("[role=treeitem]", { hasText: "critical path of request" }).locator(".twist").click();
  await page.locator("button", { hasText: /^show all rows$/ }).click();
  await rest(page);
  await page.locator(".tree-head button", { hasText: "by activity" }).click();
  await page.locator(".clock-switch").click();
  await rest(page);
  await page.locator(".time-field select").selectOption("since begin");
  await page.locator(".header button[title='Light or dark']").click();
  await command(page, "legend of the colours");
  await command(page, "colours of states");
  await command(page, "arrows of messages");
  await command(page, "arrows of wake-ups");
  await page.locator(".search").fill("state == blocked && duration > 20ms");
  await rest(page);
  await tab(page, "Matches");
  await page.locator(".matches select").nth(0).selectOption("window");
  await page.locator(".matches select").nth(1).selectOption("longest");
  await tab(page, "Events");
  await page.locator(".events select").nth(0).selectOption({ label: "h2" });
  await page.locator(".events select").nth(1).selectOption("window");
  await page.locator(".events input").fill("sched_wakeup");
  await rest(page);
  await tab(page, "Messages");
  await page.locator(".messages input[type=checkbox]").click();
  await page.locator(".messages input[type=search]").fill("h1 h2");
  await tab(page, "Latency");
  await page.locator(".latency select").selectOption({ index: 1 });
  await rest(page);
  const box = await page.locator(".latency .histogram").boundingBox();
  await page.mouse.move(box.x + box.width * 0.15, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.55, box.y + box.height / 2, { steps: 4 });
  await page.mouse.up();
  await rest(page);
  await tab(page, "Statistics");
  await page.locator(".statistics button:visible", { hasText: "by process" }).click();
  await page.locator(".statistics button:visible", { hasText: "ran instead" }).click();
  await tab(page, "Analyses");
  await page.locator(".analyses [data-name=syscallstats]").click();
  await rest(page);
  await page.locator(".analyses th button").nth(1).click();
  await rest(page);
  await tab(page, "Messages");
  await page.waitForTimeout(400);
  const address = page.url(), expected = await seen(page);
  // Nothing of it is as it is at first.
  const plain = await open(browser, server.address, { isFirst: true });
  assert.deepEqual(expected.times, "since begin");
  assert.deepEqual(expected.arrows, [false, true]);
  assert.deepEqual([expected.legend, expected.clock, expected.path, expected.panel, expected.analysis, expected.theme], [false, "false", "false", "Messages", "syscallstats", "dark"]);
  assert.deepEqual(expected.matches.slice(0, 2), ["window", "longest"]);
  assert.deepEqual([expected.events[0], expected.events[2], expected.messages[0], expected.messages[1]], ["sched_wakeup", "window", "h1 h2", true]);
  assert.deepEqual(expected.statistics, ["by process", "ran instead"]);
  assert.notEqual(expected.colours, await plain.evaluate(() => getComputedStyle(document.querySelector(".state-legend .swatch")).backgroundColor));
  await plain.close();
  // Contexts of their own: what a browser keeps of the page is not there.
  const other = await open(browser, address, { isFirst: true });
  await withServices(other);
  assert.deepEqual(await seen(other), expected);
  assert.deepEqual([...page.errors, ...other.errors], []);
  await other.close();
  // What is chosen in a browser wins over what it kept, and is not changed by links: it is there again without one.
  await page.goto("about:blank");
  await page.goto(`${address.split("#")[0]}#time=UTC&legend=1&d=`);
  await page.waitForFunction(() => globalThis.isochrone?.isReady());
  await rest(page);
  assert.equal(await page.locator(".time-field select").inputValue(), "UTC");
  assert.ok(await page.locator(".state-legend").isVisible());
  await page.goto("about:blank");
  await page.goto(address.split("#")[0]);
  await page.waitForFunction(() => globalThis.isochrone?.isReady());
  await rest(page);
  assert.equal(await page.locator(".time-field select").inputValue(), "since begin");
  assert.ok(await page.locator(".state-legend").isHidden());
  await page.close();
});
