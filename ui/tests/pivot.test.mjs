// The pivot of the selected time and rows: hosts, processes or threads against states. On two traces, held against the sums of the statistics; where
// threads are left out, nothing is missing of the sums.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chain3, launch, open, project, rest, serve } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
});

const STATES = ["unknown", "usermode", "system call", "interrupted", "waits for a CPU", "blocked", "waits for fork", "", "running"];
/** Opens traces with the pivot shown, by clicks. */
async function pivotOf(traces, directory, run) {
  const server = await serve(traces, directory);
  try {
    const page = await open(browser, server.address);
    await page.locator("#tab-statistics").click();
    await page.locator(".turns button:visible", { hasText: /^pivot$/ }).click();
    await rest(page);
    await run(page);
    assert.deepEqual(page.errors, []);
    await page.close();
  } finally {
    await server.stop();
  }
}
/** The pivot, as it is copied: exact numbers. */
const copied = (page) =>
  page.evaluate(async () => {
    let text = "";
    Object.defineProperty(navigator, "clipboard", {
      configurable: true,
      value: {
        writeText: async (it) => {
          text = it;
        },
      },
    });
    document.querySelector("table[aria-label^=Pivot]").closest(".block").querySelector(".copy").click();
    const [head, ...lines] = text.split("\n").map((line) => line.split("\t"));
    return lines.map((line) => Object.fromEntries(head.map((name, at) => [name.replace(" (ns)", ""), at === 0 ? line[at] : Number(line[at])])));
  });
const statistics = (page, rows) =>
  page.evaluate(async (rows) => {
    const { selection, experiment } = isochrone.view.now,
      { begin, end } = selection ?? experiment;
    return (
      await fetch("api/statistics", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ begin, end, rows }) })
    ).json();
  }, rows);
/** Its lines add up to the last one, and that is what the statistics have. */
function totals(lines, { states }) {
  const all = lines.at(-1),
    ones = lines.slice(0, -1);
  assert.equal(all.of, "all");
  for (const { style, total_ns: total } of states) assert.equal(all[STATES[style]], total, STATES[style]);
  assert.equal(
    all.all,
    states.reduce((sum, it) => sum + it.total_ns, 0),
  );
  for (const state of [...STATES.filter((name) => name !== ""), "on a CPU", "all"])
    assert.equal(
      ones.reduce((sum, it) => sum + it[state], 0),
      all[state],
      state,
    );
}

for (const [name, traces, directory] of [
  ["chain3", chain3, undefined],
  ["shop", "examples/shop", project],
]) {
  test(`${name}: hosts, processes and threads add up to the statistics, of all and of an area`, async () => {
    await pivotOf(traces, directory, async (page) => {
      const by = page.locator("select[aria-label='A line for each']"),
        hosts = await page.evaluate(() => isochrone.view.now.experiment.hosts.map((it) => it.name));
      const whole = await statistics(page, null);
      for (const [of, count] of [
        ["host", hosts.length],
        ["process", null],
        ["thread", whole.threads.length],
      ]) {
        await by.selectOption(of);
        const lines = await copied(page);
        totals(lines, whole);
        if (count !== null) assert.equal(lines.length - 1, count);
      }
      // Each host is what the statistics have of it alone.
      await by.selectOption("host");
      for (const line of (await copied(page)).slice(0, -1)) {
        const row = await page.evaluate((name) => isochrone.view.now.experiment.hosts.find((it) => it.name === name).row, line.of);
        for (const { style, total_ns: total } of (await statistics(page, [row])).states)
          assert.equal(line[STATES[style]], total, `${line.of} ${STATES[style]}`);
      }
      // Sorted by a column, the sum stays last; a click goes to the row.
      await page.locator("table[aria-label^=Pivot] th button", { hasText: /^blocked$/ }).click();
      const blocked = (await copied(page)).map((it) => it.blocked);
      assert.deepEqual(
        blocked.slice(0, -1),
        [...blocked.slice(0, -1)].sort((a, b) => b - a),
      );
      assert.equal((await copied(page)).at(-1).of, "all");
      await page.locator("table[aria-label^=Pivot] tbody tr:not(.gap)").first().click();
      await rest(page);
      assert.equal(await page.evaluate(() => isochrone.rows.row(isochrone.view.now.row).label), (await copied(page))[0].of);
      totals(await copied(page), whole);
      // Of some rows over a time.
      const rows = await page.evaluate(() => {
        const { begin, end } = isochrone.view.now.experiment,
          rows = isochrone.view.now.rows
            .filter((it) => it.kind === "thread")
            .filter((_, place) => place % 5 === 0)
            .map((it) => it.id);
        isochrone.view.set({
          selection: { begin: Math.round(begin + 0.3 * (end - begin)), end: Math.round(begin + 0.8 * (end - begin)) },
          area: new Set(rows),
          chosen: isochrone.view.now.chosen + 1,
        });
        return rows;
      });
      await rest(page);
      totals(await copied(page), await statistics(page, rows));
      // The address has it.
      await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).get("i") === "pivot-host");
      const other = await open(browser, page.url());
      assert.ok(await other.locator("table[aria-label^=Pivot]").isVisible());
      assert.deepEqual(await copied(other), await copied(page));
      await other.close();
    });
  });
}

test("threads that the server does not list are marked: they have a line, what they may be missing of is at least so much", async () => {
  await pivotOf(chain3, undefined, async (page) => {
    // As of a trace with more threads than are listed.
    await page.route("**/api/statistics", async (route) => {
      const answer = await route.fetch(),
        sums = await answer.json();
      await route.fulfill({ json: { ...sums, threads: sums.threads.slice(0, 20) } });
    });
    await page.evaluate(() => {
      const { begin, end } = isochrone.view.now.experiment;
      isochrone.view.set({ selection: { begin, end }, chosen: isochrone.view.now.chosen + 1 });
    });
    await rest(page);
    const answer = await statistics(page, null),
      lines = await copied(page),
      rest20 = lines.at(-2);
    assert.equal(answer.threads.length, 20);
    assert.equal(rest20.of, `${answer.thread_count - 20} threads that are not listed`);
    totals(lines, answer);
    const cells = await page
      .locator("table[aria-label^=Pivot] tbody tr:not(.gap)")
      .evaluateAll((all) => all.map((it) => [...it.cells].map((cell) => cell.textContent)));
    assert.ok(
      cells.slice(0, -2).every((line) => line.slice(1).every((text) => text.startsWith("≥ "))),
      cells[0].join(),
    );
    assert.ok(cells.slice(-2).every((line) => line.slice(1).every((text) => !text.startsWith("≥"))));
    assert.match(
      await page
        .locator(".statistics .block:visible", { has: page.locator("table[aria-label^=Pivot]") })
        .locator(".block-head .muted")
        .textContent(),
      /^≥: \d+ threads with the least CPU time are only in the sums$/,
    );
    // Of threads themselves nothing is missing.
    await page.locator("select[aria-label='A line for each']").selectOption("thread");
    assert.ok((await page.locator("table[aria-label^=Pivot] tbody td").allTextContents()).every((text) => !text.startsWith("≥")));
  });
});
