// All commands with their keys: one list, for the keyboard and for the help. Talks to: what is told to it. Used by: main, help.

export interface Command { readonly keys: readonly string[]; readonly description: string; readonly group: string; readonly run: () => void }

/** A key as it is written in the list: "Z" has the shift key in it, "Shift+ArrowUp" says so; those with ⌘, Ctrl or Alt belong to the browser. */
export function listen(commands: readonly Command[]): void {
  const byKey = new Map(commands.flatMap((command) => command.keys.map((key) => [key, command] as const)));
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target as HTMLElement;
    if (target.matches("input, textarea, select, [contenteditable]")) return;
    // Buttons and tables have their own use of these.
    if (["Enter", " "].includes(event.key) && target.closest("button, a, summary, [role=tab]") !== null) return;
    if (event.key.startsWith("Arrow") && target.closest(".drawer-body, dialog, .menu") !== null) return;
    if (target.closest("dialog") !== null) return;
    const command = byKey.get(event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key);
    if (command === undefined) return;
    event.preventDefault();
    command.run();
  });
}
