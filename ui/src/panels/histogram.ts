// How durations are spread: bars of equal widths by logarithm, some of which are chosen by dragging or with keys. Talks to: none. Used by: the panel of latencies.
import { h } from "../dom";
import { formatCount, formatDuration } from "../format";

export interface Bar { readonly from: number; readonly to: number; readonly count: number }
/** Bars of a decade. */
const PER_DECADE = 12;

/** The bars of some durations, ns: each holds those from its begin to before its end. */
export function barsOf(durations: readonly number[]): Bar[] {
  if (durations.length === 0) return [];
  const place = (ns: number) => Math.floor(Math.log10(Math.max(1, ns)) * PER_DECADE + 1e-9), edge = (place: number) => Math.round(10 ** (place / PER_DECADE));
  const counts = new Map<number, number>();
  for (const ns of durations) { let at = place(ns); if (ns < edge(at)) at -= 1; else if (ns >= edge(at + 1)) at += 1; counts.set(at, (counts.get(at) ?? 0) + 1); }
  const first = Math.min(...counts.keys()), last = Math.max(...counts.keys());
  return Array.from({ length: last - first + 1 }, (_, by) => ({ from: edge(first + by), to: edge(first + by + 1), count: counts.get(first + by) ?? 0 }));
}

export class Histogram {
  private bars: readonly Bar[] = [];
  /** The first and the last bar that are chosen. */
  private range: [number, number] | null = null;
  private from = 0;
  private readonly columns = h("div", { class: "columns" });
  private readonly ends = h("div", { class: "ends muted" }, h("span"), h("span"));
  readonly element = h("div", { class: "histogram", role: "slider", tabindex: 0, "aria-label": "Durations: drag over bars, or the arrow keys, with Shift for more of them", "aria-valuemin": 0 }, this.columns, this.ends);
  constructor(private readonly chosen: (from: number, to: number) => void) {
    const at = (event: PointerEvent) => Math.max(0, Math.min(this.bars.length - 1, Math.floor(((event.clientX - this.columns.getBoundingClientRect().left) / Math.max(1, this.columns.clientWidth)) * this.bars.length)));
    this.columns.addEventListener("pointerdown", (event) => { this.columns.setPointerCapture(event.pointerId); this.from = at(event); this.mark(this.from, this.from); });
    this.columns.addEventListener("pointermove", (event) => { if (this.columns.hasPointerCapture(event.pointerId)) this.mark(this.from, at(event)); });
    this.columns.addEventListener("pointerup", () => this.tell());
    this.element.addEventListener("keydown", (event) => this.key(event));
  }
  /** `from`, `to`: what is chosen of them. */
  set(bars: readonly Bar[], from: number, to: number): void {
    this.bars = bars;
    const most = Math.max(1, ...bars.map((bar) => bar.count));
    this.columns.replaceChildren(...bars.map((bar) => {
      const column = h("span", { title: `${formatDuration(bar.from)} to ${formatDuration(bar.to)}: ${formatCount(bar.count)}` }, h("i"));
      // Few are seen, too.
      (column.firstChild as HTMLElement).style.height = bar.count === 0 ? "0" : `${Math.max(3, (100 * bar.count) / most)}%`;
      return column;
    }));
    const [first, last] = this.ends.children;
    first!.textContent = bars.length === 0 ? "" : formatDuration(bars[0]!.from);
    last!.textContent = bars.length === 0 ? "" : formatDuration(bars.at(-1)!.to);
    this.element.setAttribute("aria-valuemax", String(Math.max(0, bars.length - 1)));
    const inside = bars.flatMap((bar, place) => (bar.from >= from && bar.to <= to ? [place] : []));
    if (inside.length > 0) this.mark(inside[0]!, inside.at(-1)!);
    else this.mark(bars.length - 1, bars.length - 1);
  }
  private mark(a: number, b: number): void {
    this.range = [Math.min(a, b), Math.max(a, b)];
    const [first, last] = this.range;
    [...this.columns.children].forEach((column, place) => column.classList.toggle("chosen", place >= first && place <= last));
    this.element.setAttribute("aria-valuenow", String(first));
    this.element.setAttribute("aria-valuetext", this.bars.length === 0 ? "none" : `${formatDuration(this.bars[first]?.from)} to ${formatDuration(this.bars[last]?.to)}`);
  }
  private tell(): void {
    const [first, last] = this.range ?? [0, 0], from = this.bars[first], to = this.bars[last];
    if (from !== undefined && to !== undefined) this.chosen(from.from, to.to);
  }
  private key(event: KeyboardEvent): void {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined || this.range === null) return;
    const [first, last] = this.range, inside = (place: number) => Math.max(0, Math.min(this.bars.length - 1, place));
    if (event.shiftKey) this.mark(inside(first + Math.min(0, by)), inside(last + Math.max(0, by)));
    else this.mark(inside(first + by), inside(first + by));
    this.tell();
    event.preventDefault();
    event.stopPropagation();
  }
}
