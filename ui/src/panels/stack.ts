// A bar of parts, each in its colour: shares of a whole. Talks to: none. Used by: statistics, critical path.
import { h } from "../dom";

export interface Part { readonly name: string; readonly share: number; readonly colour: string; readonly text: string }

/** Parts side by side; `scale`: how much of the width the whole takes. Its text says the same. */
export function stack(parts: readonly Part[], scale = 1): HTMLElement {
  const seen = parts.filter((part) => part.share > 0);
  const bar = h("span", { class: "stack", role: "img", "aria-label": seen.map((part) => `${part.name} ${part.text}`).join(", ") });
  for (const part of seen) {
    const it = h("span", { title: `${part.name}: ${part.text}` });
    it.style.width = `${part.share * scale * 100}%`;
    it.style.background = part.colour;
    bar.append(it);
  }
  return bar;
}
/** A square of a colour, with a name. */
export function swatch(colour: string, name: string): HTMLElement {
  const square = h("span", { class: "swatch", "aria-hidden": "true" });
  square.style.background = colour;
  return h("span", { class: "named" }, square, name);
}
