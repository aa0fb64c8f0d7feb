// What all panels have in common: a bar and a body; they ask only while they are seen, after the window has come to rest, and take back what is no longer wanted.
// Talks to: view. Used by: all panels.
import { ApiError } from "../api";
import { button, h } from "../dom";
import { formatDuration, formatTime, placesFor } from "../format";
import { watchTheme } from "../theme";
import type { ViewState, Navigator, Panel, Range, View } from "../view";
import { Asking } from "./asking";
import { CommandText } from "./copy";
import { notice } from "./notice";
import { panelRange, type PanelRange } from "./times";

const REST_MS = 180;
/** Slower answers are not asked for again by themselves when the window moves. */
const QUICK_MS = 1500, REST_OF_QUICK_MS = 400;

export abstract class AskingPanel implements Panel {
  /** What it is about, at the left of the bar. */
  protected readonly heading = h("span", { class: "about" });
  protected readonly progress = new Asking(() => this.giveUp());
  protected readonly command = new CommandText();
  /** Where a panel puts its own controls. */
  protected readonly controls = h("span", { class: "controls" });
  protected readonly body: HTMLElement;
  readonly element: HTMLElement;
  protected isSeen = false;
  /** How long the last answer took, ms; and since when the next one is waited for. */
  protected took = 0;
  private since = 0;
  /** What is seen is of another time than what is asked for now. */
  protected isStale = false;
  protected readonly again = button("the range is another: ask again", "Ask for the answer of the time of now", () => this.release(), { hidden: true });
  /** What the panel is about, and that of then where it stays with it: what is clicked in a panel moves the page, and does not change what the panel is about. */
  protected covered: PanelRange | null = null;
  protected held: PanelRange | null = null;
  /** A click in the panel is being followed; the window to which the last one led, and the one that was shown before the first one. */
  protected isGoing = false;
  private led: Range | null = null;
  private stayed: Range | null = null;
  /** No request is pending or scheduled. */
  get isIdle(): boolean { return this.timer === 0 && this.asking === null && this.works === 0; }
  /** Done when what was asked for last is there. */
  protected loaded: Promise<void> = Promise.resolve();
  private stops: (() => void)[] = [];
  private timer = 0;
  private works = 0;
  private asking: AbortController | null = null;

  constructor(readonly id: string, readonly title: string, protected readonly view: View, protected readonly navigator: Navigator, private readonly keys: (keyof ViewState)[]) {
    this.body = h("div", { class: "panel-body" });
    this.element = h("section", { class: `panel ${id}`, "aria-label": title }, h("h2", { class: "heard" }, title), h("div", { class: "panel-bar" }, this.heading, this.controls, this.again, this.progress.element, this.command.element), this.body);
  }
  private tellsKept: () => void = () => undefined;
  watchKept(watcher: () => void): void { this.tellsKept = watcher; }
  /** What was chosen in the panel is another now. */
  protected tellKept(): void { this.tellsKept(); }
  show(): void {
    this.isSeen = true;
    if (this.keys.length > 0) this.stops.push(this.view.watch((now, changed) => this.changed(now, changed), ...this.keys));
    this.stops.push(this.view.watch(() => { if (this.held !== null) this.release(); }, "chosen"), this.view.watch(() => this.renewed(), "times"), watchTheme(() => this.themed()), this.view.watch(() => this.renewed(), "experiment"));
    this.shown();
    void this.ask();
  }
  hide(): void {
    this.isSeen = false;
    for (const stop of this.stops) stop();
    this.stops = [];
    clearTimeout(this.timer);
    this.timer = 0;
    this.asking?.abort();
    this.asking = null;
    this.progress.end();
    this.held = this.covered = this.led = null;
    this.forget();
  }
  /** Asks the server, and shows its answer. Throws what the server says is wrong. */
  protected abstract load(signal: AbortSignal): Promise<void>;
  /** Leaves nothing large behind. */
  protected abstract forget(): void;
  /** Something that the panel watches is another now. */
  protected changed(_now: ViewState, _changed: ReadonlySet<keyof ViewState>): void { this.askSoon(); }
  /** The traces have grown: rows and times may have other numbers. */
  protected renewed(): void { this.letGo(); this.askSoon(); }
  protected themed(): void { /* Most are coloured by the style sheet alone. */ }
  protected shown(): void { /* Most wait for the server. */ }
  protected watchWhileSeen(stop: () => void): void { this.stops.push(stop); }

  /** Stays with the time of now, wherever the page goes, until a time is selected by hand, or it is asked to follow. */
  protected hold(): void { this.held = this.covered; }
  protected get isHeld(): boolean { return this.held !== null; }
  /** Goes where a click leads, and stays with the time of now. */
  protected goAndStay(act: () => void): void {
    this.stayed = this.timesShown();
    this.hold();
    this.isGoing = true;
    try { act(); } finally { this.isGoing = false; }
    this.led = this.navigator.window;
  }
  /** What is another now is so because of a click in the panel; of the window: it is where that led, or on the way there. */
  protected get isLed(): boolean {
    const { led } = this, { window } = this.navigator;
    return this.isGoing || (led !== null && led.begin === window.begin && led.end === window.end);
  }
  /** What pictures in the panel show: the window of the time graph, but where a click in the panel led there. */
  protected readonly timesShown = (): Range => (this.isHeld ? this.stayed : null) ?? this.view.now.window;
  /** Goes with the page again, from now on. */
  protected letGo(): void { this.held = this.led = null; }
  private release(): void {
    this.letGo();
    void this.ask();
  }
  /** Asks when what it is about has changed; while it stays with a time, that is only offered. */
  protected askSoon(rest = REST_MS): void {
    if (this.held === null) this.askAgain(rest);
    else this.again.hidden = false;
  }
  /** Asks when nothing has changed for a moment. What was asked for before is no longer wanted. */
  protected askAgain(rest: number): void {
    this.asking?.abort();
    this.asking = null;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.ask(), rest);
  }
  /** The same, or offers to, where the last answer took long: the server goes on with what it was asked for before. */
  protected askWhenQuick(): void {
    if (this.held !== null) { this.again.hidden = false; return; }
    const pending = this.asking === null ? 0 : performance.now() - this.since;
    if (Math.max(this.took, pending) <= QUICK_MS) { this.askSoon(REST_OF_QUICK_MS); return; }
    this.isStale = true;
    this.again.hidden = false;
  }
  protected ask(): Promise<void> { return this.loaded = this.answered(); }
  private async answered(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = 0;
    this.asking?.abort();
    const asking = this.asking = new AbortController();
    if (this.body.childElementCount === 0) this.body.replaceChildren(notice("loading", "Loading …"));
    this.progress.begin();
    this.element.setAttribute("aria-busy", "true");
    if (this.held === null) { this.isStale = false; this.again.hidden = true; }
    this.since = performance.now();
    try {
      await this.load(asking.signal);
      if (!asking.signal.aborted) this.took = performance.now() - this.since;
    } catch (error) {
      if (asking.signal.aborted || (error instanceof DOMException && error.name === "AbortError")) return;
      this.took = performance.now() - this.since;
      if (!(error instanceof ApiError)) throw error;
      this.failed(error);
    } finally {
      if (this.asking === asking) {
        this.asking = null;
        this.progress.end();
        this.element.removeAttribute("aria-busy");
      }
    }
  }
  /** Nobody waits for the answer any more; what was there before stays. */
  protected giveUp(): void {
    this.asking?.abort();
    this.asking = null;
    this.progress.end();
    this.element.removeAttribute("aria-busy");
    this.isStale = true;
    this.body.querySelector(".notice.loading")?.replaceWith(notice("empty", "Stopped", "Nothing is worked on any more.", button("ask again", "Ask the server again", () => void this.ask())));
    if (this.body.querySelector(".notice") === null) this.again.hidden = false;
  }
  /** Work that is not the panel's own question: what a click asks for. */
  protected async during<T>(work: Promise<T>): Promise<T> {
    this.works += 1;
    try { return await work; } finally { this.works -= 1; }
  }
  retry(): void { if (this.body.querySelector(".notice.failed") !== null) void this.ask(); }
  protected failed(error: ApiError): void {
    this.command.set("");
    this.body.replaceChildren(notice("failed", error.status === 503 ? "Not ready yet" : "The server has no answer", error.message, button("try again", "Ask the server again", () => void this.ask())));
  }
  /** Says what time the panel is about, and gives it. */
  protected showRange(scope: "range" | "window" = "range"): PanelRange {
    const covered = this.covered = this.held ?? panelRange(this.view, scope), { experiment, clock, isAbout } = this.view.now, origin = experiment?.origin_unix_ns ?? null, about = isAbout && covered.what === "selection" ? "≈ " : "";
    this.heading.textContent = `${covered.what} ${about}${formatDuration(covered.end - covered.begin)} from ${formatTime(origin, covered.begin, Math.min(9, placesFor((covered.end - covered.begin) / 1000)))}${clock === "own" ? ", by the common clock" : ""}`;
    return covered;
  }
  protected get origin(): string | null { return this.view.now.experiment?.origin_unix_ns ?? null; }
}
