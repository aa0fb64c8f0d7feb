// Requests by service: how many, and how their times are spread. Talks to: none. Used by: the list of requests, the critical path.
import type { Request } from "../api";

export interface Service { readonly name: string; readonly count: number; readonly median: number; readonly p95: number; readonly most: number; readonly slowest: number }

/** The value of a place in a sorted list: the nearest rank, as the commands do. */
export function nearestRank(sorted: readonly number[], percent: number): number {
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
}
/** Services, those with the most requests first. */
export function servicesOf(requests: readonly Request[]): Service[] {
  const groups = new Map<string, Request[]>();
  for (const request of requests) {
    const group = groups.get(request.service);
    if (group === undefined) groups.set(request.service, [request]);
    else group.push(request);
  }
  return [...groups].map(([name, group]) => {
    const totals = group.map((it) => it.total_ns).sort((a, b) => a - b);
    const slowest = group.reduce((a, b) => (b.total_ns > a.total_ns ? b : a)).request;
    return { name, count: group.length, median: nearestRank(totals, 50), p95: nearestRank(totals, 95), most: totals.at(-1)!, slowest };
  }).sort((a, b) => b.count - a.count);
}
