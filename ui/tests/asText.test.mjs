// "As text": what the commands that panels show answer is what the panels show; where there is none, that is said. On the shop of the example, and on
// traces with losses.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { generator, launch, open, program, project, rest, serve } from "./page.mjs";

let browser, server, page;
before(async () => {
  browser = await launch();
  server = await serve("examples/shop", project);
});
after(async () => {
  await browser.close();
  await server.stop();
});
beforeEach(async () => {
  await page?.close();
  page = await open(browser, server.address);
});

const panel = async (id, kept = "") => {
  await page.evaluate(([id, kept]) => isochrone.drawer.open(id, kept), [id, kept]);
  await rest(page);
};
const asText = (page) => page.locator(".as-text:visible");
/** Runs the command that is shown, as somebody would who pasted it; with other options behind. */
async function answered(page, more = "", directory = project) {
  const command = await asText(page).locator("code").textContent();
  assert.match(command, /^isochrone /);
  return execFileSync("sh", ["-c", `${command.replace(/^isochrone/, `'${program}' -q`)} ${more} 2> /dev/null`], {
    cwd: directory,
    maxBuffer: 2 ** 30,
    encoding: "utf8",
  });
}
const listed = (label) =>
  page.locator(`table[aria-label^="${label}"] tbody tr:not(.gap)`).evaluateAll((all) => all.map((it) => [...it.cells].map((cell) => cell.textContent)));

test("the state of a thread is that of the command", async () => {
  const { row, at } = await page.evaluate(async () => {
    const { requests } = await (await fetch("api/requests")).json(),
      { server_row: row, begin, end } = requests[3];
    return { row, at: Math.round((begin + end) / 2) };
  });
  const state = await page.evaluate(async ([row, at]) => (await fetch(`api/state?row=${row}&at=${at}&clock=common`)).json(), [row, at]);
  await page.evaluate(({ row, begin, end }) => isochrone.view.set({ row, selection: { begin, end } }), state);
  await panel("state");
  const fields = Object.fromEntries(
    await page
      .locator(".state-parts dl")
      .first()
      .evaluate((it) => {
        const texts = [...it.children].map((part) => part.textContent);
        return texts.flatMap((text, place) => (place % 2 === 0 ? [[text, texts[place + 1]]] : []));
      }),
  );
  const lines = (await answered(page)).split("\n").filter((line) => line.includes(` ${state.state} `)),
    thread = await page.evaluate((row) => isochrone.rows.row(row), row);
  assert.equal(lines.length, 1);
  assert.ok(lines[0].includes(` ${thread.tid} `) && lines[0].includes(fields.begin) && lines[0].includes(fields.end), lines[0]);
  // Of CPUs there is none.
  await page.evaluate(() => {
    const { hosts } = isochrone.view.now.experiment,
      cpu = isochrone.view.now.rows.find((it) => it.kind === "cpu" && it.host === hosts[0].host);
    isochrone.view.set({ row: cpu.id, selection: null, hover: 5e9 });
  });
  await rest(page);
  assert.equal(await asText(page).innerText(), "no command gives this");
  assert.match(await asText(page).locator(".muted").getAttribute("title"), /`isochrone states` has those of threads/);
});

test("latencies: the command has the requests, and the causes of each, of which the figures are sums", async () => {
  await panel("latency");
  const answer = JSON.parse(await answered(page)),
    table = (name) => {
      const { columns, rows } = answer.tables.find((it) => it.name === name);
      return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column.name, row[at]])));
    };
  const requests = table("requests"),
    chosen = new Set((await listed("The chosen requests")).map(([number]) => Number(number)));
  assert.equal((await page.locator(".latency .about").textContent()).split(" ")[0], String(requests.length));
  assert.ok(chosen.size > 0 && chosen.size < requests.length);
  const means = await page.evaluate(() => {
    let text = "";
    Object.defineProperty(navigator, "clipboard", {
      configurable: true,
      value: {
        writeText: async (it) => {
          text = it;
        },
      },
    });
    document.querySelector("table[aria-label^='Time by cause']").closest(".block").querySelector(".copy").click();
    return text
      .split("\n")
      .slice(1)
      .map((line) => line.split("\t"));
  });
  const sums = new Map();
  for (const it of table("causes"))
    if (chosen.has(it.request)) {
      const key = `${it.comm === null ? it.host : `${it.host} ${it.comm}`} ${it.cause}`;
      sums.set(key, (sums.get(key) ?? 0) + it.total_ns);
    }
  assert.ok(means.length > 5);
  for (const [where, cause, mean] of means) assert.ok(Math.abs(Number(mean) - (sums.get(`${where} ${cause}`) ?? 0) / chosen.size) < 0.01, `${where} ${cause}`);
});

test("losses are those of the command", async () => {
  const traces = mkdtempSync(join(tmpdir(), "isochrone-losses-"));
  execFileSync("python3", [generator, traces, "--events", "200000", "--cpus", "2", "--subbuf", "16384", "--gaps", "1", "--drop"], { stdio: "ignore" });
  const lossy = await serve(traces),
    other = await open(browser, lossy.address);
  try {
    await other.evaluate(() => isochrone.drawer.open("losses"));
    await rest(other);
    const found = (await answered(other, "--format jsonl"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .filter((it) => it.what === "events");
    const lines = await other.locator(".losses tbody tr:not(.gap)").evaluateAll((all) => all.map((it) => [...it.cells].map((cell) => cell.textContent)));
    assert.deepEqual(
      lines
        .filter((it) => /lost$/.test(it[6]))
        .map(([host, cpu, , , , count]) => `${host} ${cpu} ${count}`)
        .sort(),
      found.map((it) => `${it.host} ${it.cpu} ${it.count}`).sort(),
    );
    assert.ok(found.length > 3);
  } finally {
    await other.close();
    await lossy.stop();
    rmSync(traces, { recursive: true });
  }
});

test("where no command gives the same, that is said, and why", async () => {
  await page.locator(".search").fill("duration > 5ms && state == wait-cpu");
  await rest(page);
  await panel("matches");
  assert.equal(await asText(page).innerText(), "no command gives this");
  assert.match(await asText(page).locator(".muted").getAttribute("title"), /its expressions are no option of a command/);
  assert.equal(await asText(page).locator("button:visible").count(), 0);
});

test("statistics show the query of what is seen: of states, of calls, of what ran instead; else that there is none", async () => {
  const texts = { command: "isochrone sql -c 'of states'", calls_command: "isochrone sql -c 'of calls'" },
    none = async () => [await asText(page).innerText(), (await asText(page).locator(".muted").getAttribute("title")).includes("too many threads or hosts")];
  let told = texts;
  await page.route("**/api/statistics", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ json: { ...(await answer.json()), ...told } });
  });
  await page.route("**/api/instead", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ json: { ...(await answer.json()), command: told.command === "" ? "" : "isochrone sql -c 'of instead'" } });
  });
  const ofStates = () => page.locator(".statistics .query").first();
  const turn = async (name) => {
    await page.locator(".turns button:visible", { hasText: new RegExp(`^${name}$`) }).click();
    await rest(page);
  };
  await panel("statistics");
  assert.equal(await asText(page).locator("code").textContent(), texts.calls_command);
  assert.equal(await ofStates().getAttribute("title"), texts.command);
  await turn("ran instead");
  assert.equal(await asText(page).locator("code").textContent(), "isochrone sql -c 'of instead'");
  // As of more threads than a query names.
  told = { command: "", calls_command: "" };
  await turn("by call");
  assert.deepEqual(await none(), ["no command gives this", true]);
  assert.ok(await ofStates().isHidden());
  await turn("ran instead");
  assert.deepEqual(await none(), ["no command gives this", true]);
});
