// The drawer below the time graph: a tab for each panel. It can be made higher, and closed. Only the panel that is seen is at work.
// Talks to: panels. Used by: main, header, keys, URL.
import { button, h, splitter } from "./dom";
import { OPEN_PANEL, type PanelWanted } from "./panels/firstLook";
import type { Panel } from "./view";

const KEPT = "isochrone.drawer";
const LEAST = 120, LEFT_FOR_GRAPH = 180;

export class Drawer {
  private readonly tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Panels" });
  private readonly body = h("div", { class: "drawer-body", role: "tabpanel", tabindex: -1 });
  readonly element: HTMLElement;
  private shown: Panel | null = null;
  private last: string | null = null;
  /** The panel whose list was used last: n and N go on in it. */
  private lister: string | null = null;
  private height = Number(localStorage.getItem(KEPT) ?? "") || Math.round(innerHeight * 0.32);
  private readonly watchers = new Set<() => void>();

  constructor(private readonly panels: readonly Panel[]) {
    const bar = h("div", { class: "tab-bar" }, this.tabs, button("×", "Close the drawer (v)", () => this.open(null), { class: "close" }));
    this.element = h("section", { class: "drawer", "aria-label": "Details" }, splitter("horizontal", "Height of the drawer", (by) => { this.height = this.fitting(this.fitting(this.height) - by); this.fit(); }, () => this.fitting(this.height), () => localStorage.setItem(KEPT, String(this.height))), bar, this.body);
    for (const panel of panels) {
      this.tabs.append(h("button", { type: "button", role: "tab", id: `tab-${panel.id}`, "data-id": panel.id, onclick: () => this.open(this.shown === panel ? null : panel.id) }, panel.title));
    }
    for (const panel of panels) panel.watchKept?.(() => { for (const watcher of this.watchers) watcher(); });
    this.tabs.addEventListener("keydown", (event) => this.key(event));
    for (const kind of ["pointerdown", "keydown"]) {
      this.body.addEventListener(kind, () => { if (this.shown?.stepList !== undefined) this.lister = this.shown.id; });
    }
    this.body.addEventListener(OPEN_PANEL, (event) => { const { id, kept } = (event as CustomEvent<PanelWanted>).detail; this.open(id, kept); });
    addEventListener("resize", () => this.fit());
    this.mark();
  }
  watch(watcher: () => void): void { this.watchers.add(watcher); }
  /** What was chosen in the panel that is seen; "": nothing. */
  get kept(): string { return this.shown?.kept ?? ""; }
  /** What was chosen in the others, by their names. */
  get keptOthers(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.panels.filter((panel) => panel !== this.shown).map((panel) => [panel.id, panel.kept ?? ""]).filter(([, kept]) => kept !== ""));
  }
  /** Chooses in all panels but one what was chosen there. */
  keepOthers(of: string | null, kept: Readonly<Record<string, string>>): void {
    for (const panel of this.panels) if (panel.id !== of && (panel.kept ?? "") !== (kept[panel.id] ?? "")) panel.keep?.(kept[panel.id] ?? "");
  }
  get isIdle(): boolean { return this.shown?.isIdle ?? true; }
  /** Which panel is seen. */
  get id(): string | null { return this.shown?.id ?? null; }
  get all(): readonly Pick<Panel, "id" | "title">[] { return this.panels; }
  get first(): string | null { return this.panels[0]?.id ?? null; }
  /** `kept`: what is to be chosen in it; null: what was. */
  open(id: string | null, kept: string | null = null): void {
    const next = this.panels.find((panel) => panel.id === id) ?? null;
    if (kept !== null && kept !== (next?.kept ?? "")) next?.keep?.(kept);
    if (next === this.shown) return;
    this.shown?.hide();
    this.shown = next;
    this.last = next?.id ?? this.last;
    if (next?.stepList !== undefined) this.lister = next.id;
    this.body.replaceChildren(...(next === null ? [] : [next.element]));
    this.mark();
    next?.show();
    for (const watcher of this.watchers) watcher();
  }
  /** What failed may be asked again: the server is back. */
  retry(): void { this.shown?.retry?.(); }
  /** The list of a panel is the one that is used now. */
  use(id: string): void { this.lister = id; }
  /** The next of the list that was used last, else of that of a panel. */
  step(by: number, otherwise: string): void {
    this.open(this.lister ?? otherwise);
    void this.shown?.stepList?.(by);
  }
  toggle(): void { this.open(this.shown === null ? this.last ?? this.first : null); }
  /** What of a height the page has room for: on a larger page, it has its own height again. */
  private fitting(height: number): number { return Math.max(LEAST, Math.min(height, innerHeight - LEFT_FOR_GRAPH)); }
  private fit(): void { this.element.style.height = this.shown === null ? "" : `${this.fitting(this.height)}px`; }
  private mark(): void {
    this.element.classList.toggle("closed", this.shown === null);
    this.fit();
    for (const tab of this.tabs.children) {
      const isShown = (tab as HTMLElement).dataset.id === this.shown?.id;
      tab.setAttribute("aria-selected", String(isShown));
      (tab as HTMLElement).tabIndex = isShown || (this.shown === null && tab === this.tabs.firstElementChild) ? 0 : -1;
    }
    if (this.shown !== null) this.body.setAttribute("aria-labelledby", `tab-${this.shown.id}`);
  }
  private key(event: KeyboardEvent): void {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0, tabs = [...this.tabs.children] as HTMLElement[];
    const now = tabs.indexOf(document.activeElement as HTMLElement);
    if (by === 0 || now < 0) return;
    const next = tabs[(now + by + tabs.length) % tabs.length]!;
    next.focus();
    this.open(next.dataset.id ?? null);
    event.preventDefault();
    event.stopPropagation();
  }
}
