// Traces that are still being recorded: when the server has looked at them anew, the page is loaded again and keeps its place; a window at the end stays at the end.
// Talks to: api, view, navigation, the browser's address. Used by: main.
import { api, type Experiment } from "./api";
import type { Navigation } from "./navigation";
import type { Address } from "./url";
import type { Range, View } from "./view";

/** How often it is asked whether there is more. */
const ASK_MS = 1000;
/** A window that ends in this last part of itself before the end follows the end. */
const NEAR = 0.05;

/** Where a window is when what it is of ends later: all of it stays all (null), the end stays the end, all else stays. */
export function followed(window: Range, bounds: Range, end: number): Range | null {
  const span = window.end - window.begin, isAtEnd = window.end >= bounds.end - NEAR * span;
  if (isAtEnd && window.begin <= bounds.begin + NEAR * span) return null;
  const by = isAtEnd ? end - bounds.end : 0;
  return { begin: window.begin + by, end: window.end + by };
}

/** Asks until there is another look at the traces, then shows that. Does nothing for traces that are whole. */
export async function followGrowth(shown: Experiment, view: View, navigation: Navigation, address: Address): Promise<void> {
  if (!shown.grows) return;
  let now: Experiment | null = null;
  while (now === null || now.look === shown.look || now.stage.name !== "ready") {
    await new Promise((done) => setTimeout(done, ASK_MS));
    now = await api.experiment().catch(() => null);
  }
  const { window, clock } = view.now, here = navigation.window ?? window;
  address.write(here === null || now.end === null ? here : followed(here, navigation.boundsOf(clock), now.end));
  location.reload();
}
