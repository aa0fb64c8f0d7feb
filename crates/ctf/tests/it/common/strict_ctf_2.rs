//! CTF 2 metadata as strictly as the specification has them, for what is written: properties and their types, ranges of
//! numbers, roles, aliases before their use, ids, selector ranges. It shares no code with the reader.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

type Checked<T = ()> = Result<T, String>;
type Object = Map<String, Value>;

/// Holds a text against the specification; the first thing that is wrong.
pub fn check(text: &str) -> Checked {
    let mut document = Document::default();
    let mut pieces = text.split('\u{1e}');
    ensure(pieces.next() == Some(""), "text before the first record separator")?;
    for (index, piece) in pieces.enumerate() {
        let fragment: Value = serde_json::from_str(piece).map_err(|error| error.to_string())?;
        document
            .fragment(index, &fragment)
            .map_err(|error| format!("fragment {index}: {error}: {piece:.300}"))?;
    }
    ensure(document.has_preamble, "no preamble")
}

#[derive(Default)]
struct Document {
    has_preamble: bool,
    has_trace: bool,
    has_uuid: bool,
    aliases: HashMap<String, Value>,
    clocks: HashSet<String>,
    streams: HashMap<u64, bool>,
    events: HashSet<(u64, u64)>,
}

const IDENTITY: [(&str, Kind); 3] = [("namespace", Kind::Text), ("name", Kind::Text), ("uid", Kind::Text)];

#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Unsigned,
    Any,
}

/// The scope that a field is in, and the path to it.
#[derive(Clone, Default)]
struct At {
    scope: &'static str,
    structures: usize,
    first: bool,
    in_array: bool,
    clock: bool,
}

impl Document {
    fn fragment(&mut self, index: usize, fragment: &Value) -> Checked {
        let fragment = object(fragment)?;
        let kind = text(fragment, "type")?;
        ensure((index == 0) == (kind == "preamble"), "the preamble is first, and only there")?;
        match kind {
            "preamble" => {
                self.has_preamble = true;
                properties(fragment, &[("version", Kind::Unsigned)], &[("uuid", Kind::Any)])?;
                ensure(fragment["version"] == 2, "version")?;
                if let Some(uuid) = fragment.get("uuid") {
                    let bytes = array(uuid)?;
                    ensure(bytes.len() == 16 && bytes.iter().all(|b| b.as_u64() < Some(256)), "uuid")?;
                    ensure(bytes.iter().all(Value::is_u64), "bytes of the uuid")?;
                    self.has_uuid = true;
                }
                Ok(())
            }
            "field-class-alias" => {
                properties(fragment, &[("name", Kind::Text), ("field-class", Kind::Any)], &[])?;
                // What depends on the place is checked where it is used.
                let (name, class) = (text(fragment, "name")?.to_owned(), fragment["field-class"].clone());
                self.known_aliases(&class)?;
                ensure(self.aliases.insert(name, class).is_none(), "two aliases of a name")
            }
            "trace-class" => {
                ensure(!std::mem::replace(&mut self.has_trace, true), "two trace classes")?;
                ensure(self.streams.is_empty(), "a trace class after stream classes")?;
                let optional = [("environment", Kind::Any), ("packet-header-field-class", Kind::Any)];
                properties(fragment, &[], &[&IDENTITY[..], &optional].concat())?;
                if let Some(environment) = fragment.get("environment") {
                    let known = |value: &Value| value.is_string() || value.is_i64();
                    ensure(object(environment)?.values().all(known), "environment")?;
                }
                self.scopes(fragment, &[("packet-header-field-class", "packet-header")], false)
            }
            "clock-class" => self.clock(fragment),
            "data-stream-class" => {
                let scopes = [
                    ("packet-context-field-class", "packet-context"),
                    ("event-record-header-field-class", "event-record-header"),
                    ("event-record-common-context-field-class", "event-record-common-context"),
                ];
                let own = [("id", Kind::Unsigned), ("default-clock-class-id", Kind::Text)];
                let classes = scopes.map(|(property, _)| (property, Kind::Any));
                properties(fragment, &[], &[&IDENTITY[..], &own, &classes].concat())?;
                let clock = fragment.get("default-clock-class-id").and_then(Value::as_str);
                ensure(clock.is_none_or(|clock| self.clocks.contains(clock)), "no such clock class")?;
                let id = fragment.get("id").and_then(Value::as_u64).unwrap_or(0);
                ensure(self.streams.insert(id, clock.is_some()).is_none(), "two stream classes of an id")?;
                self.scopes(fragment, &scopes, clock.is_some())
            }
            "event-record-class" => {
                let scopes = [
                    ("specific-context-field-class", "event-record-specific-context"),
                    ("payload-field-class", "event-record-payload"),
                ];
                let own = [("id", Kind::Unsigned), ("data-stream-class-id", Kind::Unsigned)];
                let classes = scopes.map(|(property, _)| (property, Kind::Any));
                properties(fragment, &[], &[&IDENTITY[..], &own, &classes].concat())?;
                let number = |name| fragment.get(name).and_then(Value::as_u64).unwrap_or(0);
                let (stream, id) = (number("data-stream-class-id"), number("id"));
                ensure(self.streams.contains_key(&stream), "no such stream class")?;
                ensure(self.events.insert((stream, id)), "two event classes of an id")?;
                self.scopes(fragment, &scopes, false)
            }
            other => Err(format!("fragment type {other}")),
        }
    }

    fn clock(&mut self, clock: &Object) -> Checked {
        let required = [("id", Kind::Text), ("frequency", Kind::Unsigned), ("offset-from-origin", Kind::Any)];
        let own = [
            ("description", Kind::Text),
            ("origin", Kind::Any),
            ("precision", Kind::Unsigned),
            ("accuracy", Kind::Unsigned),
        ];
        properties(clock, &required, &[&IDENTITY[..], &own].concat())?;
        ensure(self.clocks.insert(text(clock, "id")?.to_owned()), "two clock classes of an id")?;
        let frequency = clock["frequency"].as_u64().unwrap();
        ensure(frequency > 0, "a frequency of 0")?;
        let offset = object(&clock["offset-from-origin"])?;
        ensure(offset.keys().all(|key| ["seconds", "cycles"].contains(&key.as_str())), "parts of an offset")?;
        ensure(offset.get("seconds").is_none_or(Value::is_i64), "seconds")?;
        let below = |cycles: &Value| cycles.as_u64().is_some_and(|cycles| cycles < frequency);
        ensure(offset.get("cycles").is_none_or(below), "cycles are below the frequency")?;
        match clock.get("origin") {
            None => Ok(()),
            Some(Value::String(name)) => ensure(name == "unix-epoch", "an unknown origin"),
            Some(origin) => {
                let required = [("name", Kind::Text), ("uid", Kind::Text)];
                properties(object(origin)?, &required, &[("namespace", Kind::Text)])
            }
        }
    }

    fn scopes(&self, fragment: &Object, scopes: &[(&str, &'static str)], clock: bool) -> Checked {
        for &(property, scope) in scopes {
            let Some(class) = fragment.get(property) else { continue };
            ensure(object(self.resolved(class)?)?["type"] == "structure", "a scope is a structure")?;
            self.class(class, &At { scope, clock, ..At::default() })
                .map_err(|error| format!("{property}: {error}"))?;
        }
        Ok(())
    }

    fn resolved<'v>(&'v self, class: &'v Value) -> Checked<&'v Value> {
        match class.as_str() {
            Some(name) => self.aliases.get(name).ok_or_else(|| format!("no alias `{name}`")),
            None => Ok(class),
        }
    }

    /// Aliases that a class uses are there already.
    fn known_aliases(&self, value: &Value) -> Checked {
        let Some(properties) = value.as_object() else { return self.resolved(value).map(drop) };
        for name in ["element-field-class", "field-class"] {
            properties.get(name).map_or(Ok(()), |class| self.known_aliases(class))?;
        }
        for holder in ["member-classes", "options"] {
            for held in properties.get(holder).and_then(Value::as_array).into_iter().flatten() {
                self.known_aliases(&held["field-class"])?;
            }
        }
        Ok(())
    }

    fn class(&self, class: &Value, at: &At) -> Checked {
        let class = object(self.resolved(class)?)?;
        let kind = text(class, "type")?;
        let fixed = [("length", Kind::Unsigned), ("byte-order", Kind::Text)];
        let bits = [("bit-order", Kind::Text), ("alignment", Kind::Unsigned)];
        let number =
            [("preferred-display-base", Kind::Unsigned), ("mappings", Kind::Any), ("roles", Kind::Any)];
        let inner = At { first: false, ..at.clone() };
        match kind {
            "fixed-length-boolean" | "fixed-length-bit-array" | "fixed-length-floating-point-number" => {
                properties(class, &fixed, &bits)?;
                laid_out(class)
            }
            "fixed-length-bit-map" => {
                properties(class, &[&fixed[..], &[("flags", Kind::Any)]].concat(), &bits)?;
                laid_out(class)?;
                let length = i128::from(class["length"].as_u64().unwrap());
                labels(&class["flags"], 0, length - 1)
            }
            "fixed-length-unsigned-integer" | "fixed-length-signed-integer" => {
                properties(class, &fixed, &[&bits[..], &number].concat())?;
                laid_out(class)?;
                Self::integer(class, kind, at)
            }
            "variable-length-unsigned-integer" | "variable-length-signed-integer" => {
                properties(class, &[], &number)?;
                Self::integer(class, kind, at)
            }
            "null-terminated-string" => {
                properties(class, &[], &[("encoding", Kind::Text)])?;
                encoded(class)
            }
            "static-length-string" => {
                properties(class, &[("length", Kind::Unsigned)], &[("encoding", Kind::Text)])?;
                encoded(class)
            }
            "dynamic-length-string" => {
                properties(class, &[("length-field-location", Kind::Any)], &[("encoding", Kind::Text)])?;
                location(&class["length-field-location"], at)?;
                encoded(class)
            }
            "static-length-blob" => {
                let optional = [("media-type", Kind::Text), ("roles", Kind::Any)];
                properties(class, &[("length", Kind::Unsigned)], &optional)?;
                let Some(roles) = class.get("roles") else { return Ok(()) };
                ensure(at.scope == "packet-header" && !at.in_array, "a role out of its scope")?;
                ensure(array(roles)?.iter().all(|role| role == "metadata-stream-uuid"), "role of a BLOB")?;
                ensure(class["length"] == 16 && self.has_uuid, "the BLOB of a uuid")
            }
            "dynamic-length-blob" => {
                properties(class, &[("length-field-location", Kind::Any)], &[("media-type", Kind::Text)])?;
                location(&class["length-field-location"], at)
            }
            "structure" => {
                let optional = [("member-classes", Kind::Any), ("minimum-alignment", Kind::Unsigned)];
                properties(class, &[], &optional)?;
                aligned(class, "minimum-alignment")?;
                let mut names = HashSet::new();
                for (index, member) in list(class, "member-classes")?.iter().enumerate() {
                    let member = object(member)?;
                    properties(member, &[("name", Kind::Text), ("field-class", Kind::Any)], &[])?;
                    let name = text(member, "name")?;
                    ensure(names.insert(name), "two members of a name")?;
                    let first = index == 0 && at.structures == 0;
                    let inside = At { structures: at.structures + 1, first, ..at.clone() };
                    self.class(&member["field-class"], &inside)
                        .map_err(|error| format!("{name}: {error}"))?;
                }
                Ok(())
            }
            "static-length-array" | "dynamic-length-array" => {
                let length = if kind.starts_with("static") {
                    ("length", Kind::Unsigned)
                } else {
                    ("length-field-location", Kind::Any)
                };
                let required = [length, ("element-field-class", Kind::Any)];
                properties(class, &required, &[("minimum-alignment", Kind::Unsigned)])?;
                aligned(class, "minimum-alignment")?;
                class.get("length-field-location").map_or(Ok(()), |path| location(path, at))?;
                self.class(&class["element-field-class"], &At { in_array: true, ..inner })
            }
            "optional" => {
                let required = [("selector-field-location", Kind::Any), ("field-class", Kind::Any)];
                properties(class, &required, &[("selector-field-ranges", Kind::Any)])?;
                location(&class["selector-field-location"], at)?;
                if let Some(set) = class.get("selector-field-ranges") {
                    ranges(set, i64::MIN.into(), u64::MAX.into())?;
                }
                self.class(&class["field-class"], &inner)
            }
            "variant" => {
                properties(class, &[("selector-field-location", Kind::Any), ("options", Kind::Any)], &[])?;
                location(&class["selector-field-location"], at)?;
                let options = list(class, "options")?;
                ensure(!options.is_empty(), "a variant without options")?;
                let (mut names, mut sets) = (HashSet::new(), Vec::new());
                for (index, option) in options.iter().enumerate() {
                    let option = object(option)?;
                    let required = [("field-class", Kind::Any), ("selector-field-ranges", Kind::Any)];
                    properties(option, &required, &[("name", Kind::Text)])?;
                    ensure(
                        option.get("name").is_none_or(|name| names.insert(name.as_str())),
                        "options of a name",
                    )?;
                    let set = ranges(&option["selector-field-ranges"], i64::MIN.into(), u64::MAX.into())?;
                    sets.extend(set.into_iter().map(|(first, last)| (first, last, index)));
                    self.class(&option["field-class"], &inner)?;
                }
                let meet =
                    |a: &(i128, i128, usize), b: &(i128, i128, usize)| a.2 != b.2 && a.0 <= b.1 && b.0 <= a.1;
                let apart = sets.iter().all(|a| sets.iter().all(|b| !meet(a, b)));
                ensure(apart, "selector ranges of two options overlap")
            }
            other => Err(format!("field class type {other}")),
        }
    }

    fn integer(class: &Object, kind: &str, at: &At) -> Checked {
        let signed = kind.ends_with("-signed-integer");
        let base = class.get("preferred-display-base").and_then(Value::as_u64);
        ensure(base.is_none_or(|base| [2, 8, 10, 16].contains(&base)), "base")?;
        let (least, most) =
            if signed { (i64::MIN.into(), i64::MAX.into()) } else { (0, i128::from(u64::MAX)) };
        class.get("mappings").map_or(Ok(()), |mappings| labels(mappings, least, most))?;
        let Some(roles) = class.get("roles") else { return Ok(()) };
        let length = class.get("length").and_then(Value::as_u64);
        ensure(!signed && length.is_none_or(|bits| bits <= 64), "a role of such an integer")?;
        ensure(!at.in_array, "a role inside an array")?;
        let roles = array(roles)?;
        ensure(!roles.is_empty(), "roles without any")?;
        for role in roles {
            let role = role.as_str().ok_or("a role is a string")?;
            let fits = match (role, at.scope) {
                ("packet-magic-number", "packet-header") => at.first && length == Some(32),
                ("data-stream-class-id" | "data-stream-id", "packet-header")
                | (
                    "packet-total-length"
                    | "packet-content-length"
                    | "discarded-event-record-counter-snapshot"
                    | "packet-sequence-number",
                    "packet-context",
                )
                | ("event-record-class-id", "event-record-header") => true,
                ("default-clock-timestamp", "packet-context" | "event-record-header")
                | ("packet-end-default-clock-timestamp", "packet-context") => at.clock,
                _ => false,
            };
            ensure(fits, &format!("the role {role} of such a field in {}", at.scope))?;
        }
        Ok(())
    }
}

fn ensure(holds: bool, what: &str) -> Checked {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

fn object(value: &Value) -> Checked<&Object> {
    value.as_object().ok_or_else(|| "an object is expected".to_owned())
}

fn array(value: &Value) -> Checked<&Vec<Value>> {
    value.as_array().ok_or_else(|| "an array is expected".to_owned())
}

fn list<'v>(object: &'v Object, name: &str) -> Checked<&'v [Value]> {
    object.get(name).map_or(Ok(&[]), |value| array(value).map(Vec::as_slice))
}

fn text<'v>(object: &'v Object, name: &str) -> Checked<&'v str> {
    object.get(name).and_then(Value::as_str).ok_or_else(|| format!("`{name}` is a string"))
}

/// All required properties are there, none is unknown, all are of their kinds.
fn properties(object: &Object, required: &[(&str, Kind)], optional: &[(&str, Kind)]) -> Checked {
    for (name, _) in required {
        ensure(object.contains_key(*name), &format!("`{name}` is missing"))?;
    }
    for (name, value) in object {
        let known = required.iter().chain(optional).find(|(known, _)| known == name);
        match (name.as_str(), known) {
            ("type", _) => {}
            ("attributes", _) => ensure(value.is_object(), "attributes")?,
            (_, Some((_, Kind::Text))) => ensure(value.is_string(), &format!("`{name}` is a string"))?,
            (_, Some((_, Kind::Unsigned))) => ensure(value.is_u64(), &format!("`{name}` is unsigned"))?,
            (_, Some((_, Kind::Any))) => {}
            (_, None) => return Err(format!("unknown property `{name}`")),
        }
    }
    Ok(())
}

fn laid_out(class: &Object) -> Checked {
    let length = class["length"].as_u64().unwrap();
    ensure(length >= 1, "a length of 0")?;
    let kind = text(class, "type")?;
    let float = kind == "fixed-length-floating-point-number";
    let ieee = matches!(length, 16 | 32 | 64) || length >= 128 && length.is_multiple_of(32);
    ensure(!float || ieee, "length of a floating point number")?;
    let order = text(class, "byte-order")?;
    ensure(["little-endian", "big-endian"].contains(&order), "byte order")?;
    if class.contains_key("bit-order") {
        let order = text(class, "bit-order")?;
        ensure(["first-to-last", "last-to-first"].contains(&order), "bit order")?;
    }
    aligned(class, "alignment")
}

fn aligned(class: &Object, name: &str) -> Checked {
    let align = class.get(name).and_then(Value::as_u64);
    ensure(align.is_none_or(u64::is_power_of_two), "an alignment is a power of two")
}

fn encoded(class: &Object) -> Checked {
    let known = ["utf-8", "utf-16be", "utf-16le", "utf-32be", "utf-32le"];
    let encoding = class.get("encoding").and_then(Value::as_str);
    ensure(encoding.is_none_or(|encoding| known.contains(&encoding)), "encoding")
}

fn location(location: &Value, at: &At) -> Checked {
    let location = object(location)?;
    properties(location, &[("path", Kind::Any)], &[("origin", Kind::Text)])?;
    let path = array(&location["path"])?;
    ensure(path.last().is_some_and(Value::is_string), "a path leads to a field")?;
    ensure(path.iter().all(|step| step.is_string() || step.is_null()), "steps of a path")?;
    let order = [
        "packet-header",
        "packet-context",
        "event-record-header",
        "event-record-common-context",
        "event-record-specific-context",
        "event-record-payload",
    ];
    let place = |name: &str| order.iter().position(|scope| *scope == name);
    match location.get("origin").and_then(Value::as_str) {
        Some(origin) => ensure(
            place(origin).is_some_and(|of| Some(of) <= place(at.scope)),
            "an origin that is not before",
        ),
        None => {
            let up = path.iter().take_while(|step| step.is_null()).count();
            ensure(up < at.structures, "more parents than there are")
        }
    }
}

fn labels(mappings: &Value, least: i128, most: i128) -> Checked {
    let mappings = object(mappings)?;
    ensure(!mappings.is_empty(), "no labels")?;
    mappings.values().try_for_each(|set| ranges(set, least, most).map(drop))
}

fn ranges(set: &Value, least: i128, most: i128) -> Checked<Vec<(i128, i128)>> {
    let set = array(set)?;
    ensure(!set.is_empty(), "an empty set of ranges")?;
    let number = |value: &Value| {
        let number = value.as_u64().map(i128::from).or_else(|| value.as_i64().map(i128::from));
        number.filter(|number| (least..=most).contains(number)).ok_or_else(|| format!("the number {value}"))
    };
    let range = |range: &Value| match array(range)?.as_slice() {
        [first, last] => {
            let (first, last) = (number(first)?, number(last)?);
            ensure(first <= last, "a range that ends before it begins")?;
            Ok((first, last))
        }
        _ => Err("a range has two ends".to_owned()),
    };
    set.iter().map(range).collect()
}
