// The time graph: a canvas (bars as pixels, the rest over them), drawn again when something it shows has changed; it never waits for the server.
// Talks to: view, rows, layout, tiles, arrows. Used by: main, pointer (what is where), export, tests.
import type { ApiError, Loss } from "../api";
import type { Bookmarks } from "../bookmarks";
import type { ClockSwitch } from "../clock";
import { ink } from "../colours";
import { counterOf } from "../counterRows";
import { AXIS, LINE, type Layout } from "../layout";
import { PATH_HEAD, pathRow } from "../pathRows";
import type { Line, Rows } from "../rows";
import { watchTheme } from "../theme";
import type { View } from "../view";
import { Arrows } from "./arrows";
import { Counters } from "./counters";
import { Raster, type Bar } from "./paint";
import { PhaseNames } from "./phaseNames";
import { addLabel, drawPicture, LABEL_WIDTH, type Label, type Parts } from "./picture";
import { BAR, Scene } from "./scene";
import { Tiles, type Piece } from "./tiles";

/** Rows above and below the screen whose states are fetched, too. */
const NEAR = 20;
const KEPT_FRAMES = 300;

export class Graph {
  readonly element = document.createElement("div");
  readonly canvas = document.createElement("canvas");
  private readonly cursor = document.createElement("div");
  private readonly empty = document.createElement("p");
  private readonly ctx: CanvasRenderingContext2D;
  readonly tiles: Tiles;
  readonly arrows: Arrows;
  readonly counters: Counters;
  losses: readonly Loss[] = [];
  private readonly phaseNames: PhaseNames;
  private raster: Raster | null = null;
  private frame = 0;
  private readonly times: number[] = [];

  constructor(
    readonly view: View, readonly rows: Rows, readonly layout: Layout, readonly clock: ClockSwitch, private readonly bookmarks: Bookmarks,
    failed: (error: ApiError | null) => void, namedPhases: (names: readonly string[]) => void,
  ) {
    this.phaseNames = new PhaseNames(namedPhases);
    this.element.className = "graph";
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "Time graph: states of the rows over time. The line at the bottom of the page tells the state under the pointer or the selected one.");
    this.cursor.className = "cursor";
    this.empty.className = "empty";
    this.element.append(this.canvas, this.cursor, this.empty);
    // Drawn by the CPU: pixels are written, not composed, and reading them back (export) costs nothing.
    this.ctx = this.canvas.getContext("2d", { alpha: false, willReadFrequently: true })!;
    this.tiles = new Tiles(() => this.invalidate(), failed);
    this.arrows = new Arrows(view, () => this.invalidate());
    this.counters = new Counters(view, () => this.invalidate());
    const again = () => this.invalidate();
    view.watch(again, "window", "selection", "area", "row", "clock", "path", "experiment", "times");
    view.watch(() => this.moveCursor(), "hover", "window");
    view.watch(({ filter }) => { this.tiles.setFilter(filter); again(); }, "filter");
    rows.watch(again);
    layout.watch(again);
    clock.watch(again);
    bookmarks.watch(again);
    watchTheme(() => { this.raster?.readColours(); again(); });
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  /** Times of the last drawings, in ms. */
  frames(): number[] { return [...this.times]; }
  invalidate(): void { if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw()); }
  scene(): Scene { return new Scene(this.view, this.rows, this.layout, this.clock); }
  parts(labels: readonly Label[]): Parts { return { labels, counters: this.counters, arrows: this.arrows, losses: this.losses, bookmarks: this.bookmarks.list }; }
  /** The line and the time at a place of the canvas (CSS pixels), and the row that is drawn there. */
  at(x: number, y: number): { line: Line | null; place: number; row: number | null; time: number } {
    const place = this.layout.lineAt(y - AXIS), line = this.rows.lines[place] ?? null, time = this.scene().time(x);
    if (line === null || line.sources.length === 0) return { line, place, row: line?.row?.id ?? null, time };
    if (line.isOverlaid === true) return { line, place, row: this.alive(line, time), time };
    const share = (y - AXIS - this.layout.top(place) - (LINE - BAR) / 2) / BAR;
    const stripe = Math.max(0, Math.min(line.sources.length - 1, Math.floor(share * line.sources.length)));
    return { line, place, row: line.sources[stripe]!, time };
  }
  /** Of rows that are drawn over each other the one that is seen at a time: the last that lives. */
  private alive(line: Line, time: number): number | null {
    const at = time + this.clock.back(line.host), lives = (id: number) => { const row = this.rows.row(id); return row?.begin === undefined || row.end === undefined || (at >= row.begin && at < row.end); };
    return line.sources.filter(lives).at(-1) ?? null;
  }
  /** No request or frame is pending. */
  get isIdle(): boolean { return this.frame === 0 && this.tiles.isIdle && this.arrows.isIdle && this.counters.isIdle; }
  /** What is known here of the state of a row. */
  stateAt(row: number, time: number): ReturnType<Tiles["stateAt"]> {
    const { clock, window } = this.view.now;
    return this.tiles.stateAt(row, clock, time, window, this.layout.width);
  }
  /** Colour of a pixel as it is seen: red, green, blue; its place in CSS pixels. */
  pixel(x: number, y: number): number[] {
    const ratio = devicePixelRatio;
    return [...this.ctx.getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data.subarray(0, 3)];
  }
  /** Places of the lines that are at least in part on the screen, scrolling ones first: pinned ones are drawn over them. */
  shownPlaces(): number[] {
    const { first, last } = this.layout.shown(), places: number[] = [];
    for (let place = first; place < last; place += 1) places.push(place);
    for (let place = 0; place < this.rows.pinnedCount; place += 1) places.push(place);
    return places;
  }
  /** The states of a row to draw now, with the ns by which they are moved: of this clock, else of the other, moved. */
  pieces(row: number, host: number): { pieces: Piece[]; offset: number } {
    const { clock, window, path } = this.view.now, moved = this.clock.offset(host), step = pathRow(path, row);
    if (step !== undefined) return { pieces: [{ tile: step.tile, begin: step.tile.from, end: step.tile.to }], offset: moved + this.clock.convert(host, "common") };
    const shifted = { begin: window.begin - moved, end: window.end - moved };
    const pieces = this.tiles.pieces(row, clock, shifted, this.layout.width);
    if (pieces.length > 0) return { pieces, offset: moved };
    const other = clock === "own" ? "common" : "own", offset = moved + this.clock.convert(host, other);
    return { pieces: this.tiles.pieces(row, other, { begin: window.begin - offset, end: window.end - offset }, this.layout.width), offset };
  }

  /** Takes the size that there is. */
  fit(): void {
    const ratio = devicePixelRatio, width = Math.floor(this.element.clientWidth), height = Math.floor(this.element.clientHeight);
    if (width <= 0 || height <= AXIS) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.raster = new Raster(this.canvas.width, this.canvas.height - Math.round(AXIS * ratio));
    this.layout.resize(width, height - AXIS);
    cancelAnimationFrame(this.frame);
    this.draw();
  }
  private moveCursor(): void {
    const { hover } = this.view.now, x = hover === null ? -1 : this.scene().x(hover);
    this.cursor.hidden = x < 0 || x > this.layout.width;
    this.cursor.style.transform = `translateX(${Math.round(x)}px)`;
  }
  private draw(): void {
    this.frame = 0;
    if (this.raster === null || this.view.now.rows.length === 0) return;
    const start = performance.now(), ratio = devicePixelRatio;
    this.tellEmpty();
    const labels = this.drawBars(this.raster, ratio);
    this.ctx.putImageData(this.raster.image, 0, Math.round(AXIS * ratio));
    this.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawPicture(this.ctx, this.scene(), this.parts(labels));
    this.phaseNames.drawn(this.rows.lines);
    this.times.push(performance.now() - start);
    if (this.times.length > KEPT_FRAMES) this.times.shift();
    this.tiles.isPaused = this.clock.isSliding;
    if (!this.clock.isSliding) this.want();
  }
  /** An empty graph says why. */
  private tellEmpty(): void {
    this.empty.hidden = this.rows.lines.length > 0;
    if (this.empty.hidden) return;
    const among = this.view.now.onlyRows === null ? "" : " among the rows of the request";
    const unknown = `No long state is known to fit the search${among}; there are too many states here to look at each.`;
    if (this.rows.isFiltered && !this.rows.isFilterWhole) this.empty.textContent = `${unknown} Zoom in to find short ones. Esc in the search box clears it.`;
    else this.empty.textContent = this.rows.isFiltered ? `No row fits the search${among}. Esc in the search box clears it.` : `No row is left to show${among}. H shows hidden rows again.`;
  }
  private drawBars(raster: Raster, ratio: number): Label[] {
    const { begin, end } = this.view.now.window, scale = raster.width / (end - begin), colours = ink(), labels: Label[] = [], bars: Bar[] = [];
    raster.fill(0, raster.height, colours.background);
    const fixed = Math.round(this.layout.fixed * ratio);
    for (const place of this.shownPlaces()) {
      const line = this.rows.lines[place]!, isPinned = place < this.rows.pinnedCount, y = this.layout.top(place), least = isPinned ? 0 : fixed;
      const top = Math.round(y * ratio), bottom = Math.round((y + LINE) * ratio);
      const background = line.row !== null && line.row.id === this.view.now.row ? colours.chosen : line.row?.kind === "host" || line.id === PATH_HEAD ? colours.band : colours.background;
      raster.fill(Math.max(top, least), bottom, background);
      const inner = (LINE - BAR) / 2, count = line.isOverlaid === true ? 1 : line.sources.length;
      line.sources.forEach((row, source) => {
        const stripe = line.isOverlaid === true ? 0 : source;
        const from = Math.round((y + inner + (BAR * stripe) / count) * ratio), to = Math.round((y + inner + (BAR * (stripe + 1)) / count) * ratio);
        const { pieces, offset } = this.pieces(row, line.host);
        this.phaseNames.see(line, pieces);
        bars.length = 0;
        raster.row(pieces, begin, scale, offset, from, to - from - (count > 1 ? 1 : 0), [least, raster.height], LABEL_WIDTH * ratio, bars);
        if (count > 1 || top < least) return;
        for (const { x0, x1, tile, place: at } of bars) addLabel(labels, { x0: x0 / ratio, x1: x1 / ratio, y: AXIS + y + LINE / 2, tile, place: at });
      });
    }
    return labels;
  }
  private want(): void {
    const { window, clock } = this.view.now, seen = new Set<number>(), near = new Set<number>();
    for (const place of this.shownPlaces()) for (const row of this.rows.lines[place]!.sources) if (row >= 0) seen.add(row);
    const { first, last } = this.layout.shown(NEAR);
    for (let place = first; place < last; place += 1) for (const row of this.rows.lines[place]!.sources) if (row >= 0 && !seen.has(row)) near.add(row);
    this.tiles.want([...seen], [...near], window, this.layout.width, clock);
    this.arrows.want();
    this.counters.want(this.shownPlaces().some((place) => counterOf(this.rows.lines[place]!.id) !== null), this.layout.width);
  }
}
