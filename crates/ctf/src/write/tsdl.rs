//! A schema as TSDL, the language of CTF 1.8: the inverse of `crate::lower`. Called by [`super::metadata()`].
//!
//! Every field is written where it stands, without names for types; only enumerations have tags, because many
//! fields can share the mappings of one.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;

use super::metadata::{MAX_BYTES, Result, too_long};
use crate::lower::absolute_name;
use crate::schema::{
    Base, ByteOrder, ClockClass, Encoding, EnvironmentValue, FieldClass, FloatClass, IntegerClass,
    IntegerForm, Length, Location, Mapping, Role, Schema, Scope, StructClass, VariantClass,
};
use crate::tsdl;

/// The whole text.
pub(super) fn text(schema: &Schema) -> Result<String> {
    let (enums, complete) = (HashMap::new(), Vec::new());
    let mut writer = Writer { schema, out: String::new(), enums, complete, here: Here::default() };
    for clock in &schema.clocks {
        writer.block(&clock_block(&clock.name, clock));
    }
    writer.environment()?;
    writer.trace()?;
    // There are readers that want ids where packets name their stream class, and nowhere else.
    let numbered = schema.streams.len() != 1
        || schema.streams[0].id != 0
        || schema.packet_header.as_ref().is_some_and(|header| {
            header.members.iter().any(|member| member.class.role() == Some(Role::StreamClassId))
        });
    for stream in &schema.streams {
        let scopes = [
            ("packet.context", Scope::PacketContext, &stream.packet_context),
            ("event.header", Scope::EventHeader, &stream.event_header),
            ("event.context", Scope::CommonContext, &stream.common_context),
        ];
        let id = if numbered { format!("\tid = {};\n", stream.id) } else { String::new() };
        writer.complete.retain(|(scope, _)| *scope == Scope::PacketHeader);
        writer.types("stream", &id, &scopes)?;
        for event in &stream.events {
            let mut values = format!("\tid = {};\n", event.id);
            if numbered {
                values += &format!("\tstream_id = {};\n", stream.id);
            }
            if let Some(name) = &event.name {
                values += &format!("\tname = {};\n", quoted(name));
            }
            if let Some(level) = event.log_level {
                values += &format!("\tloglevel = {level};\n");
            }
            writer.complete.retain(|(scope, _)| *scope <= Scope::CommonContext);
            let scopes = [
                ("context", Scope::SpecificContext, &event.specific_context),
                ("fields", Scope::Payload, &event.payload),
            ];
            writer.types("event", &values, &scopes)?;
        }
    }
    let (major, minor) = schema.version;
    Ok(format!("/* CTF {major}.{minor} */\n\n{}", writer.out))
}

/// A clock block.
pub(super) fn clock_block(name: &str, class: &ClockClass) -> String {
    let mut block = format!("clock {{\n\tname = {};\n", quoted(name));
    let mut line = |name: &str, value: &dyn Display| block += &format!("\t{name} = {value};\n");
    if let Some(uuid) = class.uuid {
        line("uuid", &quoted(&uuid.to_string()));
    }
    if let Some(description) = &class.description {
        line("description", &quoted(description));
    }
    line("freq", &class.frequency);
    line("precision", &class.precision);
    line("offset_s", &class.offset_s);
    line("offset", &class.offset_cycles);
    line("absolute", &if class.absolute { "TRUE" } else { "FALSE" });
    block.push_str("};");
    block
}

/// A string literal.
fn quoted(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for character in text.chars() {
        match character {
            '\\' | '"' => literal.extend(['\\', character]),
            '\n' => literal.push_str("\\n"),
            // Three digits, so that no digit after belongs to the escape.
            '\0'..' ' | '\x7f' => literal.push_str(&format!("\\{:03o}", u32::from(character))),
            _ => literal.push(character),
        }
    }
    literal.push('"');
    literal
}

struct Writer<'s> {
    schema: &'s Schema,
    out: String,
    /// Names of the enumerations written so far: by the address of their mappings, which live as long as the
    /// schema, and the integer.
    enums: HashMap<(*const Mapping, String), String>,
    /// The scopes that are decoded before the one being written, in that order, with the names of their
    /// members.
    complete: Vec<(Scope, HashSet<&'s str>)>,
    here: Here<'s>,
}

/// The field being written.
#[derive(Default)]
struct Here<'s> {
    scope: Option<Scope>,
    /// Names from the scope's root to the field.
    path: Vec<&'s str>,
    /// The structures around it, outermost first.
    structures: Vec<Open<'s>>,
}

/// A structure being written.
struct Open<'s> {
    /// How much of the path leads to it.
    depth: usize,
    /// Its members before the field being written.
    names: HashSet<&'s str>,
}

impl<'s> Writer<'s> {
    fn block(&mut self, text: &str) {
        self.out += text;
        self.out += "\n\n";
    }

    fn environment(&mut self) -> Result<()> {
        if self.schema.environment.is_empty() {
            return Ok(());
        }
        self.out += "env {\n";
        for (name, value) in &self.schema.environment {
            // This reader takes one underscore off, not all others do.
            let guarded =
                !name.starts_with(|first: char| first.is_ascii_alphabetic()) || tsdl::is_reserved(name);
            let name = if guarded { format!("_{name}") } else { name.clone() };
            name.split('.').try_for_each(|part| identifier(part).map(drop))?;
            let value = match value {
                EnvironmentValue::Integer(number) => number.to_string(),
                EnvironmentValue::Text(text) => quoted(text),
            };
            self.out += &format!("\t{name} = {value};\n");
        }
        self.block("};");
        Ok(())
    }

    fn trace(&mut self) -> Result<()> {
        let (major, minor) = self.schema.version;
        let order = byte_order(self.schema.byte_order);
        let mut values = format!("\tmajor = {major};\n\tminor = {minor};\n\tbyte_order = {order};\n");
        if let Some(uuid) = self.schema.uuid {
            values += &format!("\tuuid = \"{uuid}\";\n");
        }
        let header = &self.schema.packet_header;
        self.types("trace", &values, &[("packet.header", Scope::PacketHeader, header)])
    }

    /// A block with values and the structures of scopes.
    fn types(
        &mut self,
        kind: &str,
        values: &str,
        scopes: &[(&str, Scope, &'s Option<StructClass>)],
    ) -> Result<()> {
        let mut block = format!("{kind} {{\n{values}");
        for (name, scope, class) in scopes {
            if let Some(class) = class {
                self.here = Here { scope: Some(*scope), ..Here::default() };
                // Enumerations go before the block.
                block += &format!("\t{name} := {};\n", self.structure(class)?);
                let names = class.members.iter().map(|member| member.name.as_str()).collect();
                self.complete.push((*scope, names));
            }
        }
        block.push_str("};");
        self.block(&block);
        // Checked now and then, so that a schema of much that is shared does not fill the memory first.
        if self.out.len() > MAX_BYTES {
            return Err(too_long());
        }
        Ok(())
    }

    fn structure(&mut self, class: &'s StructClass) -> Result<String> {
        self.here.structures.push(Open { depth: self.here.path.len(), names: HashSet::new() });
        let members = class.members.iter().map(|member| {
            let written = self.named(&member.name, &member.class)?;
            self.here.structures.last_mut().map(|open| open.names.insert(&member.name));
            Ok(written)
        });
        let members = members.collect::<Result<Vec<_>>>()?;
        self.here.structures.pop();
        let align = match class.min_align {
            0 | 1 => String::new(),
            bits => format!(" align({bits})"),
        };
        Ok(format!("struct {{\n{}\t}}{align}", members.concat()))
    }

    /// A member or an option: its type, its name, its lengths.
    fn named(&mut self, name: &'s str, class: &'s FieldClass) -> Result<String> {
        let declared = identifier(name)?;
        self.here.path.push(name);
        let (written, lengths) = self.declared(class)?;
        self.here.path.pop();
        Ok(format!("\t\t{written} {declared}{lengths};\n"))
    }

    /// A type and the lengths of arrays of it, the outermost first.
    fn declared(&mut self, class: &'s FieldClass) -> Result<(String, String)> {
        let written = match class {
            FieldClass::Integer(class) | FieldClass::WideInteger(class) => self.integer(class)?,
            FieldClass::Float(class) => self.float(class)?,
            FieldClass::String(class) => {
                utf8(class.encoding)?;
                "string".to_owned()
            }
            FieldClass::Text(class) => {
                utf8(class.encoding)?;
                let length = self.length(&class.length)?;
                return Ok(("integer { size = 8; align = 8; encoding = UTF8; }".to_owned(), length));
            }
            FieldClass::Struct(class) => self.structure(class)?,
            FieldClass::Array(class) if class.min_align <= 1 => {
                let length = self.length(&class.length)?;
                let (written, inner) = self.declared(&class.element)?;
                return Ok((written, length + &inner));
            }
            FieldClass::Array(_) => return Err("an array with an alignment of its own".into()),
            FieldClass::Variant(class) => self.variant(class)?,
            FieldClass::VarInteger(_) => return Err("an integer of variable length".into()),
            FieldClass::Optional(_) => return Err("an optional field".into()),
            FieldClass::Blob(_) => return Err("a BLOB".into()),
        };
        Ok((written, String::new()))
    }

    fn integer(&mut self, class: &IntegerClass) -> Result<String> {
        if class.form != IntegerForm::Number || class.reversed {
            return Err("a truth value, a bit array or a reversed bit order".into());
        }
        let mut written = format!("integer {{ size = {};", class.size);
        let mut attribute = |name: &str, value: &dyn Display| written += &format!(" {name} = {value};");
        if class.align != if class.size.is_multiple_of(8) { 8 } else { 1 } {
            attribute("align", &class.align);
        }
        if class.signed {
            attribute("signed", &"true");
        }
        if class.byte_order != self.schema.byte_order {
            attribute("byte_order", &byte_order(class.byte_order));
        }
        match class.base {
            Base::Decimal => {}
            Base::Binary => attribute("base", &2),
            Base::Octal => attribute("base", &8),
            Base::Hexadecimal => attribute("base", &16),
        }
        if let Some(clock) = class.clock {
            attribute("map", &format!("clock.{}.value", identifier(&self.schema.clocks[clock].name)?));
        }
        written.push_str(" }");
        match &class.mappings {
            None => Ok(written),
            Some(mappings) => Ok(self.enumeration(mappings, written)),
        }
    }

    /// The name of an enumeration, which is written if it is a new one.
    fn enumeration(&mut self, mappings: &[Mapping], integer: String) -> String {
        let key = (mappings.as_ptr(), integer);
        if let Some(name) = self.enums.get(&key) {
            return name.clone();
        }
        // A tag: the name of an alias would take a field called `short` or `long` for its second word.
        let tag = format!("enum_{}", self.enums.len());
        let label = |mapping: &Mapping| {
            let Mapping { label, first, last } = mapping;
            let label = quoted(label);
            match first == last {
                true => format!("\t{label} = {first},\n"),
                false => format!("\t{label} = {first} ... {last},\n"),
            }
        };
        let labels: String = mappings.iter().map(label).collect();
        self.block(&format!("enum {tag} : {} {{\n{labels}}};", key.1));
        let name = format!("enum {tag}");
        self.enums.insert(key, name.clone());
        name
    }

    fn float(&self, class: &FloatClass) -> Result<String> {
        let (exponent, mantissa) = match class.size {
            16 => (5, 11),
            32 => (8, 24),
            64 => (11, 53),
            128 => (15, 113),
            bits => return Err(format!("a floating point number of {bits} bits").into()),
        };
        if class.reversed {
            return Err("a reversed bit order".into());
        }
        let align = class.align;
        let mut written =
            format!("floating_point {{ exp_dig = {exponent}; mant_dig = {mantissa}; align = {align};");
        if class.byte_order != self.schema.byte_order {
            written += &format!(" byte_order = {};", byte_order(class.byte_order));
        }
        Ok(written + " }")
    }

    fn variant(&mut self, class: &'s VariantClass) -> Result<String> {
        if class.transparent {
            return Err("a variant whose options have no names in locations".into());
        }
        let tag = self.path(&class.selector)?;
        let options = class.options.iter().map(|option| self.named(&option.name, &option.class));
        Ok(format!("variant <{tag}> {{\n{}\t}}", options.collect::<Result<Vec<_>>>()?.concat()))
    }

    fn length(&self, length: &Length) -> Result<String> {
        match length {
            Length::Static(count) => Ok(format!("[{count}]")),
            Length::Dynamic(location) => Ok(format!("[{}]", self.path(location)?)),
        }
    }

    /// The way to a field: from the innermost structure around both fields, because there are readers that
    /// understand single names only; in full where a reader would find a nearer field of that name.
    fn path(&self, location: &Location) -> Result<String> {
        let Here { scope, path, structures } = &self.here;
        let here = *scope == Some(location.scope);
        let shared = location.path.iter().zip(path).take_while(|(a, b)| a == b).count();
        // The structure around both, of those that are open.
        let around = structures.iter().rposition(|open| here && open.depth <= shared);
        let depth = around.map_or(0, |index| structures[index].depth);
        let names = &location.path[depth..];
        let first = names.first().map_or("", String::as_str);
        let inside = &structures[around.map_or(0, |index| index + 1)..];
        let after = self.complete.iter().rev().take_while(|(scope, _)| !here && *scope != location.scope);
        let mut nearer = inside.iter().map(|open| &open.names).chain(after.map(|(_, names)| names));
        let root = match nearer.any(|names| names.contains(first)) {
            true if depth > 0 => return Err(format!("the reference to `{}`", location.path.join(".")).into()),
            true => absolute_name(location.scope),
            false => &[],
        };
        let names = names.iter().map(|name| identifier(name)).collect::<Result<Vec<_>>>()?;
        Ok(root.iter().copied().chain(names).collect::<Vec<_>>().join("."))
    }
}

/// A name, if TSDL can spell it.
fn identifier(name: &str) -> Result<&str> {
    let letter = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let possible = begins && name.chars().all(letter);
    if possible { Ok(name) } else { Err(format!("the name `{}`", name.escape_debug()).into()) }
}

fn utf8(encoding: Encoding) -> Result<()> {
    if encoding == Encoding::Utf8 { Ok(()) } else { Err("text that is not UTF-8".into()) }
}

fn byte_order(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::Little => "le",
        ByteOrder::Big => "be",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_come_back() {
        let check = |text: &str| {
            let schema = crate::parse_metadata(text).unwrap();
            crate::write::metadata(&schema).unwrap_or_else(|error| panic!("{text}: {error}"));
        };
        let event = |fields: &str| check(&format!("event {{ fields := struct {{ {fields} }}; }};"));
        event("enum : integer { size = 8; } { a } short; integer { size = 8; } long[2];");
        event(
            "integer { size = 8; } n; struct { integer { size = 8; } n; struct { string s[event.fields.n]; } b; } a;",
        );
        event("struct { integer { size = 8; } n; struct { string s[n]; } align(16) inner[3]; } a;");
        event("integer { size = 8; } n; struct { integer { size = 8; } n; string s[event.fields.n]; } a;");
        event(
            "enum : integer { size = 8; } { x, _y } t; struct { variant <t> { string x; string y; } v; } s[2];",
        );
        check("env { int = 1; _7 = 2; _x = \"a\\\"b\"; a.b = -1; }; clock { name = c; offset = -3; };");
        let header = "stream { event.header := struct { integer { size = 3; } n; }; };";
        let event = |fields: &str| check(&format!("{header} event {{ fields := struct {{ {fields} }}; }};"));
        event("string s[n]; integer { size = 8; } n; string t[n];");
        event("integer { size = 8; } n; string t[stream.event.header.n];");
        check(
            "trace { byte_order = be; }; stream { id = 7; event.header := struct { integer { size = 3; } id; }; };",
        );
    }

    #[test]
    fn a_clock_block_reads_back() {
        for text in ["plain", "a \"quoted\" name\\", "two\nlines\t\u{7}1\u{7f}", "é"] {
            let description = Some(text.to_owned());
            let class = ClockClass { description, offset_s: -3, ..ClockClass::monotonic("unused") };
            let block = clock_block(text, &class);
            let schema = crate::parse_metadata(&block).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(schema.clocks, [ClockClass { name: text.to_owned(), ..class }], "{block}");
        }
    }
}
