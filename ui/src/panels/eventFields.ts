// The fields of an event, taken apart: for a list of them, and for an expression that means all events with one value. Talks to: none. Used by: events.

export interface Field { readonly name: string; readonly value: string }

/** "{ cpu_id = 0 }, { prev_comm = \"a, b\", nested = { x = 1 } }": the groups as they are written, the payload last; null where the text is of another form, or cut. */
export function groupsOf(text: string): string[] | null {
  const groups: string[] = [];
  let depth = 0, start = 0, isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === "\\") at += 1;
    else if (letter === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (letter === "{" || letter === "[")) { if (depth === 0) start = at; depth += 1; } else if (!isQuoted && (letter === "}" || letter === "]")) { depth -= 1; if (depth === 0) groups.push(text.slice(start + 1, at).trim()); }
  }
  return depth !== 0 || groups.length === 0 ? null : groups;
}
/** The fields of a group, in their order. */
export function fieldsOf(group: string): Field[] {
  const fields: Field[] = [];
  let depth = 0, start = 0, isQuoted = false;
  const add = (end: number) => {
    const [, name, value] = /^\s*([^\s=]+)\s*=\s*([\s\S]*?)\s*$/.exec(group.slice(start, end)) ?? [];
    if (name !== undefined) fields.push({ name, value: value ?? "" });
  };
  for (let at = 0; at < group.length; at += 1) {
    const letter = group[at];
    if (letter === "\\") at += 1;
    else if (letter === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (letter === "{" || letter === "[")) depth += 1;
    else if (!isQuoted && (letter === "}" || letter === "]")) depth -= 1;
    else if (!isQuoted && depth === 0 && letter === ",") { add(at); start = at + 1; }
  }
  add(group.length);
  return fields;
}
/** `=$event == "sched_switch" && prev_tid == 216`: the search for all events of the name with that value; null where no expression says it. `isContext`: the field is one of the event's contexts. */
export function searchFor(event: string, { name, value }: Field, isContext = false): string | null {
  const isSimple = /^-?\d+$/.test(value) || /^"(?:[^"\\]|\\.)*"$/.test(value);
  return isSimple && /^\w+$/.test(name) ? `=$event == ${JSON.stringify(event)} && ${isContext ? "$ctx." : ""}${name} == ${value}` : null;
}
