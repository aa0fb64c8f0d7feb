// What a search has found, in words: all of it, at least so much, or nothing that is known. Talks to: none. Used by: search, the panel of matches.
import type { Matching } from "./api";
import { formatCount } from "./format";

/** Whether a search has looked at each state, has found some of those there are, or cannot say. */
export type FoundKind = "whole" | "at_least" | "unknown";

/** Labels are not looked up in windows with very many states. */
export const TOO_MANY = "too many states to look at the label of each; choose a shorter window or list calls in Statistics → by call";

/** "4 states on 2 rows". */
export function statesText({ states, rows }: Pick<Matching, "states" | "rows">): string {
  return `${formatCount(states)} ${states === 1 ? "state" : "states"} on ${formatCount(rows.length)} ${rows.length === 1 ? "row" : "rows"}`;
}
/** That there are none is only said where each was looked at. */
export function foundText(found: string, count: number, kind: FoundKind): string {
  if (kind === "unknown") return TOO_MANY;
  if (kind === "whole") return found;
  return count === 0 ? "none is known yet" : `at least ${found}`;
}
