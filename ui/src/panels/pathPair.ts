// Two critical paths side by side: their steps over time, both from their begins on, and what each spent by where and cause. Talks to: none. Used by: the critical path.
import type { Path } from "../api";
import { causeColour } from "../colours";
import { button, h } from "../dom";
import { formatDuration } from "../format";
import { causeWord, who } from "./pathWords";
import { swatch } from "./stack";
import { DataTable, titled } from "./table";

/** The time on one thing in both paths, ns; what one of them lacks took no time in it. */
export interface Pair { readonly where: string; readonly cause: string; readonly first: number; readonly second: number }

export function pairsOf(first: Path, second: Path): Pair[] {
  const pairs = new Map<string, { where: string; cause: string; first: number; second: number }>();
  for (const [place, path] of [["first", first], ["second", second]] as const) {
    for (const it of path.causes) {
      const key = `${it.host}\n${it.comm}\n${it.cause}`, pair = pairs.get(key) ?? { where: who(it), cause: it.cause, first: 0, second: 0 };
      pair[place] += it.total_ns;
      pairs.set(key, pair);
    }
  }
  return [...pairs.values()].sort((a, b) => Math.abs(b.second - b.first) - Math.abs(a.second - a.first));
}
export function pathName(path: Path): string { return path.request === null ? "thread" : `request ${path.request}`; }

export class PathPair {
  private readonly strips = h("div", { class: "strips" });
  private readonly table: DataTable<Pair>;
  readonly element: HTMLElement;
  private names: readonly [string, string] = ["", ""];
  constructor(close: () => void, origin: () => string | null) {
    const more = (it: Pair) => it.second - it.first;
    this.table = new DataTable<Pair>({
      label: "Time of both by cause", origin,
      columns: [
        { title: "where", value: (it) => it.where, grow: true }, { title: "cause", value: (it) => it.cause, text: (it) => causeWord(it.cause), draw: (it) => swatch(causeColour(it.cause), causeWord(it.cause)), width: 17 },
        { title: "first", unit: "ns", description: "The one that was kept", value: (it) => it.first }, { title: "second", unit: "ns", description: "The one that is shown", value: (it) => it.second },
        { title: "more", unit: "ns", description: "In the second", value: more, text: (it) => `${more(it) > 0 ? "+" : ""}${formatDuration(more(it))}` },
      ],
    });
    this.element = h("div", { class: "path-pair" }, this.strips, titled("Both, by cause", this.table, button("end the comparison ×", "Show one path alone again", close)));
  }
  set(first: Path, second: Path): void {
    this.names = [pathName(first), pathName(second)];
    const longest = Math.max(1, first.end - first.begin, second.end - second.begin);
    this.strips.replaceChildren(...[first, second].map((path, place) => this.strip(path, this.names[place]!, longest)));
    this.table.set(pairsOf(first, second));
  }
  /** Both on one scale: the same width is the same time. */
  private strip(path: Path, name: string, longest: number): HTMLElement {
    const total = path.end - path.begin, bar = h("span", { class: "steps", role: "img", "aria-label": `${name}: ${formatDuration(total)} in ${path.steps.length} steps` });
    for (const step of path.steps) {
      const part = h("span", { title: `${causeWord(step.cause)} ${formatDuration(step.end - step.begin)}, ${step.comm} ${step.detail}` });
      part.style.left = `${(100 * (step.begin - path.begin)) / longest}%`;
      part.style.width = `${(100 * (step.end - step.begin)) / longest}%`;
      part.style.background = causeColour(step.cause);
      bar.append(part);
    }
    return h("div", { class: "strip" }, h("span", { class: "of" }, `${name} · ${formatDuration(total)}`), bar);
  }
}
