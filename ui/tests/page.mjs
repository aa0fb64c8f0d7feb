// Starts the server on traces and opens its page in Debian's Chromium. Used by: the tests, the bench, the pictures.
// ISOCHRONE_BIN: the program; CHROMIUM: the browser.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

/** Loaded machines are slow: a state that has not come by then does not come. */
const LONGEST_MS = 60_000;

const ui = resolve(dirname(fileURLToPath(import.meta.url)), "..");
export const program = resolve(ui, process.env.ISOCHRONE_BIN ?? "../target/release/isochrone");
const directoryOfMachines = resolve(ui, "../../shared/data/vm");
export const chain3 = resolve(directoryOfMachines, "chain3"), ping5 = resolve(directoryOfMachines, "ping5"), phases3 = resolve(directoryOfMachines, "phases3"), mpi4 = resolve(directoryOfMachines, "mpi4"), ustMpi = resolve(directoryOfMachines, "../ust/mpi");
export const hog2 = resolve(directoryOfMachines, "hog2"), web2 = resolve(directoryOfMachines, "web2"), lossy = resolve(directoryOfMachines, "lossy2");
/** Traces that are packed in the corpus, in a directory of their own, which `remove` deletes. */
export function unpacked(name) {
  const directory = mkdtempSync(join(tmpdir(), "isochrone-page-"));
  execFileSync("tar", ["--zstd", "-xf", resolve(directoryOfMachines, `${name}.tar.zst`), "-C", directory]);
  return { traces: join(directory, name), remove: () => rmSync(directory, { recursive: true }) };
}
/** The names of all traces of virtual machines, and the traces of one: `remove` deletes what was unpacked. */
export const machines = () => readdirSync(directoryOfMachines).map((it) => it.replace(/\.tar\.zst$/, "")).filter((it) => !["README.md", "refs"].includes(it)).sort();
export const machine = (name) => existsSync(resolve(directoryOfMachines, name)) ? { traces: resolve(directoryOfMachines, name), remove: () => undefined } : unpacked(name);
/** Writes traces with losses; it lies beside the public corpus. */
export const generator = resolve(directoryOfMachines, "../../tools/gen_ctf_kernel.py");
/** What independent programs made of these traces. */
export const reference = (name) => JSON.parse(readFileSync(resolve(directoryOfMachines, "refs", `${name}.json`), "utf8"));
/** The project's directory, where `examples/shop` is. */
export const project = resolve(ui, "..");
export const pictures = resolve(project, "docs/pictures");

/** A table of a command's answer, as objects. Times lose some hundred ns: they are larger than numbers are exact. */
export function tableOf(command, traces, name) {
  const answer = JSON.parse(execFileSync(program, ["-q", ...command, "--format", "json", traces], { maxBuffer: 2 ** 30, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  const table = answer.tables.find((it) => it.name === name);
  return table.rows.map((row) => Object.fromEntries(table.columns.map((column, at) => [column.name, row[at]])));
}

/** Events of some names that the command lists, as objects. */
export const eventsOf = (names, traces) => execFileSync(program, ["-q", "events", "--event", names, "--format", "jsonl", traces], { maxBuffer: 2 ** 30, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));

/** A server on traces, started in a directory, with the store where it is asked for, and other options; `stop` ends it. */
export async function serve(traces, directory = ui, store = null, options = []) {
  const kept = store === null ? [] : ["--store", store];
  const child = spawn(program, ["view", "--quiet", "--no-open", "--listen", "127.0.0.1:0", ...kept, ...options, traces], { cwd: directory, stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((done, failed) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      const found = /http:\/\/\S+/.exec(text);
      if (found !== null) done(found[0]);
    });
    child.on("error", failed);
    child.on("exit", (code) => failed(new Error(`the server ended with ${code}`)));
  });
  return { address, stop: () => new Promise((done) => { child.removeAllListeners("exit"); child.on("exit", done); child.kill("SIGTERM"); }) };
}
export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--headless=new", "--no-sandbox", "--disable-gpu"] });
}
/** The page, once its first picture is complete: rows each for themselves, by CPU time; `isFirst`: as it is at first sight. Errors of its script end the test. */
export async function open(browser, address, { isFirst = false, ...options } = {}) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, colorScheme: "light", ...options });
  page.setDefaultTimeout(LONGEST_MS);
  page.errors = [];
  page.on("pageerror", (error) => page.errors.push(error.message));
  await page.goto(address);
  await page.waitForFunction(() => globalThis.isochrone?.isReady() && isochrone.frames().length > 0);
  await rest(page);
  if (!isFirst && await page.evaluate(() => isochrone.rows.isGrouped)) {
    await page.evaluate(() => isochrone.activity.sort(isochrone.navigation.boundsOf("common")));
    await rest(page);
  }
  return page;
}
/** Waits until nothing is asked for and nothing moves, for some frames: what was done before is drawn. */
export async function rest(page) {
  await page.evaluate(() => { globalThis.quietFrames = 0; });
  await page.waitForFunction(() => (globalThis.quietFrames = isochrone.isIdle() ? quietFrames + 1 : 0) >= 3, undefined, { polling: "raf", timeout: LONGEST_MS });
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
