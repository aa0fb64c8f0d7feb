// Who has to do with whom, by the names of two ends: requests by program, messages by host; and what a filter means of two names. Talks to: none. Used
// by: the first look, the lists of requests and messages.
import type { Pair, Request, Row } from "../api";

/** So many requests or messages from one to the other. */
export interface Between {
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

/** "h1 wget 208" → "h1 wget": of processes, their program. */
function programOf(name: string): string {
  return name.replace(/ \d+$/, "");
}
function summed(pairs: readonly Between[]): Between[] {
  const sums = new Map<string, Between>();
  for (const { from, to, count } of pairs) sums.set(`${from}\n${to}`, { from, to, count: (sums.get(`${from}\n${to}`)?.count ?? 0) + count });
  return [...sums.values()].sort((a, b) => b.count - a.count);
}
/** Which programs asked which, those with the most requests first. */
export function programPairs(requests: readonly Request[]): Between[] {
  return summed(requests.map(({ client, server }) => ({ from: programOf(client), to: programOf(server), count: 1 })));
}
/** Which hosts sent packets to which. */
export function hostPairs(pairs: readonly Pair[], hostOf: (row: number) => Row["host"] | undefined, name: (host: number) => string): Between[] {
  return summed(
    pairs.flatMap(({ from, to, is_mpi: isMpi, count }) => {
      if (isMpi) return [];
      const [a, b] = [hostOf(from), hostOf(to)];
      return a === undefined || b === undefined || a === b ? [] : [{ from: name(a), to: name(b), count }];
    }),
  );
}
/** The filter that means these alone. */
export function filterOf({ from, to }: Pick<Between, "from" | "to">): string {
  return `${from} → ${to}`;
}
/**
 * Whether two ends fit a filter: "h1 wget → h2" is what the names of both begin with, word by word; else all words are anywhere in the names, or in what
 * else is given.
 */
export function fitsFilter(filter: string, from: string, to: string, more = ""): boolean {
  const [a, b] = filter.split("→").map((part) => part.trim().toLowerCase()),
    begins = (name: string, with_: string) => `${name.toLowerCase()} `.startsWith(with_ === "" ? "" : `${with_} `);
  if (b !== undefined) return begins(from, a ?? "") && begins(to, b);
  const text = `${more} ${from} ${to}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
