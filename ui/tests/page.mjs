// Starts the server on traces and opens its page in Debian's Chromium. Used by: the tests, the bench, the pictures.
// ISOCHRONE_BIN: the program; CHROMIUM: the browser.
import { execFileSync, spawn } from "node:child_process";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const ui = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const program = resolve(ui, process.env.ISOCHRONE_BIN ?? "../target/release/isochrone");
export const chain3 = resolve(ui, "../../shared/data/vm/chain3"), ping5 = resolve(ui, "../../shared/data/vm/ping5");
export const pictures = resolve(ui, "../docs/pictures");

/** A table of a command's answer, as objects. Times lose some hundred ns: they are larger than numbers are exact. */
export function tableOf(command, traces, name) {
  const answer = JSON.parse(execFileSync(program, ["-q", ...command, "--format", "json", traces], { maxBuffer: 2 ** 30, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  const table = answer.tables.find((it) => it.name === name);
  return table.rows.map((row) => Object.fromEntries(table.columns.map((column, at) => [column.name, row[at]])));
}

/** A server on traces; `stop` ends it. */
export async function serve(traces) {
  const child = spawn(program, ["view", "--no-open", "--listen", "127.0.0.1:0", traces], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((done, failed) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      const found = /http:\/\/\S+/.exec(text);
      if (found !== null) done(found[0]);
    });
    child.on("exit", (code) => failed(new Error(`the server ended with ${code}`)));
  });
  return { address, stop: () => new Promise((done) => { child.removeAllListeners("exit"); child.on("exit", done); child.kill("SIGTERM"); }) };
}
export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--headless=new", "--no-sandbox", "--disable-gpu"] });
}
/** The page, once its first picture is complete. Errors of its script end the test. */
export async function open(browser, address, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, colorScheme: "light", ...options });
  page.errors = [];
  page.on("pageerror", (error) => page.errors.push(error.message));
  await page.goto(address);
  await page.waitForFunction(() => globalThis.isochrone?.isReady() && isochrone.frames().length > 0, undefined, { timeout: 120_000 });
  await rest(page);
  return page;
}
/** Waits until nothing is asked for and nothing moves. */
export async function rest(page) {
  for (let quiet = 0; quiet < 3;) {
    await page.waitForTimeout(90);
    quiet = (await page.evaluate(() => isochrone.isLoading() || isochrone.clock.isSliding)) ? 0 : quiet + 1;
  }
}
export const now = (page) => page.evaluate(() => {
  const { window, selection, row, clock } = isochrone.view.now;
  return { window, selection, row, clock };
});
/** Shows a window, and a row in it; without anything over the bars. */
export async function show(page, row, window) {
  await page.evaluate(([row, window]) => {
    isochrone.navigation.go(row, window.begin);
    isochrone.navigation.set(window);
    isochrone.view.set({ selection: null, row: null });
  }, [row, window]);
  await rest(page);
}
/** Pixel of a row at a time: its x, the middle of its line, and the colour there. */
export const pixelAt = (page, row, at) => page.evaluate(([row, at]) => {
  const scene = isochrone.graph.scene(), x = scene.x(at), y = scene.middle(isochrone.rows.placeOf(row));
  return { x, y, colour: isochrone.pixel(x, y) };
}, [row, at]);
/** How many pixels of the graph have a colour, in what is seen. */
export const count = (page, [r, g, b]) => page.evaluate(([r, g, b]) => {
  const { canvas } = isochrone.graph, data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let found = 0;
  for (let at = 0; at < data.length; at += 4) if (data[at] === r && data[at + 1] === g && data[at + 2] === b) found += 1;
  return found;
}, [r, g, b]);
