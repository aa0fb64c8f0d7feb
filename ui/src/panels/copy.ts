// Copying: any text, and the command line that gives the same as text. Talks to: the clipboard. Used by: all panels.
import { button, h } from "../dom";

const TOLD_MS = 1400;

/** Copies a text. Browsers give pages that are not from this machine or https no clipboard: then as it was done before there was one. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { class: "unseen", "aria-hidden": "true" }), focused = document.activeElement;
    area.value = text;
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return isDone;
  }
}
/** A button that copies what `text` gives, and says so. */
export function copyButton(shown: string, title: string, text: () => string, look = "copy"): HTMLButtonElement {
  const it = button(shown, title, () => void copyText(text()).then((isDone) => tell(it, shown, isDone)), { class: look });
  return it;
}
function tell(it: HTMLButtonElement, shown: string, isDone: boolean): void {
  it.textContent = isDone ? "copied ✓" : "not copied";
  setTimeout(() => { it.textContent = shown; }, TOLD_MS);
}

/** The command line that gives the same, as text; or why there is none. */
export class CommandText {
  private command = "";
  private readonly code = h("code", { class: "command", tabindex: 0, "aria-label": "The command that gives the same as text" });
  private readonly copy = copyButton("as text", "Copy the command that gives the same as text", () => this.command);
  private readonly why = h("span", { class: "muted", hidden: true });
  readonly element = h("span", { class: "as-text", hidden: true }, this.code, this.copy, this.why);
  set(command: string): void {
    this.command = command;
    this.code.textContent = this.code.title = command;
    this.element.hidden = command === "";
    this.code.hidden = this.copy.hidden = false;
    this.why.hidden = true;
  }
  /** No command gives the same: says so, and why. */
  none(why: string): void {
    this.set("");
    this.why.textContent = "no command gives this";
    this.why.title = why;
    this.element.hidden = this.why.hidden = false;
    this.code.hidden = this.copy.hidden = true;
  }
  /** The command of an answer, where it has one. */
  setOr(command: string | undefined, why: string): void {
    if (command === undefined || command === "") this.none(why);
    else this.set(command);
  }
}
