// The list of requests: sorted, filtered by text and service, the slowest of each service marked, times beside those of the others.
// Talks to: none (the critical path gives it the requests). Used by: the critical path.
import type { Request } from "../api";
import { button, h } from "../dom";
import { formatCount, formatDuration, formatTime } from "../format";
import { fitsFilter } from "./pairs";
import { servicesOf, type Service } from "./services";
import { DataTable } from "./table";

/** How two requests are compared. */
export const COMPARES = "With Ctrl or Shift, a click on another request (Ctrl + Enter by keys) compares it with the one that is shown";

export class RequestList {
  private all: readonly Request[] = [];
  private services: readonly Service[] = [];
  private most = 1;
  private picked: number | null = null;
  private readonly filter = h("input", { type: "search", class: "filter", placeholder: "filter: host, process, number, a → b", "aria-label": "Filter requests", oninput: () => this.refilter() });
  private readonly service = h("select", { "aria-label": "Service", onchange: () => this.refilter() });
  /** The service that is to be chosen once there are some. */
  private wanted: string | null = null;
  private readonly spread = h("p", { class: "spread", role: "status" });
  private readonly table: DataTable<Request>;
  readonly element: HTMLElement;

  constructor(private readonly pick: (request: Request) => void, open: (request: Request) => void, beside: (request: Request) => void, origin: () => string | null, private readonly filtered: () => void) {
    this.table = new DataTable<Request>({
      label: "Requests", origin, pick, open, beside, sort: [1, true],
      columns: [
        { title: "#", unit: "count", description: "Number of the request, as in `critical-path --request`", value: (it) => it.request, text: (it) => String(it.request) },
        { title: "total", unit: "ns", description: "From the request to the answer, at the client", value: (it) => it.total_ns, width: 15, draw: (it) => this.drawTotal(it) },
        { title: "client", value: (it) => it.client, grow: true }, { title: "server", value: (it) => it.server, grow: true },
        { title: "begin", unit: "time", value: (it) => it.begin, text: (it) => formatTime(origin(), it.begin, 3) }, { title: "service", value: (it) => it.service },
      ],
      mark: (it) => `${it.request === this.picked ? "picked" : ""}${this.isSlowest(it) ? " slowest" : ""}`.trim() || null,
    });
    this.element = h("section", { class: "block requests" }, h("div", { class: "block-head" }, h("h3", {}, "Requests"), this.filter, this.service, button("slowest", "Pick the slowest of these", () => this.pickSlowest()), this.table.copy),
      this.spread, this.table.element);
  }
  /** What requests are filtered by; `service`: null where all are shown. */
  get filters(): { text: string; service: string | null } { return { text: this.filter.value.trim(), service: this.service.selectedIndex > 0 ? this.service.value : this.wanted }; }
  filterBy(text: string, service: string | null): void {
    this.filter.value = text;
    this.wanted = service;
    this.chooseWanted();
    this.draw();
  }
  private refilter(): void {
    this.wanted = null;
    this.draw();
    this.filtered();
  }
  private chooseWanted(): void {
    const at = this.services.findIndex((it) => it.name === this.wanted);
    this.service.selectedIndex = at + 1;
    if (at >= 0) this.wanted = null;
  }
  set(requests: readonly Request[]): void {
    this.wanted = this.filters.service;
    this.all = requests;
    this.services = servicesOf(requests);
    this.service.replaceChildren(h("option", { value: "" }, "all services"), ...this.services.map((it) => h("option", { value: it.name }, it.name === "" ? "(no name)" : it.name)));
    this.service.hidden = this.services.length < 2;
    this.chooseWanted();
    this.draw();
  }
  /** Which one is shown beside. */
  choose(number: number | null): void {
    this.picked = number;
    this.table.redraw();
  }
  serviceOf(number: number): { request: Request; service: Service; rank: number } | null {
    const request = this.all.find((it) => it.request === number), service = this.services.find((it) => it.name === request?.service);
    if (request === undefined || service === undefined) return null;
    return { request, service, rank: 1 + this.all.filter((it) => it.service === request.service && it.total_ns > request.total_ns).length };
  }
  private draw(): void {
    const filter = this.filter.value.trim(), service = this.service.value;
    const shown = this.all.filter((it) => {
      if (this.service.selectedIndex > 0 && it.service !== service) return false;
      return fitsFilter(filter, it.client, it.server, `${it.request} ${it.service}`);
    });
    this.most = shown.reduce((most, it) => Math.max(most, it.total_ns), 1);
    this.spread.textContent = shown.length === 0 ? "No request has that in its names."
      : servicesOf(shown).slice(0, 4).map((it) => `${it.name}: ${formatCount(it.count)}, median ${formatDuration(it.median)}, p95 ${formatDuration(it.p95)}, most ${formatDuration(it.most)}`).join(" · ");
    this.table.set(shown);
  }
  private isSlowest(it: Request): boolean { return this.services.some((service) => service.slowest === it.request && service.count > 1); }
  private drawTotal(it: Request): HTMLElement {
    const bar = h("span", { class: "meter", "aria-hidden": "true" });
    bar.style.width = `${Math.max(1, 100 * it.total_ns / this.most)}%`;
    return h("span", { class: "metered" }, bar, h("span", {}, this.isSlowest(it) ? h("b", { title: "the slowest of its service" }, "slowest ") : null, formatDuration(it.total_ns)));
  }
  private pickSlowest(): void {
    const { value, selectedIndex } = this.service;
    const slowest = this.all.filter((it) => selectedIndex <= 0 || it.service === value).reduce<Request | null>((a, b) => (a === null || b.total_ns > a.total_ns ? b : a), null);
    if (slowest !== null) { this.table.activate(slowest); this.pick(slowest); }
  }
}
