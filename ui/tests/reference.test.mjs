// The page against what independent programs made of the same traces: CPU time of threads, where requests spent their time.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chain3, launch, open, reference, rest, serve } from "./page.mjs";

let browser, server, page;
const near = (a, b, by, what) => assert.ok(Math.abs(a - b) <= by, `${what}: ${a} is not ${b} ± ${by}`);
before(async () => { browser = await launch(); server = await serve(chain3); page = await open(browser, server.address); });
after(async () => { await browser.close(); await server.stop(); });

/** The cells of all lines of a table, by its label, by the titles of its columns. */
const cells = (label) => page.evaluate((label) => {
  const table = document.querySelector(`table[aria-label^="${label}"]`), copy = table.closest(".block").querySelector(".copy");
  let text = "";
  Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (it) => { text = it; } } });
  copy.click();
  const [head, ...lines] = text.split("\n").map((line) => line.split("\t"));
  return lines.map((line) => Object.fromEntries(head.map((name, at) => [name, line[at]])));
}, label);

test("CPU time of threads", async () => {
  await page.evaluate(() => isochrone.drawer.open("statistics"));
  await rest(page);
  const listed = new Map((await cells("Time by thread")).map((it) => [it.thread, Number(it["on a CPU (ns)"])]));
  let compared = 0;
  for (const [name, { threads }] of Object.entries(reference("cpu_syscalls").traces)) {
    if (!name.startsWith("chain3/")) continue;
    const host = name.split("/")[1];
    for (const { tid, comm, cpu_ns, head_ns, tail_ns } of threads) {
      // Before the first switch and after the last one nothing is certain.
      if (tid === 0 || head_ns > 0 || tail_ns > 0 || cpu_ns < 1_000_000) continue;
      const shown = listed.get(`${host} ${comm} ${tid}`);
      if (shown === undefined) continue;
      compared += 1;
      // On the common clock: rates differ by up to 100 ppm.
      near(shown, cpu_ns, 2000 + cpu_ns * 2e-4, `${host} ${comm} ${tid}`);
    }
  }
  assert.ok(compared > 60, `${compared} threads`);
});

test("where requests spent their time", async () => {
  const { requests } = reference("chain3");
  await page.evaluate(() => isochrone.drawer.open("critical-path"));
  await rest(page);
  const listed = await cells("Requests");
  assert.equal(listed.length, requests.length);
  for (const number of [1, 14, 20]) {
    const expected = requests.find((it) => it.n === number);
    await page.evaluate((number) => {
      const line = [...document.querySelectorAll("table[aria-label='Requests'] tbody tr")].find((line) => line.firstElementChild.textContent === String(number));
      line.click();
    }, number);
    await rest(page);
    assert.equal(await page.evaluate(() => isochrone.view.now.path.request), number);
    const causes = await cells("Time by cause"), sum = (where, cause) => causes.filter((it) => it.where.startsWith(where) && it.cause === cause).reduce((all, it) => all + Number(it["time (ns)"]), 0);
    const total = Number(listed.find((it) => it["#"] === String(number))["total (ns)"]);
    near(total, expected.total_ns, 100_000, `request ${number}`);
    near(sum("h2", "cpu"), expected.causes_ns.h2_cpu, 1_500_000, `h2 computes in request ${number}`);
    near(sum("h3", "cpu"), expected.causes_ns.h3_cpu, 1_500_000, `h3 computes in request ${number}`);
    near(sum("h3", "sleep"), expected.causes_ns.h3_sleep, 300_000, `h3 sleeps in request ${number}`);
    near(sum("h2", "wait-cpu"), expected.by_host_and_state_ns.h2_runqueue ?? 0, 1_500_000, `h2 waits for a CPU in request ${number}`);
  }
});
