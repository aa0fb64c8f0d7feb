// The browser's own scrollbar for lines that are placed by us. Talks to: layout. Used by: main.
import { h } from "./dom";
import { AXIS, type Layout } from "./layout";

export class Scrollbar {
  private readonly inner = h("div");
  readonly element = h("div", { class: "scrollbar", "aria-hidden": "true", tabindex: -1 }, this.inner);
  constructor(layout: Layout) {
    this.element.addEventListener("scroll", () => layout.scrollTo(this.element.scrollTop));
    layout.watch(() => {
      this.element.style.marginTop = `${AXIS + layout.fixed}px`;
      this.inner.style.height = `${layout.full}px`;
      if (this.element.scrollTop !== layout.scrollTop) this.element.scrollTop = layout.scrollTop;
    });
  }
}
