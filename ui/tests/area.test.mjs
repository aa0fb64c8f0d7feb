// What is added up over rows and time: files, peers, messages, held against SQL; questions in SQL; answers that are given up. On the shop of the example. `isochrone-sql` is beside the program, or in PATH.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, beforeEach, test } from "node:test";
import { launch, now, open, program, project, rest, serve } from "./page.mjs";

let browser, server, page;
before(async () => { browser = await launch(); server = await serve("examples/shop", project); });
after(async () => { await browser.close(); await server.stop(); });
beforeEach(async () => { await page?.close(); page = await open(browser, server.address); });

const panel = async (id) => { await page.evaluate((id) => isochrone.drawer.open(id), id); await rest(page); };
/** What the command of the panel that is seen answers, as objects. */
async function answered() {
  const command = await page.locator(".as-text code:visible").getAttribute("title");
  assert.match(command, /^isochrone sql -c '/);
  return JSON.parse(execFileSync("sh", ["-c", `${command.replace(/^isochrone sql/, `'${program}' sql --format json -q`)} 2> /dev/null`], { cwd: project, maxBuffer: 2 ** 30, encoding: "utf8" }));
}
/** The answer that the page got for what it asked last of a kind. */
const asked = (kind, body) => page.evaluate(async ([kind, body]) => (await fetch(`api/${kind}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).json(), [kind, body]);
const tab = async (text) => { await page.locator("button:visible", { hasText: new RegExp(`^${text}$`) }).click(); await rest(page); };
/** Selects rows of some processes of a host, and a time in the middle. */
async function selectArea() {
  const area = await page.evaluate(() => {
    const { begin, end } = isochrone.view.now.experiment, host = isochrone.view.now.experiment.hosts.find((it) => it.name === "h2").host, rows = isochrone.view.now.rows.filter((row) => row.host === host && row.label === "appsrv" && row.kind === "thread").map((row) => row.id).slice(0, 12);
    const selection = { begin: Math.round(begin + 0.2 * (end - begin)), end: Math.round(begin + 0.9 * (end - begin)) };
    isochrone.view.set({ selection, area: new Set(rows) });
    return { ...selection, rows };
  });
  await rest(page);
  assert.ok(area.rows.length > 3);
  return area;
}

for (const isArea of [false, true]) {
  test(`files and peers are those of the query, call by call: ${isArea ? "of some rows over a time" : "of all"}`, async () => {
    await panel("statistics");
    const area = isArea ? await selectArea() : await page.evaluate(() => ({ begin: isochrone.view.now.experiment.begin, end: isochrone.view.now.experiment.end, rows: null }));
    await tab("files");
    const answer = await asked("files", area), calls = await answered(), sum = (of) => of.reduce((all, it) => all + it, 0);
    assert.ok(calls.length > 5 && answer.file_count === answer.files.length);
    // By file: the sums of its calls.
    const byFile = new Map();
    for (const it of calls) byFile.set(`${it.host} ${it.file}`, [...(byFile.get(`${it.host} ${it.file}`) ?? []), it]);
    const hosts = await page.evaluate(() => isochrone.view.now.experiment.hosts.map((it) => it.name));
    assert.equal(answer.files.length, byFile.size);
    const reads = /^(read|pread64|readv|preadv2?|recv|recvfrom|recvmsg|mq_timedreceive)$/, writes = /^(write|pwrite64|writev|pwritev2?|send|sendto|sendmsg)$/;
    for (const file of answer.files) {
      const of = byFile.get(`${hosts[file.host]} ${file.file}`), name = `${hosts[file.host]} ${file.file}`, total = (which, column) => sum(of.filter((it) => which.test(it.call)).map((it) => it[column]));
      assert.deepEqual([file.reads, file.read_bytes, file.writes, file.written_bytes], [total(reads, "count"), total(reads, "returned"), total(writes, "count"), total(writes, "returned")], name);
      assert.deepEqual([file.reads + file.writes + file.others, file.errors, file.total_ns], [sum(of.map((it) => it.count)), sum(of.map((it) => it.errors)), sum(of.map((it) => it.total_ns))], name);
    }
    assert.equal(answer.all.total_ns, sum(calls.map((it) => it.total_ns)));
    assert.match(await page.locator("table[aria-label^=Files] tbody tr:not(.gap)").first().textContent(), /h\d/);
    await tab("peers");
    const sockets = answer.files.filter((it) => it.file?.includes("->"));
    assert.equal(sum(answer.peers.map((it) => it.read_bytes)), sum(sockets.map((it) => it.read_bytes)));
    assert.equal(sum(answer.peers.map((it) => it.connections)), new Set(sockets.map((it) => `${it.host} ${it.file}`)).size);
    assert.ok(await page.locator("table[aria-label^=Peers] tbody tr:not(.gap)").count() > 0);
  });

  test(`messages are those of the query: ${isArea ? "of some rows over a time" : "of all"}`, async () => {
    await panel("statistics");
    const area = isArea ? await selectArea() : await page.evaluate(() => ({ begin: isochrone.view.now.experiment.begin, end: isochrone.view.now.experiment.end, rows: null }));
    await tab("messages");
    const answer = await asked("exchanged", area), queried = await answered(), sum = (of, column) => of.reduce((all, it) => all + it[column], 0);
    const packets = answer.pairs.filter((it) => !it.is_mpi);
    assert.ok(packets.length > 0);
    assert.equal(sum(packets, "count"), sum(queried, "count"));
    assert.equal(sum(packets, "total_ns"), sum(queried, "total_ns"));
    assert.equal(Math.max(...packets.map((it) => it.max_ns)), Math.max(...queried.map((it) => it.max_ns)));
    assert.match(await page.locator(".statistics-parts .block:visible", { has: page.locator("table[aria-label^=Messages]") }).locator(".muted").first().textContent(), /^[\d,]+ messages/);
  });
}

test("a question in SQL is answered as a table, whose lines lead to rows and instants; as rows, and as marks", async () => {
  await panel("sql");
  const text = page.locator(".sql-text");
  await text.fill("SELECT host, tid, comm, name, begin_time, end_time, duration_ns FROM syscalls WHERE comm = 'appsrv' AND host = 'h2' ORDER BY duration_ns DESC LIMIT 7");
  await text.press("Control+Enter");
  await rest(page);
  const lines = page.locator("table[aria-label^=Answer] tbody tr:not(.gap)");
  assert.equal(await lines.count(), 7);
  await lines.nth(1).click();
  await rest(page);
  const { row, selection } = await now(page), cells = await lines.nth(1).locator("td").allTextContents();
  assert.ok(selection.end > selection.begin);
  assert.equal(await page.evaluate((row) => String(isochrone.rows.row(row).tid), row), cells[1]);
  assert.equal(await page.evaluate((row) => isochrone.view.now.experiment.hosts[isochrone.rows.row(row).host].name, row), "h2");
  await page.locator("button", { hasText: /^as marks$/ }).click();
  assert.equal(await page.evaluate(() => isochrone.view.now.marks.length), 7);
  await page.locator("button", { hasText: /^as rows$/ }).click();
  await rest(page);
  assert.ok(await page.evaluate(() => isochrone.view.now.onlyRows.size) <= 7);
  // The link has the question.
  const link = await page.evaluate(() => location.href), other = await open(browser, link);
  assert.equal(await other.locator(".sql-text").inputValue(), await text.inputValue());
  assert.equal(await other.locator("table[aria-label^=Answer] tbody tr:not(.gap)").count(), 7);
  await other.close();
  // What is wrong is said in the program's words; what writes is not passed on.
  for (const [wrong, words] of [["SELECT nothing FROM syscalls", /nothing/], ["COPY syscalls TO 'x.csv'", /one statement that reads/], ["SELECT 1; SELECT 2", /one statement that reads/]]) {
    await text.fill(wrong);
    await page.locator("button", { hasText: /^ask$/ }).click();
    await rest(page);
    assert.match(await page.locator(".sql-result .notice.failed").textContent(), words);
  }
  assert.deepEqual(page.errors, []);
});

test("looking for requests, and for a path, is stopped as all that is slow: by the button, and by Escape where a key asked for it", async () => {
  const gone = [];
  let holds = true;
  for (const kind of ["requests", "path"]) await page.route(`**/api/${kind}?*`, async (route) => { if (holds) { gone.push(new URL(route.request().url()).searchParams.get("ask")); await new Promise(() => undefined); } await route.continue(); });
  await page.evaluate(() => isochrone.drawer.open("critical-path"));
  const stop = page.locator(".critical-path .stop");
  await stop.click();
  assert.match(await page.locator(".critical-path .notice").textContent(), /Nothing is worked on any more/);
  holds = false;
  await page.locator(".critical-path .notice button", { hasText: "ask again" }).click();
  await rest(page);
  holds = true;
  await page.locator("button", { hasText: /^slowest$/ }).click();
  await stop.click();
  await rest(page);
  assert.equal((await page.evaluate(() => isochrone.view.now.path)), null);
  assert.ok(gone.length === 2 && gone.every((ask) => ask !== null), "the server can be asked how far each is");
  const row = await page.evaluate(() => isochrone.view.now.rows.find((it) => it.kind === "thread").id);
  await page.evaluate((row) => isochrone.view.set({ row }), row);
  await page.locator("[role=tree]").focus();
  await page.keyboard.press("c");
  await page.waitForFunction(() => /Esc stops/.test(document.querySelector(".status .answer").textContent));
  await page.keyboard.press("Escape");
  await rest(page);
  assert.match(await page.locator(".status .answer").textContent(), /^Stopped/);
  assert.equal(await page.evaluate(() => isochrone.view.now.row), row, "the row stays selected");
});

test("a slow answer tells how far it is, and is given up: the server is told, what was there stays away", async () => {
  let isGone = false;
  await page.route("**/api/table", async (route) => { await new Promise((go) => setTimeout(go, 3000)); await route.continue().catch(() => undefined); });
  await page.route("**/api/progress?*", (route) => route.fulfill({ contentType: "application/json", body: '{"progress":[37,100]}' }));
  page.on("requestfailed", (request) => { isGone ||= request.url().endsWith("/api/table"); });
  await page.evaluate(() => isochrone.drawer.open("analyses"));
  await page.locator(".analyses .busy", { hasText: "loading … 37 %" }).waitFor();
  await page.locator(".analyses button.stop").click();
  await page.locator(".analyses .notice", { hasText: "Stopped" }).waitFor();
  await rest(page);
  assert.ok(isGone);
  assert.ok(await page.locator(".analyses button.stop").isHidden());
  await page.unroute("**/api/table");
  await page.locator(".analyses button", { hasText: /^ask again$/ }).click();
  await rest(page);
  assert.ok(await page.locator(".analyses .tables table").count() > 0);
  // So it is when another panel is opened.
  isGone = false;
  await page.route("**/api/table", async (route) => { await new Promise((go) => setTimeout(go, 3000)); await route.continue().catch(() => undefined); });
  await page.locator("[data-name=schedtop]").click();
  await page.locator(".analyses button.stop:visible").waitFor();
  await page.evaluate(() => isochrone.drawer.open("state"));
  await rest(page);
  assert.ok(isGone);
});
