// Light or dark: the reader's choice, else the system's. Talks to: the root element, local storage. Used by: header, colours, charts.
export type Theme = "light" | "dark";
const KEPT = "isochrone.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const watchers = new Set<() => void>();
let theme: Theme = "light";

function chosen(): Theme | null {
  const kept = localStorage.getItem(KEPT);
  return kept === "light" || kept === "dark" ? kept : null;
}
function apply(): void {
  const next = chosen() ?? (system.matches ? "dark" : "light");
  document.documentElement.dataset.theme = next;
  if (next === theme) return;
  theme = next;
  for (const watcher of watchers) watcher();
}
export function isDark(): boolean { return theme === "dark"; }
export function switchTheme(): void {
  localStorage.setItem(KEPT, isDark() ? "light" : "dark");
  apply();
}
/** Calls `watcher` when the theme changes: canvases and charts draw again. Gives what stops it. */
export function watchTheme(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}
system.addEventListener("change", apply);
apply();
