// The top of the page: name, the switch of clocks with the count of impossible messages, search, menus. Talks to: view, clock, search, drawer, theme. Used by: main.
import { api, type MessageCounts } from "./api";
import type { Bookmark, Bookmarks } from "./bookmarks";
import type { ClockSwitch } from "./clock";
import { button, h } from "./dom";
import { formatCount } from "./format";
import type { Search } from "./search";
import { switchTheme } from "./theme";
import type { View } from "./view";

/** What the header can start. */
export interface HeaderActs { requests(): void; losses(): void; help(): void; exportPng(): void; exportSvg(): void; bookmark(): void; goTo(mark: Bookmark): void; clearRows(): void }

export class Header {
  private readonly name = h("span", { class: "experiment" });
  private readonly growth = h("span", { class: "growth", title: "The traces are still being recorded; what comes is shown as soon as it was looked at" }, "● recording");
  private readonly switch: HTMLButtonElement;
  private readonly count = h("span", { class: "inverted", role: "status", hidden: true });
  private readonly lost: HTMLButtonElement;
  private readonly only: HTMLButtonElement;
  /** What the counts are of, by the name of its store, and the counts as soon as they are there. */
  private countedOf: string | null = null;
  private messages: MessageCounts | null = null;
  private readonly marks = h("div", { class: "items" });
  readonly element: HTMLElement;

  constructor(private readonly view: View, private readonly clock: ClockSwitch, search: Search, private readonly bookmarks: Bookmarks, private readonly acts: HeaderActs) {
    this.switch = h("button", { type: "button", class: "clock-switch", role: "switch", "aria-checked": "true", title: "Own clocks or the common one (k)", onclick: () => clock.toggle() },
      h("span", { class: "own" }, "own clocks"), h("span", { class: "knob", "aria-hidden": "true" }), h("span", { class: "common" }, "common clock"));
    this.only = button("rows of one request ×", "Show all rows again", () => acts.clearRows(), { class: "chip" });
    this.lost = button("", "What is missing of the traces, and when", () => acts.losses(), { class: "chip lost", hidden: true });
    this.element = h("header", { class: "header" },
      h("h1", {}, "isochrone"), this.name, this.growth, this.switch, this.count, this.lost, h("span", { class: "room" }), this.only, search.element,
      button("requests", "Pick a request: its critical path", () => acts.requests()), this.bookmarkMenu(), this.exportMenu(),
      button("◐", "Light or dark", switchTheme, { class: "icon" }), button("?", "Keys, mouse, colours (?)", () => acts.help(), { class: "icon" }));
    const draw = () => this.draw();
    view.watch(draw, "experiment", "clock", "onlyRows", "path");
    clock.watch(draw);
    bookmarks.watch(() => this.drawMarks());
    this.draw();
    this.drawMarks();
  }
  /** Says what is lost; nothing, if there is no text. */
  tellLosses(text: string): void {
    this.lost.textContent = text;
    this.lost.hidden = text === "";
  }
  private draw(): void {
    const { experiment, clock, onlyRows, path } = this.view.now;
    document.title = experiment === null ? "isochrone" : `${experiment.name} – isochrone`;
    this.name.textContent = experiment?.name ?? "";
    this.name.title = [...(experiment?.traces ?? []), ...(experiment?.notes ?? [])].join("\n");
    this.growth.hidden = experiment?.grows !== true;
    this.switch.setAttribute("aria-checked", String(clock === "common"));
    this.switch.disabled = (experiment?.hosts.length ?? 0) < 2;
    this.only.hidden = onlyRows === null;
    this.only.textContent = path === null ? "some rows only ×" : "rows of one request ×";
    this.countMessages((experiment?.hosts.length ?? 0) < 2 ? null : experiment?.store ?? null);
    const messages = this.messages;
    if (messages === null) return;
    this.count.hidden = messages.count === 0;
    // While rows slide, the figure goes from one to the other, too.
    const [now, before] = clock === "own" ? [messages.inverted_own, messages.inverted] : [messages.inverted, messages.inverted_own];
    const inverted = Math.round(now + (before - now) * this.clock.left);
    this.count.textContent = `${formatCount(inverted)} of ${formatCount(messages.count)} messages arrive before they were sent`;
    this.count.classList.toggle("bad", inverted > 0);
  }
  /** Asks for the counts of what is shown now, once. */
  private countMessages(of: string | null): void {
    if (of === this.countedOf) return;
    this.countedOf = of;
    this.messages = null;
    this.count.hidden = true;
    if (of === null) return;
    void api.messageCounts().then((counts) => {
      if (of !== this.countedOf) return;
      this.messages = counts;
      this.draw();
    }, (error: Error) => {
      if (of !== this.countedOf) return;
      this.count.textContent = `messages: ${error.message}`;
      this.count.classList.add("bad");
      this.count.hidden = false;
    });
  }
  private bookmarkMenu(): HTMLElement {
    return menu("bookmarks", "Bookmarks", [button("Bookmark this place (b)", "Bookmark this place", () => this.acts.bookmark()), this.marks]);
  }
  private exportMenu(): HTMLElement {
    return menu("export", "Export what is seen", [button("as PNG (pixels)", "Export as PNG", () => this.acts.exportPng()), button("as SVG (vectors)", "Export as SVG", () => this.acts.exportSvg()),
      button("copy the link to this view", "Copy the link", () => void navigator.clipboard?.writeText(location.href))]);
  }
  private drawMarks(): void {
    this.marks.replaceChildren(...this.bookmarks.list.map((mark) => {
      const name = h("input", { value: mark.name, "aria-label": "Name of the bookmark", onchange: () => this.bookmarks.rename(mark, name.value) });
      return h("div", { class: "mark" }, name, button("→", `Go to ${mark.name}`, () => this.acts.goTo(mark)), button("×", `Remove ${mark.name}`, () => this.bookmarks.remove(mark)));
    }));
  }
}
/** A button that opens a list; it closes when something else is used. */
function menu(text: string, title: string, items: HTMLElement[]): HTMLElement {
  const details = h("details", { class: "menu" }, h("summary", { title }, `${text} ▾`), h("div", { class: "items" }, ...items));
  addEventListener("pointerdown", (event) => { if (!details.contains(event.target as Node)) details.open = false; });
  details.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    details.open = false;
    details.querySelector("summary")?.focus();
    event.stopPropagation();
  });
  return details;
}
