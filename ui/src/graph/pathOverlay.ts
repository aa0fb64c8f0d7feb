// The critical path over the time graph: an outline around the step on its row, lines where it goes to another row, coloured by cause; such lines between the path's own rows, too.
// Talks to: scene. Used by: graph (screen and export).
import { causeColour, ink } from "../colours";
import type { Path } from "../api";
import { pathRows } from "../pathRows";
import { BAR, type Ctx, type Scene } from "./scene";

const HALF = BAR / 2 + 1;

export function drawPath(ctx: Ctx, scene: Scene): void {
  const path = scene.view.now.path;
  if (path === null) return;
  const own = new Map(pathRows(path).map(({ id, row }) => [row, scene.rows.placeOf(id)]));
  draw(ctx, scene, path, (row) => scene.rowY(row), true);
  draw(ctx, scene, path, (row) => { const place = own.get(row); return place === undefined ? null : scene.middle(place); }, false);
}
function draw(ctx: Ctx, scene: Scene, path: Path, rowY: (row: number) => number | null, isOutlined: boolean): void {
  // The path is told on the common clock.
  const placed = path.steps.map((step) => ({
    x0: scene.hostX(step.host, step.begin, "common"), x1: scene.hostX(step.host, step.end, "common"), y: step.row === null ? null : rowY(step.row), colour: causeColour(step.cause),
    isTravel: step.row === null,
  }));
  const width = scene.layout.width;
  ctx.lineJoin = "round";
  placed.forEach((step, place) => {
    const before = lastWithRow(placed, place - 1, -1), after = lastWithRow(placed, place + 1, 1);
    if (step.isTravel || step.y === null) {
      // Between rows: from where it was to where it will be.
      if (before === null || after === null) return;
      line(ctx, Math.max(-9e3, step.x0), before, Math.min(9e3, step.x1), after, step.colour, scene);
      return;
    }
    if (place > 0 && before !== null && before !== step.y && placed[place - 1]!.y !== null) line(ctx, step.x0, before, step.x0, step.y, step.colour, scene);
    if (!isOutlined) return;
    const x0 = Math.max(step.x0, -4), x1 = Math.min(step.x1, width + 4);
    if (x1 < x0) return;
    ctx.strokeStyle = ink().halo;
    ctx.lineWidth = 4;
    ctx.strokeRect(x0, step.y - HALF, Math.max(1, x1 - x0), 2 * HALF);
    ctx.strokeStyle = ctx.fillStyle = step.colour;
    ctx.lineWidth = 2;
    ctx.strokeRect(x0, step.y - HALF, Math.max(1, x1 - x0), 2 * HALF);
    ctx.fillRect(x0, step.y + HALF - 3, Math.max(1, x1 - x0), 3);
  });
}
function lastWithRow(steps: readonly { y: number | null }[], from: number, by: 1 | -1): number | null {
  for (let place = from; place >= 0 && place < steps.length; place += by) {
    const y = steps[place]!.y;
    if (y !== null) return y;
  }
  return null;
}
function line(ctx: Ctx, x0: number, y0: number, x1: number, y1: number, colour: string, scene: Scene): void {
  if ((x0 < 0 && x1 < 0) || (x0 > scene.layout.width && x1 > scene.layout.width)) return;
  for (const [stroke, width] of [[ink().halo, 5], [colour, 2.5]] as const) {
    ctx.strokeStyle = stroke;
    ctx.lineWidth = width;
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
  }
}
