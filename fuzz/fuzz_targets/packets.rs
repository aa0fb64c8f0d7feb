//! Any bytes as the stream of a trace with all kinds of fields: read, shown and copied.
#![no_main]

mod trace;

use libfuzzer_sys::fuzz_target;

/// Lengths and tags from every scope, strings, nested arrays, both byte orders, LTTng's compact header.
const METADATA: &str = "/* CTF 1.8 */
typealias integer { size = 8; } := u8;
typealias integer { size = 32; align = 32; } := u32;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { integer { size = 32; } magic; u8 stream_id; }; };
clock { name = c; freq = 1000000000; offset = 5; };
stream { id = 0;
  packet.context := struct {
    integer { size = 64; map = clock.c.value; } timestamp_begin; integer { size = 64; map = clock.c.value; } timestamp_end;
    integer { size = 32; } content_size; integer { size = 32; } packet_size; u8 events_discarded; u8 packet_seq_num; u8 n; };
  event.header := struct {
    enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id;
    variant <id> {
      struct { integer { size = 27; align = 1; map = clock.c.value; } timestamp; } compact;
      struct { integer { size = 32; align = 8; } id; integer { size = 64; align = 8; map = clock.c.value; } timestamp; } extended;
    } v; } align(8);
  event.context := struct { u8 m; string s; }; };
event { name = a; id = 0; stream_id = 0; fields := struct {
  u8 k; enum : u8 { x = 0, y = 1 ... 9 } t; u32 list[k]; integer { size = 8; encoding = UTF8; } text[stream.event.context.m];
  variant <t> { struct { string s[2]; } x; struct { integer { size = 3; align = 1; byte_order = be; } b[k]; } y; } v; }; };
event { name = b; id = 1; stream_id = 0; fields := struct { struct { } e[stream.packet.context.n]; floating_point {
  exp_dig = 8; mant_dig = 24; } f; u8 deep[2][3]; }; };
event { name = c; id = 70000; stream_id = 0; };
";

fuzz_target!(|stream: &[u8]| trace::exercise(METADATA.as_bytes(), stream, None));
