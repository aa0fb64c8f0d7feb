// What axe finds wrong, in all panels, in both themes and with the colours for all eyes: nothing. On the shop of the example, with a request, a search and dialogs.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { launch, open, project, rest, serve } from "./page.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser, server;
before(async () => { browser = await launch(); server = await serve("examples/shop", project); });
after(async () => { await browser.close(); await server.stop(); });

/** What is wrong, in words: the rule, and the elements that break it. */
const wrong = (page, part) => page.evaluate(async (part) => (await axe.run(part ?? document, { resultTypes: ["violations"] })).violations.flatMap((it) => it.nodes.map((node) => `${it.id} (${it.impact}): ${node.html.slice(0, 160)} ${node.failureSummary.slice(0, 200)}`)), part);

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing wrong: ${colorScheme}`, async () => {
    const page = await open(browser, server.address, { colorScheme, isFirst: true });
    await page.evaluate(axe);
    const found = new Map(), look = async (what, part = null) => {
      await rest(page);
      // The same on several panels is one.
      for (const it of await wrong(page, part)) found.set(it, [...found.get(it) ?? [], what]);
    };
    await look("first sight");
    const panels = await page.evaluate(() => isochrone.drawer.all.map((it) => it.id));
    for (const id of panels) { await page.evaluate((id) => isochrone.drawer.open(id), id); await look(id, ".drawer"); }
    await page.evaluate(() => isochrone.drawer.open("critical-path"));
    await rest(page);
    await page.locator("button", { hasText: /^slowest$/ }).click();
    await page.waitForFunction(() => isochrone.view.now.path !== null);
    await look("a request");
    await page.evaluate(() => { const step = isochrone.view.now.path.steps.find((it) => it.cause === "wait-cpu"); isochrone.view.set({ row: step.row, selection: { begin: step.begin, end: step.end } }); isochrone.drawer.open("state"); });
    await look("a state", ".drawer");
    await page.locator(".search").fill("duration > 5ms && state == wait-cpu");
    await page.evaluate(() => isochrone.drawer.open("matches"));
    await look("matches", ".drawer");
    for (const by of ["cause", "instead", "phase", "file", "peer", "message", "pivot-host"]) { await page.evaluate((by) => isochrone.drawer.open("statistics", by), by); await look(`statistics by ${by}`, ".drawer"); }
    for (const key of ["?", "Control+k"]) {
      await page.locator("[role=tree]").focus();
      await page.keyboard.press(key);
      await look(`dialog of ${key}`, "dialog[open]");
      await page.keyboard.press("Escape");
    }
    // With the colours for all eyes.
    const colours = () => page.locator(".state-legend .swatch").evaluateAll((all) => all.map((it) => getComputedStyle(it).backgroundColor)), usual = await colours();
    await page.locator("[role=tree]").focus();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("colour vision");
    await page.keyboard.press("Enter");
    await rest(page);
    assert.ok((await colours()).every((colour, place) => colour !== usual[place]), "the other palette is shown");
    await look("colours for all eyes");
    for (const id of panels) { await page.evaluate((id) => isochrone.drawer.open(id), id); await look(`${id}, colours for all eyes`, ".drawer"); }
    await page.setViewportSize({ width: 900, height: 600 });
    await look("a narrow page");
    assert.deepEqual([...found].map(([it, where]) => `${it} — ${where.join(", ")}`), []);
    assert.deepEqual(page.errors, []);
    await page.close();
  });
}
