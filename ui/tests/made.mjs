// Traces that are copies of others: their hosts have other names, and they are of other boots. Used by: the tests.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Of a packet of metadata: its head, and where in that its sizes (in bits) are. */
const MAGIC = 0x75d11d57, HEAD = 37, CONTENT = 24, PACKET = 28;

/** The text of metadata, without the packets in which it lies. */
function textOf(metadata) {
  const parts = [];
  for (let at = 0; at < metadata.length && metadata.readUInt32LE(at) === MAGIC; at += metadata.readUInt32LE(at + PACKET) / 8) parts.push(metadata.subarray(at + HEAD, at + metadata.readUInt32LE(at + CONTENT) / 8));
  return Buffer.concat(parts).toString("latin1");
}
const uuidOf = (part, text) => new RegExp(`${part} \\{[^}]*?uuid = "([^"]+)"`).exec(text)[1];

/**
 * Copies a kernel trace (the directory with its metadata), and gives its host another name, as it is written in metadata: with escapes. With a number, it is another trace, of another boot:
 * else the program says that it is a copy.
 */
export function copied(from, to, hostname, number = 0) {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, dereference: true });
  let text = textOf(readFileSync(join(from, "metadata"))).replace(/hostname = "[^"]*"/, () => `hostname = "${hostname}"`);
  const trace = uuidOf("trace", text), clock = uuidOf("clock", text), other = (uuid) => `${uuid.slice(0, -2)}${(number + 16).toString(16)}`, bytes = (uuid) => Buffer.from(uuid.replaceAll("-", ""), "hex");
  if (number > 0) {
    text = text.replaceAll(trace, other(trace)).replaceAll(clock, other(clock));
    for (const name of readdirSync(to, { withFileTypes: true }).filter((it) => it.isFile() && it.name !== "metadata").map((it) => join(to, it.name))) {
      const data = readFileSync(name), [old, now] = [bytes(trace), bytes(other(trace))];
      for (let at = data.indexOf(old); at >= 0; at = data.indexOf(old, at + 16)) now.copy(data, at);
      writeFileSync(name, data);
    }
  }
  writeFileSync(join(to, "metadata"), Buffer.from(`/* CTF 1.8 */\n${text}`, "latin1"));
}
