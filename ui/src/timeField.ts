// The field in which an instant or a window is typed; it shows what is seen now, as a text that can be copied. Talks to: view, navigation. Used by: main, keys, status.
import { api } from "./api";
import { h } from "./dom";
import type { Navigation } from "./navigation";
import { shownAs, type TimeFormat } from "./format";
import { parseRaw, parseTimes, timesText, TIME_FORMATS, type TimeBase } from "./parseTime";
import type { Status } from "./status";
import type { Range, View } from "./view";

const KEPT = "isochrone.times";
const EXAMPLES = "06:11:28.259, 06:11:28.25 .. 06:11:28.3, 2.3s .. +40ms (since the begin), 1795155088.259 or 1795155088259000000 (Unix), h2 raw 123456789 (ns of a host's own clock)";

export class TimeField {
  private format: TimeFormat = TIME_FORMATS.find((it) => it === localStorage.getItem(KEPT)) ?? "UTC";
  readonly input = h("input", { class: "times", "aria-label": "Window, or an instant to go to", title: `Type an instant or a window, Enter goes there, Shift and Enter selects it (t): ${EXAMPLES}`, spellcheck: "false", autocomplete: "off" });
  private readonly formats = h("select", { "aria-label": "Times are", title: "How times are read and shown, on all of the page" }, ...TIME_FORMATS.map((it) => h("option", { value: it, selected: it === this.format }, it)));
  readonly element = h("span", { class: "time-field" }, this.input, this.formats);

  constructor(private readonly view: View, private readonly navigation: Navigation, private readonly status: Status) {
    this.formats.addEventListener("change", () => {
      localStorage.setItem(KEPT, this.formats.value);
      this.give(this.formats.value as TimeFormat);
    });
    view.watch(() => this.apply(), "experiment", "clock");
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") { void this.go(event.shiftKey); event.preventDefault(); }
      if (event.key === "Escape") this.input.blur();
      if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
    });
    this.input.addEventListener("input", () => this.input.classList.remove("wrong"));
    this.input.addEventListener("focus", () => this.input.select());
    this.input.addEventListener("blur", () => this.show());
    view.watch(() => { if (document.activeElement !== this.input) this.show(); }, "window", "experiment", "clock");
  }
  /** How instants are shown. */
  get chosen(): TimeFormat { return this.format; }
  /** Shows instants as an address asks for; what a reader chose for other pages stays that. */
  give(format: TimeFormat | null): void {
    if (format === null) return;
    this.format = this.formats.value = format;
    this.apply();
    this.show();
  }
  /** From now on, all instants are shown so. */
  private apply(): void {
    shownAs.format = this.format;
    shownAs.begin = this.navigation.bounds.begin;
    this.view.set({ times: `${this.format} ${shownAs.begin}` });
  }
  focus(): void { this.input.focus(); }
  private get base(): TimeBase | null {
    const { experiment, window } = this.view.now;
    return experiment?.origin_unix_ns == null ? null : { origin: experiment.origin_unix_ns, begin: this.navigation.bounds.begin, near: (window.begin + window.end) / 2, format: this.format };
  }
  private show(): void {
    this.input.classList.remove("wrong");
    if (this.base !== null) this.input.value = timesText(this.view.now.window, this.base);
  }
  /** What was typed; raw times of a host are asked of the server. */
  private async typed(): Promise<Range | null> {
    const text = this.input.value, of = parseRaw(text), host = this.view.now.experiment?.hosts.find((it) => it.name === of?.host);
    if (of === null || host === undefined) return this.base === null ? null : parseTimes(text, this.base);
    const [begin, end] = await Promise.all(of.raw.map((raw) => api.raw(host.host, raw).then((at) => at[this.view.now.clock], () => null)));
    return begin === null || begin === undefined || end === null || (end !== undefined && end <= begin) ? null : { begin, end: end ?? begin };
  }
  /** Goes to what was typed; `isSelected`: selects it, too. */
  private async go(isSelected: boolean): Promise<void> {
    const times = await this.typed(), { begin, end } = this.navigation.bounds;
    this.input.classList.toggle("wrong", times === null);
    if (times === null) { this.status.say(`That is no instant and no window, as these are: ${EXAMPLES}`, true); return; }
    if (times.end < begin || times.begin > end) { this.status.say("Nothing was recorded at that time.", true); return; }
    const window = this.navigation.window, half = (window.end - window.begin) / 2;
    if (isSelected && times.end > times.begin) this.view.set({ selection: { ...times }, chosen: this.view.now.chosen + 1 });
    if (times.end > times.begin && !(isSelected && times.begin >= window.begin && times.end <= window.end)) this.navigation.set(times, "glide");
    else if (times.end > times.begin) { this.input.blur(); return; }
    else {
      this.view.set({ selection: { ...times } });
      this.navigation.set({ begin: times.begin - half, end: times.begin + half }, "glide");
    }
    this.input.blur();
  }
}
