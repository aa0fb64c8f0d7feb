// What can be done by name, most of it with a key, too. Talks to: the parts that do it. Used by: main (keyboard, palette) and help (list).
import type { Activity } from "./activity";
import type { Bookmark, Bookmarks } from "./bookmarks";
import type { ClockSwitch } from "./clock";
import type { Drawer } from "./drawer";
import type { Graph } from "./graph/graph";
import type { Inspector } from "./inspector";
import type { Command } from "./keys";
import { LINE, type Layout } from "./layout";
import { lossText } from "./losses";
import type { Navigation } from "./navigation";
import type { Rows } from "./rows";
import { copyText } from "./panels/copy";
import type { Search } from "./search";
import type { Status } from "./status";
import { switchPalette, switchTheme } from "./theme";
import type { TimeField } from "./timeField";
import type { Tree } from "./tree";
import type { View } from "./view";

export interface Doers {
  view: View; rows: Rows; layout: Layout; navigation: Navigation; clock: ClockSwitch; bookmarks: Bookmarks; status: Status; activity: Activity; tree: Tree; graph: Graph; search: Search; drawer: Drawer;
  inspector: Inspector; timeField: TimeField; goToBookmark(mark: Bookmark): void; help(): void; palette(): void; legend(): void; exportPng(): void; exportSvg(): void;
}
const ZOOM = 1.6, PAN = 0.2;

export function commandsOf(doers: Doers): Command[] {
  const { view, rows, layout, navigation, clock, bookmarks, status, activity, tree, graph, search, drawer, inspector, timeField } = doers;
  const pan = (share: number) => { const { begin, end } = navigation.window; navigation.pan((end - begin) * share, "glide"); };
  const zoom = (factor: number) => navigation.zoom(factor, view.now.hover ?? undefined, "glide");
  const list: Command[] = [];
  const group = (name: string, ...commands: [keys: string, description: string, run: () => void][]) => {
    for (const [keys, description, run] of commands) list.push({ keys: keys === "" ? [] : keys.split("  "), description, group: name, run });
  };
  group("Time",
    ["w  +  =", "zoom in (at the pointer)", () => zoom(1 / ZOOM)], ["s  -", "zoom out", () => zoom(ZOOM)],
    ["a  ArrowLeft", "pan left", () => pan(-PAN)], ["d  ArrowRight", "pan right", () => pan(PAN)],
    ["Enter", "zoom to the selection", () => { const { selection } = view.now; if (selection !== null) navigation.show(selection); else status.say("Nothing is selected."); }],
    ["Shift+ArrowLeft", "select less time, or begin to", () => extend(doers, -1)], ["Shift+ArrowRight", "select more time", () => extend(doers, 1)],
    ["f", "fit all", () => navigation.fit()], ["z", "undo of zoom", () => navigation.undo()], ["Z", "redo", () => navigation.redo()],
    ["t", "type an instant or a window", () => timeField.focus()], ["k", "own clocks or the common one", () => clock.toggle()],
    ["b", "bookmark this place, or remove it", () => { const mark = bookmarks.toggle(); status.say(mark === null ? "Bookmark removed" : `Bookmark at ${mark.name}`); }],
    ["B", "next bookmark", () => nextBookmark(doers)]);
  group("States",
    ["[", "previous state of the row", () => void inspector.step("previous")], ["]", "next state", () => void inspector.step("next")],
    ["m", "follow the message to its other end", () => void inspector.follow("message")], ["e", "follow the wake-up: whom it wakes next", () => void inspector.follow("wakeup")],
    ["E", "who woke it", () => void inspector.follow("waker")], ["c", "critical path of the thread over the selection", () => void inspector.path()],
    ["n", "next of the list that was used last: matches of the search, events, messages, losses", () => drawer.step(1, "matches")],
    ["N", "the one before of that list", () => drawer.step(-1, "matches")],
    ["l", "next loss of events", () => nextLoss(doers)],
    ["W", "arrows of wake-ups of the row", () => { graph.arrows.show(graph.arrows.areMessagesOn, !graph.arrows.areWakeupsOn); graph.invalidate(); status.say(graph.arrows.areWakeupsOn ? "Wake-ups of the selected row are shown" : "Wake-ups are not shown"); }],
    ["g", "arrows of messages", () => { graph.arrows.show(!graph.arrows.areMessagesOn, graph.arrows.areWakeupsOn); graph.invalidate(); status.say(graph.arrows.areMessagesOn ? "Messages are shown" : "Messages are not shown"); }],
    ["Escape", "stop looking for a path; clear the selection, then the path, then the rows of a request", () => clear(doers)]);
  group("Rows",
    ["Shift+ArrowUp", "select rows, up", () => tree.extend(-1)], ["Shift+ArrowDown", "select rows, down", () => tree.extend(1)],
    ["ArrowUp", "row above", () => tree.move(-1)], ["ArrowDown", "row below", () => tree.move(1)],
    ["PageUp", "a page up", () => tree.move(-Math.floor(layout.height / LINE))], ["PageDown", "a page down", () => tree.move(Math.floor(layout.height / LINE))],
    ["Home", "first row", () => tree.move(-Infinity)], ["End", "last row", () => tree.move(Infinity)],
    ["x", "collapse or expand", () => { const line = tree.activeLine; if (line?.expandable) rows.toggle(line.id); }],
    ["X", "collapse or expand all hosts", () => rows.collapseAll()], ["o", "sort by activity in the window", () => void activity.toggle()], ["S", "processes of one name together, those with most messages first", () => void activity.group()], ["O", "sort again, for the window of now", () => void activity.sort()],
    ["p", "pin to the top, or unpin", () => { if (view.now.row !== null) rows.pin(view.now.row); }], ["h", "hide", () => { if (view.now.row !== null) { const { row } = view.now; tree.move(1); rows.hide(row); } }],
    ["C", "counters of hosts as rows: CPU use, waits, network, disk, memory", () => rows.toggleCounters()], ["H", "show hidden rows", () => rows.showHidden()], ["/", "search", () => { search.input.focus(); search.input.select(); }]);
  group("Page",
    ["v", "open or close the drawer", () => drawer.toggle()], ["?", "keys, mouse, colours: help", () => doers.help()], [":  Ctrl+k", "all commands by name", () => doers.palette()],
    ["L", "legend of the colours", () => doers.legend()], ["", "light or dark", switchTheme], ["", "colours of states: usual, or for all kinds of colour vision", switchPalette], ["", "export the picture as PNG", () => doers.exportPng()], ["", "export the picture as SVG", () => doers.exportSvg()], ["", "print", () => print()],
    ["", "copy the link to this view", () => void copyText(location.href).then((isDone) => status.say(isDone ? "The link is copied" : "The link could not be copied", !isDone))]);
  group("Panels", ...drawer.all.map(({ id, title }): [string, string, () => void] => ["", `open ${title}`, () => drawer.open(id)]));
  return list;
}
/** Moves the end of the selection; without one, it begins at the pointer, else in the middle. */
function extend({ view }: Doers, by: number): void {
  const { window, selection, hover, area, chosen } = view.now, at = hover ?? (window.begin + window.end) / 2, step = by * 0.02 * (window.end - window.begin), begin = selection?.begin ?? at;
  view.set({ selection: { begin, end: Math.max(begin, (selection?.end ?? at) + step) }, area, chosen: chosen + 1 });
}
function clear({ view, search, inspector, status }: Doers): void {
  if (inspector.stop()) status.say("Stopped.");
  else if (view.now.selection !== null || view.now.area !== null) view.set({ selection: null });
  else if (view.now.path !== null) view.set({ path: null });
  else if (view.now.onlyRows !== null) view.set({ onlyRows: null });
  else if (search.text !== "") search.set("");
  else view.set({ row: null });
}
function nextLoss({ view, graph, navigation, clock, status, rows }: Doers): void {
  const shown = graph.losses.map((loss) => { const moved = clock.convert(loss.host, "common"); return { loss, begin: loss.begin + moved, end: loss.end + moved }; }).sort((a, b) => a.begin - b.begin);
  const { selection, window } = view.now, at = selection?.begin ?? window.begin - 1, next = shown.find((it) => it.begin > at) ?? shown[0];
  if (next === undefined) { status.say("Nothing is missing of these traces."); return; }
  const host = rows.childrenOf(null).find((row) => row.host === next.loss.host), cpu = rows.childrenOf(host?.id ?? null).find((row) => row.kind === "cpu" && row.cpu === next.loss.cpu);
  navigation.go((cpu ?? host)?.id ?? null, next.begin);
  view.set({ selection: { begin: next.begin, end: next.end } });
  status.say(`${cpu === undefined ? host?.label ?? "" : rows.fullName(cpu)}: ${lossText(next.loss)}`);
}
function nextBookmark({ view, bookmarks, goToBookmark, status }: Doers): void {
  const list = [...bookmarks.list].sort((a, b) => a.at - b.at), { window } = view.now, middle = (window.begin + window.end) / 2;
  const next = list.find((mark) => mark.at > middle + (window.end - window.begin) * 0.01) ?? list[0];
  if (next === undefined) status.say("There are no bookmarks: b makes one.");
  else goToBookmark(next);
}
