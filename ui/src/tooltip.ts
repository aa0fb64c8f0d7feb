// What is under the pointer: at once what is known here, then all the server knows of the state. Talks to: api, graph, rows. Used by: pointer.
import { api, type Message, type Row, type StateAt, type Step, type Time } from "./api";
import type { ClockSwitch } from "./clock";
import { causeStyle, look, stateColour } from "./colours";
import { h } from "./dom";
import { formatDuration, formatTime, placesFor } from "./format";
import type { Graph } from "./graph/graph";
import { lossesAt, lossText } from "./losses";
import { meanwhileText } from "./panels/meanwhile";
import { causeWord } from "./panels/pathWords";
import type { Line, Rows } from "./rows";
import type { Status } from "./status";
import type { View } from "./view";

/** The pointer has to rest this long before the server is asked. */
const REST_MS = 140;

export class Tooltip {
  readonly element = h("div", { class: "tooltip", role: "tooltip", hidden: true });
  private timer = 0;
  private stop: AbortController | null = null;
  private shown = "";
  private exact: StateAt | null = null;
  private placed: readonly [x: number, y: number] = [0, 0];
  constructor(private readonly view: View, private readonly rows: Rows, private readonly graph: Graph, private readonly clock: ClockSwitch, private readonly status: Status) {}

  hide(): void {
    this.element.hidden = true;
    this.shown = "";
    clearTimeout(this.timer);
    this.stop?.abort();
  }
  /** The pointer has left the graph. */
  leave(): void {
    this.hide();
    this.status.show("");
  }
  /** Tells of the state of a row at a time, beside a place of the page. */
  state(row: number, at: Time, x: number, y: number): void {
    const it = this.rows.row(row), { clock } = this.view.now;
    if (it === undefined) { this.hide(); return; }
    const here = this.graph.stateAt(row, at), key = `${clock} ${row} ${here?.begin ?? "-"} ${here?.end ?? Math.floor(at)}`;
    if (key !== this.shown) {
      this.shown = key;
      this.exact = null;
      clearTimeout(this.timer);
      this.stop?.abort();
      this.timer = window.setTimeout(() => void this.ask(row, at, key), REST_MS);
    }
    const name = this.rows.fullName(it);
    if (here === null && this.exact === null) {
      const isAlive = it.begin === undefined || it.end === undefined || clock === "own" || (at >= it.begin && at < it.end);
      const lost = this.missing(it, at), text = lost ?? (isAlive ? "nothing known" : "not alive");
      this.fill(name, null, text, [], at);
      this.status.show(`${name}: ${text}`);
    } else {
      // What is drawn is cut at pixels: about so long, until the server has said it.
      const about = this.exact === null ? "≈ " : "", state = this.exact?.state ?? look(here!.style).name, begin = this.exact?.begin ?? here!.begin, end = this.exact?.end ?? here!.end;
      const label = this.exact === null ? here!.label : "";
      this.fill(name, this.exact?.style ?? here!.style, label === "" ? state : `${state}: ${label}`, [["since", about + formatDuration(at - begin)], ["lasts", about + formatDuration(end - begin)], ...(this.exact?.fields ?? []), ...this.further(it, at)], at);
      this.tell(name, label === "" ? state : `${state} ${label}`, begin, end, this.exact !== null);
    }
    this.place(x, y);
  }
  /** A step of the critical path. */
  step({ row, host, begin, end, cause, detail, uncertainty_ns }: Step, at: Time, x: number, y: number): void {
    const it = this.rows.row(row), moved = -this.clock.convert(host, "common"), name = it === undefined ? "" : this.rows.fullName(it), text = causeWord(cause);
    this.hide();
    const fields: [string, string][] = [["since", formatDuration(at + moved - begin)], ["lasts", formatDuration(end - begin)]];
    if (detail !== "") fields.push(["detail", detail]);
    if (uncertainty_ns !== null) fields.push(["clocks leave open", `± ${formatDuration(uncertainty_ns)}`]);
    this.fill(name, causeStyle(cause), text, fields, at);
    this.status.show(`${name}: ${text}, ${formatDuration(end - begin)} of the critical path`);
    this.place(x, y);
  }
  /** A counter of a host. */
  counter(line: Line, at: Time, x: number, y: number): void {
    const host = this.view.now.experiment?.hosts[line.host]?.name ?? "", text = this.graph.counters.text(line.id, at + this.clock.back(line.host)) ?? "";
    this.hide();
    this.fill(`${host} ${line.label}`, null, text, [], at);
    this.status.show(`${host} ${line.label}: ${text}`);
    this.place(x, y);
  }
  message(message: Message, x: number, y: number): void {
    const [from, to, sent, received, likely, low, high, isInverted] = message, a = this.rows.row(from), b = this.rows.row(to);
    if (a === undefined || b === undefined) return;
    this.hide();
    const taken = received - sent, name = `${this.rows.fullName(a)} → ${this.rows.fullName(b)}`;
    const fields: [string, string][] = [["sent", formatTime(this.origin, sent)], ["received", formatTime(this.origin, received)]];
    if (low !== null && high !== null) fields.push(["surely", `${formatDuration(taken + low)} … ${formatDuration(taken + high)}`]);
    if (likely !== null) fields.push(["likely", `± ${formatDuration(likely)}`]);
    const text = isInverted === 1 ? `received ${formatDuration(-taken)} before it was sent` : `message, ${formatDuration(taken)}`;
    this.fill(name, null, text, fields, null);
    this.status.show(`${name}: ${text}`);
    this.place(x, y);
  }
  /** Says a state in the status line; of one that is cut at pixels, no digits that are not known. */
  private tell(name: string, state: string, begin: Time, end: Time, isExact: boolean): void {
    const { window } = this.view.now, places = isExact ? 9 : placesFor((window.end - window.begin) / 1000);
    this.status.show(`${name}: ${state}, ${isExact ? "" : "≈ "}${formatDuration(end - begin)} from ${formatTime(this.origin, begin, places)}`);
  }
  /** What is missing of a row's host, or of its CPU, at an instant: null if nothing is. */
  private missing(it: Row, at: Time): string | null {
    const losses = lossesAt(this.graph.losses, it.host, it.cpu ?? null, at + this.clock.back(it.host));
    return losses.length === 0 ? null : losses.slice(0, 3).map((loss) => `${it.cpu === undefined && loss.cpu !== null ? `CPU ${loss.cpu}: ` : ""}${lossText(loss)}`).join("; ");
  }
  private further(it: Row, at: Time): [string, string][] {
    const missing = this.missing(it, at), meanwhile = this.exact?.meanwhile;
    return [...(meanwhile === undefined ? [] : [["ran instead", meanwhileText(meanwhile)] as [string, string]]), ...(missing === null ? [] : [["missing", missing] as [string, string]])];
  }
  private get origin(): string | null { return this.view.now.experiment?.origin_unix_ns ?? null; }
  private async ask(row: number, at: Time, key: string): Promise<void> {
    this.stop = new AbortController();
    // There may be no state, or no server: then what is known here has to do.
    const exact = await api.state(row, at, this.view.now.clock, this.stop.signal).catch(() => null);
    if (exact === null || key !== this.shown) return;
    this.exact = exact;
    const it = this.rows.row(row)!;
    const times: [string, string][] = [["own clock", exact.times.own], ["common clock", exact.times.common]];
    if (exact.times.sure !== undefined) times.push(["surely within", exact.times.sure]);
    if (exact.times.likely !== undefined) times.push(["likely within", exact.times.likely]);
    this.fill(this.rows.fullName(it), exact.style, exact.state, [["begin", formatTime(this.origin, exact.begin)], ["lasts", formatDuration(exact.end - exact.begin)], ...exact.fields, ...this.further(it, at), ...times], at);
    this.tell(this.rows.fullName(it), exact.state, exact.begin, exact.end, true);
    // The longer text needs another place.
    this.place(...this.placed);
  }
  private fill(name: string, style: number | null, state: string, fields: readonly [string, string][], at: Time | null): void {
    const list = h("dl");
    for (const [key, value] of fields) list.append(h("dt", {}, key), h("dd", {}, value));
    const colour = h("span", { class: "swatch" });
    if (style !== null) colour.style.background = stateColour(style);
    this.element.replaceChildren(h("strong", {}, name), h("p", {}, ...(style === null ? [] : [colour]), state), list);
    if (at !== null) this.element.append(h("p", { class: "when" }, formatTime(this.origin, at)));
  }
  private place(x: number, y: number): void {
    this.element.hidden = false;
    this.placed = [x, y];
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const left = x + 16 + width > innerWidth ? x - width - 12 : x + 16;
    const top = Math.max(4, Math.min(y + 18, innerHeight - height - 8));
    this.element.style.transform = `translate(${Math.max(4, Math.round(left))}px, ${Math.round(top)}px)`;
  }
}
