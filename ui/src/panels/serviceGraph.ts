// Programs and whom they ask as a graph, from those that ask to those that are asked: how often, how long it takes, how much CPU time. Talks to: none. Used by: the panel of services.
import type { Program, ServiceEdge } from "../api";
import { formatCount, formatDuration } from "../format";

const SVG = "http://www.w3.org/2000/svg", BOX_WIDTH = 130, BOX_HEIGHT = 34, COLUMN = 290, LINE = 62, EDGE = 14;
export interface Placed { readonly key: string; readonly program: Program; readonly column: number; readonly line: number }

export function keyOf({ host, comm }: Program): string { return `${host ?? "?"} ${comm ?? "?"}`; }
/** Where each program is: right of all that ask it, as far as they do not ask each other. */
export function placed(edges: readonly ServiceEdge[]): Placed[] {
  const programs = new Map(edges.flatMap(({ client, server }) => [[keyOf(client), client], [keyOf(server), server]] as const)), columns = new Map([...programs.keys()].map((key) => [key, 0]));
  // As many rounds as the longest way has steps; programs that ask each other would go on for ever.
  for (let round = 0; round < programs.size; round += 1) {
    let isChanged = false;
    for (const { client, server } of edges) {
      const to = columns.get(keyOf(client))! + 1;
      if (keyOf(client) === keyOf(server) || to <= columns.get(keyOf(server))! || to >= programs.size) continue;
      columns.set(keyOf(server), to);
      isChanged = true;
    }
    if (!isChanged) break;
  }
  const used = [...new Set(columns.values())].sort((a, b) => a - b), lines = new Map<number, number>();
  return [...programs].map(([key, program]) => {
    const column = used.indexOf(columns.get(key)!), line = lines.get(column) ?? 0;
    lines.set(column, line + 1);
    return { key, program, column, line };
  });
}
/** "24 × 113 ms (p95 204 ms), CPU 12 ms each": medians; what is unknown is left out. */
export function edgeText(it: ServiceEdge): string {
  return `${formatCount(it.count)} × ${formatDuration(it.median_ns)}, CPU ${it.cpu_ns === null ? "unknown" : `${formatDuration(it.cpu_ns / it.count)} each`}`;
}
function svg(tag: string, attributes: Readonly<Record<string, string | number>>, ...children: (SVGElement | string)[]): SVGElement {
  const it = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) it.setAttribute(name, String(value));
  it.append(...children);
  return it;
}
export function serviceGraph(edges: readonly ServiceEdge[], picked: ServiceEdge | null, pick: (edge: ServiceEdge) => void): SVGElement {
  const nodes = placed(edges), at = new Map(nodes.map((node) => [node.key, [12 + node.column * COLUMN, 18 + node.line * LINE] as const]));
  const width = 24 + BOX_WIDTH + Math.max(0, ...nodes.map((node) => node.column)) * COLUMN, height = 24 + BOX_HEIGHT + Math.max(0, ...nodes.map((node) => node.line)) * LINE;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "service-graph", role: "group", "aria-label": `${nodes.length} programs and whom they ask` });
  const most = Math.max(1, ...edges.map((edge) => edge.count)), between = new Map<string, number>();
  for (const edge of edges) {
    const [ax, ay] = at.get(keyOf(edge.client))!, [bx, by] = at.get(keyOf(edge.server))!, pair = `${keyOf(edge.client)}>${keyOf(edge.server)}`, turn = between.get(pair) ?? 0;
    between.set(pair, turn + 1);
    const isBack = bx <= ax, x0 = ax + BOX_WIDTH, y0 = ay + BOX_HEIGHT / 2, x1 = isBack ? bx + BOX_WIDTH : bx, y1 = by + BOX_HEIGHT / 2 + turn * EDGE, bend = isBack ? 60 : (x1 - x0) / 2;
    const text = `${keyOf(edge.client)} asks ${keyOf(edge.server)}${edge.service === "" ? "" : ` (${edge.service})`}: ${edgeText(edge)}, p95 ${formatDuration(edge.p95_ns)}, most ${formatDuration(edge.max_ns)}`;
    const way = `M${x0},${y0} C${x0 + bend},${y0} ${isBack ? x1 + bend : x1 - bend},${y1} ${x1},${y1}`;
    const line = svg("g", { class: `edge${edge === picked ? " picked" : ""}`, tabindex: 0, role: "button", "aria-pressed": String(edge === picked), "aria-label": text }, svg("title", {}, text),
      svg("path", { d: way, class: "grip" }), svg("path", { d: way, class: "seen", "stroke-width": 1 + (4 * edge.count) / most }), svg("text", { x: isBack ? x0 + 50 : (x0 + x1) / 2, y: (y0 + y1) / 2 - 5, "text-anchor": "middle", class: "label" }, edgeText(edge)));
    line.addEventListener("click", () => pick(edge));
    line.addEventListener("keydown", (event) => {
      const { key } = event as KeyboardEvent;
      if (key !== "Enter" && key !== " ") return;
      pick(edge);
      event.preventDefault();
      event.stopPropagation();
    });
    picture.append(line);
  }
  for (const { key, program } of nodes) {
    const [x, y] = at.get(key)!, comm = program.comm ?? "unknown";
    picture.append(svg("g", { class: "program" }, svg("title", {}, key), svg("rect", { x, y, width: BOX_WIDTH, height: BOX_HEIGHT, rx: 5 }), svg("text", { x: x + BOX_WIDTH / 2, y: y + 15, "text-anchor": "middle", class: "name" }, comm.length > 16 ? `${comm.slice(0, 15)}…` : comm),
      svg("text", { x: x + BOX_WIDTH / 2, y: y + 28, "text-anchor": "middle", class: "said" }, (program.host ?? "not traced").slice(0, 20))));
  }
  return picture;
}
