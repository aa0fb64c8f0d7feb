// Hosts as a graph: their colour says how sure their clocks are, their links how good they are. Talks to: none. Used by: synchronization.
import type { Host, Link } from "../api";
import { isDark } from "../theme";
import { formatDuration } from "../format";

const SVG = "http://www.w3.org/2000/svg";
const RADIUS = 17;
type Attributes = Readonly<Record<string, string | number>>;

function svg(tag: string, attributes: Attributes, ...children: (Node | string)[]): SVGElement {
  const it = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) it.setAttribute(name, String(value));
  it.append(...children);
  return it;
}
/** Green up to 1 µs, over yellow, to red from 10 ms on; grey where nothing is known. */
export function sureColour(ns: number | null, isReference: boolean): string {
  if (isReference) return "var(--accent)";
  if (ns === null) return "var(--muted)";
  const share = Math.max(0, Math.min(1, (Math.log10(Math.max(1, ns)) - 3) / 4));
  return `hsl(${Math.round(130 - 130 * share)} 65% ${isDark() ? 45 : 40}%)`;
}
const WIDTHS: Readonly<Record<string, number>> = { accurate: 4, approximate: 2, incomplete: 2, absent: 1, refused: 2 };

/** The picture; `pick` gets the link whose line was clicked. */
export function hostGraph(hosts: readonly Host[], links: readonly Link[], picked: Link | null, pick: (link: Link) => void): SVGElement {
  const width = 300, height = Math.max(190, Math.min(420, 70 + hosts.length * 40)), places = placed(hosts.length, width, height);
  const at = new Map(hosts.map((host, place) => [host.name, places[place]!]));
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "host-graph", role: "group", "aria-label": `${hosts.length} hosts and ${links.length} links between them` });
  for (const link of links) {
    const a = at.get(link.a), b = at.get(link.b);
    if (a === undefined || b === undefined) continue;
    const text = `${link.a} ↔ ${link.b}: ${link.quality}${link.likely_ns === null ? "" : `, likely ± ${formatDuration(link.likely_ns)}, surely ± ${formatDuration(link.sure_ns)}`}`;
    const line = svg("g", { class: `link ${link.quality}${link === picked ? " picked" : ""}`, tabindex: 0, role: "button", "aria-label": text, "aria-pressed": String(link === picked), "data-link": `${link.a}-${link.b}` },
      svg("title", {}, text), svg("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], class: "grip" }), svg("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], class: "seen", "stroke-width": WIDTHS[link.quality] ?? 1 }));
    // Labels stand beside their lines: a third of the way, so that crossing lines do not put them onto each other.
    const share = hosts.length > 3 ? 0.36 : 0.5, dx = b[0] - a[0], dy = b[1] - a[1], length = Math.hypot(dx, dy), side = dx < 0 || (dx === 0 && dy > 0) ? -1 : 1;
    const x = a[0] + dx * share + (side * 26 * dy) / length, y = a[1] + dy * share - (side * 11 * dx) / length;
    // With many links there is room for that of the picked one alone; the others tell it when they are pointed at, and in the table.
    if (links.length <= 6 || link === picked) line.append(svg("text", { x, y: y + 4, "text-anchor": "middle", class: "label" }, link.quality === "refused" ? "✗" : link.likely_ns === null ? link.quality : `± ${formatDuration(link.likely_ns)}`));
    line.addEventListener("click", () => pick(link));
    line.addEventListener("keydown", (event) => {
      const { key } = event as KeyboardEvent;
      if (key !== "Enter" && key !== " ") return;
      pick(link);
      event.preventDefault();
      event.stopPropagation();
    });
    picture.append(line);
  }
  for (const host of hosts) {
    const [x, y] = at.get(host.name)!, said = host.is_reference ? "reference" : host.likely_ns === null ? "not tied" : `± ${formatDuration(host.likely_ns)}`;
    const about = `${host.name}: ${host.is_reference ? "the reference: its clock is the common one" : host.likely_ns === null ? "tied to no other host" : `likely ± ${formatDuration(host.likely_ns)}, surely ± ${formatDuration(host.sure_ns)}`}`;
    picture.append(svg("g", { class: "host" }, svg("title", {}, about), svg("circle", { cx: x, cy: y, r: RADIUS, fill: sureColour(host.likely_ns, host.is_reference) }),
      svg("text", { x, y: y + 4, "text-anchor": "middle", class: "name" }, host.name.length > 5 ? `${host.name.slice(0, 4)}…` : host.name), svg("text", { x, y: y < height / 2 - 20 ? y - RADIUS - 5 : y + RADIUS + 13, "text-anchor": "middle", class: "said" }, said)));
  }
  return picture;
}
/** On a circle; two side by side. */
function placed(count: number, width: number, height: number): [number, number][] {
  const x = width / 2, y = height / 2;
  if (count === 1) return [[x, y]];
  return Array.from({ length: count }, (_, place) => {
    const angle = (count === 2 ? Math.PI : Math.PI / 2 + Math.PI) + (place * 2 * Math.PI) / count;
    return [x + Math.cos(angle) * (width / 2 - 44), y + Math.sin(angle) * (height / 2 - RADIUS - 20)];
  });
}
