// The pages that `isochrone sync --html` and `isochrone summary` write: no error in Chromium, marks where they must be, readable on paper.
// What is drawn is held against the commands' own figures and against messages that other programs matched, by the labels of the axes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { launch, ping5, program, project, tableOf } from "./page.mjs";

const scp = resolve(ping5, "../../scp"), shop = resolve(project, "examples/shop");
const GREEN = [0x1a, 0x7f, 0x37], FORTH = [0x2f, 0x6f, 0xd6], BACK = [0xb5, 0x53, 0x0a], RED = [0xc9, 0x18, 0x2b], BUSY = [0x2f, 0x9e, 0x44];
let browser, directory;
before(async () => {
  browser = await launch();
  directory = mkdtempSync(join(tmpdir(), "isochrone-html-"));
});
after(async () => {
  await browser.close();
  rmSync(directory, { recursive: true });
});

/** Writes a page with a command, and opens it. */
async function written(command, traces) {
  const file = join(directory, `${command[0]}-${traces.split("/").at(-1)}.html`);
  execFileSync(program, ["-q", command[0], ...command.slice(1), file, traces], { stdio: ["ignore", "ignore", "inherit"] });
  // Three pixels for each: a line does not hide the dot below it.
  const page = await browser.newPage({ viewport: { width: 1000, height: 800 }, deviceScaleFactor: 3, colorScheme: "light" }), errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") errors.push(message.text()); });
  page.on("request", (request) => { if (!request.url().startsWith("file:") && !request.url().startsWith("data:")) errors.push(`asks for ${request.url()}`); });
  await page.goto(pathToFileURL(file).href);
  return { page, errors, file };
}

/** A picture as it is on the screen: whether a colour is near places of the picture's own coordinates, and how many pixels have it. */
async function pixels(picture) {
  const png = (await picture.screenshot()).toString("base64");
  const [width] = (await picture.getAttribute("viewBox")).split(" ").slice(2).map(Number);
  const page = await browser.newPage();
  await page.evaluate(async ([png, width]) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const ctx = new OffscreenCanvas(image.width, image.height).getContext("2d");
    ctx.drawImage(image, 0, 0);
    const { data } = ctx.getImageData(0, 0, image.width, image.height), scale = image.width / width;
    const is = (colour, x, y) => x >= 0 && y >= 0 && x < image.width && y < image.height && colour.every((part, place) => Math.abs(part - data[4 * (y * image.width + x) + place]) <= 24);
    globalThis.has = (colour, [x, y], around) => {
      for (let dx = -around; dx <= around; dx += 1) for (let dy = -around; dy <= around; dy += 1) if (is(colour, Math.floor(x * scale) + dx, Math.floor(y * scale) + dy)) return true;
      return false;
    };
    globalThis.count = (colour) => {
      let found = 0;
      for (let y = 0; y < image.height; y += 1) for (let x = 0; x < image.width; x += 1) if (is(colour, x, y)) found += 1;
      return found;
    };
  }, [png, width]);
  return {
    /** Of each place, whether the colour is within so many pixels of the screen. */
    has: (colour, places, around = 5) => page.evaluate(([colour, places, around]) => places.map((place) => has(colour, place, around)), [colour, places, around]),
    count: (colour) => page.evaluate((colour) => count(colour), colour),
    close: () => page.close(),
  };
}
/** Nearly all of them: a few marks lie below others. */
const mostly = (all) => all.filter(Boolean).length >= 0.95 * all.length;

const NS = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9 };
/** The scales of a picture, from the labels of its axes: ns to coordinates. */
async function scales(picture) {
  const labels = await picture.evaluate((svg) => [...svg.querySelectorAll("text.mark")].map((it) => ({ text: it.textContent, x: it.x.baseVal[0].value, y: it.y.baseVal[0].value, anchor: it.getAttribute("text-anchor") })));
  const line = (points) => {
    const [first, last] = [points[0], points.at(-1)], slope = (last[1] - first[1]) / (last[0] - first[0]);
    return (ns) => first[1] + (ns - first[0]) * slope;
  };
  const ns = (text) => { const [value, unit] = text.split(" "); return Number(value) * NS[unit]; };
  const along = labels.filter((it) => it.anchor === "middle").map((it) => [ns(it.text), it.x]);
  const upward = labels.filter((it) => it.anchor === "end").map((it) => [ns(it.text), it.y - 3.5]);
  return { x: line(along), y: upward.length > 1 ? line(upward) : undefined };
}

const link = (page, a, b) => page.locator(`svg[aria-label^="messages between ${a} and ${b}:"]`);

for (const [name, traces] of [["scp", scp], ["ping5", ping5], ["shop", shop]]) {
  for (const command of [["sync", "--html"], ["summary", "-o"]]) {
    test(`${command[0]} of ${name}: no error, and it reads on paper`, async () => {
      const { page, errors, file } = await written(command, traces);
      assert.deepEqual(errors, []);
      assert.ok(statSync(file).size < 2e6, `${statSync(file).size} bytes`);
      // A4 with its margins is 703 pixels wide: nothing is cut off there.
      await page.emulateMedia({ media: "print" });
      await page.setViewportSize({ width: 703, height: 1000 });
      const wide = await page.evaluate(() => [...document.querySelectorAll("table, svg, dl, p, code")].filter((it) => it.getBoundingClientRect().right > 704).map((it) => it.outerHTML.slice(0, 80)));
      assert.deepEqual(wide, []);
      assert.ok((await page.pdf({ preferCSSPageSize: true })).length > 10_000);
      await page.close();
    });
  }
}

test("messages of scp are where another program's matches are", async () => {
  const { page } = await written(["sync", "--html"], scp);
  const { clocks } = JSON.parse(execFileSync(program, ["-q", "sync", "--format", "json", scp], { encoding: "utf8", maxBuffer: 2 ** 28 }));
  const [a, b] = ["VM1", "VM3"].map((host) => clocks.find((clock) => clock.host === host));
  /** The time on the reference's clock, ns since the first event of VM1. */
  const common = (clock, unix) => {
    const raw = Number(BigInt(unix) - BigInt(clock.clock_offset_ns)), { knots } = clock;
    const place = Math.max(0, Math.min(knots.length - 2, knots.findIndex((knot) => knot[0] > raw) - 1));
    const [[x0, y0], [x1, y1]] = knots.slice(place, place + 2);
    return y0 + ((raw - x0) * (y1 - y0)) / (x1 - x0) - a.interval[0][0];
  };
  const picture = link(page, "VM1", "VM3"), seen = await pixels(picture), { x, y } = await scales(picture);
  const places = { forth: [], back: [] };
  for (const line of readFileSync(join(scp, "scp_matches.tsv"), "utf8").split("\n").filter((it) => it !== "" && !it.startsWith("#"))) {
    const [from, sent, , received] = line.split("\t"), isForth = from === "0";
    const [of, to] = isForth ? [a, b] : [b, a], [left, arrived] = [common(of, sent), common(to, received)];
    const place = isForth ? [x(left), y(arrived - left)] : [x(arrived), y(left - arrived)];
    // Some are farther off than shown.
    if (place[1] > 14 && place[1] < 268) places[isForth ? "forth" : "back"].push(place);
  }
  assert.ok(places.forth.length + places.back.length > 20, `${places.forth.length} + ${places.back.length} messages`);
  assert.ok(mostly(await seen.has(FORTH, places.forth)) && mostly(await seen.has(BACK, places.back)));
  // No message of one direction is where those of the other one are.
  assert.ok(!(await seen.has(BACK, places.forth)).some(Boolean) && !(await seen.has(FORTH, places.back)).some(Boolean));
  // The estimate is where no time has passed.
  assert.deepEqual(await seen.has(GREEN, [[870, y(0)]]), [true]);
  await seen.close();
  await page.close();
});

test("ping5: hosts, links, and messages before and after", async () => {
  const { page } = await written(["sync", "--html"], ping5);
  assert.equal(await page.locator("circle.node").count(), 5);
  assert.equal(await page.locator("circle.node.reference").count(), 1);
  const { links } = JSON.parse(execFileSync(program, ["-q", "sync", "--format", "json", ping5], { encoding: "utf8", maxBuffer: 2 ** 28 }));
  assert.equal(await page.locator("line.edge").count(), links.filter((it) => it.quality !== "absent").length);
  const arrows = page.locator("svg[aria-label='messages as arrows between hosts']");
  const [own, common] = [await pixels(arrows.nth(0)), await pixels(arrows.nth(1))];
  const red = [await own.count(RED), await common.count(RED)];
  assert.ok(red[0] > 100 && red[1] === 0, `${red} red pixels`);
  for (const [a, b] of [["h1", "h2"], ["h3", "h4"]]) {
    const picture = link(page, a, b), seen = await pixels(picture), { y } = await scales(picture);
    const dots = (kind) => picture.evaluate((svg, kind) => [...svg.querySelector(`path.${kind}`).getAttribute("d").matchAll(/M([\d.]+) ([\d.]+)/g)].map((it) => [Number(it[1]), Number(it[2])]), kind);
    const [forth, back] = [await dots("forth"), await dots("back")];
    assert.ok(forth.every((it) => it[1] < y(0)) && back.every((it) => it[1] > y(0)), "no message arrives before it was sent");
    const shown = (all) => all.filter((it) => it[1] > 14 && it[1] < 268);
    assert.ok(shown(forth).length > 60 && shown(back).length > 30);
    assert.ok(mostly(await seen.has(FORTH, shown(forth))) && mostly(await seen.has(BACK, shown(back))));
    await seen.close();
  }
  await own.close();
  await common.close();
  await page.close();
});

test("shop: strips are as high as CPUs were busy", async () => {
  const { page } = await written(["summary", "-o"], shop);
  const figure = page.locator("figure", { has: page.locator("svg[aria-label^='CPU usage']") }), picture = figure.locator("svg");
  const seen = await pixels(picture), { x } = await scales(picture);
  const [, day, second, fraction] = /since (\S+) (\d+:\d+:\d+)\.(\d+) UTC/.exec(await figure.locator("figcaption").textContent());
  const begin = Date.parse(`${day}T${second}Z`) * 1e6 + Number(fraction);
  const table = tableOf(["analyze", "usage"], shop, "host"), hosts = [...new Set(table.map((it) => it.host))];
  const below = [], above = [];
  for (const [row, host] of hosts.entries()) {
    const base = await picture.locator("line.axis").nth(row).evaluate((it) => it.y1.baseVal.value);
    for (const step of table.filter((it) => it.host === host && it.unknown_ns === 0)) {
      const middle = x((step.begin_ns + step.end_ns) / 2 - begin), high = base - (30 * step.percent) / 100;
      if (step.percent > 20) below.push([middle, high + 3]);
      if (step.percent < 80) above.push([middle, high - 4]);
    }
  }
  assert.ok(below.length > 40 && above.length > 100, `${below.length}, ${above.length} steps`);
  assert.ok((await seen.has(BUSY, below, 1)).every(Boolean) && !(await seen.has(BUSY, above, 1)).some(Boolean));
  await seen.close();
  // The slowest request, drawn and in the table.
  const [slowest] = tableOf(["critical-path"], shop, "requests").sort((p, q) => q.total_ns - p.total_ns);
  assert.match(await page.locator("figcaption", { hasText: "the slowest" }).textContent(), new RegExp(`^Request ${slowest.request},`));
  assert.ok(await page.locator("rect.cause-cpu").count() > 10);
  await page.close();
});

test("causes have the colours that the page gives them", () => {
  const shown = readFileSync(resolve(project, "crates/export/src/html/style.css"), "utf8"), drawn = readFileSync(resolve(project, "ui/src/colours.ts"), "utf8");
  const [, list] = /const CAUSES[^{]*\{([^}]*)\}/.exec(drawn), causes = [...list.matchAll(/"?([a-z-]+)"?: \[(\d+), (\d+), (\d+)\]/g)];
  assert.equal(causes.length, 14);
  for (const [, cause, ...colour] of causes) {
    const rule = new RegExp(`\\.cause-${cause}\\b[^{]*\\{ fill: #([0-9a-f]{6});`).exec(shown);
    assert.deepEqual(rule?.[1].match(/../g).map((part) => parseInt(part, 16)), colour.map(Number), cause);
  }
});
