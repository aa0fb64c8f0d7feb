//! Tests of the front end: the grammar piece by piece, the messages, hostile input, the corpus.

mod corpus;
mod grammar;
mod messages;
mod print;
mod robustness;

use super::{Ast, parse};
use crate::text_error::{TextError, excerpt};

/// Metadata with about everything that LTTng and barectf write, and some that only the grammar allows.
const SAMPLE: &str = r#"/* CTF 1.8 */

typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = true; base = 0x10; } := unsigned long;

trace {
	major = 1;
	minor = 8;
	uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564";
	byte_order = le;
	packet.header := struct {
		uint32_t magic;
		uint8_t  uuid[16];
		uint32_t stream_id;
	};
};

env {
	hostname = "a \"quoted\" host";
	tracer_major = 2;
};

clock {
	name = "monotonic";
	freq = 1000000000; /* Hz */
	/* clock value offset from Epoch is: offset * (1/freq) */
	offset = -1580000000;
};

typealias integer {
	size = 27; align = 1; signed = false;
	map = clock.monotonic.value;
} := uint27_clock_monotonic_t;

struct event_header_compact {
	enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31, } id;
	variant <id> {
		struct { uint27_clock_monotonic_t timestamp; } compact;
		struct { uint32_t id; unsigned long timestamp; } extended;
	} v;
} align(8);

stream {
	id = 0;
	event.header := struct event_header_compact;
	event.context := struct { string { encoding = UTF8; } _procname; uint32_t vtid:24, stream[2][_len]; };
};

event {
	name = "sched_switch";
	stream_id = 0;
	fields := struct {
		typedef enum state : uint8_t { RUNNING, "IN SLEEP" = 1, 'Z' = -5 ... +7 } state_t;
		state_t _state; // a comment
		floating_point { exp_dig = 8; mant_dig = 24; } _load[stream.event.context._vtid];
		char *_pointer;
	};
};
"#;

/// Parses what must be TSDL.
#[track_caller]
fn parsed(input: &str) -> Ast<'_> {
    match parse(input) {
        Ok(tree) => tree,
        Err(error) => panic!("{} in\n{}", error, excerpt(input, error.offset)),
    }
}

/// Parses what must not be TSDL.
#[track_caller]
fn refused(input: &str) -> TextError {
    match parse(input) {
        Ok(tree) => panic!("accepted as {}", print::tree(&tree)),
        Err(error) => error,
    }
}
