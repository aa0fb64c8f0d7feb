// Light or dark: the reader's choice, else the system's; and colours of states for all eyes. Talks to: the root element, local storage. Used by: header, colours, charts.
export type Theme = "light" | "dark";
const KEPT = "isochrone.theme", KEPT_PALETTE = "isochrone.palette";
const system = matchMedia("(prefers-color-scheme: dark)");
const watchers = new Set<() => void>();
let theme: Theme = "light", clear = localStorage.getItem(KEPT_PALETTE) === "clear";
/** That of the address, which is shown until another one is chosen. */
let given: Theme | null = null;

/** What the reader or the address chose; null: the system's. */
export function chosenTheme(): Theme | null {
  if (given !== null) return given;
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
  const next = isPrinting ? "light" : chosenTheme() ?? (system.matches ? "dark" : "light");
  document.documentElement.dataset.theme = next;
  if (next === theme) return;
  theme = next;
  for (const watcher of watchers) watcher();
}
export function isDark(): boolean { return theme === "dark"; }
export function switchTheme(): void {
  given = null;
  localStorage.setItem(KEPT, isDark() ? "light" : "dark");
  apply();
}
/** Shows what an address asks for; what a reader chose for other pages stays that. */
export function giveTheme(asked: Theme | null, isClearAsked: boolean): void {
  given = asked ?? given;
  const isOther = isClearAsked && !clear;
  clear ||= isClearAsked;
  apply();
  if (isOther) for (const watcher of watchers) watcher();
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
