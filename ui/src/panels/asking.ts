// How far the server is with an answer, for who waits for it: asked under a name, told in percent, given up. Talks to: api. Used by: all panels that ask.
import { api, type Progress } from "../api";
import { button, h } from "../dom";

/** Quick answers need no word. */
const SLOW_MS = 250, AGAIN_MS = 400;
let asks = 0;
const own = Math.random().toString(36).slice(2);

/** "loading … 37 %"; without percent where it is not known. */
export function progressText(progress: Progress | null): string {
  if (progress === null || progress[1] <= 0) return "loading …";
  // All may be read, and not added up yet.
  return `loading … ${Math.min(99, Math.floor((100 * progress[0]) / progress[1]))} %`;
}

export class Asking {
  private readonly text = h("span", { class: "busy", role: "status" });
  private readonly stop = button("stop", "Give this answer up: the server stops working on it", () => this.giveUp(), { class: "stop", hidden: true });
  readonly element = h("span", { class: "asking" }, this.text, this.stop);
  private timer = 0;
  /** The name of the question that is asked now. */
  ask = "";
  constructor(private readonly giveUp: () => void) {}
  /** A question is asked, under a name that no other has. */
  begin(): void {
    this.end();
    this.ask = `${own}-${asks += 1}`;
    this.timer = window.setTimeout(() => void this.tell(this.ask), SLOW_MS);
  }
  end(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    this.say("");
    this.stop.hidden = true;
  }
  /** Says something else than how far it is. */
  say(text: string): void { this.text.textContent = text; }
  private async tell(ask: string): Promise<void> {
    if (this.text.textContent === "") this.say(progressText(null));
    this.stop.hidden = false;
    // What fails here fails in the question itself.
    const progress = await api.progress(ask).catch(() => null);
    if (this.ask !== ask || this.timer === 0) return;
    this.say(progressText(progress));
    this.timer = window.setTimeout(() => void this.tell(ask), AGAIN_MS);
  }
}
