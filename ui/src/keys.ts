// All commands with their keys: one list, for the keyboard, for the palette and for the help. Talks to: what is told to it. Used by: main, palette, help.

export interface Command { readonly keys: readonly string[]; readonly description: string; readonly group: string; readonly run: () => void }

/** A key as it is written in the list: "Z" has the shift key in it, "Shift+ArrowUp" says so, "Ctrl+k" is with Ctrl or ⌘. */
export function keyOf(event: { key: string; shiftKey: boolean; ctrlKey: boolean; metaKey: boolean }): string {
  if (event.ctrlKey || event.metaKey) return `Ctrl+${event.key.toLowerCase()}`;
  return event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key;
}
export function listen(commands: readonly Command[]): void {
  const byKey = new Map(commands.flatMap((command) => command.keys.map((key) => [key, command] as const)));
  addEventListener("keydown", (event) => {
    if (event.altKey || event.defaultPrevented) return;
    const target = event.target as HTMLElement, command = byKey.get(keyOf(event));
    if (command === undefined || target.closest("dialog") !== null) return;
    // Those with Ctrl mean the same in fields.
    const isPlain = !event.ctrlKey && !event.metaKey;
    if (isPlain && target.matches("input, textarea, select, [contenteditable]")) return;
    // Buttons and tables have their own use of these.
    if (["Enter", " "].includes(event.key) && target.closest("button, a, summary, [role=tab]") !== null) return;
    if (event.key.startsWith("Arrow") && target.closest(".drawer-body, dialog, .menu") !== null) return;
    event.preventDefault();
    command.run();
  });
}
/** A key as people write it. */
export function keyText(key: string): string {
  for (const with_ of ["Shift+", "Ctrl+"]) if (key.startsWith(with_) && key !== with_) return `${with_}${keyText(key.slice(with_.length)).toUpperCase()}`;
  return { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", " ": "Space", PageUp: "Page ↑", PageDown: "Page ↓" }[key] ?? (/^[A-Z]$/.test(key) ? `Shift+${key}` : key);
}
/** The commands that a text means, those that begin with it first: all of its words are in the name, the group, or the keys. */
export function commandsFor(text: string, commands: readonly Command[]): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const ranked = commands.flatMap((command) => {
    const name = command.description.toLowerCase(), all = `${command.group} ${command.description} ${command.keys.map(keyText).join(" ")}`.toLowerCase();
    if (!words.every((word) => all.includes(word))) return [];
    const first = words[0] ?? "";
    return [{ command, rank: name.startsWith(first) ? 0 : name.split(/\W+/).some((word) => word.startsWith(first)) ? 1 : 2 }];
  });
  return ranked.sort((a, b) => a.rank - b.rank).map(({ command }) => command);
}
