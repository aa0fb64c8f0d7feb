// Wheel, pointer and drag on a picture over time, as on the time graph: Ctrl + wheel zooms, Shift + wheel pans, dragging selects. The cursor is that of all pictures.
// Talks to: view, navigation. Used by: charts, pictures of panels.
import type { Time } from "../api";
import type { Navigation } from "../navigation";
import type { Navigator, View } from "../view";

/** What a navigator can do, where it is the one of the time graph. */
export type Mover = Navigator & Partial<Pick<Navigation, "zoom" | "pan">>;
const WHEEL_ZOOM = 0.0022, DRAG = 4, LINE = 20;

/** `time` gives the instant (as it is shown) at an x of the element, null beside the picture. */
export function listenTime(element: HTMLElement, view: View, mover: Mover, time: (x: number) => Time | null, options: { isClick?(x: number, y: number): void } = {}): void {
  const x = (event: MouseEvent) => event.clientX - element.getBoundingClientRect().left;
  element.addEventListener("wheel", (event) => {
    const at = time(x(event)), unit = event.deltaMode === 1 ? LINE : 1;
    if (at === null) return;
    if (event.ctrlKey || event.metaKey) mover.zoom?.(Math.exp(event.deltaY * unit * WHEEL_ZOOM), at);
    else if (event.shiftKey || event.deltaX !== 0) {
      const { begin, end } = view.now.window, by = event.deltaX === 0 ? event.deltaY : event.deltaX;
      mover.pan?.((by * unit * (end - begin)) / Math.max(1, element.clientWidth));
    } else return;
    event.preventDefault();
  }, { passive: false });
  element.addEventListener("pointermove", (event) => { if (event.buttons === 0) view.set({ hover: time(x(event)) }); });
  element.addEventListener("pointerleave", () => view.set({ hover: null }));
  element.addEventListener("pointerdown", (event) => {
    const start = time(x(event)), x0 = x(event);
    if (event.button !== 0 || start === null) return;
    let isMoved = false;
    const move = (moved: PointerEvent) => {
      const now = time(x(moved));
      if (now === null || (!isMoved && Math.abs(x(moved) - x0) < DRAG)) return;
      if (!isMoved) element.setPointerCapture(event.pointerId);
      isMoved = true;
      view.set({ selection: { begin: Math.min(start, now), end: Math.max(start, now) }, hover: now });
    };
    const end = (up: PointerEvent) => {
      element.removeEventListener("pointermove", move);
      element.removeEventListener("pointerup", end);
      element.removeEventListener("pointercancel", end);
      if (!isMoved && up.type === "pointerup") options.isClick?.(x0, up.clientY - element.getBoundingClientRect().top);
    };
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
  });
}
