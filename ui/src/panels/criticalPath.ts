// Requests, and the critical path of the one that is picked, or of the selected thread: drawn over the time graph and on its own rows, its time by cause.
// Talks to: api, view. Used by: the drawer, the header's button, the key c.
import { api, type Path, type PathOf, type Request, type Step } from "../api";
import { button, h } from "../dom";
import { formatCount, formatDuration } from "../format";
import type { ViewState, Navigator, View } from "../view";
import { notice } from "./notice";
import { AskingPanel } from "./panel";
import { PathDetails } from "./pathDetails";
import { pathName, PathPair } from "./pathPair";
import { decoded } from "./pathWords";
import { COMPARES, RequestList } from "./requestList";
import { panelRange, nameOf, rowOf, toShown } from "./times";

/** Lists of more requests than this are not kept while another panel is seen. */
const KEPT = 50_000;

export class CriticalPathPanel extends AskingPanel {
  private requests: readonly Request[] | null = null;
  private note = "";
  private commandOfAll = "";
  /** Looks for a path. */
  private finding: AbortController | null = null;
  private readonly list: RequestList;
  private readonly details: PathDetails;
  private readonly detail = h("div", { class: "detail" });
  private readonly ofThread = button("path of the thread", "Critical path of the selected thread in the selected time, else in the window (c)", () => void this.pathOfThread());
  private readonly only = button("its rows only", "All rows, or only those that the path touches; the path stays", () => this.toggleRows());
  /** Another path that the one that is shown is held against. */
  private other: Path | null = null;
  private readonly pair: PathPair;
  private readonly against = button("compare with another", `Keep this path, and hold the next one that is picked against it. ${COMPARES}`, () => this.holdAgainst(this.view.now.path));
  private readonly orClick = h("span", { class: "muted", title: COMPARES }, "or Ctrl + click one");
  /** The one that an address asks for, until it is there. */
  private wanted: PathOf | null = null;
  private readonly leave = button("close the path ×", "Leave the path: all rows again (Esc)", () => this.view.set({ path: null, onlyRows: null }));

  constructor(view: View, navigator: Navigator) {
    super("critical-path", "Critical path", view, navigator, ["path", "row", "selection", "onlyRows"]);
    const origin = () => this.origin;
    this.list = new RequestList((it) => void this.pick(it), (it) => void this.pick(it), (it) => void this.pickBeside(it), origin, () => this.tellKept());
    this.details = new PathDetails((step) => this.go(step, false), (step) => this.go(step, true), origin);
    this.pair = new PathPair(() => this.holdAgainst(null), origin);
    this.controls.append(this.ofThread, this.against, this.orClick, this.only, this.leave);
  }
  /** What the list is filtered by, and the path that is held against the one that is shown. */
  get kept(): string {
    const { text, service } = this.list.filters, of = this.other?.of ?? this.wanted;
    const other = of === null ? "" : "request" in of ? `${of.request}` : `${of.row},${of.begin},${of.end}`;
    return text === "" && service === null && other === "" ? "" : [other, service === null ? "" : `=${encodeURIComponent(service)}`, text].join("~");
  }
  keep(text: string): void {
    const [other, service, ...filter] = text.split("~"), numbers = (other ?? "").split(",").map(Number);
    this.list.filterBy(filter.join("~"), service?.startsWith("=") === true ? decoded(service.slice(1)) : null);
    this.other = null;
    this.wanted = other === undefined || other === "" || numbers.some((it) => !Number.isFinite(it)) ? null : numbers.length === 3 ? { row: numbers[0]!, begin: numbers[1]!, end: numbers[2]! } : { request: numbers[0]! };
    if (this.isSeen) void this.loadWanted();
  }
  private async loadWanted(): Promise<void> {
    const { wanted } = this;
    if (wanted === null) { this.drawPath(); return; }
    await this.find(async (signal) => {
      const other = await api.path(wanted, this.progress.ask, signal);
      if (this.wanted === wanted) this.holdAgainst(other);
    });
  }
  private holdAgainst(other: Path | null): void {
    this.other = other;
    this.wanted = null;
    this.drawPath();
    this.tellKept();
  }
  protected override shown(): void {
    this.drawPath();
    if (this.wanted !== null) void this.loadWanted();
  }
  protected override changed(_now: ViewState, changed: ReadonlySet<keyof ViewState>): void {
    if (changed.has("path")) this.drawPath();
    else this.drawControls();
  }
  protected override renewed(): void {
    this.requests = null;
    this.other = this.wanted = null;
    super.renewed();
  }
  protected forget(): void {
    this.finding?.abort();
    this.details.clear();
    if ((this.requests?.length ?? 0) > KEPT) { this.requests = null; this.list.set([]); }
  }
  protected async load(signal: AbortSignal): Promise<void> {
    if (this.requests === null) {
      const answer = await api.requests(this.progress.ask, signal);
      if (signal.aborted) return;
      this.requests = answer.requests;
      this.note = answer.note;
      this.commandOfAll = answer.command;
      this.list.set(answer.requests);
    }
    this.body.replaceChildren(this.requests.length > 0 ? this.list.element : notice("empty", "No requests were found", this.note), this.detail);
    this.drawPath();
  }
  private drawControls(): void {
    const { path, onlyRows, row } = this.view.now, it = rowOf(this.view, row), isThread = it?.kind === "thread";
    this.ofThread.disabled = !isThread;
    this.ofThread.textContent = isThread ? `path of ${nameOf(this.view, row)}` : "path of the thread";
    this.leave.hidden = path === null;
    this.against.hidden = this.orClick.hidden = path === null;
    this.against.setAttribute("aria-pressed", String(this.other !== null));
    this.against.textContent = this.other === null ? "compare with another" : this.other === path ? `${pathName(path!)} is kept: pick another` : `compared with ${pathName(this.other)}`;
    this.only.hidden = path === null && onlyRows === null;
    this.only.textContent = onlyRows === null ? "its rows only" : "show all rows";
  }
  private drawPath(): void {
    const { path, experiment } = this.view.now;
    this.drawControls();
    this.list.choose(path?.request ?? null);
    this.command.set(path?.command ?? this.commandOfAll);
    this.heading.textContent = this.requests === null ? "" : `${formatCount(this.requests.length)} requests`;
    if (path === null) {
      this.detail.replaceChildren(notice("empty", "No path is shown", "Pick a request: its critical path is drawn over the time graph, and its time is shown here by cause. With Ctrl or Shift, a click on a second one compares both. Or select a thread, and a time if you like, and press `c`."));
      return;
    }
    if (this.other !== null && this.other !== path) {
      this.pair.set(this.other, path);
      if (this.detail.firstChild !== this.pair.element) this.detail.replaceChildren(this.pair.element);
      return;
    }
    this.details.set(path, this.titleOf(path), experiment?.hosts.map((host) => host.name) ?? []);
    if (this.detail.firstChild !== this.details.element) this.detail.replaceChildren(this.details.element);
  }
  private titleOf(path: Path): string {
    const total = formatDuration(path.end - path.begin), of = path.request === null ? null : this.list.serviceOf(path.request);
    if (path.request === null) return `Thread ${nameOf(this.view, path.steps.at(-1)?.row ?? path.steps[0]?.row ?? null)}: ${total}, ${formatCount(path.steps.length)} steps`;
    if (of === null) return `Request ${path.request}: ${total}`;
    return `Request ${path.request}: ${of.request.client} → ${of.request.server} · ${total} · ${of.rank === 1 ? "the slowest" : `number ${of.rank}`} of ${formatCount(of.service.count)} (median ${formatDuration(of.service.median)}, p95 ${formatDuration(of.service.p95)})`;
  }
  private async pick(request: Request): Promise<void> {
    await this.find(async (signal) => {
      const path = await api.path({ request: request.request }, this.progress.ask, signal);
      const row = request.client_row, begin = toShown(this.view, row, path.begin), end = toShown(this.view, row, path.end);
      this.view.set({ path, onlyRows: rowsOf(path) });
      this.navigator.go(null, begin, { begin, end });
    });
  }
  /** Holds it against the path that is shown; of two that are compared, it takes the place of the second. */
  private async pickBeside(request: Request): Promise<void> {
    const { path } = this.view.now, first = this.other ?? path;
    if (first !== null && first.request !== request.request) {
      this.other = first;
      this.wanted = null;
    }
    await this.pick(request);
    this.tellKept();
  }
  private async pathOfThread(): Promise<void> {
    const { row } = this.view.now, range = panelRange(this.view);
    if (row === null) return;
    await this.find(async (signal) => this.view.set({ path: await api.path({ row, begin: range.begin, end: range.end }, this.progress.ask, signal) }));
  }
  /** What a click asks for, in place of what the one before did: its failure is told where its answer would be. */
  private async find(act: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.finding?.abort();
    const finding = this.finding = new AbortController();
    this.progress.begin();
    try {
      await this.during(act(finding.signal));
    } catch (error) {
      if (!finding.signal.aborted) this.detail.replaceChildren(notice("failed", "There is no path", error instanceof Error ? error.message : ""));
    } finally {
      if (this.finding === finding) { this.finding = null; this.progress.end(); }
    }
  }
  protected override giveUp(): void {
    if (this.finding === null) { super.giveUp(); return; }
    this.finding.abort();
    this.finding = null;
    this.progress.end();
  }
  private toggleRows(): void {
    const { path, onlyRows } = this.view.now;
    this.view.set({ onlyRows: onlyRows !== null || path === null ? null : rowsOf(path) });
  }
  /** Steps between hosts have no row: then only the time is shown. */
  private go(step: Step, isZoom: boolean): void {
    const begin = toShown(this.view, step.row, step.begin), end = toShown(this.view, step.row, step.end), room = (end - begin) * 0.5;
    this.view.set({ selection: { begin, end } });
    this.navigator.go(step.row, (begin + end) / 2, isZoom ? { begin: begin - room, end: end + room } : undefined);
  }
}
function rowsOf(path: Path): Set<number> { return new Set(path.steps.map((step) => step.row).filter((row) => row !== null)); }
