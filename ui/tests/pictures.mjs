// The pictures of the documentation, from vm/chain3: `npm run pictures` writes them to docs/pictures.
import { mkdir, stat } from "node:fs/promises";
import { chain3, launch, open, pictures, rest, serve } from "./page.mjs";

const MOST_BYTES = 200_000;
await mkdir(pictures, { recursive: true });
const server = await serve(chain3), browser = await launch();
const page = await open(browser, server.address, { viewport: { width: 1280, height: 800 } });
const take = async (name) => {
  await rest(page);
  await page.waitForTimeout(400);
  await page.mouse.move(2, 2);
  const path = `${pictures}/${name}.png`;
  await page.screenshot({ path });
  const { size } = await stat(path);
  console.log(`${name}.png ${Math.round(size / 1000)} kB`);
  if (size > MOST_BYTES) process.exitCode = 1;
};
const request = async (number) => {
  await page.evaluate(async (number) => {
    const path = await (await fetch(`api/path?request=${number}`)).json();
    isochrone.view.set({ path, onlyRows: new Set(path.steps.map((step) => step.row).filter((row) => row !== null)) });
    isochrone.navigation.show(path);
  }, number);
  await rest(page);
};

await page.evaluate(() => isochrone.drawer.open(null));
await take("first-sight");
// Hosts alone: hundreds of red lines would make a large file.
await page.keyboard.press("X");
await page.setViewportSize({ width: 1280, height: 300 });
await take("common-clock");
await page.keyboard.press("k");
await page.waitForTimeout(600);
await take("own-clocks");
await page.keyboard.press("k");
await page.waitForTimeout(600);
await page.keyboard.press("X");
await page.setViewportSize({ width: 1280, height: 800 });
await request(14);
await take("request");
await page.locator(".header .icon").first().click();
await take("request-dark");
await page.locator(".header .icon").first().click();
for (const tab of await page.locator(".tabs [role=tab]").all()) {
  await tab.click();
  await page.waitForTimeout(800);
  await take(`panel-${await tab.getAttribute("data-id")}`);
}
await browser.close();
await server.stop();
