// Light or dark: the reader's choice, else the system's; and colours of states for all eyes. Talks to: the root element, local storage. Used by: header, colours, charts.
export type Theme = "light" | "dark";
const KEPT = "isochrone.theme", KEPT_PALETTE = "isochrone.palette";
const system = matchMedia("(prefers-color-scheme: dark)");
const watchers = new Set<() => void>();
let theme: Theme = "light", clear = localStorage.getItem(KEPT_PALETTE) === "clear";

function chosen(): Theme | null {
  const kept = localStorage.getItem(KEPT);
  return kept === "light" || kept === "dark" ? kept : null;
}
let isPrinting = false;
/** What is printed is light. */
export function setPrinting(printing: boolean): void {
  isPrinting = printing;
  apply();
}
function apply(): void {
  const next = isPrinting ? "light" : chosen() ?? (system.matches ? "dark" : "light");
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
/** Whether states have colours that all eyes tell apart. */
export function isClear(): boolean { return clear; }
export function switchPalette(): void {
  clear = !clear;
  localStorage.setItem(KEPT_PALETTE, clear ? "clear" : "usual");
  for (const watcher of watchers) watcher();
}
/** Calls `watcher` when the theme changes: canvases and charts draw again. Gives what stops it. */
export function watchTheme(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}
system.addEventListener("change", apply);
apply();
