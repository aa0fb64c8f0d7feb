// Elements in one expression. Talks to: none. Used by: all parts that make elements.
type Child = Node | string | null;
type Properties = { [name: string]: string | number | boolean | null | ((event: never) => void) };

/** An element with properties (`on…`: listeners; the others: attributes) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, properties: Properties = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}
/** A button with a text, and a longer one for who hovers or listens: its name are its words, if it has any. */
export function button(text: string, title: string, run: () => void, properties: Properties = {}): HTMLButtonElement {
  return h("button", { type: "button", title, "aria-label": /\p{L}/u.test(text) ? null : title, onclick: () => run(), ...properties }, text);
}
/** A bar between two parts that can be dragged, or moved with the arrow keys: `move` gets pixels; `size` says how large what is resized is. */
export function splitter(orientation: "vertical" | "horizontal", label: string, move: (by: number) => void, size: () => number, done: () => void): HTMLElement {
  const isVertical = orientation === "vertical";
  const bar = h("div", { class: `splitter ${orientation}`, role: "separator", "aria-orientation": orientation, "aria-label": label, "aria-valuenow": Math.round(size()), tabindex: 0 });
  const moved = (by: number) => { move(by); bar.setAttribute("aria-valuenow", String(Math.round(size()))); };
  bar.addEventListener("pointerdown", (event) => {
    bar.setPointerCapture(event.pointerId);
    let last = isVertical ? event.clientX : event.clientY;
    const drag = (event: PointerEvent) => {
      const now = isVertical ? event.clientX : event.clientY;
      moved(now - last);
      last = now;
    };
    bar.addEventListener("pointermove", drag);
    bar.addEventListener("pointerup", () => { bar.removeEventListener("pointermove", drag); done(); }, { once: true });
    event.preventDefault();
  });
  bar.addEventListener("keydown", (event) => {
    const by = event.key === (isVertical ? "ArrowLeft" : "ArrowUp") ? -16 : event.key === (isVertical ? "ArrowRight" : "ArrowDown") ? 16 : 0;
    if (by === 0) return;
    moved(by);
    done();
    event.preventDefault();
    event.stopPropagation();
  });
  return bar;
}
