// The page of keys and gestures, on `?`. Talks to: keys, colours. Used by: main.
import { button, h } from "./dom";
import { keyText, type Command } from "./keys";
import { causeColour, causeNames, LOOKS, stateColour } from "./colours";
import { causeWord } from "./panels/pathWords";
import { swatch } from "./panels/stack";

const GESTURES: readonly [string, string][] = [
  ["wheel", "scroll rows"], ["Ctrl or ⌘ + wheel", "zoom at the pointer"], ["Shift + wheel, or sideways", "pan"], ["drag", "select time: from the axis or along one row, of all rows; across rows, of these; its edges can be dragged"],
  ["middle button or Shift + drag", "pan"], ["click", "select row and state"], ["Ctrl or Shift + click", "on a second request: compare it with the one that is shown (Ctrl + Enter); on a line about two ends: go to the other one"], ["double click", "zoom to the state"], ["minimap", "drag the lens, its edges, or a new window; double click: all"],
];
const SEARCH: readonly [string, string][] = [
  ["wget h1", "rows with all these words in their names"], ["host:h1 pid:199 tid:216", "by host, process, thread"], ["kind:cpu", "host, cpu, disk, phase, process, thread"],
  ["state:blocked", "rows in that state within the window"], ["duration > 10ms && state == blocked", "rows with such states, the others pale: state, label, duration, host, process, comm, kind, pid, tid, cpu; == != < > contains matches && || ! ( )"],
  ["/kworker\\/[01]/", "a regular expression"],
];

export class Help {
  readonly element: HTMLDialogElement = h("dialog", { class: "help", "aria-label": "Help" });
  constructor(private readonly commands: readonly Command[], private readonly phases: () => readonly HTMLElement[]) {
    this.element.addEventListener("click", (event) => { if (event.target === this.element) this.element.close(); });
  }
  toggle(): void {
    if (this.element.open) { this.element.close(); return; }
    const groups = new Map<string, [string, string][]>();
    for (const { keys, description, group } of this.commands) if (keys.length > 0) groups.set(group, [...(groups.get(group) ?? []), [keys.map(keyText).join("  "), description]]);
    groups.set("Mouse", [...GESTURES]);
    groups.set("Search", [...SEARCH]);
    const lists = [...groups].map(([title, pairs]) => h("section", {}, h("h3", {}, title), definitions(pairs)));
    const colours = h("ul", { class: "legend" }, ...LOOKS.map((look, style) => h("li", {}, swatch(stateColour(style), look.name))), ...this.phases());
    const close = button("×", "Close", () => this.element.close(), { class: "close", autofocus: true });
    this.element.replaceChildren(h("header", {}, h("h2", {}, "Keys, mouse, colours"), close), h("div", { class: "columns" }, ...lists, h("section", {}, h("h3", {}, "Colours"), colours, messages()), h("section", {}, h("h3", {}, "Causes of a critical path"), causes())));
    this.element.showModal();
  }
}
function causes(): HTMLElement { return h("ul", { class: "legend" }, ...causeNames.map((cause) => h("li", {}, swatch(causeColour(cause), causeWord(cause))))); }
function messages(): HTMLElement {
  return h("p", {}, "Arrows are messages between hosts; those of MPI programs are blue-green, within hosts too. The bar at their end is what the clocks leave open: surely within the light one, likely within the dark one. Red: received before it was sent.");
}
function definitions(pairs: readonly [string, string][]): HTMLElement {
  const list = h("dl");
  for (const [key, text] of pairs) list.append(h("dt", {}, ...key.split("  ").flatMap((it, place) => [place > 0 ? " " : null, h("kbd", {}, it)])), h("dd", {}, text));
  return list;
}
