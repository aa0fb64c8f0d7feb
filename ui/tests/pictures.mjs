// The pictures of README and docs/tour.md, from examples/shop: `npm run pictures` writes them to docs/pictures. Each is made as the tour says, with mouse and keys.
import { mkdir, stat } from "node:fs/promises";
import { launch, open, pictures, project, rest, serve } from "./page.mjs";

const MOST_BYTES = 220_000;
await mkdir(pictures, { recursive: true });
const server = await serve("examples/shop", project), browser = await launch();
const page = await open(browser, server.address, { isFirst: true, viewport: { width: 1280, height: 800 } });
const take = async (name) => {
  await page.mouse.move(2, 2);
  await rest(page);
  const path = `${pictures}/${name}.png`;
  await page.screenshot({ path });
  const { size } = await stat(path);
  console.log(`${name}.png ${Math.round(size / 1000)} kB`);
  if (size > MOST_BYTES) process.exitCode = 1;
};
/** Where a row is at a time, on the page. */
const placeOf = async (row, at) => {
  const box = await page.locator(".graph").boundingBox();
  const { x, y } = await page.evaluate(([row, at]) => { const scene = isochrone.graph.scene(); return { x: scene.x(at), y: scene.middle(isochrone.rows.placeOf(row)) }; }, [row, at]);
  return [box.x + x, box.y + y];
};

await take("first-sight");

// Before and after: hosts alone, which are enough to see the arrows.
await page.keyboard.press("v");
await page.keyboard.press("X");
await page.setViewportSize({ width: 1280, height: 300 });
await take("common-clock");
await page.keyboard.press("k");
await take("own-clocks");
await page.keyboard.press("k");
await rest(page);
await page.keyboard.press("X");
await page.setViewportSize({ width: 1280, height: 800 });

// The slowest request.
await page.setViewportSize({ width: 1280, height: 720 });
await page.locator(".header button", { hasText: "requests" }).click();
await rest(page);
await page.locator("button", { hasText: /^slowest$/ }).click();
await page.waitForFunction(() => isochrone.view.now.path !== null);
await take("request");
await page.locator(".header .icon").first().click();
await take("request-dark");
await page.locator(".header .icon").first().click();

// Its longest wait for a CPU, and who ran meanwhile.
const wait = await page.evaluate(() => isochrone.view.now.path.steps.filter((step) => step.cause === "wait-cpu").sort((a, b) => b.end - b.begin - a.end + a.begin)[0]);
await page.mouse.dblclick(...await placeOf(wait.row, (wait.begin + wait.end) / 2));
await rest(page);
await page.keyboard.press("Escape");
await page.locator("button", { hasText: "show all rows" }).click();
await page.evaluate(([row, { begin, end }]) => isochrone.view.set({ row, selection: { begin, end } }), [wait.row, wait]);
await page.keyboard.press("O");
await page.evaluate(() => isochrone.drawer.open("statistics"));
await rest(page);
await page.locator("button:visible", { hasText: "by cause" }).click();
await rest(page);
// What was answered a while ago is no longer in the line at the bottom.
await page.waitForFunction(() => document.querySelector(".status .answer").textContent === "");
await take("waits");

// All waits like it.
await page.evaluate(() => isochrone.drawer.open(null));
await page.keyboard.press("Escape");
await page.keyboard.press("f");
await page.locator(".search").fill("state == wait-cpu && duration > 5ms && host == h2");
// Its begin is seen, too.
await page.locator(".search").press("Home");
await take("filter");
await page.locator(".search").fill("");

// How sure all of that is.
await page.evaluate(() => isochrone.drawer.open("synchronization"));
await page.setViewportSize({ width: 1280, height: 900 });
await rest(page);
await page.locator("[data-link='h2-h3']").focus();
await page.keyboard.press("Enter");
await page.waitForFunction(() => document.querySelector(".link-picture h3")?.textContent === "h2 ↔ h3");
await take("synchronization");
await browser.close();
await server.stop();
