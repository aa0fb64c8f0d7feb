// What is missing of traces is said where one looks: in the header, under the pointer, as a list, from one to the next.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chain3, generator, launch, now, open, rest, serve } from "./page.mjs";

const lossy = mkdtempSync(join(tmpdir(), "isochrone-losses-"));
let browser;
before(async () => {
  execFileSync("python3", [generator, lossy, "--events", "200000", "--cpus", "2", "--subbuf", "16384", "--gaps", "1", "--drop"], { stdio: "ignore" });
  browser = await launch();
});
after(async () => { await browser.close(); rmSync(lossy, { recursive: true }); });
async function on(traces, body) {
  const server = await serve(traces), page = await open(browser, server.address);
  try { await body(page); assert.deepEqual(page.errors, []); } finally { await page.close(); await server.stop(); }
}
/** Where a row is at a time, on the page. */
const placeOf = async (page, row, at) => {
  const box = await page.locator(".graph").boundingBox(), { x, y } = await page.evaluate(([row, at]) => { const scene = isochrone.graph.scene(); return { x: scene.x(at), y: scene.middle(isochrone.rows.placeOf(row)) }; }, [row, at]);
  return [box.x + x, box.y + y];
};

test("events that were lost are counted in the header, listed, hatched, and told under the pointer", () => on(lossy, async (page) => {
  const { losses, losses_total: total } = await page.evaluate(async () => (await fetch("api/overview?bins=1")).json());
  const events = losses.filter((it) => it.what === "events").reduce((sum, it) => sum + it.count, 0);
  assert.ok(events > 0 && total === losses.length);
  assert.match(await page.locator(".chip.lost").textContent(), new RegExp(`^${events.toLocaleString("en-US")} events`));
  await page.locator(".chip.lost").click();
  await rest(page);
  assert.match(await page.locator(".losses .muted[role=status]").textContent(), new RegExp(`^${total} times in which something is missing`));
  const first = page.locator(".losses tbody tr:not(.gap)", { hasText: "lost" }).first();
  assert.match(await first.textContent(), /\d events? (was|were) lost/);
  await first.dblclick();
  await rest(page);
  const { row, selection } = await now(page);
  assert.equal(await page.evaluate((row) => isochrone.rows.row(row).kind, row), "cpu");
  await page.mouse.move(...await placeOf(page, row, (selection.begin + selection.end) / 2));
  await page.waitForFunction(() => /events? (was|were) lost/.test(document.querySelector(".tooltip:not([hidden])")?.textContent ?? ""));
  // From one to the next.
  await page.locator("[role=tree]").focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("f");
  await rest(page);
  const begins = [...new Set(losses.map((it) => it.begin))].sort((a, b) => a - b);
  await page.keyboard.press("l");
  assert.equal((await now(page)).selection.begin, begins[0]);
  await page.keyboard.press("l");
  assert.equal((await now(page)).selection.begin, begins[1] ?? begins[0]);
  assert.match(await page.locator(".status .answer").textContent(), /lost|the stream/);
  // The strip on top says it, too.
  const strip = await page.locator(".minimap-canvas").boundingBox(), all = await page.evaluate(() => isochrone.navigation.padded(isochrone.navigation.bounds)), { begin, end } = losses.find((it) => it.what === "events");
  await page.mouse.move(strip.x + strip.width * ((begin + end) / 2 - all.begin) / (all.end - all.begin), strip.y + strip.height / 2);
  await page.waitForFunction(() => /lost/.test(document.querySelector(".status .about").textContent));
}));

test("where nothing is lost, nothing is said", () => on(chain3, async (page) => {
  assert.ok(await page.locator(".chip.lost").isHidden());
}));
