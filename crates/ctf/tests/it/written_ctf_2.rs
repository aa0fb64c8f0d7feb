//! Schemas as CTF 2: what is shared is written once, what would be another trace is refused by name.

use std::sync::Arc;

use crate::common::json::{BOOL, U8, document, event, located, structure};
use crate::common::{metadata as tsdl, strict_ctf_2};
use isochrone_ctf::parse_metadata;
use isochrone_ctf::schema::{
    ByteOrder, ClockClass, ClockOrigin, FieldClass, IntegerClass, Length, Location, Member, Owner, Role,
    Schema, Scope, StructClass,
};
use isochrone_ctf::write::{metadata, to_ctf_2};
use serde_json::{Value, json};

/// Writes the metadata, which are correct and read as the same schema; gives the text.
fn written(schema: &Schema) -> String {
    let text = metadata(schema).unwrap();
    assert_eq!(strict_ctf_2::check(&text), Ok(()), "{text:.3000}");
    assert!(parse_metadata(&text).unwrap() == *schema);
    text
}

/// The schema of TSDL as CTF 2.
fn converted(text: &str) -> Result<Schema, String> {
    to_ctf_2(&parse_metadata(text).unwrap()).map_err(|error| error.to_string())
}

#[test]
fn offsets_of_clocks_are_normal() {
    let with = |frequency, offset_s, offset_cycles, version| Schema {
        clocks: vec![ClockClass { frequency, offset_s, offset_cycles, ..ClockClass::monotonic("c") }],
        ..Schema::empty(version, ByteOrder::Little)
    };
    let check = |frequency: u64, (s, cycles): (i64, i64), expect: Option<(i64, i64)>| {
        for version in [(1, 8), (2, 0)] {
            let schema = with(frequency, s, cycles, version);
            let normal = to_ctf_2(&schema);
            let found = normal
                .as_ref()
                .ok()
                .map(|schema| (schema.clocks[0].offset_s, schema.clocks[0].offset_cycles));
            assert_eq!(found, expect, "{frequency} {s} {cycles}");
            let Ok(normal) = normal else { continue };
            written(&normal);
            let [before, after] = [&schema, &normal].map(|schema| schema.clocks[0].ns_from_origin(12345));
            assert_eq!(before, after);
        }
        let refused = metadata(&with(frequency, s, cycles, (2, 0))).map_err(|error| error.to_string());
        match expect {
            Some(normal) if normal == (s, cycles) => assert!(refused.is_ok()),
            _ => assert!(refused.unwrap_err().contains("in clock `c`")),
        }
    };
    check(1_000_000_000, (7, 999_999_999), Some((7, 999_999_999)));
    check(1_000_000_000, (0, 1_351_530_929_945_824_323), Some((1_351_530_929, 945_824_323)));
    check(1_000_000_000, (0, -3), Some((-1, 999_999_997)));
    check(3, (-5, -7), Some((-8, 2)));
    check(1, (i64::MAX, 1), None);
    check(u64::MAX, (0, -1), None);
}

#[test]
fn one_identity_for_many_clocks_of_a_name() {
    let names = ["a", "a-2", "a", "a", "a-2"];
    let clocks = (0..20_000).map(|n| ClockClass::monotonic(names.get(n).unwrap_or(&"a"))).collect();
    written(&Schema { clocks, ..Schema::empty((2, 0), ByteOrder::Little) });
    let origin = Some(ClockOrigin { namespace: None, name: "o".to_owned(), uid: "u".to_owned() });
    let clocks = vec![ClockClass { absolute: true, origin, ..ClockClass::monotonic("c") }];
    let error = metadata(&Schema { clocks, ..Schema::empty((2, 0), ByteOrder::Little) }).unwrap_err();
    assert!(error.to_string().contains("two origins"), "{error}");
}

/// An alias that others can use.
fn alias(name: &str, class: &str) -> String {
    format!(r#"{{"type": "field-class-alias", "name": "{name}", "field-class": {class}}}"#)
}

/// Metadata with one event of these members after these fragments.
fn with_aliases(aliases: &[String], members: &[(&str, &str)]) -> String {
    let event = format!(r#"{{"type": "event-record-class", "payload-field-class": {}}}"#, structure(members));
    let fragments: Vec<&str> = aliases.iter().map(String::as_str).collect();
    document(&[&fragments[..], &[r#"{"type": "data-stream-class"}"#, &event]].concat())
}

#[test]
fn what_is_shared_is_written_once() {
    let labels: Vec<String> = (0..5000).map(|n| format!(r#""label {n}": [[{n}, {n}]]"#)).collect();
    let attributes = format!(r#""attributes": {{"my.org": "{}"}}"#, "x".repeat(100_000));
    let integer = r#""type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "big-endian""#;
    let mapped = format!(r#"{{{integer}, "mappings": {{{}}}, {attributes}}}"#, labels.join(","));
    let plain = format!(r"{{{integer}, {attributes}}}");
    let text = format!(r#"{{"type": "null-terminated-string", {attributes}}}"#);
    let held = format!(
        r#"{{"type": "structure", "member-classes": [{{"name": "m", "field-class": {U8}, {attributes}}}]}}"#
    );
    for class in [mapped, plain, text, held] {
        let names: Vec<String> = (0..2000).map(|n| format!("m{n}")).collect();
        let members: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "\"shared\"")).collect();
        let text = with_aliases(&[alias("shared", &class)], &members);
        let again = written(&parse_metadata(&text).unwrap());
        assert!(again.len() < 2 * text.len(), "{} bytes of {}", again.len(), text.len());
    }
    // Each alias holds the one before twice.
    let twice = |n: usize| structure(&[("a", &format!("\"{}\"", n - 1)), ("b", &format!("\"{}\"", n - 1))]);
    let aliases: Vec<String> =
        (0..16).map(|n| alias(&n.to_string(), &if n == 0 { U8.to_owned() } else { twice(n) })).collect();
    let schema = parse_metadata(&with_aliases(&aliases, &[("x", "\"15\"")])).unwrap();
    assert!(written(&schema).len() < 20_000);
}

#[test]
fn what_nobody_would_read_is_not_written() {
    let check = |mut schema: Schema, expect: &str| {
        let attributes = json!({"my.org": "x".repeat(1 << 20)});
        let Value::Object(attributes) = attributes else { unreachable!() };
        let attributes = Arc::new(attributes);
        for id in 0..100 {
            let stream = isochrone_ctf::schema::StreamClass { id, ..Default::default() };
            schema.streams.push(stream);
            schema.attributes.insert(Owner::Stream(id), Arc::clone(&attributes));
        }
        let error = metadata(&schema).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    check(Schema::empty((2, 0), ByteOrder::Little), "longer than the 12582912 bytes that are read");
    let mut long = Schema::empty((1, 8), ByteOrder::Little);
    long.environment
        .insert("a".to_owned(), isochrone_ctf::schema::EnvironmentValue::Text("x".repeat(65 << 20)));
    let error = metadata(&long).unwrap_err().to_string();
    assert!(error.contains("longer than"), "{error}");
}

#[test]
fn deep_classes_are_written() {
    let check = |levels: usize, located: bool| {
        let of = |name: &str, class| StructClass {
            members: vec![Member { name: name.to_owned(), class }],
            min_align: 1,
        };
        let selector = Location { scope: Scope::Payload, path: vec!["n".to_owned()] };
        let byte =
            parse_metadata(&event(&[("n", U8)])).unwrap().streams[0].events[0].payload.clone().unwrap();
        let mut class = match located {
            true => FieldClass::Text(isochrone_ctf::schema::TextClass {
                length: Length::Dynamic(selector),
                align: 8,
                encoding: isochrone_ctf::schema::Encoding::Utf8,
            }),
            false => byte.members[0].class.clone(),
        };
        for _ in 0..levels {
            class = FieldClass::Struct(of("s", class));
        }
        let mut schema = parse_metadata(&event(&[("n", U8)])).unwrap();
        let deep = Member { name: "deep".to_owned(), class };
        schema.streams[0].events[0].payload.as_mut().unwrap().members.push(deep);
        let text = metadata(&schema);
        match levels < 250 {
            true => drop(written(&schema)),
            false => assert!(text.unwrap_err().to_string().contains("nested deeper than")),
        }
    };
    for located in [false, true] {
        for levels in [1, 20, 21, 22, 41, 42, 43, 100, 249, 300] {
            check(levels, located);
        }
    }
}

#[test]
fn a_selector_is_what_it_was() {
    // One option has a truth value where the other has an integer.
    let option = |first: u32, class: &str| {
        format!(r#"{{"selector-field-ranges": [[{first}, {first}]], "field-class": {class}}}"#)
    };
    let flag = |class: &str, ranges: &str| {
        let optional = located("optional", r#"["s"]"#, &format!(r#", "field-class": {U8}{ranges}"#));
        structure(&[("s", class), ("o", &optional)])
    };
    let ranges = r#", "selector-field-ranges": [[1, 18446744073709551615]]"#;
    let options = [option(0, &flag(BOOL, "")), option(1, &flag(U8, ranges))].join(",");
    // Arrays keep the keys inside apart.
    let apart = |class: &str| {
        let class =
            format!(r#"{{"type": "static-length-array", "length": 1, "element-field-class": {class}}}"#);
        option(u32::from(class.contains("boolean")), &class)
    };
    let arrays = [apart(&flag(U8, ranges)), apart(&flag(BOOL, ""))].join(",");
    for (options, booleans) in [(options, None), (arrays, Some([false, true]))] {
        let variant = located("variant", r#"["k"]"#, &format!(r#", "options": [{options}]"#));
        let Ok(schema) = parse_metadata(&event(&[("k", U8), ("v", &variant)])) else {
            assert!(booleans.is_none(), "{variant}");
            continue;
        };
        written(&schema);
        let payload = schema.streams[0].events[0].payload.as_ref().unwrap();
        let FieldClass::Variant(variant) = &payload.members[1].class else { unreachable!() };
        let found: Vec<bool> = variant
            .options
            .iter()
            .map(|option| match &option.class {
                FieldClass::Array(array) => match array.element.as_ref() {
                    FieldClass::Struct(class) => boolean(&class.members[1].class),
                    _ => unreachable!(),
                },
                FieldClass::Struct(class) => boolean(&class.members[1].class),
                _ => unreachable!(),
            })
            .collect();
        assert_eq!(found, booleans.unwrap_or([true, false]));
    }
}

fn boolean(class: &FieldClass) -> bool {
    matches!(class, FieldClass::Optional(class) if class.selector_is_boolean)
}

#[test]
fn roles_that_ctf_2_has_not_are_dropped() {
    let head = |uuid: &str, header: &str| {
        let types = "typealias integer { size = 8; } := u8; typealias integer { size = 32; } := u32;";
        format!(
            "/* CTF 1.8 */ {types} trace {{ major = 1; minor = 8; byte_order = le; {uuid} \
             packet.header := struct {{ {header} }}; }};"
        )
    };
    let check = |uuid: bool, header: &str, expect: &[Option<Role>]| {
        let uuid = if uuid { r#"uuid = "01234567-89ab-cdef-0123-456789abcdef";"# } else { "" };
        let schema = converted(&head(uuid, header)).unwrap();
        written(&schema);
        let header = schema.packet_header.unwrap();
        let roles: Vec<_> = header.members.iter().map(|member| member.class.role()).collect();
        assert_eq!(roles, expect, "{header:?}");
    };
    let (magic, uuid) = (Some(Role::PacketMagic), Some(Role::TraceUuid));
    check(true, "u32 magic; u8 uuid[16];", &[magic, uuid]);
    check(false, "u32 magic; u8 uuid[16];", &[magic, None]);
    check(true, "u8 uuid[16]; u32 magic;", &[uuid, None]);
    check(false, "integer { size = 16; } magic;", &[None]);
    check(false, "integer { size = 32; signed = true; } magic;", &[None]);
    for element in
        ["size = 4; align = 4;", "size = 8; align = 16;", "size = 8; signed = true;", "size = 8; align = 1;"]
    {
        check(true, &format!("u32 magic; integer {{ {element} }} uuid[16];"), &[magic, None]);
    }
    check(true, "u8 uuid[15];", &[None]);
}

#[test]
fn labels_and_options_of_no_value_are_dropped() {
    let text = tsdl(
        "event { name = x; fields := struct { enum : u8 { a = -3 ... 4, gone = -1, b = 3 ... 9, c = 2 ... 20 } k; \
         variant <k> { u8 a; u16 b; u32 c; } v; }; };",
    );
    let schema = converted(&text).unwrap();
    written(&schema);
    let members = &schema.streams[0].events[0].payload.as_ref().unwrap().members;
    let FieldClass::Integer(IntegerClass { mappings: Some(mappings), .. }) = &members[0].class else {
        unreachable!()
    };
    let found: Vec<_> = mappings.into_iter().map(|m| (m.label.as_str(), m.first, m.last)).collect();
    assert_eq!(found, [("a", 0, 4), ("b", 3, 9), ("c", 2, 20)]);
    let FieldClass::Variant(variant) = &members[1].class else { unreachable!() };
    let found: Vec<_> = variant.options.iter().map(|option| option.ranges.as_slice()).collect();
    assert_eq!(found, [&[(0, 4)], &[(5, 9)], &[(10, 20)]]);
}

#[test]
fn locations_through_options_mean_one_field() {
    let variant = "enum : u8 { a, b } k; variant <k> { struct { u8 n; u8 s[n]; } a; struct { u8 OTHER; u8 s[OTHER]; } b; } v;";
    let check = |text: String, expect: Option<&str>| match (converted(&text), expect) {
        (Ok(schema), None) => drop(written(&schema)),
        (Err(error), Some(expect)) => assert!(error.contains(expect), "{error}"),
        (found, _) => panic!("{text}: {found:?}"),
    };
    let fields =
        |more: &str, other: &str| crate::common::event(&format!("{variant} {more}").replace("OTHER", other));
    // Inside of its option a location is clear.
    check(fields("", "n"), None);
    check(fields("u8 t[v.a.n];", "m"), None);
    check(
        fields("u8 t[v.a.n];", "n"),
        Some("the location `v.a.n` without the field there of the option `b`"),
    );
    check(fields("u8 t[v.a.n];", "_n"), Some("(in `t` of the event-record-payload, event 0, stream 0)"));
}

#[test]
fn what_other_readers_refuse_is_refused() {
    let check = |members: &[(&str, &str)], change: &dyn Fn(&mut Schema), expect: &str| {
        let mut schema = parse_metadata(&event(members)).unwrap();
        written(&schema);
        change(&mut schema);
        let error = metadata(&schema).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    let plain: &[(&str, &str)] = &[("a", U8)];
    let magic = |class: &mut IntegerClass| class.role = Some(Role::PacketMagic);
    check(plain, &integer(magic), "`packet-magic-number` of what is not the first field, of 32 bits (in `a`");
    let signed = |class: &mut IntegerClass| (class.signed, class.role) = (true, Some(Role::StreamId));
    check(plain, &integer(signed), "the role `data-stream-id` of what is not an unsigned integer");
    let unlabelled = |class: &mut IntegerClass| class.mappings = Some(Vec::new().into());
    check(plain, &integer(unlabelled), "an enumeration without labels");
    let flagless = |class: &mut IntegerClass| {
        (class.form, class.mappings) = (isochrone_ctf::schema::IntegerForm::Bits, Some(Vec::new().into()));
    };
    check(plain, &integer(flagless), "a bit map without flags");
    check(plain, &integer(|class| class.align = 3), "an alignment of 3 bits");
    check(plain, &integer(|class| class.size = 0), "a field of no bits");
    let blob = r#"{"type": "static-length-blob", "length": 16}"#;
    check(
        &[("a", blob)],
        &|schema| {
            let mut header = payload(schema);
            let FieldClass::Blob(class) = &mut header.members[0].class else { unreachable!() };
            class.role = Some(Role::TraceUuid);
            schema.packet_header = Some(header);
        },
        "the role `metadata-stream-uuid` in a trace without a uuid",
    );
    let text = located("dynamic-length-string", r#"["n"]"#, "");
    check(
        &[("n", U8), ("t", &text)],
        &|schema| {
            let members = &mut schema.streams[0].events[0].payload.as_mut().unwrap().members;
            let FieldClass::Text(class) = &mut members[1].class else { unreachable!() };
            class.length = Length::Dynamic(Location { scope: Scope::Payload, path: Vec::new() });
        },
        "a location without names (in `t` of the event-record-payload, event 0, stream 0)",
    );
    let option = |first: u32| {
        format!(
            r#"{{"name": "o{first}", "selector-field-ranges": [[{first}, {first}]], "field-class": {U8}}}"#
        )
    };
    let variant = located("variant", r#"["n"]"#, &format!(r#", "options": [{}, {}]"#, option(0), option(7)));
    check(
        &[("n", U8), ("v", &variant)],
        &|schema| {
            let members = &mut schema.streams[0].events[0].payload.as_mut().unwrap().members;
            let FieldClass::Variant(class) = &mut members[1].class else { unreachable!() };
            class.options[0].ranges = vec![(0, 9)];
        },
        "options `o0` and `o7` that 7 both chooses",
    );
}

fn payload(schema: &mut Schema) -> StructClass {
    schema.streams[0].events[0].payload.take().unwrap()
}

/// Makes the event's fields the packet header, with another first integer.
fn integer(change: impl Fn(&mut IntegerClass)) -> impl Fn(&mut Schema) {
    move |schema| {
        let mut header = payload(schema);
        let FieldClass::Integer(class) = &mut header.members[0].class else { unreachable!() };
        change(class);
        schema.packet_header = Some(header);
    }
}
