// The Trace Server Protocol as viewers use it: their own client, tsp-typescript-client, drives every output of `isochrone serve`.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { dirname, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import clients from "tsp-typescript-client/lib/protocol/http-tsp-client.js";
import queries from "tsp-typescript-client/lib/models/query/query-helper.js";

const { HttpTspClient } = clients, { QueryHelper } = queries;
const ui = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const program = resolve(ui, process.env.ISOCHRONE_BIN ?? "../target/release/isochrone");
const shop = resolve(ui, "../examples/shop");

let server, client, experiment, outputs;

function serve() {
  const child = spawn(program, ["serve", "--listen", "127.0.0.1:0", shop], { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((done, failed) => {
    child.on("exit", (code) => failed(new Error(`the server ended with ${code}`)));
    child.stdout.on("data", (data) => done({ child, address: String(data).trim() }));
  });
}
/** The model of an answer that is whole. */
function model(answer) {
  assert.equal(answer.isOk(), true, `${answer.getStatusCode()} ${answer.getStatusMessage()} ${answer.getErrorResponse()?.title ?? ""}`);
  assert.equal(answer.getModel().status, "COMPLETED", answer.getModel().statusMessage);
  return answer.getModel().model;
}
const of = (kind) => outputs.filter((output) => output.type === kind).map((output) => output.id);
const range = (samples) => QueryHelper.timeRangeQuery(experiment.start, experiment.end, samples);

before(async () => {
  server = await serve();
  client = new HttpTspClient(server.address);
  for (;;) {
    [experiment] = (await client.fetchExperiments()).getModel();
    if (experiment.indexingStatus !== "RUNNING") break;
    await new Promise((done) => setTimeout(done, 50));
  }
  outputs = (await client.experimentOutputs(experiment.UUID)).getModel();
});
after(() => server.child.removeAllListeners("exit").kill("SIGTERM"));

test("the server, its trace and its experiment", async () => {
  assert.equal((await client.checkHealth()).getModel().status, "UP");
  assert.equal((await client.fetchIdentifier()).getModel().tspVersion, "0.6.0");
  assert.equal(experiment.indexingStatus, "COMPLETED");
  // Times are exact: ns since 1970 do not fit a double.
  assert.equal(typeof experiment.start, "bigint");
  assert.equal(experiment.end - experiment.start > 9_000_000_000n, true);
  const traces = (await client.fetchTraces()).getModel();
  assert.deepEqual(traces.map((trace) => trace.UUID), experiment.traces.map((trace) => trace.UUID));
  const again = await client.openTrace(QueryHelper.query({ uri: traces[0].path }));
  assert.equal(again.getModel().UUID, traces[0].UUID);
  assert.equal(outputs.length, 12);
  for (const output of outputs) {
    assert.deepEqual((await client.fetchOutputConfigurationTypes(experiment.UUID, output.id)).getModel(), []);
  }
  assert.deepEqual((await client.fetchConfigurationSourceTypes()).getModel(), []);
});

test("time graphs: tree, states, arrows, tooltip, styles, annotations", async () => {
  for (const id of of("TIME_GRAPH")) {
    const { entries, headers } = model(await client.fetchTimeGraphTree(experiment.UUID, id, QueryHelper.timeRangeQuery(experiment.start, experiment.end)));
    assert.equal(headers.length, entries[0].labels.length);
    const items = entries.map((entry) => entry.id);
    const asked = QueryHelper.selectionTimeRangeQuery(experiment.start, experiment.end, 800, items);
    const { rows } = model(await client.fetchTimeGraphStates(experiment.UUID, id, asked));
    const states = rows.flatMap((row) => row.states);
    assert.equal(states.length > 100, true, `${id}: ${states.length} states`);
    assert.equal(states.every((state) => typeof state.start === "bigint" && state.start <= state.end), true);
    const { styles } = model(await client.fetchStyles(experiment.UUID, id, QueryHelper.query()));
    assert.equal(states.every((state) => styles[state.style.parentKey].values["background-color"] !== undefined), true);
    const row = rows.find((it) => it.states.length > 0);
    const state = row.states[0];
    const over = QueryHelper.query({
      requested_times: [state.start], requested_items: [row.entryId],
      requested_element: { elementType: "STATE", time: state.start, duration: state.end - state.start },
    });
    const tooltip = model(await client.fetchTimeGraphTooltip(experiment.UUID, id, over));
    assert.equal(Object.keys(tooltip).length > 2, true, JSON.stringify(tooltip));
    const arrows = model(await client.fetchTimeGraphArrows(experiment.UUID, id, range(800)));
    assert.equal(arrows.length > 100, id === "isochrone.threads");
    const known = new Set(items);
    assert.equal(arrows.every((arrow) => known.has(arrow.sourceId) && known.has(arrow.targetId)), true);
    const { annotationCategories } = model(await client.fetchAnnotationsCategories(experiment.UUID, id));
    assert.equal(annotationCategories.length, 2);
    model(await client.fetchAnnotations(experiment.UUID, id, asked));
  }
  model(await client.fetchMarkerSets(experiment.UUID));
});

test("charts over time, and over other things", async () => {
  for (const id of of("TREE_TIME_XY")) {
    const { entries } = model(await client.fetchXYTree(experiment.UUID, id, QueryHelper.timeRangeQuery(experiment.start, experiment.end)));
    const items = entries.map((entry) => entry.id);
    const { series } = model(await client.fetchXY(experiment.UUID, id, QueryHelper.selectionTimeRangeQuery(experiment.start, experiment.end, 200, items)));
    if (!id.endsWith("cpu") && !id.endsWith("network")) continue;
    assert.equal(series.length >= 3, true, id);
    for (const it of series) assert.equal(it.xValues.length, it.yValues.length);
  }
  const [id] = of("TREE_GENERIC_XY");
  const { entries } = model(await client.fetchGenericXYTree(experiment.UUID, id, QueryHelper.query()));
  const asked = QueryHelper.query({
    requested_timerange: { start: experiment.start, end: experiment.end, nbSamples: 30 }, requested_items: entries.map((entry) => entry.id),
  });
  const { series } = model(await client.fetchGenericXY(experiment.UUID, id, asked));
  assert.equal(series.length, entries.length);
  assert.equal(series.every((it) => it.xRanges.length === 30 && it.yValues.length === 30), true);
});

test("tables and trees of data", async () => {
  const [id] = of("TABLE");
  const columns = model(await client.fetchTableColumns(experiment.UUID, id, QueryHelper.query()));
  assert.deepEqual(columns.map((column) => column.name), ["Time", "Host", "CPU", "Event", "Contents"]);
  const lines = model(await client.fetchTableLines(experiment.UUID, id, QueryHelper.tableQuery(columns.map((column) => column.id), 1000, 50)));
  assert.equal(lines.lines.length, 50);
  assert.equal(Number(lines.lowIndex), 1000);
  // Counted now: the experiment says how many.
  assert.equal(Number((await client.fetchExperiment(experiment.UUID)).getModel().nbEvents), Number(lines.size));
  for (const of_data of of("DATA_TREE")) {
    const { entries, headers } = model(await client.fetchDataTree(experiment.UUID, of_data, QueryHelper.timeRangeQuery(experiment.start, experiment.end)));
    assert.equal(entries.length > 3, true);
    assert.equal(entries.every((entry) => entry.labels.length === headers.length), true);
  }
});

test("what is wrong is said in words", async () => {
  const wrong = await client.fetchTimeGraphTree(experiment.UUID, "no.such.output", QueryHelper.query());
  assert.equal(wrong.getStatusCode(), 404);
  const refused = await client.openTrace(QueryHelper.query({ uri: "/etc" }));
  assert.equal(refused.getStatusCode(), 404);
});
