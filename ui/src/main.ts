// Starts the page: makes its parts, tells them of each other, opens the traces. Talks to: all parts.
import { Activity } from "./activity";
import { api, OTHER_STORE, type ApiError, type Experiment, type PathOf } from "./api";
import { Bookmarks, type Bookmark } from "./bookmarks";
import { ClockSwitch } from "./clock";
import { commandsOf } from "./commands";
import { h, splitter } from "./dom";
import { Drawer } from "./drawer";
import { exportPng, exportSvg, svgOf } from "./graph/export";
import { Graph } from "./graph/graph";
import { GraphPointer } from "./graph/pointer";
import { Growth } from "./growth";
import { Header } from "./header";
import { Help } from "./help";
import { Inspector } from "./inspector";
import { listen, type Command } from "./keys";
import { Layout } from "./layout";
import { Legend } from "./legend";
import { lossesText } from "./losses";
import { Minimap } from "./minimap";
import { Navigation } from "./navigation";
import { Palette } from "./palette";
import { panels } from "./panels/index";
import { chosenOrders, setOrders, watchOrders } from "./panels/orders";
import { Rows } from "./rows";
import { SamplePicture } from "./sample";
import { Scrollbar } from "./scrollbar";
import { Search } from "./search";
import { StagePicture } from "./stage";
import { Status } from "./status";
import "./style.css";
import { chosenTheme, giveTheme, isClear, setPrinting, watchTheme } from "./theme";
import { TimeField } from "./timeField";
import { Tooltip } from "./tooltip";
import { Tree } from "./tree";
import { Address, hideToken, readAddress, type AddressState } from "./url";
import { View } from "./view";

const TREE_WIDTH = "isochrone.tree", PATH_PANEL = "critical-path";
/** Pages lower than this begin without the drawer. */
const ROOM_FOR_DRAWER = 600;
/** How much of the store's name is in the address. */
const OF_LENGTH = 8;
/** How long it is said that there are other traces. */
const OTHERS_MS = 2000;

const view = new View(), rows = new Rows(view), layout = new Layout(rows), navigation = new Navigation(view, rows, layout);
const clock = new ClockSwitch(view, navigation), bookmarks = new Bookmarks(view), status = new Status();
const legend = new Legend(), minimap = new Minimap(view, navigation, clock, status), stage = new StagePicture(minimap, new SamplePicture(view));
const activity = new Activity(view, rows, layout, status);
const tree = new Tree(view, rows, layout, () => void activity.toggle(), () => void activity.group());
const graph = new Graph(view, rows, layout, clock, bookmarks, noteFailure, (names) => legend.name(names));
const search = new Search(view, rows, tree, navigation, () => drawer.open("matches"));
const drawer = new Drawer(panels.map((make) => make(view, navigation)));
const timeField = new TimeField(view, navigation, status);
const inspector = new Inspector(view, rows, graph, navigation, clock, status, () => drawer.open(PATH_PANEL));
const tooltip = new Tooltip(view, rows, graph, clock, status);
const commands: Command[] = commandsOf({
  view, rows, layout, navigation, clock, bookmarks, status, activity, tree, graph, search, drawer, inspector, timeField, goToBookmark, help: () => help.toggle(), palette: () => palette.open(), legend: () => legend.toggle(), exportPng: () => exportPng(graph), exportSvg: () => exportSvg(graph),
});
const help = new Help(commands, () => legend.phaseSwatches()), palette = new Palette(commands);
const header = new Header(view, clock, search, bookmarks, {
  requests: () => drawer.open(PATH_PANEL), losses: () => drawer.open("losses"), help: () => help.toggle(), exportPng: () => exportPng(graph), exportSvg: () => exportSvg(graph),
  bookmark: () => void bookmarks.toggle(), goTo: goToBookmark, clearRows: () => view.set({ onlyRows: null }),
});
new GraphPointer(graph, navigation, inspector, tooltip);
const growth = new Growth(view, navigation, [rows, tree, bookmarks, navigation, activity, graph.tiles, graph.arrows, graph.counters], loadOverview, showOthers);

search.watchTyping(() => drawer.use("matches"));

let isReady = false;
hideToken();
const asked = readAddress(location.hash), address = new Address(place, async (typed) => restore(fitting(typed, view.now.experiment!)));
const page = document.getElementById("page")!;
const body = layoutBody();
page.append(header.element, stage.banner, stage.element, tooltip.element, help.element, palette.element);
void start();

/** Tree and graph side by side, with what makes one wider. */
function layoutBody(): HTMLElement {
  let width = Number(localStorage.getItem(TREE_WIDTH) ?? "") || 230;
  const resize = (by: number) => {
    width = Math.max(110, Math.min(width + by, innerWidth * 0.6));
    tree.element.style.width = `${width}px`;
  };
  resize(0);
  const handle = splitter("vertical", "Width of the names", resize, () => width, () => localStorage.setItem(TREE_WIDTH, String(width)));
  return h("main", { class: "body" }, tree.element, handle, graph.element, new Scrollbar(layout).element);
}

async function start(): Promise<void> {
  const experiment = await stage.untilReady((experiment) => view.set({ experiment }));
  if (experiment === null) return;
  view.set({ experiment, clock: asked.clock, window: navigation.padded(navigation.boundsOf(asked.clock)), rows: await api.rows() });
  growth.start(experiment);
  await loadOverview();
  status.element.append(timeField.element);
  stage.element.replaceWith(minimap.element, body, legend.element, drawer.element, status.element);
  listen(commands);
  tree.focus();
  await restore(fitting(asked, experiment));
  address.changed();
  void minimap.loadUse();
  const changed = () => address.changed();
  view.watch(changed, "window", "selection", "area", "row", "clock", "onlyRows", "path", "times");
  for (const part of [rows, drawer, search, bookmarks, activity, graph.arrows, legend]) part.watch(changed);
  watchOrders(changed);
  watchTheme(changed);
  isReady = true;
}
async function loadOverview(): Promise<void> {
  await minimap.load();
  if (isReady) void minimap.loadUse();
  graph.losses = minimap.overview?.losses ?? [];
  header.tellLosses(lossesText(graph.losses, minimap.overview?.losses_total ?? 0));
  graph.invalidate();
}
/** The server has other traces than the page shows: nothing of the place is of these. */
function showOthers(): void {
  stage.say("The server shows other traces now: this page shows them from the start.");
  history.replaceState(null, "", location.pathname + location.search);
  setTimeout(() => location.reload(), OTHERS_MS);
}
/** What an address asks for, as far as it is of these traces: rows of others are others. */
function fitting(asked: AddressState, experiment: Experiment): AddressState {
  if (asked.of === null || experiment.store?.startsWith(asked.of) === true) return asked;
  status.say("The link is of other traces, or of these before they changed: what it asks for is not shown.", true);
  return { ...readAddress(""), drawer: asked.drawer };
}
/** What the address asks for, else a first sight: all, what was active on top. */
async function restore(asked: AddressState): Promise<void> {
  const row = asked.row !== null && rows.row(asked.row) !== undefined ? asked.row : null;
  giveTheme(asked.theme, asked.isClear);
  setOrders(asked.orders);
  timeField.give(asked.times);
  legend.give(asked.legend);
  rows.restore(asked.rows, asked.isPathClosed);
  graph.arrows.show(asked.arrows.messages, asked.arrows.wakeups);
  bookmarks.set(asked.bookmarks);
  view.set({ clock: asked.clock });
  const window = asked.window ?? navigation.padded(navigation.boundsOf(asked.clock));
  if (isReady) navigation.set(window);
  else view.set({ window: navigation.clamp(window) });
  view.set({ selection: asked.selection, area: asked.area.length > 0 ? new Set(asked.area) : null, row, onlyRows: asked.only.length > 0 ? new Set(asked.only) : null });
  await restorePath(asked.path);
  if (asked.search !== search.text) search.set(asked.search);
  const panel = asked.drawer ?? (innerHeight >= ROOM_FOR_DRAWER ? drawer.first : null);
  drawer.keepOthers(panel, asked.others);
  drawer.open(panel, asked.inner);
  graph.fit();
  if (asked.sorted === false) activity.off();
  else if (activity.sortedBy === null || asked.isByCpu !== rows.isSorted || JSON.stringify(asked.sorted) !== JSON.stringify(activity.sortedBy)) await activity.sort(asked.sorted ?? navigation.boundsOf("common"), !asked.isByCpu);
  const place = row === null ? -1 : rows.lineOf(row);
  if (place >= 0) layout.see(place);
}
async function restorePath(of: PathOf | null): Promise<void> {
  if (JSON.stringify(of) === JSON.stringify(view.now.path?.of ?? null)) return;
  view.set({ path: null });
  try {
    if (of !== null) view.set({ path: await api.path(of) });
  } catch (error) {
    status.say(`The path in the address cannot be shown: ${error instanceof Error ? error.message : ""}`, true);
  }
}
function place(): AddressState {
  const { window, selection, isAbout, area, row, clock, onlyRows, path } = view.now;
  return {
    of: view.now.experiment?.store?.slice(0, OF_LENGTH) ?? null, window: navigation.window ?? window, selection: isAbout ? null : selection, area: [...(area ?? [])], row, clock, drawer: drawer.id, inner: drawer.kept, others: drawer.keptOthers, times: timeField.chosen, legend: legend.isShown, search: search.text, sorted: activity.sortedBy ?? false, isByCpu: rows.isSorted, arrows: { messages: graph.arrows.areMessagesOn, wakeups: graph.arrows.areWakeupsOn }, rows: rows.kept, only: [...(onlyRows ?? [])], bookmarks: [...bookmarks.list], path: path?.of ?? null, isPathClosed: path !== null && rows.isPathClosed, orders: chosenOrders(), theme: chosenTheme(), isClear: isClear(),
  };
}
function goToBookmark(mark: Bookmark): void {
  if (mark.clock !== view.now.clock) clock.toggle();
  navigation.go(mark.row, mark.at, { begin: mark.at - mark.span / 2, end: mark.at + mark.span / 2 });
}
/** What the states' requests say: the first thing to fail when the server is gone. */
function noteFailure(error: ApiError | null): void {
  status.note(graph.tiles.size.requests > 0 ? "loading …" : "");
  if (error === null || error.status === OTHER_STORE) return;
  if (error.status !== 0 && error.status !== 503) { status.say(error.message, true); return; }
  void stage.lost(error.message, () => { void growth.look(); drawer.retry(); graph.tiles.request(); graph.invalidate(); });
}

/** Paper is light: the picture is drawn anew for it. */
addEventListener("beforeprint", () => { setPrinting(true); graph.fit(); });
addEventListener("afterprint", () => { setPrinting(false); graph.fit(); });

/** For tests and measurements. */
declare global { interface Window { isochrone: unknown } }
window.isochrone = {
  view, rows, layout, navigation, graph, clock, drawer, activity,
  frames: () => graph.frames(), isReady: () => isReady, svg: () => svgOf(graph),
  /** Nothing moves, nothing is asked for, all that was asked for is drawn, the address says so. */
  isIdle: () => isReady && !navigation.isMoving && !clock.isSliding && graph.isIdle && search.isIdle && inspector.isIdle && activity.isIdle && drawer.isIdle && address.isIdle && growth.isIdle,
  /** Colour of a pixel of the time graph, bars and all, in CSS pixels. */
  pixel: (x: number, y: number) => graph.pixel(x, y),
};
