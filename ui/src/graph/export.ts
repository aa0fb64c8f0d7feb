// What is seen, as a file: PNG from the canvas, SVG drawn again as vectors; with the names of the rows. Talks to: graph, picture. Used by: header; pictures of panels (saveSvg).
import { css, ink, look, rgbOf } from "../colours";
import { AXIS, LINE } from "../layout";
import { FONT } from "./axis";
import type { Graph } from "./graph";
import { addLabel, drawPicture, LABEL_WIDTH, type Label } from "./picture";
import { BAR, type Ctx } from "./scene";
import { firstEndingAfter } from "./tiles";
import { SvgContext } from "./svg";
import type { View } from "../view";

/** Width of the names beside the graph. */
const NAMES = 200, INDENT = 12;
/** States narrower than this are not drawn alone: a file has to stay readable. */
const MIN_BAR = 0.4;

function drawNames(ctx: Ctx, graph: Graph): void {
  const scene = graph.scene(), colours = ink();
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, AXIS, NAMES - 4, scene.layout.height);
  ctx.clip();
  ctx.font = FONT;
  ctx.textBaseline = "middle";
  ctx.fillStyle = colours.text;
  for (const place of graph.shownPlaces()) {
    const line = graph.rows.lines[place]!;
    if (place < graph.rows.pinnedCount || scene.top(place) >= scene.linesTop - LINE / 2) ctx.fillText(line.label, 6 + line.depth * INDENT, scene.middle(place));
  }
  ctx.restore();
}

export function exportPng(graph: Graph): void {
  const ratio = devicePixelRatio, seen = graph.canvas, canvas = document.createElement("canvas");
  canvas.width = seen.width + Math.round(NAMES * ratio);
  canvas.height = seen.height;
  const ctx = canvas.getContext("2d")!;
  ctx.fillStyle = css(ink().background);
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(seen, Math.round(NAMES * ratio), 0);
  ctx.scale(ratio, ratio);
  drawNames(ctx, graph);
  canvas.toBlob((blob) => { if (blob !== null) save(blob, graph.view, ".png"); });
}

/** The picture as text of an SVG file. */
export function svgOf(graph: Graph): string {
  const scene = graph.scene(), { layout } = graph, labels: Label[] = [], svg = new SvgContext(layout.width + NAMES, layout.height + AXIS);
  svg.fillStyle = css(ink().background);
  svg.fillRect(0, 0, layout.width + NAMES, layout.height + AXIS);
  drawNames(svg, graph);
  svg.translated(NAMES, 0, () => {
    svg.save();
    svg.beginPath();
    svg.rect(0, AXIS, layout.width, layout.height);
    svg.clip();
    for (const place of graph.shownPlaces()) {
      const line = graph.rows.lines[place]!, top = scene.top(place);
      if (place >= graph.rows.pinnedCount && top < scene.linesTop - LINE / 2) continue;
      line.sources.forEach((row, stripe) => {
        const share = BAR / line.sources.length, middle = top + (LINE - BAR) / 2 + share * (stripe + 0.5), { pieces, offset } = graph.pieces(row, line.host);
        for (const { tile, begin, end } of pieces) {
          for (let at = firstEndingAfter(tile, begin); at < tile.begin.length && tile.begin[at]! < end; at += 1) {
            const x0 = Math.max(0, scene.x(Math.max(tile.begin[at]!, begin) + offset)), x1 = Math.min(layout.width, scene.x(Math.min(tile.end[at]!, end) + offset));
            const style = tile.style[at]!, height = look(style).height * share;
            if (x1 - x0 < MIN_BAR || height === 0) continue;
            svg.fillStyle = css(rgbOf(style));
            svg.fillRect(x0, middle - height / 2, x1 - x0, height);
            if (x1 - x0 >= LABEL_WIDTH && line.sources.length === 1) addLabel(labels, { x0, x1, y: middle, tile, place: at });
          }
        }
      });
    }
    svg.restore();
    drawPicture(svg, scene, graph.parts(labels));
  });
  return svg.text();
}
export function exportSvg(graph: Graph): void { saveSvg(svgOf(graph), graph.view); }
/** Saves text of an SVG file, named by the traces and what is seen of them. */
export function saveSvg(svg: string, view: View, what = ""): void { save(new Blob([svg], { type: "image/svg+xml" }), view, `${what === "" ? "" : `-${what}`}.svg`); }

function save(blob: Blob, view: View, ending: string): void {
  const link = document.createElement("a"), address = URL.createObjectURL(blob);
  link.href = address;
  link.download = `${view.now.experiment?.name ?? "isochrone"}${ending}`;
  link.click();
  // The browser needs the address until it has begun to save.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
