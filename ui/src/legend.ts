// What the colours of the graph mean, below it; it can be put away. Where rows of phases are shown, their names have a line, too.
// Talks to: colours, theme. Used by: main (the graph names phases), keys, help.
import { LOOKS, paintStyle, stateColour, STYLE_PHASE } from "./colours";
import { h } from "./dom";
import { swatch } from "./panels/stack";
import { watchTheme } from "./theme";

const KEPT = "isochrone.legend";
/** Styles that are seen most, of threads first; dead ones are not drawn, phases have a line of their own. */
const SHOWN: readonly number[] = [1, 2, 8, 4, 5, 3, 0, 9, 10, 11, 12, 13];
/** Names of phases; more do not fit. */
const MOST = 16;

export class Legend {
  private readonly list = h("ul", { "aria-label": "Colours of states" });
  private readonly watchers = new Set<() => void>();
  private readonly phaseList = h("ul", { "aria-label": "Colours of phases", hidden: true });
  readonly element = h("section", { class: "state-legend", "aria-label": "Legend" }, this.list, this.phaseList);
  private phases: readonly string[] = [];
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
  /** Names of phases and calls of MPI whose rows are shown. */
  name(phases: readonly string[]): void {
    this.phases = phases;
    this.draw();
  }
  /** Each phase that is named, with its colour. */
  phaseSwatches(): HTMLElement[] { return this.phases.map((name) => h("li", {}, swatch(stateColour(paintStyle(STYLE_PHASE, name)), name))); }
  private draw(): void {
    this.list.replaceChildren(...SHOWN.map((style) => h("li", {}, swatch(stateColour(style), LOOKS[style]!.name))));
    const named = this.phaseSwatches(), beyond = named.length - MOST;
    this.phaseList.replaceChildren(...named.slice(0, MOST), ...(beyond > 0 ? [h("li", {}, `… ${beyond} more: ?`)] : []));
    this.phaseList.hidden = named.length === 0;
  }
}
