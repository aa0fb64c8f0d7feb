// What is there, while nothing is selected: hosts, messages, losses, requests; each leads to the panel that tells more. Talks to: api. Used by: the panel of a state.
import { api, type Experiment } from "../api";
import { button, h } from "../dom";
import { formatCount, formatDuration, formatTime } from "../format";
import { lossesText } from "../losses";
import { withCode } from "./notice";
import { servicesOf } from "./services";

/** Requests of traces with more messages are only looked for when they are asked for: that takes a while. */
const MANY_MESSAGES = 200_000, MOST_SERVICES = 3;
/** A panel is asked for, by its name: the drawer listens. */
export const OPEN_PANEL = "openpanel";

const link = (text: string, panel: string) => {
  const it: HTMLButtonElement = button(text, `Open the panel that tells more: ${panel}`, () => it.dispatchEvent(new CustomEvent(OPEN_PANEL, { bubbles: true, detail: panel })), { class: "link" });
  return it;
};
/** At once what the page knows; `more` is done when the server has told the rest. */
export function firstLook(experiment: Experiment, signal: AbortSignal): { element: HTMLElement; more: Promise<void> } {
  const { hosts, begin, end, origin_unix_ns: origin, is_synchronized: isSynchronized } = experiment, messages = h("li", { hidden: true }), services = h("li", {}, link("requests", "critical-path"), " and where they spend their time"), losses = h("li", {}, "…");
  const clocks = hosts.length < 2 ? "" : isSynchronized ? " on one clock" : ", not all on one clock";
  const list = h("ul", {},
    h("li", {}, link(`${formatCount(hosts.length)} ${hosts.length === 1 ? "host" : "hosts"}${clocks}`, "synchronization"), `, ${formatDuration((end ?? 0) - (begin ?? 0))} from ${formatTime(origin, begin ?? 0, 3)}`),
    messages, losses, services, h("li", {}, "what is short: ", link("resources", "resources"), "; what threads did: ", link("statistics", "statistics"), "; everything else: ", link("analyses", "analyses")));
  const element = h("div", { class: "notice first-look" }, h("strong", {}, "Nothing is selected"), list,
    h("p", {}, ...withCode("Click a state in the time graph, or a name beside it. `↑` and `↓` go from row to row, `[` and `]` from state to state; `?` has all keys and colours.")));
  return { element, more: more(messages, losses, services, signal) };
}
async function more(messages: HTMLElement, losses: HTMLElement, services: HTMLElement, signal: AbortSignal): Promise<void> {
  const overview = await api.overview(1, signal).catch(() => null);
  if (overview === null) losses.remove();
  else losses.replaceChildren(overview.losses.length === 0 ? "nothing is missing of the traces" : link(lossesText(overview.losses, overview.losses_total) || "no event was lost, but not all CPUs were recorded all of the time", "losses"));
  const counts = await api.messageCounts(signal).catch((error: Error) => error);
  if (counts instanceof Error) {
    messages.replaceChildren(`messages: ${counts.message}`);
    messages.hidden = signal.aborted;
    return;
  }
  if (counts.count === 0) return;
  messages.replaceChildren(link(`${formatCount(counts.count)} messages between hosts`, "messages"), `, ${formatCount(counts.inverted)} of them arrive before they were sent (${formatCount(counts.inverted_own)} by the hosts' own clocks)`);
  messages.hidden = false;
  if (counts.count > MANY_MESSAGES || signal.aborted) return;
  const { requests } = await api.requests().catch(() => ({ requests: [] }));
  const told = servicesOf(requests).slice(0, MOST_SERVICES).map((it) => `${it.name}: median ${formatDuration(it.median)}, p95 ${formatDuration(it.p95)}, the slowest ${formatDuration(it.most)}`);
  services.replaceChildren(link(`${formatCount(requests.length)} ${requests.length === 1 ? "request" : "requests"}`, "critical-path"), told.length === 0 ? "" : ` to ${told.join("; ")}`);
}
