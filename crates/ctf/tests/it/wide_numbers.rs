//! Numbers of more than 64 bits, which are given as bytes, in both languages of metadata.

use crate::common::json::{U8, VU, check_fields};
use crate::common::{metadata, shown, write};
use isochrone_ctf::parse_metadata;

#[test]
fn numbers_of_more_than_64_bits_are_bytes() {
    let bits = |kind: &str, length: u32, rest: &str| {
        let order = if rest.contains("big") { "big-endian" } else { "little-endian" };
        let rest = rest.replace("big", "");
        format!(r#"{{"type": "fixed-length-{kind}", "length": {length}, "byte-order": "{order}"{rest}}}"#)
    };
    let mappings = r#", "mappings": {"minus two": [[-2, -2]], "some": [[-5, 70000]]}"#;
    let flags = r#", "flags": {"low": [[0, 1]], "top": [[71, 71]]}"#;
    let check = |class: &str, bytes: &[u8], expect: &str| {
        check_fields(&[("x", class)], bytes, &format!(r#"{{"x":{expect}}}"#));
    };
    let first_to_last: Vec<u8> = (1..=9).collect();
    check(&bits("unsigned-integer", 72, ""), &first_to_last, r#""x090807060504030201""#);
    check(&bits("unsigned-integer", 72, "big"), &first_to_last, r#""x010203040506070809""#);
    // The sign fills the byte.
    let odd = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x5e];
    for (sign, expect) in [("signed", "xfeffffffffffffffff"), ("unsigned", "x0effffffffffffffff")] {
        let class = bits(&format!("{sign}-integer"), 68, "");
        let rest = bits("unsigned-integer", 4, "");
        check_fields(&[("x", &class), ("y", &rest)], &odd, &format!(r#"{{"x":"{expect}","y":5}}"#));
    }
    let minus_two: Vec<u8> = [[0xff; 9].as_slice(), &[0xfe]].concat();
    let labelled = bits("signed-integer", 80, &format!("big{mappings}"));
    check(&labelled, &minus_two, r#"["xfffffffffffffffffffe",["minus two","some"]]"#);
    let map = bits("bit-map", 72, flags);
    check(&map, &[2, 0, 0, 0, 0, 0, 0, 0, 0x80], r#"["x800000000000000002",["low","top"]]"#);
    check(&bits("boolean", 72, ""), &[0, 0, 0, 0, 0, 0, 0, 0, 0x80], "true");
    check_fields(
        &[("f", &bits("floating-point-number", 16, "big")), ("n", U8)],
        &[0xc5, 0, 7],
        r#"{"f":"fc014000000000000","n":7}"#,
    );
    let quadruple = [0x3f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    check(&bits("floating-point-number", 128, "big"), &quadruple, r#""x3fff0000000000000000000000000001""#);
    // 2⁷⁰ in eleven bytes, and what is after it is found.
    let leb = [&[0x80; 10], [1, 9].as_slice()].concat();
    check_fields(&[("v", VU), ("n", U8)], &leb, r#"{"v":"x0000400000000000000000","n":9}"#);
}

#[test]
fn the_same_in_ctf_1_8() {
    let check = |field: &str, bytes: &[u8], expect: &str| {
        let text = metadata(&format!("event {{ name = x; fields := struct {{ {field} u8 n; }}; }};"));
        let bytes = [bytes, &[9]].concat();
        let lines = shown(write(&text, &[("s", &bytes)]).path()).unwrap();
        let expect = format!(r#"["E",null,null,0,"x",null,null,{{{expect},"n":9}}]"#);
        assert_eq!(lines.last(), Some(&expect), "{lines:?}");
    };
    let nine: Vec<u8> = (1..=9).collect();
    check("integer { size = 72; } a;", &nine, r#""a":"x090807060504030201""#);
    check("integer { size = 72; byte_order = be; } a;", &nine, r#""a":"x010203040506070809""#);
    check(
        "u8 pad:3; integer { size = 72; align = 1; } a:69;",
        &[0xff; 9],
        r#""pad":7,"a":"x1fffffffffffffffff""#,
    );
    let mapped = "enum : integer { size = 128; signed = true; } { minus = -1, other = 0 ... 7 } e;";
    check(mapped, &[0xff; 16], r#""e":["xffffffffffffffffffffffffffffffff",["minus"]]"#);
    check("floating_point { exp_dig = 5; mant_dig = 11; } f;", &[0, 0x3c], r#""f":"f3ff0000000000000""#);
    let quadruple = [[0; 14].as_slice(), &[0xff, 0x3f]].concat();
    check(
        "floating_point { exp_dig = 15; mant_dig = 113; } f;",
        &quadruple,
        r#""f":"x3fff0000000000000000000000000000""#,
    );
}

#[test]
fn nothing_is_counted_by_them() {
    let check = |fields: &str, expect: &str| {
        let error = parse_metadata(&format!("event {{ fields := struct {{ {fields} }}; }};")).unwrap_err();
        assert!(error.to_string().contains(expect), "{error}");
    };
    check("integer { size = 65537; } a;", "an integer of 65537 bits: 1 to 65536 are possible");
    let length = "integer { size = 72; } n; integer { size = 8; } a[n];";
    check(length, "`n` has more than 64 bits: it can be neither a length nor a tag");
}
