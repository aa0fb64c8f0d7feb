// Loads a module of the page's source into Node: bundled from TypeScript by the page's own bundler. Used by: the unit tests.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const source = resolve(dirname(fileURLToPath(import.meta.url)), "../src");

/** The exports of `src/<name>.ts`. */
export async function load(name) {
  const directory = mkdtempSync(join(tmpdir(), "isochrone-unit-"));
  try {
    const bundle = await rolldown({ input: join(source, `${name}.ts`), logLevel: "silent" });
    await bundle.write({ file: join(directory, "module.mjs"), format: "esm" });
    await bundle.close();
    return await import(pathToFileURL(join(directory, "module.mjs")).href);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
