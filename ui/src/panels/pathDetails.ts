// One critical path: what its time went to, by host, process and cause, against the median of the others; and its steps, to go to.
// Talks to: none (the critical path gives it what to show). Used by: the critical path.
import type { Path, Step } from "../api";
import { causeColour } from "../colours";
import { h } from "../dom";
import { formatDuration } from "../format";
import { causeWord, differs, who } from "./pathWords";
import { stack, swatch } from "./stack";
import { DataTable, titled } from "./table";

type CauseOf = Path["causes"][number];
type Placed = Step & { place: number };

export class PathDetails {
  private path: Path | null = null;
  private hosts: readonly string[] = [];
  private readonly title = h("p", { class: "path-title" });
  private readonly sentence = h("p", { class: "sentence", role: "status" });
  private readonly bar = h("div", { class: "path-bar" });
  private readonly causes: DataTable<CauseOf>;
  private readonly steps: DataTable<Placed>;
  readonly element: HTMLElement;

  constructor(go: (step: Step) => void, zoom: (step: Step) => void, origin: () => string | null) {
    const share = (it: CauseOf) => (100 * it.total_ns) / Math.max(1, this.path!.end - this.path!.begin);
    this.causes = new DataTable<CauseOf>({
      label: "Time by cause", origin, sort: [2, true],
      columns: [
        { title: "where", value: who, grow: true },
        { title: "cause", value: (it) => it.cause, text: (it) => causeWord(it.cause), draw: (it) => swatch(causeColour(it.cause), causeWord(it.cause)), width: 15 },
        { title: "time", unit: "ns", value: (it) => it.total_ns },
        { title: "median", unit: "ns", description: "Median of all requests of the service", value: (it) => it.median_ns },
        { title: "more", unit: "ns", description: "Time beyond the median", value: more, text: moreText, width: 10, draw: (it) => h("span", { class: (more(it) ?? 0) > 0.03 * (this.path!.end - this.path!.begin) ? "much" : null }, moreText(it)) },
        { title: "share", unit: "percent", value: share, text: (it) => `${share(it).toFixed(1)} %` },
      ],
    });
    this.steps = new DataTable<Placed>({
      label: "Steps of the path: a click goes there", origin, pick: go, open: zoom,
      columns: [
        { title: "#", unit: "count", value: (it) => it.place }, { title: "at", unit: "ns", description: "Since the begin of the path", value: (it) => it.begin - this.path!.begin, text: (it) => formatDuration(it.begin - this.path!.begin) },
        { title: "time", unit: "ns", value: (it) => it.end - it.begin },
        { title: "where", value: (it) => this.where(it) }, { title: "cause", value: (it) => it.cause, text: (it) => causeWord(it.cause), draw: (it) => swatch(causeColour(it.cause), causeWord(it.cause)), width: 17 },
        { title: "detail", value: (it) => it.detail, grow: true },
        { title: "±", unit: "ns", description: "How much of its time the clocks leave open", value: (it) => it.uncertainty_ns },
      ],
    });
    this.element = h("div", { class: "path-details" }, this.title, this.bar, this.sentence,
      h("div", { class: "side-by-side" }, titled("Time by cause", this.causes), titled("Steps", this.steps)));
  }
  set(path: Path, title: string, hosts: readonly string[]): void {
    this.path = path;
    this.hosts = hosts;
    this.title.textContent = this.title.title = title;
    const all = Math.max(1, path.end - path.begin), sums = new Map<string, number>();
    for (const { cause, total_ns } of path.causes) sums.set(cause, (sums.get(cause) ?? 0) + total_ns);
    const parts = [...sums].sort((a, b) => b[1] - a[1]).map(([cause, total]) => ({ name: causeWord(cause), share: total / all, colour: causeColour(cause), text: formatDuration(total) }));
    this.bar.replaceChildren(stack(parts));
    this.sentence.textContent = differs(path) ?? "";
    this.sentence.hidden = this.sentence.textContent === "";
    this.causes.set(path.causes);
    this.steps.set(path.steps.map((step, place) => ({ ...step, place: place + 1 })));
  }
  clear(): void {
    this.causes.set([]);
    this.steps.set([]);
  }
  private where(it: Step): string { return `${who({ host: this.hosts[it.host] ?? "", comm: it.comm })}${it.tid === null ? "" : ` ${it.tid}`}`; }
}
/** Time beyond the median of the others. */
function more(it: CauseOf): number | null { return it.median_ns === null ? null : it.total_ns - it.median_ns; }
function moreText(it: CauseOf): string { const by = more(it); return by === null ? "–" : `${by > 0 ? "+" : ""}${formatDuration(by)}`; }
