// The browser's own scrollbar for lines that are placed by us. Talks to: layout. Used by: main.
import { h } from "./dom";
import { AXIS, type Layout } from "./layout";

export class Scrollbar {
  private readonly inner = h("div");
  readonly element = h("div", { class: "scrollbar", "aria-hidden": "true", tabindex: -1 }, this.inner);
  constructor(layout: Layout) {
    // It says so, too, when it was moved from here: that is no news.
    this.element.addEventListener("scroll", () => { if (this.element.scrollTop !== layout.scrollTop) layout.scrollTo(this.element.scrollTop); });
    let fixed = -1, full = -1;
    layout.watch(() => {
      // Setting what is already so costs a layout of the page.
      if (fixed !== layout.fixed) this.element.style.marginTop = `${AXIS + (fixed = layout.fixed)}px`;
      if (full !== layout.full) this.inner.style.height = `${full = layout.full}px`;
      if (this.element.scrollTop !== layout.scrollTop) this.element.scrollTop = layout.scrollTop;
    });
  }
}
