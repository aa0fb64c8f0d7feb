// What a panel says where it has nothing to show: empty, loading, failed; what is missing, why, and what to do. Talks to: none. Used by: all panels.
import { h } from "../dom";

export type NoticeKind = "empty" | "loading" | "failed";

/** A notice in the middle of where the content would be. Parts in `backquotes` are shown as code. */
export function notice(kind: NoticeKind, title: string, text = "", ...actions: HTMLElement[]): HTMLElement {
  return h("div", { class: `notice ${kind}`, role: kind === "failed" ? "alert" : "status" },
    h("strong", {}, title), text === "" ? null : h("p", {}, ...withCode(text)), actions.length === 0 ? null : h("p", { class: "acts" }, ...actions));
}
/** "type `this`" with the command as code. */
export function withCode(text: string): (string | HTMLElement)[] {
  return text.split("`").map((part, place) => (place % 2 === 1 ? h("code", {}, part) : part));
}
