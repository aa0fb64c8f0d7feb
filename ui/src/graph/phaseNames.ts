// Which phases of programs and calls of MPI have been drawn since rows of phases are shown: for the legend. Talks to: none. Used by: graph.
import type { Line } from "../rows";
import type { Piece, Tile } from "./tiles";

export class PhaseNames {
  private readonly names = new Set<string>();
  private tiles = new WeakSet<Tile>();
  private told = 0;
  /** `tell` gets the names, in their order, whenever they are others. */
  constructor(private readonly tell: (names: readonly string[]) => void) {}

  see(line: Line, pieces: readonly Piece[]): void {
    if (line.row?.kind !== "phase") return;
    for (const { tile } of pieces) {
      if (this.tiles.has(tile)) continue;
      this.tiles.add(tile);
      for (const name of tile.labels) if (name !== "") this.names.add(name);
    }
  }
  /** The picture is complete. Names stay as long as there are such rows, seen or not: what the legend takes of the height must not depend on what there is room for. */
  drawn(lines: readonly Line[]): void {
    if (this.names.size > 0 && !lines.some((line) => line.row?.kind === "phase")) {
      this.names.clear();
      this.tiles = new WeakSet();
    }
    if (this.names.size === this.told) return;
    this.told = this.names.size;
    this.tell([...this.names].sort());
  }
}
