//! Metadata that stand for more than they say: refused, or understood in linear time and memory.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::common::{event, metadata, read, write};
use isochrone_ctf::schema::FieldClass;
use isochrone_ctf::{Trace, parse_metadata};
use proptest::prelude::*;

/// Types that each hold the one before twice: `t0` must be declared.
fn doubled(times: usize) -> String {
    (1..=times).fold(String::new(), |mut text, n| {
        write!(text, "typedef struct {{ t{0} a; t{0} b; }} t{n}; ", n - 1).unwrap();
        text
    })
}

/// Items with their numbers in them, one after the other.
fn list(count: usize, item: &dyn Fn(usize) -> String) -> String {
    (0..count).map(item).collect()
}

#[test]
fn metadata_beyond_all_limits_are_refused() {
    let check = |name: &str, text: String, expect: &str| {
        let error = parse_metadata(&text).map(drop).unwrap_err().to_string();
        assert!(error.contains(expect), "{name}: {error}");
    };
    let (deep, large, many) = ("deeper than 256", "fits no packet", "more than 1048576 field classes");
    let huge = "[2305843009213693951]";
    check("dimensions", event(&format!("u8 n{};", "[1]".repeat(100_000))), deep);
    let mut aliases = "typedef u8 a0[1]; ".to_owned();
    (1..200).for_each(|n| write!(aliases, "typedef a{} a{n}[1][1]; ", n - 1).unwrap());
    check("aliases of arrays", event(&format!("{aliases} a199 x;")), deep);
    let nested = format!("struct {{ {} x{}; }}", "u8", "[1]".repeat(200));
    check("arrays in arrays", event(&format!("{nested} y{};", "[1]".repeat(100))), deep);
    let many_arrays = format!("typedef u8 t0{}; {} t13 x;", "[1]".repeat(200), doubled(13));
    check("every dimension is a class", event(&many_arrays), many);
    check("sum", event(&format!("u8 a{huge}; u8 b[2]; string s;")), large);
    check("alignment", event(&format!("u8 a{huge}; integer {{ size = 64; align = 64; }} z;")), large);
    check("stride", event(&format!("struct {{ u8 a{huge}; }} align(64) b[2];")), large);
    check("product", event("u64 a[1000000][1000000][1000000];"), large);
    check("two arrays", event(&format!("u8 a{huge}; u64 z; u8 b{huge}; u64 y;")), large);
    let part = "72057594037927936";
    check("parts", event(&format!("u8 a[{part}]; string s; u8 b[{part}]; string t; u8 c[{part}];")), large);
    let name = "n".repeat(1 << 20);
    check("a long name", event(&format!("typedef struct {{ u8 {name}; }} t0; {} t17 x;", doubled(17))), many);
    let inner: String = (0..5000).fold(String::new(), |text, n| text + &format!("typedef u8 i{n}; "));
    let inner = format!("typedef struct {{ {inner} u8 a; }} t0; {} t12 x;", doubled(12));
    check("types inside", event(&inner), many);
    check(
        "labels",
        event(&format!("enum : u8 {{ {} }} e;", "a,".repeat(1_048_577))),
        "more than 1048576 labels",
    );
    let zeros = "0,".repeat(17_000_000);
    let values = format!("\u{1e}{{\"type\":\"preamble\",\"version\":2,\"attributes\":{{\"a\":[{zeros}0]}}}}");
    check("values", values, "more than 16777216 JSON values");
    let labels = "a, ".repeat(5000);
    let ranges = format!("typedef struct {{ enum : u16 {{ {labels} }} t; variant <t> {{ u8 a; }} v; }} t0; ");
    check("ranges of an option", event(&format!("{ranges} {} t12 x;", doubled(12))), many);
}

#[test]
fn metadata_of_every_shape_open_in_linear_time() {
    let check = |name: &str, text: String| {
        let start = Instant::now();
        let trace = write(&text, &[]);
        assert!(Trace::open(trace.path()).is_ok(), "{name}");
        // Each took half a minute or all memory before; it takes a tenth of a second.
        assert!(start.elapsed() < Duration::from_secs(8), "{name}: {:?}", start.elapsed());
    };
    check("members", event(&list(150_000, &|n| format!("u8 f{n:06};"))));
    let labels = list(30_000, &|n| format!("l{n:06}, "));
    let options = list(30_000, &|n| format!("u8 l{n:06}; "));
    check("options", event(&format!("enum : u32 {{ {labels} }} tag; variant <tag> {{ {options} }} v;")));
    check("events", metadata(&list(60_000, &|n| format!("event {{ name = x; id = {n}; }};\n"))));
    let streams =
        list(2_000, &|n| format!("stream {{ id = {n}; }}; event {{ id = 65000; stream_id = {n}; }};\n"));
    check("event ids", metadata(&streams));
    let header = list(30_000, &|n| format!("u8 f{n};"));
    let events = list(30_000, &|n| format!("event {{ name = x; id = {n}; }};"));
    check("header", metadata(&format!("stream {{ event.header := struct {{ {header} }}; }}; {events}")));
    let context = list(6_000, &|n| format!("string f{n};"));
    let events = list(6_000, &|n| format!("event {{ name = x; id = {n}; }};"));
    check("context", metadata(&format!("stream {{ event.context := struct {{ {context} }}; }}; {events}")));
}

#[test]
fn labels_are_shared() {
    let labels = list(1000, &|n| format!("l{n}, "));
    let text = event(&format!("typedef enum : u32 {{ {labels} }} t0; {} t12 x;", doubled(12)));
    let schema = parse_metadata(&text).unwrap();
    let mut found = Vec::new();
    let mut open: Vec<&FieldClass> =
        schema.streams[0].events[0].payload.iter().flat_map(|p| &p.members).map(|m| &m.class).collect();
    while let Some(class) = open.pop() {
        match class {
            FieldClass::Struct(class) => open.extend(class.members.iter().map(|m| &m.class)),
            FieldClass::Integer(class) => found.push(class.mappings.as_ref().unwrap().as_ptr()),
            _ => panic!("{class:?}"),
        }
    }
    assert_eq!(found.len(), 1 << 12);
    assert!(found.iter().all(|labels| *labels == found[0]));
}

/// Pieces of metadata: most of what they make is wrong in some way.
const PIECES: [&str; 40] = [
    "u8 n;",
    "u8 d[n];",
    "string s;",
    "u16 b:5;",
    "u32 b:9;",
    "struct {",
    "} x;",
    "} align(8) y[2];",
    "typedef u8 t[n];",
    "t e;",
    "struct a {",
    "};",
    "struct a f;",
    "variant <n> {",
    "variant v {",
    "variant v <k> z;",
    "enum : u8 { p, q } k;",
    "enum e : u8 {",
    "p = -1 ... 3, q };",
    "typedef struct a c;",
    "c g;",
    "event.fields.n",
    "typedef variant <k> { u8 p; } w;",
    "w h;",
    "integer { size = 3; byte_order = be; } i;",
    "integer { size = 64; align = 64; } j[n][n];",
    "floating_point { exp_dig = 8; mant_dig = 24; } o;",
    "typealias u8 := u;",
    "u r;",
    "stream { id = 1; };",
    "env { a = 1; };",
    "trace { packet.header := struct {",
    "}; };",
    "event { fields := struct {",
    "stream { event.header := struct {",
    "stream { packet.context := struct {",
    "u8 id;",
    "t64 timestamp_begin;",
    "u32 packet_size;",
    "t32 timestamp;",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// Whatever the pieces make, it is refused, or read to its end.
    #[test]
    fn no_metadata_are_a_panic(
        pieces in prop::collection::vec(0..PIECES.len(), 0..24),
        closed: bool,
        stream in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let text: String = pieces.iter().fold(String::new(), |text, &piece| text + PIECES[piece] + " ");
        let text = if closed { event(&text) } else { metadata(&text) };
        let trace = write(&text, &[("s", &stream)]);
        if let Ok(reading) = read(trace.path()) {
            prop_assert!(reading.events.len() <= stream.len() * 8);
        }
    }
}
