// Mouse and touch on the time graph: wheel, selection of time, pan, click, hover.
// Talks to: graph, navigation, inspector, tooltip. Used by: main.
import type { Inspector } from "../inspector";
import type { Step } from "../api";
import { counterOf } from "../counterRows";
import { AXIS, LINE } from "../layout";
import type { Navigation } from "../navigation";
import { pathRow, stepAt } from "../pathRows";
import type { Tooltip } from "../tooltip";
import type { Range } from "../view";
import type { Graph } from "./graph";
import type { Arrow } from "./arrows";

/** Less than this is a click. */
const DRAG = 4;
/** How near to an edge of the selection, or to an arrow, the pointer has to be. */
const EDGE = 5, NEAR_ARROW = 3;
const WHEEL_ZOOM = 0.0022;

export class GraphPointer {
  private readonly element: HTMLElement;
  constructor(private readonly graph: Graph, private readonly navigation: Navigation, private readonly inspector: Inspector, private readonly tooltip: Tooltip) {
    const element = this.element = graph.element;
    element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    element.addEventListener("pointerdown", (event) => this.down(event));
    element.addEventListener("pointermove", (event) => { if (event.buttons === 0) this.hover(event); });
    element.addEventListener("pointerleave", () => { this.tooltip.leave(); this.graph.view.set({ hover: null }); });
    element.addEventListener("dblclick", (event) => {
      const { row, time } = this.graph.at(...this.place(event)), step = this.step(row, time);
      if (step !== undefined) this.navigation.show(this.onShown(step));
      else if (row !== null && row >= 0) void this.inspector.zoomTo(row, time);
    });
    // The middle button pans; it must not start the browser's own scrolling, or paste.
    element.addEventListener("auxclick", (event) => event.preventDefault());
  }
  private place(event: MouseEvent): [x: number, y: number] {
    const box = this.element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }
  private wheel(event: WheelEvent): void {
    event.preventDefault();
    this.tooltip.hide();
    const [x] = this.place(event), unit = event.deltaMode === 1 ? LINE : 1, scene = this.graph.scene();
    if (event.ctrlKey || event.metaKey) {
      this.navigation.zoom(Math.exp(event.deltaY * unit * WHEEL_ZOOM), scene.time(x));
      return;
    }
    const across = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (across !== 0) this.navigation.pan((across * unit) / scene.scale);
    if (!event.shiftKey && event.deltaY !== 0) this.graph.layout.scrollBy(event.deltaY * unit);
  }
  private down(event: PointerEvent): void {
    if (event.button === 2) return;
    const [x, y] = this.place(event), { view } = this.graph, start = this.graph.scene().time(x);
    this.tooltip.hide();
    this.element.setPointerCapture(event.pointerId);
    let isMoved = false, moves: (x: number, y: number) => void;
    const edge = this.edgeAt(x);
    if (event.button === 1 || event.shiftKey) {
      event.preventDefault();
      let lastX = x, lastY = y;
      moves = (nowX, nowY) => {
        this.navigation.pan((lastX - nowX) / this.graph.scene().scale);
        this.graph.layout.scrollBy(lastY - nowY);
        lastX = nowX;
        lastY = nowY;
      };
    } else {
      const { selection } = view.now;
      const fixed = edge === "begin" ? selection!.end : edge === "end" ? selection!.begin : start;
      const first = y < AXIS ? -1 : this.graph.at(x, y).place, { area } = view.now;
      moves = (nowX, nowY) => {
        const now = this.graph.scene().time(Math.max(0, Math.min(nowX, this.graph.layout.width)));
        // Over several rows, it is of these alone; from the axis, or along one row, of all. Edges are moved in time.
        const rows = edge === null ? this.rowsBetween(first, this.graph.at(x, Math.max(AXIS, nowY)).place) : area;
        view.set({ selection: { begin: Math.min(fixed, now), end: Math.max(fixed, now) }, area: rows, hover: now });
      };
    }
    const move = (moved: PointerEvent) => {
      // The pointer has moved on the screen: not what is under it, when a line comes above the graph meanwhile.
      if (!isMoved && Math.hypot(moved.clientX - event.clientX, moved.clientY - event.clientY) < DRAG) return;
      isMoved = true;
      moves(...this.place(moved));
    };
    const end = (up: PointerEvent) => {
      this.element.removeEventListener("pointermove", move);
      this.element.removeEventListener("pointerup", end);
      this.element.removeEventListener("pointercancel", end);
      if (!isMoved && up.type === "pointerup" && event.button === 0 && !event.shiftKey) this.click(x, y);
      else if (isMoved && event.button === 0 && !event.shiftKey) view.set({ chosen: view.now.chosen + 1 });
    };
    this.element.addEventListener("pointermove", move);
    this.element.addEventListener("pointerup", end);
    this.element.addEventListener("pointercancel", end);
  }
  /** The rows of two lines and of those between them; null: of one line, or of none. */
  private rowsBetween(first: number, last: number): ReadonlySet<number> | null {
    const { rows } = this.graph, to = last < 0 ? rows.lines.length - 1 : last;
    if (first < 0 || first === to) return null;
    return new Set(rows.lines.slice(Math.min(first, to), Math.max(first, to) + 1).flatMap((line) => rows.idsOf(line)));
  }
  private click(x: number, y: number): void {
    if (y < AXIS) { this.graph.view.set({ selection: null }); return; }
    const { row, line, time } = this.graph.at(x, y);
    const step = this.step(row, time);
    if (step !== undefined) { this.graph.view.set({ row: step.row, selection: this.onShown(step) }); return; }
    if (line !== null && counterOf(line.id) !== null) return;
    if (line !== null && line.row === null && (row === null || line.isOverlaid !== true)) { this.graph.rows.toggle(line.id); return; }
    if (row === null) { this.graph.view.set({ row: null, selection: null }); return; }
    if (line!.row?.kind === "host" || line!.row?.kind === "process") {
      // The line of many rows: it is selected, its state is that of none of them.
      this.graph.view.set({ row: line!.id, selection: null });
      return;
    }
    void this.inspector.select(row, time);
  }
  /** The step of the critical path that is drawn in one of its rows. */
  private step(row: number | null, time: number): Step | undefined {
    const it = row === null ? undefined : pathRow(this.graph.view.now.path, row);
    return it === undefined ? undefined : stepAt(it, time - this.graph.clock.convert(it.host, "common"));
  }
  private onShown({ host, begin, end }: Step): Range {
    const moved = this.graph.clock.convert(host, "common");
    return { begin: begin + moved, end: end + moved };
  }
  private edgeAt(x: number): "begin" | "end" | null {
    const { selection } = this.graph.view.now, scene = this.graph.scene();
    if (selection === null) return null;
    const x0 = scene.x(selection.begin), x1 = scene.x(selection.end);
    // A selection that is hardly seen has no edges to take.
    if (x1 - x0 < 3 * EDGE) return null;
    return Math.abs(x - x0) <= EDGE ? "begin" : Math.abs(x - x1) <= EDGE ? "end" : null;
  }
  private hover(event: PointerEvent): void {
    const [x, y] = this.place(event), { row, line, time } = this.graph.at(x, y);
    this.graph.view.set({ hover: time });
    this.element.style.cursor = this.edgeAt(x) !== null ? "ew-resize" : "";
    if (y < AXIS || line === null) { this.tooltip.hide(); return; }
    const arrow = this.arrowAt(x, y);
    const step = this.step(row, time);
    if (step !== undefined) this.tooltip.step(step, time, event.clientX, event.clientY);
    else if (arrow !== null) this.tooltip.message(arrow.message, event.clientX, event.clientY);
    else if (row !== null && row >= 0) this.tooltip.state(row, time, event.clientX, event.clientY);
    else if (counterOf(line.id) !== null) this.tooltip.counter(line, time, event.clientX, event.clientY);
    else this.tooltip.hide();
  }
  private arrowAt(x: number, y: number): Arrow | null {
    let nearest: Arrow | null = null, least = NEAR_ARROW;
    for (const arrow of this.graph.arrows.seen(this.graph.scene()).arrows) {
      const dx = arrow.x1 - arrow.x0, dy = arrow.y1 - arrow.y0, along = ((x - arrow.x0) * dx + (y - arrow.y0) * dy) / (dx * dx + dy * dy);
      // Not at its ends: there are the states.
      if (along < 0.03 || along > 0.97) continue;
      const distance = Math.abs((x - arrow.x0) * dy - (y - arrow.y0) * dx) / Math.hypot(dx, dy);
      if (distance < least) { least = distance; nearest = arrow; }
    }
    return nearest;
  }
}
