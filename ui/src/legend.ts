// What the colours of the graph mean, below it; it can be put away. Talks to: colours, theme. Used by: main, keys.
import { LOOKS, stateColour } from "./colours";
import { h } from "./dom";
import { swatch } from "./panels/stack";
import { watchTheme } from "./theme";

const KEPT = "isochrone.legend";
/** Styles that are seen most, of threads first; dead ones are not drawn, phases have many colours. */
const SHOWN: readonly number[] = [1, 2, 8, 4, 5, 3, 0, 9, 10, 11, 12, 13];

export class Legend {
  private readonly list = h("ul", { "aria-label": "Colours of states" });
  private readonly watchers = new Set<() => void>();
  readonly element = h("section", { class: "state-legend", "aria-label": "Legend" }, this.list);
  constructor() {
    this.element.hidden = localStorage.getItem(KEPT) === "off";
    watchTheme(() => this.draw());
    this.draw();
  }
  watch(watcher: () => void): void { this.watchers.add(watcher); }
  get isShown(): boolean { return !this.element.hidden; }
  toggle(): void {
    this.give(!this.isShown);
    localStorage.setItem(KEPT, this.isShown ? "on" : "off");
  }
  /** Shows it, or not, as an address asks for; what a reader chose for other pages stays that. */
  give(isShown: boolean | null): void {
    if (isShown === null) return;
    this.element.hidden = !isShown;
    for (const watcher of this.watchers) watcher();
  }
  private draw(): void { this.list.replaceChildren(...SHOWN.map((style) => h("li", {}, swatch(stateColour(style), LOOKS[style]!.name)))); }
}
