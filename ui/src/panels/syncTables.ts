// The tables of the synchronization: links, hosts with their formulas, breaks, suspects, what was refused. Talks to: none. Used by: synchronization.
import type { Break, Host, Link, Sync } from "../api";
import { formatDuration } from "../format";
import { formatNumber } from "./cells";
import { DataTable, titled } from "./table";

type Formula = Sync["formulas"][number];
type OfHost = Host & { formula: Formula | undefined };
type Suspect = Sync["suspects"][number];
type Refused = Sync["refused"][number];

/** Two bounds: "−3.1 … 4 µs". */
function between(bounds: readonly [number | null, number | null] | null, text: (value: number) => string): string {
  return bounds === null || bounds[0] === null || bounds[1] === null ? "–" : `${text(bounds[0])} … ${text(bounds[1])}`;
}
const width = (bounds: readonly [number | null, number | null] | null) => (bounds === null || bounds[0] === null || bounds[1] === null ? null : bounds[1] - bounds[0]);

function formulaText(formula: Formula | undefined): string {
  if (formula === undefined) return "";
  const isBack = formula.offset_ns.startsWith("-");
  return `${formula.slope} · t ${isBack ? "−" : "+"} ${isBack ? formula.offset_ns.slice(1) : formula.offset_ns} ns`;
}

export class SyncTables {
  private picked: Link | null = null;
  readonly links: DataTable<Link>;
  private readonly hosts: DataTable<OfHost>;
  private readonly breaks: DataTable<Break>;
  private readonly suspects: DataTable<Suspect>;
  private readonly refused: DataTable<Refused>;

  constructor(pick: (link: Link) => void, go: (at: number) => void, private readonly hostName: (host: number | string) => string, origin: () => string | null) {
    this.links = new DataTable<Link>({
      label: "Links: a click shows its picture", origin, pick, sort: [0, false], mark: (it) => (it === this.picked ? "picked" : null),
      columns: [
        { title: "link", value: (it) => `${it.a} ↔ ${it.b}` }, { title: "quality", value: (it) => it.quality }, { title: "likely ±", unit: "ns", value: (it) => it.likely_ns }, { title: "sure ±", unit: "ns", value: (it) => it.sure_ns },
        { title: "→", unit: "count", description: "Messages from the first to the second", value: (it) => it.a_to_b }, { title: "←", unit: "count", description: "Messages from the second to the first", value: (it) => it.b_to_a },
        { title: "least RTT", unit: "ns", description: "Least round trip", value: (it) => it.min_rtt_ns },
        { title: "rate", unit: "count", description: "How much faster the second clock runs, in ppm: surely between", value: (it) => width(it.rate_ppm), text: (it) => `${between(it.rate_ppm, formatNumber)} ppm` },
        { title: "offset in the middle", unit: "ns", description: "Surely between", value: (it) => width(it.offset_at_middle_ns), text: (it) => between(it.offset_at_middle_ns, formatDuration) },
        { title: "ambiguous", unit: "count", description: "Packets that fit several", value: (it) => it.ambiguous }, { title: "suspects", unit: "count", description: "Messages that contradict the others", value: (it) => it.suspects },
        { title: "dropped", unit: "count", value: (it) => it.dropped }, { title: "inversions", unit: "count", description: "Messages that arrive before they were sent, by the common clock", value: (it) => it.inversions },
      ],
    });
    this.hosts = new DataTable<OfHost>({
      label: "Hosts and formulas of their clocks", origin, sort: [0, false],
      columns: [
        { title: "host", value: (it) => it.name }, { title: "likely ±", unit: "ns", value: (it) => it.likely_ns, text: (it) => (it.is_reference ? "reference" : formatDuration(it.likely_ns)) }, { title: "sure ±", unit: "ns", value: (it) => it.sure_ns, text: (it) => (it.is_reference ? "" : formatDuration(it.sure_ns)) },
        { title: "own − common", unit: "ns", description: "How far its own clock is ahead, in the middle of its trace", value: (it) => it.shift_ns }, { title: "island", unit: "count", description: "Hosts of one island are on one clock", value: (it) => it.island, text: (it) => String(it.island ?? "–") },
        { title: "common clock from t", description: "t: its own time in ns since its boot", value: (it) => formulaText(it.formula), grow: true }, { title: "assumed of its clock", value: (it) => it.formula?.assumption ?? "", grow: true },
      ],
    });
    this.breaks = new DataTable<Break>({ label: "Breaks: a click goes there", origin, pick: (it) => go(it.at), columns: [{ title: "host", value: (it) => this.hostName(it.host) }, { title: "at", unit: "time", value: (it) => it.at }, { title: "what", value: (it) => it.text, grow: true }] });
    this.suspects = new DataTable<Suspect>({ label: "Suspects: a click goes there", origin, pick: (it) => { if (it.at !== null) go(it.at); }, columns: [{ title: "link", value: (it) => it.link.join(" → ") }, { title: "at", unit: "time", value: (it) => it.at }, { title: "why", value: (it) => it.why, grow: true }] });
    this.refused = new DataTable<Refused>({ label: "Refused", origin, columns: [{ title: "what", value: (it) => it.what }, { title: "name", value: (it) => it.name }, { title: "why", value: (it) => it.why, grow: true }] });
  }
  set(sync: Sync): HTMLElement[] {
    const formulas = new Map(sync.formulas.map((it) => [it.host, it]));
    this.links.set(sync.links);
    this.hosts.set(sync.hosts.map((host) => ({ ...host, formula: formulas.get(host.name) })));
    this.breaks.set(sync.breaks);
    this.suspects.set(sync.suspects);
    this.refused.set(sync.refused);
    const block = (title: string, table: { element: HTMLElement; copy: HTMLElement; count: number }) => {
      const it = titled(table.count === 0 ? `${title}: none` : title, table);
      // As high as its rows; very long ones scroll by themselves.
      it.style.height = table.count === 0 ? "28px" : `${26 + 24 + 21 * Math.min(table.count, 12) + 14}px`;
      if (table.count === 0) { table.element.hidden = true; table.copy.hidden = true; } else { table.element.hidden = false; table.copy.hidden = false; }
      return it;
    };
    return [block("Links", this.links), block("Hosts", this.hosts), block("Breaks", this.breaks), block("Suspects", this.suspects), block("Refused", this.refused)];
  }
  choose(link: Link | null): void { this.picked = link; this.links.redraw(); }
}
