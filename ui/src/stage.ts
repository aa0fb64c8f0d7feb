// What is seen while there is no time graph yet, or no longer a server: progress, failure, nothing found, connection lost; in words.
// Talks to: api (asks for the stage until it is ready), minimap, sample. Used by: main.
import { api, ApiError, type Experiment, type Stage } from "./api";
import { h } from "./dom";
import { formatBytes, formatDuration } from "./format";
import type { Minimap } from "./minimap";
import type { SamplePicture } from "./sample";

/** How often it is asked how far the work is; and until there is a picture. */
const POLL_MS = 400, FIRST_POLL_MS = 100, RETRY_MS = 2000;
const WORDS: Readonly<Record<Stage["name"], string>> = {
  opening: "Opening the traces", synchronizing: "Putting the clocks on one: matching packets", indexing: "Indexing: what each thread and CPU did", ready: "Ready", failed: "The traces cannot be shown",
};
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

export class StagePicture {
  private readonly title = h("h2");
  private readonly text = h("p", { class: "stage-text" });
  private readonly bar = h("progress", { "aria-label": "Progress" });
  private readonly overview = h("div", { class: "stage-overview" });
  readonly element = h("main", { class: "stage", "aria-live": "polite" }, this.title, this.bar, this.text, this.overview);
  readonly banner = h("div", { class: "banner", role: "alert", hidden: true });
  private began = performance.now();
  private isLost = false;

  constructor(private readonly minimap: Minimap, private readonly sample: SamplePicture) {}

  /** Asks until the traces are indexed; shows how far that is. Gives null if they cannot be shown. */
  async untilReady(seen: (experiment: Experiment) => void): Promise<Experiment | null> {
    let hasOverview = false;
    this.show("Opening the traces", "", null);
    for (;;) {
      const experiment = await api.experiment().catch((error: Error) => error);
      if (experiment instanceof Error) {
        this.show(experiment instanceof ApiError && experiment.status > 0 ? "The server refuses" : "The server does not answer", experiment.message, null);
        await pause(RETRY_MS);
        continue;
      }
      seen(experiment);
      const { stage } = experiment;
      if (stage.name === "ready" && experiment.hosts.length > 0) return experiment;
      if (experiment.grows && (stage.name === "ready" || stage.name === "failed")) {
        this.show("Nothing has come yet", stage.message, null);
        await pause(RETRY_MS);
        continue;
      }
      if (stage.name === "ready") {
        this.show("These traces hold no events", `Nothing was recorded in ${experiment.traces.join(", ")}. \`isochrone info ${experiment.traces[0] ?? "TRACE"}\` says what is in a trace, and what is missing.`, null);
        this.bar.hidden = true;
        return null;
      }
      if (stage.name === "failed") {
        this.show(WORDS.failed, `${stage.message}\nIt was started as: ${experiment.command}`, null);
        this.bar.hidden = true;
        return null;
      }
      if (!hasOverview) {
        await this.minimap.load();
        hasOverview = (this.minimap.overview?.hosts.length ?? 0) > 0;
        if (hasOverview) this.overview.replaceChildren(this.minimap.element, this.sample.element);
      }
      if (hasOverview && !this.sample.isThere) await this.sample.load(this.minimap.overview!);
      this.show(WORDS[stage.name], this.progress(stage), stage.total > 0 ? stage.done / stage.total : null);
      await pause(this.sample.isThere ? POLL_MS : FIRST_POLL_MS);
    }
  }
  private progress({ done, total, message }: Stage): string {
    const parts = [message];
    if (total > 0) parts.push(`${formatBytes(done)} of ${formatBytes(total)}`);
    parts.push(formatDuration(performance.now() - this.began < 1000 ? null : (performance.now() - this.began) * 1e6));
    return parts.filter((part) => part !== "" && part !== "–").join(", ");
  }
  private show(title: string, text: string, share: number | null): void {
    this.title.textContent = title;
    this.text.textContent = text;
    if (share === null) this.bar.removeAttribute("value");
    else this.bar.value = share;
  }

  /** Says something above what is shown. */
  say(message: string): void {
    this.banner.textContent = message;
    this.banner.hidden = false;
  }
  /** The server is gone: says so above what is shown, and asks until it is back. */
  async lost(message: string, back: () => void): Promise<void> {
    if (this.isLost) return;
    this.isLost = true;
    this.banner.textContent = message;
    this.banner.hidden = false;
    for (;;) {
      await pause(RETRY_MS);
      const experiment = await api.experiment().catch(() => null);
      if (experiment !== null && experiment.stage.name === "ready") break;
      if (experiment !== null) this.banner.textContent = `${WORDS[experiment.stage.name]} …`;
    }
    this.isLost = false;
    this.banner.hidden = true;
    back();
  }
}
