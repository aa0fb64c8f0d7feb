// The line at the bottom: the state under the pointer or the selected one, and answers to commands, as text for everybody. Talks to: none. Used by: main, inspector.
import { h } from "./dom";

/** How long an answer stays before the state comes back. */
const ANSWER_MS = 5000;

export class Status {
  private readonly heading = h("span", { class: "about" });
  private readonly live = h("span", { class: "answer", role: "status", "aria-live": "polite" });
  private readonly right = h("span", { class: "right" });
  readonly element = h("footer", { class: "status" }, this.heading, this.live, this.right);
  private timer = 0;
  /** What is under the pointer: not spoken, it changes with each move. */
  show(text: string): void { if (this.heading.textContent !== text) this.heading.textContent = text; }
  /** What was selected or answered: spoken. */
  say(text: string, isWrong = false): void {
    this.live.textContent = text;
    this.live.classList.toggle("wrong", isWrong);
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => { this.live.textContent = ""; }, isWrong ? 2 * ANSWER_MS : ANSWER_MS);
  }
  /** What is going on, at the right. */
  note(text: string): void { if (this.right.textContent !== text) this.right.textContent = text; }
}
