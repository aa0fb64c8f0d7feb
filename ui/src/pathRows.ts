// The critical path as rows of its own: one for each thread that it goes through, in the order in which it comes to them.
// Talks to: none. Used by: rows (their lines), graph (what is drawn there), the overlay of the path, pointer.
import type { Path, Step } from "./api";
import { causeStyle } from "./colours";
import type { Tile } from "./graph/tiles";
import { causeWord } from "./panels/pathWords";

/** The number of the line above them; theirs follow, downwards. Rows of the traces have none below 0, folds of hosts −1 − host. */
export const PATH_HEAD = -1_000_000;

export interface PathRow {
  /** Of its line. */
  readonly id: number;
  /** The thread. */
  readonly row: number;
  readonly host: number;
  readonly steps: readonly Step[];
  /** The steps as states, on the common clock. */
  readonly tile: Tile;
}
const made = new WeakMap<Path, readonly PathRow[]>();

export function pathRows(path: Path | null): readonly PathRow[] {
  if (path === null) return [];
  let rows = made.get(path);
  if (rows === undefined) made.set(path, rows = rowsOf(path));
  return rows;
}
export function pathRow(path: Path | null, id: number): PathRow | undefined { return id < PATH_HEAD ? pathRows(path)[PATH_HEAD - 1 - id] : undefined; }
/** The step of a row at an instant of the common clock. */
export function stepAt(row: PathRow, at: number): Step | undefined { return row.steps.find((step) => at >= step.begin && at < step.end); }

function rowsOf(path: Path): PathRow[] {
  const byRow = new Map<number, Step[]>();
  for (const step of path.steps) {
    // What is between hosts is on no row.
    if (step.row === null) continue;
    const steps = byRow.get(step.row);
    if (steps === undefined) byRow.set(step.row, [step]);
    else steps.push(step);
  }
  return [...byRow].map(([row, steps], place) => ({ id: PATH_HEAD - 1 - place, row, host: steps[0]!.host, steps, tile: tileOf(steps) }));
}
function tileOf(steps: readonly Step[]): Tile {
  const causes = [...new Set(steps.map((step) => step.cause))];
  return {
    from: steps[0]!.begin, to: steps.at(-1)!.end, level: 0, begin: Float64Array.from(steps, (step) => step.begin), end: Float64Array.from(steps, (step) => step.end),
    style: Uint8Array.from(steps, (step) => causeStyle(step.cause)), label: Uint32Array.from(steps, (step) => causes.indexOf(step.cause)), labels: causes.map(causeWord),
  };
}
