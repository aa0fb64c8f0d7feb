// Hosts of one name: what of the directories of their traces tells them apart. Talks to: none. Used by: tree.
import type { Host } from "./api";

const made = new WeakMap<readonly Host[], ReadonlyMap<number, string>>();

/** The shortest part of the directory of a host's traces that other hosts of its name do not have; "" where it is the only one of its name. */
export function directoryOf(hosts: readonly Host[], host: number): string {
  let all = made.get(hosts);
  if (all === undefined) made.set(hosts, all = directories(hosts));
  return all.get(host) ?? "";
}
function directories(hosts: readonly Host[]): Map<number, string> {
  const named = new Map<string, Host[]>(), found = new Map<number, string>();
  // The server numbers hosts of one name: web, web#2.
  for (const host of hosts) { const name = host.name.replace(/#\d+$/, ""); named.set(name, [...(named.get(name) ?? []), host]); }
  for (const same of named.values()) {
    const paths = same.map((host) => (host.traces[0] ?? "").split("/")), first = paths[0]!, shortest = Math.min(...paths.map((path) => path.length));
    if (same.length < 2) continue;
    let left = 0, right = 0;
    while (left < shortest && paths.every((path) => path[left] === first[left])) left += 1;
    while (right < shortest - left && paths.every((path) => path.at(-1 - right) === first.at(-1 - right))) right += 1;
    // Where one directory is in another, the outer one has nothing of its own: then its last part.
    same.forEach((host, place) => found.set(host.host, paths[place]!.slice(left, paths[place]!.length - right).join("/") || (paths[place]!.at(-1) ?? "")));
  }
  return found;
}
