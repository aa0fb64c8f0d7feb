// What people do with the page, job by job, on the shop of the example: lists that stay, ways back, narrow windows, what is lost, who ran instead, matches one after the other.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { launch, now, open, pixelAt, project, rest, serve, show } from "./page.mjs";

let browser, server, page;
before(async () => { browser = await launch(); server = await serve("examples/shop", project); });
after(async () => { await browser.close(); await server.stop(); });
beforeEach(async () => { await page?.close(); page = await open(browser, server.address); });

const panel = async (id) => { await page.evaluate((id) => isochrone.drawer.open(id), id); await rest(page); };
/** Picks the slowest request. */
async function slowest() {
  await page.locator(".header button", { hasText: "requests" }).click();
  await rest(page);
  await page.locator("button", { hasText: /^slowest$/ }).click();
  await page.waitForFunction(() => isochrone.view.now.path !== null);
  await rest(page);
}

test("in a narrow window everything of the header can be reached, with a request and a search", async () => {
  await slowest();
  await page.locator(".search").fill("duration > 10ms");
  for (const width of [1400, 1341, 1100, 900, 700, 500]) {
    await page.setViewportSize({ width, height: 700 });
    await rest(page);
    const outside = await page.evaluate(() => [...document.querySelectorAll(".header button, .header summary, .header input")].filter((it) => it.checkVisibility() && (it.getBoundingClientRect().right > innerWidth || it.getBoundingClientRect().left < 0)).map((it) => it.textContent));
    assert.deepEqual(outside, [], `${width}`);
    if (width < 600 || width > 1340) continue;
    const { clientWidth, scrollWidth } = await page.locator(".inverted").evaluate(({ clientWidth, scrollWidth }) => ({ clientWidth, scrollWidth }));
    assert.ok(clientWidth >= scrollWidth - 1, `${width}: ${clientWidth} of ${scrollWidth} pixels of the count of messages`);
  }
});

test("in all panels, on narrow and on large pages, nothing that can be clicked is cut off at the side", async () => {
  const panels = await page.evaluate(() => isochrone.drawer.all.map((it) => it.id));
  for (const width of [900, 1400, 3840]) {
    await page.setViewportSize({ width, height: 900 });
    for (const id of panels) {
      await page.evaluate((id) => isochrone.drawer.open(id), id);
      await rest(page);
      const cut = await page.evaluate(() => [...document.querySelectorAll(".drawer button, .drawer select, .drawer input, .status select, .status input")].filter((it) => it.checkVisibility() && it.closest("table") === null).flatMap((it) => {
        const { left, right } = it.getBoundingClientRect();
        let up = it.parentElement;
        while (up !== null && getComputedStyle(up).overflowX === "visible") up = up.parentElement;
        const within = up?.getBoundingClientRect() ?? { left: 0, right: innerWidth };
        return right > Math.min(innerWidth, within.right) + 1 || left < Math.max(0, within.left) - 1 ? [it.textContent || it.className] : [];
      }));
      assert.deepEqual(cut, [], `${id}, ${width} pixels`);
    }
  }
});

test("a line of an analysis goes to its thread and time; the list stays, and goes on with the page when it is asked to", async () => {
  await panel("analyses");
  await page.locator("[data-name=schedtop]").click();
  await rest(page);
  const counts = () => page.evaluate(() => [...document.querySelectorAll(".analyses .block-head .muted")].map((it) => it.textContent)), all = await counts(), heading = await page.locator(".analyses .about").textContent();
  const lines = page.locator(".analyses .pickable tbody tr:not(.gap)"), again = page.locator(".analyses .panel-bar button", { hasText: "the range is another" });
  for (const at of [0, 1, 2]) {
    await lines.nth(at).click();
    await rest(page);
    assert.deepEqual(await counts(), all);
    const { row, selection } = await now(page), cells = await lines.nth(at).locator("td").allTextContents();
    assert.ok(selection.end > selection.begin);
    // The thread of the line is the row that is selected.
    const { host, tid } = await page.evaluate((row) => ({ host: isochrone.view.now.experiment.hosts[isochrone.rows.row(row).host].name, tid: isochrone.rows.row(row).tid }), row);
    assert.ok(cells.includes(host) && cells.includes(String(tid)), `${host} ${tid} is in ${cells.join(", ")}`);
  }
  const { selection } = await now(page);
  await lines.nth(2).dblclick();
  await rest(page);
  const { window } = await now(page);
  assert.ok(window.begin <= selection.begin && window.end >= selection.end && window.end - window.begin < 1.5 * (selection.end - selection.begin));
  assert.deepEqual(await counts(), all);
  assert.equal(await page.locator(".analyses .about").textContent(), heading);
  await again.click();
  await rest(page);
  assert.notDeepEqual(await counts(), all);
  // A time that is selected by hand is followed at once.
  await lines.first().click();
  const box = await page.locator(".graph").boundingBox();
  await page.mouse.move(box.x + 200, box.y + 15);
  await page.mouse.down();
  await page.mouse.move(box.x + 700, box.y + 15, { steps: 4 });
  await page.mouse.up();
  await rest(page);
  assert.match(await page.locator(".analyses .about").textContent(), /^selection/);
  assert.ok(await again.isHidden());
});

test("all rows are shown without losing the path; closing the path is a step of its own", async () => {
  await slowest();
  const lines = () => page.evaluate(() => isochrone.rows.lines.length), few = await lines();
  await page.locator("button", { hasText: /^show all rows$/ }).click();
  await rest(page);
  assert.ok(await lines() > few && await page.evaluate(() => isochrone.view.now.path !== null));
  await page.locator("button", { hasText: /^its rows only$/ }).click();
  await page.locator(".chip", { hasText: "rows of one request" }).click();
  await rest(page);
  assert.ok(await lines() > few && await page.evaluate(() => isochrone.view.now.path !== null));
  await page.locator("button", { hasText: "close the path" }).click();
  await rest(page);
  assert.ok(await page.evaluate(() => isochrone.view.now.path === null));
});

test("a link that is pasted is gone to, and Back leads back", async () => {
  const first = (await now(page)).window;
  await page.evaluate(() => { location.hash = "#w=5000000000,6000000000&d=events"; });
  await page.waitForFunction(() => isochrone.view.now.window.begin === 5e9);
  await rest(page);
  assert.equal(await page.evaluate(() => isochrone.drawer.id), "events");
  await page.evaluate(() => isochrone.drawer.open("critical-path"));
  await rest(page);
  await page.locator("button", { hasText: /^slowest$/ }).click();
  await page.waitForFunction(() => isochrone.view.now.path !== null);
  await rest(page);
  await page.goBack();
  await page.waitForFunction(() => isochrone.view.now.path === null && isochrone.view.now.window.begin === 5e9);
  await rest(page);
  assert.equal((await now(page)).window.end, 6e9);
  await page.goBack();
  await page.waitForFunction((begin) => Math.abs(isochrone.view.now.window.begin - begin) < 2, first.begin);
  await rest(page);
  await page.goForward();
  await page.goForward();
  await page.waitForFunction(() => isochrone.view.now.path !== null);
  await rest(page);
  assert.deepEqual(page.errors, []);
});

test("names that turn the direction of texts are shown without doing so", async () => {
  await page.route("**/api/rows", async (route) => { const answer = await route.fetch(); await route.fulfill({ response: answer, body: (await answer.text()).replace('"appsrv"', '"app\u202esrv"') }); });
  await page.reload();
  await page.waitForFunction(() => globalThis.isochrone?.isReady());
  assert.ok(await page.evaluate(() => isochrone.view.now.rows.some((row) => row.label === "app\ufffdsrv")));
});

test("what is resized says its size, and texts have contrast", async () => {
  for (const it of await page.locator("[role=separator]").all()) {
    const before = Number(await it.getAttribute("aria-valuenow"));
    assert.ok(before > 50);
    await it.focus();
    await it.press(await it.getAttribute("aria-orientation") === "vertical" ? "ArrowRight" : "ArrowUp");
    assert.equal(Number(await it.getAttribute("aria-valuenow")), before + 16);
  }
  const ratio = await page.locator("h1").evaluate((it) => {
    const light = (colour) => { const [r, g, b] = colour.match(/\d+/g).map((value) => { const part = value / 255; return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    return (light(getComputedStyle(it.parentElement).backgroundColor) + 0.05) / (light(getComputedStyle(it).color) + 0.05);
  });
  assert.ok(ratio >= 4.5, `${ratio}`);
});

test("a wait for a CPU says who ran instead, exactly, under the pointer, too; each of them and the CPU can be gone to", async () => {
  await slowest();
  const wait = await page.evaluate(() => isochrone.view.now.path.steps.filter((step) => step.cause === "wait-cpu").sort((a, b) => b.end - b.begin - a.end + a.begin)[0]);
  const state = await page.evaluate(async ({ row, begin, end }) => (await (await fetch(`api/state?row=${row}&at=${Math.round((begin + end) / 2)}&clock=common`)).json()), wait);
  assert.equal(state.state, "wait-cpu");
  await page.evaluate(({ row, begin, end }) => isochrone.view.set({ row, selection: { begin, end } }), state);
  await panel("state");
  const list = page.locator(".meanwhile"), ran = state.meanwhile.ran, sum = ran.reduce((all, it) => all + it.total_ns, 0) + state.meanwhile.unknown_ns;
  assert.equal(sum, state.end - state.begin, "what ran makes up the wait");
  assert.match(await list.locator("h3").textContent(), /^Ran instead, on h2 CPU 0$/);
  assert.equal(await list.locator("dd").first().textContent(), ran[0].label);
  await list.locator("dd button").first().click();
  await rest(page);
  const there = await now(page);
  assert.equal(there.row, ran[0].row);
  assert.ok(there.selection.begin === state.begin, "the time stays selected");
  await page.evaluate(({ row, begin, end }) => isochrone.view.set({ row, selection: { begin, end } }), state);
  await rest(page);
  await list.locator("button", { hasText: "show these rows" }).click();
  const shown = await page.evaluate(() => isochrone.rows.lines.flatMap((line) => line.row?.id ?? []));
  assert.ok([state.row, ...ran.flatMap((it) => it.row ?? [])].every((row) => shown.includes(row)));
  // The CPU that it waited for: its row is shown, selected, with the time of the wait.
  await page.evaluate(({ row, begin, end }) => { isochrone.view.set({ row, selection: { begin, end }, onlyRows: null }); isochrone.navigation.fit(); }, state);
  await rest(page);
  await list.locator("h3 button").click();
  await rest(page);
  const cpu = await now(page), shownCpu = await page.evaluate((row) => ({ of: isochrone.rows.row(row), line: isochrone.rows.lines[isochrone.rows.placeOf(row)]?.label }), cpu.row);
  assert.deepEqual([cpu.row, shownCpu.of.kind, shownCpu.of.cpu, shownCpu.line], [state.meanwhile.cpu, "cpu", 0, "CPU 0"]);
  assert.equal(await page.evaluate((row) => isochrone.view.now.experiment.hosts[isochrone.rows.row(row).host].name, cpu.row), "h2");
  assert.ok(cpu.window.begin <= state.begin && cpu.window.end > state.begin, "the wait is in the window");
  assert.match(await page.locator("[role=treeitem][aria-selected=true]").textContent(), /CPU 0/);
  // The tooltip says it, too: what ran, and for how long.
  await show(page, state.row, { begin: state.begin - (state.end - state.begin), end: state.end + (state.end - state.begin) });
  const box = await page.locator(".graph").boundingBox(), { x, y } = await pixelAt(page, state.row, (state.begin + state.end) / 2);
  await page.mouse.move(box.x + x, box.y + y);
  await page.waitForFunction(() => /ran instead/.test(document.querySelector(".tooltip").textContent));
  const instead = await page.locator(".tooltip dl").evaluate((it) => [...it.querySelectorAll("dt")].find((name) => name.textContent === "ran instead").nextElementSibling.textContent);
  assert.ok(instead.startsWith(`${ran[0].label} `), instead);
});

test("a blocked state says who ended it, as the wait for a CPU after it does; its name leads there", async () => {
  const found = await page.evaluate(async () => {
    const ask = async (path) => { const answer = await fetch(`api/${path}&clock=common`); return answer.ok ? answer.json() : null; }, pairs = [];
    for (const { id, begin } of ["bash", "appsrv"].flatMap((name) => isochrone.view.now.rows.filter((it) => it.kind === "thread" && it.label === name).slice(0, 3))) {
      for (let state = await ask(`state?row=${id}&at=${begin}`), steps = 0; state !== null && steps < 120; steps += 1) {
        const next = await ask(`step?row=${id}&at=${state.begin}&to=next`);
        if (state.state === "blocked" && next?.state === "wait-cpu" && next.begin === state.end) pairs.push([state, next]);
        state = next;
      }
    }
    return pairs;
  });
  const by = (it, key) => it.fields.find(([name]) => name === key)?.[1];
  assert.ok(found.length > 10, `${found.length} waits`);
  for (const [blocked, woken] of found) assert.deepEqual([blocked.waker, by(blocked, "ended by")], [woken.waker, by(woken, "woken by")]);
  const [blocked] = found.find(([it]) => it.waker !== undefined);
  await page.evaluate(({ row, begin, end }) => isochrone.view.set({ row, selection: { begin, end } }), blocked);
  await panel("state");
  await page.locator("dd button.link", { hasText: by(blocked, "ended by") }).first().click();
  await rest(page);
  assert.equal((await now(page)).row, blocked.waker);
  // The wait for a CPU after it names the same thread.
  const [, woken] = found.find(([it]) => it.waker !== undefined);
  await page.evaluate(({ row, begin, end }) => isochrone.view.set({ row, selection: { begin, end } }), woken);
  await rest(page);
  await page.locator("dd button.link", { hasText: by(woken, "woken by") }).first().click();
  await rest(page);
  assert.equal((await now(page)).row, woken.waker);
});

test("matches of an expression are a list; n and N go from one to the next, also where the window is moved", async () => {
  const text = "duration > 5ms && state == wait-cpu && host == h2";
  await page.locator(".search").fill(text);
  await rest(page);
  await page.locator(".search-box button", { hasText: "list" }).click();
  await rest(page);
  const { states, matches, total_ns: total } = await page.evaluate(async (text) => { const { begin, end } = isochrone.view.now.experiment; return (await fetch(`api/matching?text=${encodeURIComponent(text)}&begin=${begin}&end=${end + 1}&limit=1000`)).json(); }, text);
  assert.ok(states > 5 && matches.length === states);
  assert.match(await page.locator(".matches .controls .muted").textContent(), new RegExp(`^${states} states on \\d+ rows, .* in all$`));
  assert.ok(total === matches.reduce((sum, it) => sum + it[4] - it[3], 0));
  const marks = await page.evaluate(() => isochrone.view.now.marks.length);
  assert.equal(marks, states);
  await page.locator("[role=tree]").focus();
  for (const at of [0, 1, 2, 1]) {
    await page.keyboard.press(at === 1 && await page.locator(".place").textContent().then((it) => it.startsWith("3")) ? "N" : "n");
    await page.waitForFunction((text) => document.querySelector(".place").textContent === text, `${at + 1} of ${states}`);
    await rest(page);
    const { row, selection } = await now(page);
    assert.deepEqual([row, selection.begin, selection.end], [matches[at][0], matches[at][3], matches[at][4]]);
  }
  // Zoomed into one, the list stays.
  await page.keyboard.press("Enter");
  await rest(page);
  await page.keyboard.press("n");
  await page.waitForFunction((text) => document.querySelector(".place").textContent === text, `3 of ${states}`);
  await rest(page);
  const { selection, window } = await now(page);
  assert.deepEqual(selection, { begin: matches[2][3], end: matches[2][4] });
  assert.ok(window.begin <= selection.begin && window.end >= selection.begin, "it is seen");
  await page.locator(".matches select").nth(1).selectOption("longest");
  await rest(page);
  await page.locator(".matches tbody tr:not(.gap)").first().click();
  const longest = matches.reduce((a, b) => (b[4] - b[3] > a[4] - a[3] ? b : a));
  assert.equal((await now(page)).row, longest[0]);
  await panel("state");
  assert.equal(await page.evaluate(() => isochrone.view.now.marks), null);
});

test("an area of rows and time has its own sums: by mouse, by keys, in the address", async () => {
  const box = await page.locator(".graph").boundingBox();
  const lines = await page.evaluate(() => { const scene = isochrone.graph.scene(); return isochrone.rows.lines.map((line, place) => ({ id: line.id, kind: line.row?.kind, y: scene.middle(place) })).filter((line) => line.kind === "thread").slice(0, 2); });
  await panel("statistics");
  await page.mouse.move(box.x + 300, box.y + lines[0].y);
  await page.mouse.down();
  await page.mouse.move(box.x + 900, box.y + lines[1].y, { steps: 5 });
  await page.mouse.up();
  await rest(page);
  const area = () => page.evaluate(() => [...(isochrone.view.now.area ?? [])].sort((a, b) => a - b)), ids = lines.map((line) => line.id).sort((a, b) => a - b), { selection } = await now(page);
  assert.deepEqual(await area(), ids);
  const sums = (rows) => page.evaluate(async ([{ begin, end }, rows]) => (await fetch("api/statistics", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ begin: Math.round(begin), end: Math.round(end), rows }) })).json(), [selection, rows]);
  const told = () => page.locator(".statistics .controls .muted").textContent(), { threads } = await sums(await area());
  assert.equal(await told(), `${threads.length} threads`);
  assert.match(await page.locator(".statistics .controls select").evaluate((it) => it.selectedOptions[0].textContent), /the 2 selected rows/);
  // A click in its table leaves it as it is.
  await page.locator("table[aria-label^='Time by thread'] tbody tr:not(.gap)").first().click();
  await rest(page);
  assert.equal(await told(), `${threads.length} threads`);
  await page.locator("button:visible", { hasText: "ran instead" }).click();
  await rest(page);
  const wait = threads.reduce((sum, it) => sum + it.by_state[4], 0), instead = await page.evaluate(async ([{ begin, end }, rows]) => (await fetch("api/instead", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ begin: Math.round(begin), end: Math.round(end), rows }) })).json(), [selection, await area()]);
  assert.equal(instead.wait_ns, wait, "the waits are those of the states");
  assert.equal(instead.ran.reduce((sum, it) => sum + it.total_ns, 0) + instead.unknown_ns, wait);
  // It comes back with its address, and is drawn over its rows alone.
  await rest(page);
  await page.waitForFunction(() => /[#&]a=/.test(location.hash));
  await page.reload();
  await page.waitForFunction(() => globalThis.isochrone?.isReady());
  await rest(page);
  assert.deepEqual(await area(), ids);
  await page.locator("[role=tree]").focus();
  await page.keyboard.press("Escape");
  assert.deepEqual(await area(), []);
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Shift+ArrowDown");
  assert.equal((await area()).length, 3);
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  const { selection: timed, window } = await now(page);
  assert.ok(Math.abs(timed.end - timed.begin - 0.04 * (window.end - window.begin)) < 2 && (await area()).length === 3);
  // From the axis, a time is one of all rows.
  await page.mouse.move(box.x + 300, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 600, box.y + 200, { steps: 5 });
  await page.mouse.up();
  assert.deepEqual(await area(), []);
});

test("at first sight, what serves requests is seen: processes of one name together, by messages; tracer, kernel and devices in folds", async () => {
  const first = await open(browser, server.address, { isFirst: true });
  const labels = () => first.evaluate(() => Object.fromEntries(isochrone.rows.childrenOf(null).map((host) => [host.label, isochrone.rows.lines.filter((line) => line.host === host.host && line.depth === 1).map((line) => line.label)])));
  const { h1, h2, h3 } = await labels();
  assert.match(h1[0], /^wget ×24$/);
  assert.match(h2[0], /^appsrv ×\d+$/);
  assert.ok(h3.slice(0, 2).some((label) => /^redis-server/.test(label)) && h3.slice(0, 3).some((label) => /^srvhog/.test(label)), h3.join());
  for (const of of [h1, h2, h3]) {
    assert.match(of.at(-1), /^1 CPU, 2 disks$/);
    assert.match(of.at(-2), /^tracer and kernel \(\d+\)$/);
    assert.ok(!of.some((label) => /^(lttng|kworker)/.test(label)));
  }
  // A click on what is drawn in a group selects the state of the one that lives then; its name opens it.
  const group = await first.evaluate(() => isochrone.rows.lines.find((line) => line.label.startsWith("appsrv ×")));
  const life = await first.evaluate((id) => isochrone.rows.row(id), group.members[2]), box = await first.locator(".graph").boundingBox();
  const at = await first.evaluate(([id, { begin, end }]) => { const scene = isochrone.graph.scene(); return { x: scene.x((begin + end) / 2), y: scene.middle(isochrone.rows.placeOf(id)) }; }, [group.id, life]);
  await first.mouse.click(box.x + at.x, box.y + at.y);
  await first.waitForFunction(() => isochrone.view.now.selection !== null);
  await rest(first);
  assert.ok(group.members.includes(await first.evaluate(() => isochrone.view.now.row)));
  await first.locator(`#line${group.id} .twist`).click();
  assert.equal(await first.evaluate((group) => isochrone.rows.lines.filter((line) => group.members.includes(line.id)).length, group), group.members.length);
  // What is gone to is opened; a reload shows the same.
  const tracer = await first.evaluate(() => isochrone.view.now.rows.find((row) => row.kind === "thread" && row.label.startsWith("lttng-consumerd")).id);
  await first.evaluate((row) => isochrone.navigation.go(row, 5e9), tracer);
  await rest(first);
  const all = () => first.evaluate(() => isochrone.rows.lines.map((line) => line.label)), before = await all();
  assert.notEqual(await first.evaluate((row) => isochrone.rows.placeOf(row), tracer), undefined);
  await first.reload();
  await first.waitForFunction(() => globalThis.isochrone?.isReady());
  await rest(first);
  assert.deepEqual(await all(), before);
  await first.keyboard.press("o");
  await rest(first);
  assert.ok(await first.evaluate(() => isochrone.rows.isSorted && !isochrone.rows.isGrouped));
  assert.deepEqual(first.errors, []);
  await first.close();
});

test("all instants are shown in the format that is chosen; what is said of the window goes with it; a panel asks again when the server is back", async () => {
  const row = await page.evaluate(() => { const { begin } = isochrone.view.now.experiment; return isochrone.view.now.rows.find((it) => it.kind === "thread" && it.label === "bash" && it.begin < begin + 6e9 && it.end > begin + 7.3e9).id; });
  await page.evaluate((row) => { const { begin } = isochrone.view.now.experiment; isochrone.view.set({ row, selection: { begin: begin + 7e9, end: begin + 7.1e9 } }); }, row);
  await panel("state");
  const share = () => page.locator(".share h3").textContent(), whole = await share();
  await page.evaluate(() => { const { begin } = isochrone.view.now.experiment; isochrone.navigation.set({ begin: begin + 7e9, end: begin + 7.3e9 }); });
  await page.waitForFunction((whole) => document.querySelector(".share h3")?.textContent !== whole, whole);
  await rest(page);
  assert.match(await share(), /In the window of 300 ms/);
  await panel("events");
  const first = () => page.locator(".events tbody tr:not(.gap) td").first().textContent();
  assert.match(await first(), /^\d\d:\d\d:\d\d\.\d{9}$/);
  await page.locator(".time-field select").selectOption("since begin");
  await rest(page);
  assert.match(await first(), /^7\.\d{9} s$/);
  assert.match(await page.evaluate(() => isochrone.svg()), />seconds since the begin, common clock</);
  await page.locator(".time-field select").selectOption("UTC");
  await rest(page);
  await page.route("**/api/**", (route) => route.abort());
  await page.evaluate(() => isochrone.drawer.open("messages"));
  await page.waitForSelector(".messages .notice.failed");
  await page.evaluate(() => { const { begin } = isochrone.view.now.experiment; isochrone.navigation.set({ begin: begin + 1.234e9, end: begin + 1.2345e9 }); });
  await page.waitForSelector(".banner:not([hidden])");
  await page.unroute("**/api/**");
  await page.waitForFunction(() => document.querySelector(".messages .notice.failed") === null);
});
