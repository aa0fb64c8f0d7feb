// Movement between two states, for those who do not mind it. Talks to: the browser. Used by: navigation, the clock switch.
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Calls `step` with 0 … 1 (eased) for a time, with 1 at the end always. Gives what jumps to the end. */
export function animate(ms: number, step: (progress: number) => void): () => void {
  if (still.matches || ms <= 0) { step(1); return () => undefined; }
  const start = performance.now();
  let frame = 0, isDone = false;
  const finish = () => {
    if (isDone) return;
    isDone = true;
    cancelAnimationFrame(frame);
    step(1);
  };
  const next = (now: number) => {
    const t = (now - start) / ms;
    if (t >= 1) { finish(); return; }
    step(Math.max(0, t * t * (3 - 2 * t)));
    frame = requestAnimationFrame(next);
  };
  step(0);
  frame = requestAnimationFrame(next);
  return finish;
}
