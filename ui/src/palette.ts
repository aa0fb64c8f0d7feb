// The palette of commands: all of them by name, with their keys; Enter does the one that is chosen. Talks to: keys. Used by: main.
import { h } from "./dom";
import { commandsFor, keyText, type Command } from "./keys";

export class Palette {
  private readonly input = h("input", { role: "combobox", "aria-expanded": "true", "aria-controls": "palette-list", "aria-autocomplete": "list", "aria-label": "Command", placeholder: "command", spellcheck: "false", autocomplete: "off" });
  private readonly list = h("ul", { id: "palette-list", role: "listbox", "aria-label": "Commands" });
  readonly element = h("dialog", { class: "palette", "aria-label": "Commands" }, this.input, this.list);
  private found: Command[] = [];
  private at = 0;

  constructor(private readonly commands: readonly Command[]) {
    this.input.addEventListener("input", () => this.look());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("click", (event) => {
      const place = (event.target as HTMLElement).closest<HTMLElement>("[data-at]")?.dataset.at;
      if (place !== undefined) this.run(Number(place));
    });
    this.element.addEventListener("click", (event) => { if (event.target === this.element) this.element.close(); });
  }
  open(): void {
    if (this.element.open) { this.element.close(); return; }
    this.input.value = "";
    this.element.showModal();
    this.look();
    this.input.focus();
  }
  private look(): void {
    this.found = commandsFor(this.input.value, this.commands);
    this.list.replaceChildren(...this.found.map((command, place) => h("li", { role: "option", id: `command-${place}`, "data-at": place, "aria-selected": "false" },
      h("span", { class: "muted" }, command.group), h("span", { class: "name" }, command.description), h("span", { class: "keys" }, ...command.keys.map((key) => h("kbd", {}, keyText(key)))))));
    if (this.found.length === 0) this.list.append(h("li", { role: "option", "aria-disabled": "true", "aria-selected": "false" }, "no command has these words"));
    this.choose(0);
  }
  private choose(place: number): void {
    this.list.children[this.at]?.setAttribute("aria-selected", "false");
    this.at = Math.max(0, Math.min(place, this.found.length - 1));
    const chosen = this.list.children[this.at];
    if (this.found.length === 0 || chosen === undefined) { this.input.removeAttribute("aria-activedescendant"); return; }
    chosen.setAttribute("aria-selected", "true");
    chosen.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", chosen.id);
  }
  /** The palette is closed first: a command may open another dialog. */
  private run(place: number): void {
    const command = this.found[place];
    if (command === undefined) return;
    this.element.close();
    command.run();
  }
  private key(event: KeyboardEvent): void {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (by !== undefined) this.choose(this.at + by);
    else if (event.key === "Enter") this.run(this.at);
    else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") this.element.close();
    else return;
    event.preventDefault();
  }
}
