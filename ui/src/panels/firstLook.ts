// What is there, while nothing is selected: hosts, messages, losses, requests, who talks to whom, who waits for CPUs; each leads to the panel that tells
// more. Talks to: api, view. Used by: the panel of a state.
import { api, type Experiment, type Request } from "../api";
import { button, h } from "../dom";
import { formatCount, formatDuration, formatTime } from "../format";
import { lossesText } from "../losses";
import type { Navigator, View } from "../view";
import { withCode } from "./notice";
import { filterOf, hostPairs, programPairs, type Between } from "./pairs";
import { servicesOf } from "./services";
import { rowOf, toShown } from "./times";

/**
 * Requests of traces with more messages are only looked for when they are asked for: that takes a while. Hosts are asked one by one what their threads
 * waited for.
 */
const MANY_MESSAGES = 200_000,
  MANY_HOSTS = 16,
  MOST_SERVICES = 3,
  MOST_PAIRS = 3,
  MOST_HOSTS = 3,
  WAIT_CPU = 4;
/** A panel is asked for, by its name, and what is to be chosen in it (null: what was): the drawer listens. */
export const OPEN_PANEL = "openpanel";
export interface PanelWanted {
  readonly id: string;
  readonly kept: string | null;
}

/** Opens a panel from an element of another one. */
export function openFrom(element: HTMLElement, id: string, kept: string | null = null): void {
  element.dispatchEvent(new CustomEvent<PanelWanted>(OPEN_PANEL, { bubbles: true, detail: { id, kept } }));
}
/** A button that opens a panel. */
export function panelButton(text: string, panel: string, title: string, properties: { class?: string } = {}, kept: string | null = null): HTMLButtonElement {
  const it: HTMLButtonElement = button(text, title, () => openFrom(it, panel, kept), { ...properties });
  return it;
}
const link = (text: string, panel: string, title = `Open the panel that tells more: ${panel}`, kept: string | null = null) =>
  panelButton(text, panel, title, { class: "link" }, kept);
/** Parts of a sentence with something between them. */
function joined<T>(parts: readonly T[], between: string, draw: (part: T) => (Node | string)[]): (Node | string)[] {
  return parts.flatMap((part, place) => [...(place > 0 ? [between] : []), ...draw(part)]);
}

export class FirstLook {
  private readonly messages = h("li", { hidden: true });
  private readonly services = h("li", {}, link("requests", "critical-path"), " and where they spend their time");
  private readonly losses = h("li", {}, "…");
  private readonly pairs = h("li", { hidden: true });
  private readonly waits = h("li", { hidden: true });
  readonly element: HTMLElement;
  private readonly experiment: Experiment;
  /** At once what the page knows. `during`: what a link has to look for. */
  constructor(
    private readonly view: View,
    private readonly navigator: Navigator,
    private readonly during: (work: Promise<void>) => void,
  ) {
    const experiment = (this.experiment = view.now.experiment!),
      { hosts, begin, end, origin_unix_ns: origin, is_synchronized: isSynchronized } = experiment;
    const clocks = hosts.length < 2 ? "" : isSynchronized ? " on one clock" : ", not all on one clock";
    const list = h(
      "ul",
      {},
      h(
        "li",
        {},
        link(`${formatCount(hosts.length)} ${hosts.length === 1 ? "host" : "hosts"}${clocks}`, "synchronization"),
        `, ${formatDuration((end ?? 0) - (begin ?? 0))} from ${formatTime(origin, begin ?? 0, 3)}`,
      ),
      this.messages,
      this.losses,
      this.services,
      this.pairs,
      this.waits,
      h(
        "li",
        {},
        "what is short: ",
        link("resources", "resources"),
        "; what threads did: ",
        link("statistics", "statistics"),
        "; everything else: ",
        link("analyses", "analyses"),
      ),
    );
    this.element = h(
      "div",
      { class: "notice first-look" },
      h("strong", {}, "Nothing is selected"),
      list,
      h(
        "p",
        {},
        ...withCode(
          "Click a state in the time graph, or a name beside it. `↑` and `↓` go from row to row, `[` and `]` from state to state; `?`: all keys and colours.",
        ),
      ),
    );
  }
  /** The rest, as the server answers. */
  async ask(signal: AbortSignal): Promise<void> {
    const overview = await api.overview(1, signal).catch(() => null);
    if (overview === null) this.losses.remove();
    else
      this.losses.replaceChildren(
        overview.losses.length === 0
          ? "nothing is missing of the traces"
          : link(lossesText(overview.losses, overview.losses_total) || "no event was lost, but not all CPUs were recorded all of the time", "losses"),
      );
    await Promise.all([this.askMessages(signal), this.askWaits(signal)]);
  }
  private async askMessages(signal: AbortSignal): Promise<void> {
    const { messages } = this,
      counts = await api.messageCounts(signal).catch((error: Error) => error);
    if (counts instanceof Error) {
      messages.replaceChildren(`messages: ${counts.message}`);
      messages.hidden = signal.aborted;
      return;
    }
    if (counts.count === 0) return;
    messages.replaceChildren(
      link(`${formatCount(counts.count)} messages between hosts`, "messages"),
      `, ${formatCount(counts.inverted)} of them arrive before they were sent (${formatCount(counts.inverted_own)} by the hosts' own clocks)`,
    );
    messages.hidden = false;
    if (counts.count > MANY_MESSAGES || signal.aborted) return;
    const { requests } = await api.requests().catch(() => ({ requests: [] }));
    this.services.replaceChildren(
      link(`${formatCount(requests.length)} ${requests.length === 1 ? "request" : "requests"}`, "critical-path"),
      ...(requests.length === 0 ? [] : [" to "]),
      ...joined(servicesOf(requests).slice(0, MOST_SERVICES), "; ", (it) => [
        `${it.name}: median ${formatDuration(it.median)}, p95 ${formatDuration(it.p95)}, `,
        this.slowest(requests.find(({ request }) => request === it.slowest)!),
      ]),
    );
    if (!signal.aborted) await this.askPairs(requests, signal);
  }
  /** Leads to a request: to its rows, its time, and where that went. */
  private slowest(request: Request): HTMLButtonElement {
    const it: HTMLButtonElement = button(
      `the slowest ${formatDuration(request.total_ns)}`,
      `Show the critical path of request ${request.request}, which took longest`,
      () =>
        this.during(
          (async () => {
            const path = await api.path({ request: request.request }),
              begin = toShown(this.view, request.client_row, path.begin),
              end = toShown(this.view, request.client_row, path.end);
            this.view.set({ path, onlyRows: new Set(path.steps.map((step) => step.row).filter((row) => row !== null)) });
            this.navigator.go(null, begin, { begin, end });
            openFrom(this.element, "critical-path");
          })().catch((error: unknown) => {
            it.after(` (${error instanceof Error ? error.message : ""})`);
          }),
        ),
      { class: "link" },
    );
    return it;
  }
  private async askPairs(requests: readonly Request[], signal: AbortSignal): Promise<void> {
    const { hosts, begin, end } = this.experiment,
      answer = await api.exchanged({ begin: begin ?? 0, end: (end ?? 0) + 1, rows: null }, signal).catch(() => null);
    const sent = hostPairs(
        answer?.pairs ?? [],
        (row) => rowOf(this.view, row)?.host,
        (host) => hosts[host]?.name ?? "",
      ),
      isCut = answer !== null && answer.pairs.length < answer.pair_count;
    const told = (pairs: readonly Between[], what: string, panel: string, kept: (filter: string) => string, isLeast: boolean) =>
      joined(pairs.slice(0, MOST_PAIRS), ", ", (it) => {
        const count = `${isLeast ? "at least " : ""}${formatCount(it.count)} ${it.count === 1 ? what : `${what}s`}`;
        return [link(filterOf(it), panel, `List what ${it.from} sent to ${it.to}: ${count}`, kept(filterOf(it))), ` ${count}`];
      });
    const parts = [
      told(programPairs(requests), "request", "critical-path", (filter) => `~~${filter}`, false),
      told(sent, "message", "messages", (filter) => filter, isCut),
    ].filter((part) => part.length > 0);
    this.pairs.replaceChildren("who talks to whom: ", ...joined(parts, "; ", (part) => part));
    this.pairs.hidden = parts.length === 0;
  }
  /** Which hosts are short of CPUs: by what their threads waited for them. */
  private async askWaits(signal: AbortSignal): Promise<void> {
    const { hosts, begin, end } = this.experiment;
    if (hosts.length > MANY_HOSTS) return;
    const sums = await Promise.all(
      hosts.map(async (host) => {
        const { states } = await api.statistics({ begin: begin ?? 0, end: end ?? 1, rows: [host.row] }, signal);
        return { host, waited: states.find((it) => it.style === WAIT_CPU)?.total_ns ?? 0 };
      }),
    ).catch(() => []);
    const most = sums
      .filter((it) => it.waited > 0)
      .sort((a, b) => b.waited - a.waited)
      .slice(0, MOST_HOSTS);
    this.waits.replaceChildren(
      "waits for CPUs: ",
      ...joined(most, ", ", ({ host, waited }) => {
        const it: HTMLButtonElement = button(
          `${host.name} ${formatDuration(waited)}`,
          `What ran while threads of ${host.name} waited for a CPU`,
          () => {
            this.navigator.go(host.row, this.navigator.window.begin);
            openFrom(it, "statistics", "instead,row");
          },
          { class: "link" },
        );
        return [it, ` (${(waited / Math.max(1, host.end - host.begin)).toFixed(2)} threads on average)`];
      }),
    );
    this.waits.hidden = most.length === 0;
  }
}
