//! The metadata of the trace that a recording becomes, in TSDL, shaped as those of LTTng's kernel tracer.

use std::fmt::Write as _;

use crate::bytes::Order;
use crate::class::{Class, Machine, integer};
use crate::clock::Clock;
use crate::recording::Host;

/// The members of a packet's context in their order.
pub(crate) const CONTEXT: [&str; 7] = [
    "timestamp_begin",
    "timestamp_end",
    "content_size",
    "packet_size",
    "packet_seq_num",
    "events_discarded",
    "cpu_id",
];

/// The metadata of a trace of some classes of events.
pub(crate) fn text<'c>(
    machine: Machine,
    host: &Host,
    clock: Clock,
    classes: impl Iterator<Item = &'c Class>,
) -> String {
    let order = match machine.order {
        Order::Little => "le",
        Order::Big => "be",
    };
    let (half, word, long) = (integer(2, false), integer(4, false), integer(8, false));
    let stamp = |bits: u32| {
        format!("integer {{ size = {bits}; align = 8; signed = 0; map = clock.monotonic.value; }}")
    };
    let mut text = format!(
        "/* CTF 1.8 */\n\ntrace {{\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = {order};\n\
         \tpacket.header := struct {{ {word} magic; {word} stream_id; }};\n}};\n\nenv {{\n"
    );
    let mut entry = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "\t{name} = \"{}\";", escaped(value));
        }
    };
    entry("hostname", &host.name);
    entry("domain", "kernel");
    entry("sysname", "Linux");
    entry("kernel_release", &host.release);
    entry("tracer_name", host.tracer);
    let numbers = host.tracer_version.split(|c: char| !c.is_ascii_digit()).filter(|it| !it.is_empty());
    for (name, number) in ["tracer_major", "tracer_minor", "tracer_patchlevel"].into_iter().zip(numbers) {
        if number.parse::<u32>().is_ok() {
            let _ = writeln!(text, "\t{name} = {number};");
        }
    }
    let offset = clock.offset.unwrap_or_default();
    let _ = write!(
        text,
        "}};\n\nclock {{\n\tname = \"monotonic\";\n\tdescription = \"{}\";\n\tfreq = 1000000000;\n\
         \toffset = {offset};\n}};\n\nstream {{\n\tid = 0;\n\tevent.header := struct {{\n\
         \t\tenum : {half} {{ compact = 0 ... 65534, extended = 65535 }} id;\n\
         \t\tvariant <id> {{\n\t\t\tstruct {{ {} timestamp; }} compact;\n\
         \t\t\tstruct {{ {word} id; {} timestamp; }} extended;\n\t\t}} v;\n\t}} align(8);\n\
         \tpacket.context := struct {{",
        clock.name,
        stamp(32),
        stamp(64),
    );
    for name in CONTEXT {
        let kind = match name {
            "timestamp_begin" | "timestamp_end" => &stamp(64),
            "cpu_id" => &word,
            _ => &long,
        };
        let _ = write!(text, " {kind} {name};");
    }
    let _ = write!(text, " }};\n\tevent.context := struct {{ {} _tid; }};\n}};\n", integer(4, true));
    for (id, class) in classes.enumerate() {
        let Class { name, context, fields, .. } = class;
        let context = match context.is_empty() {
            true => String::new(),
            false => format!("\tcontext := struct {{ {context}}};\n"),
        };
        let _ = write!(
            text,
            "\nevent {{\n\tname = \"{}\";\n\tid = {id};\n\tstream_id = 0;\n{context}\
             \tfields := struct {{ {fields}}};\n}};\n",
            escaped(name)
        );
    }
    text
}

/// A text within quotation marks.
pub(crate) fn escaped(text: &str) -> String {
    let plain = text.chars().filter(|c| !c.is_control());
    plain.fold(String::with_capacity(text.len()), |mut out, c| {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
        out
    })
}
