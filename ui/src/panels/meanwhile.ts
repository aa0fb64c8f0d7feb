// What ran while a thread waited for a CPU, in words, and as a list to go on from. Talks to: none. Used by: the panel of a state, the tooltip.
import type { Meanwhile, Ran } from "../api";
import { button, h } from "../dom";
import { formatCount, formatDuration } from "../format";

const MOST = 8;

/** "lttng-consumerd 185 31.2 ms, appsrv 219 22 ms, 4 others 4.3 ms". */
export function meanwhileText({ ran, unknown_ns: unknown }: Meanwhile, most = 3): string {
  const shown = ran.slice(0, most), others = ran.slice(most), parts = shown.map((it) => `${it.label} ${formatDuration(it.total_ns)}`);
  if (others.length > 0) parts.push(`${formatCount(others.length)} others ${formatDuration(sum(others))}`);
  if (unknown > 0) parts.push(`unknown ${formatDuration(unknown)}`);
  return parts.length === 0 ? "unknown" : parts.join(", ");
}
/** The threads that ran, longest first; a click goes to one, `showRows` to all of them. */
export function meanwhileList({ ran, cpu, unknown_ns: unknown }: Meanwhile, cpuName: string, go: (row: number) => void, showRows: (rows: number[]) => void): HTMLElement {
  const shown = ran.slice(0, MOST), others = ran.slice(MOST), rows = ran.flatMap((it) => it.row ?? []);
  const line = (name: HTMLElement | string, ns: number) => [h("dt", {}, formatDuration(ns)), h("dd", {}, name)];
  return h("section", { class: "meanwhile" }, h("h3", {}, "Ran instead, on ", button(cpuName, "Go to this CPU", () => go(cpu), { class: "link" })),
    h("dl", {}, ...shown.flatMap(({ row, label, total_ns: ns }: Ran) => line(row === null ? label : button(label, `Go to ${label}, as it was then`, () => go(row), { class: "link" }), ns)),
      ...(others.length === 0 ? [] : line(`${formatCount(others.length)} others`, sum(others))), ...(unknown > 0 ? line("unknown what ran", unknown) : [])),
    rows.length === 0 ? null : button("show these rows", "Show only the rows of these threads, and of this one", () => showRows([...rows, cpu])));
}
function sum(ran: readonly Ran[]): number { return ran.reduce((all, it) => all + it.total_ns, 0); }
