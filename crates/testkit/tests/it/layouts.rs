//! Every layout of LTTng's traces reads back as it was written: byte orders, headers, alignments, metadata in packets.

use crate::common::{events, field, field_in, open};
use isochrone_ctf::schema::Scope;
use isochrone_ctf::{Event, Value};
use isochrone_testkit::{ByteOrder, EventHeader, FieldValue, KERNEL_CLASSES, LttngTrace, NetLayout};

/// Gaps below, at and above what the headers' 27 and 32 bits of time can hold.
const GAPS: [u64; 12] = [
    0,
    1,
    (1 << 27) - 1,
    1 << 27,
    (1 << 27) + 1,
    5,
    3 << 30,
    (1 << 32) - 1,
    1 << 32,
    (1 << 32) + 1,
    1 << 40,
    17,
];

/// The layouts, each as a function that describes a trace, with words for it.
fn each_layout(mut check: impl FnMut(&dyn Fn(&mut LttngTrace), NetLayout, &str)) {
    for byte_order in [ByteOrder::Little, ByteOrder::Big] {
        for header in [EventHeader::Compact, EventHeader::Large] {
            for aligned in [false, true] {
                for layout in [NetLayout::V2_9, NetLayout::V2_11, NetLayout::V2_13] {
                    let describe = |trace: &mut LttngTrace| {
                        trace.byte_order(byte_order).header(header).aligned(aligned).net_layout(layout);
                        trace.metadata_in_packets(layout == NetLayout::V2_13);
                    };
                    check(&describe, layout, &format!("{byte_order:?} {header:?} {aligned} {layout:?}"));
                }
            }
        }
    }
}

#[test]
fn times_are_exact_in_every_layout() {
    each_layout(|describe, _, layout| {
        let directory = tempfile::tempdir().unwrap();
        let mut host = LttngTrace::kernel("web");
        describe(&mut host);
        // Below and above the ids that the compact header can hold, and one above those of the large header.
        let ids = [("low", 30), ("escape", 31), ("high", 1234), ("large", 65_534), ("huge", 70_000)];
        for (name, id) in ids {
            host.define_with_id(id, name, "integer { size = 32; align = 8; signed = 0; } _n;");
        }
        let mut expect = Vec::new();
        let mut now = 0xfff_ffff_fff0;
        for round in 0..200 {
            let gap = GAPS[round % GAPS.len()];
            let (name, _) = ids[round % ids.len()];
            now += gap;
            host.event(0, now, name, &[("n", (round as u32).into())]);
            expect.push((now, name, round as u64));
        }
        host.write(directory.path()).unwrap();
        let trace = open(directory.path());
        let found = events(&trace, 0);
        assert_eq!(found.len(), expect.len(), "{layout}");
        for (event, (cycles, name, n)) in found.iter().zip(expect) {
            assert_eq!((event.cycles(), event.name()), (Some(cycles), Some(name)), "{layout}");
            assert_eq!(field(event, "n"), Some(Value::Unsigned(n)), "{layout}");
        }
    });
}

#[test]
fn fields_come_back_in_every_layout() {
    each_layout(|describe, net, layout| {
        let directory = tempfile::tempdir().unwrap();
        let mut host = LttngTrace::kernel("web");
        describe(&mut host);
        host.context(
            "integer { size = 32; align = 8; signed = 1; } _tid;
             integer { size = 8; align = 8; signed = 1; encoding = UTF8; } _procname[16];",
        );
        record_one_of_each(&mut host, net);
        host.write(directory.path()).unwrap();
        let trace = open(directory.path());
        let found = events(&trace, 0);
        let names: Vec<_> = found.iter().filter_map(Event::name).collect();
        assert_eq!(names[..KERNEL_CLASSES.len()], KERNEL_CLASSES, "{layout}");
        for event in &found {
            let tid = field_in(event, Scope::CommonContext, "tid");
            assert_eq!(tid, Some(Value::Signed(-7)), "{layout}, {:?}", event.name());
            let name = field_in(event, Scope::CommonContext, "procname");
            assert_eq!(name, Some(Value::Text(b"bash\0\0\0\0\0\0\0\0\0\0\0\0".to_vec())));
            check_fields(event, net, layout);
        }
    });
}

/// An event of every class; those of the network both with IPv4 and IPv6.
fn record_one_of_each(host: &mut LttngTrace, net: NetLayout) {
    let context = || [("context.tid", FieldValue::from(-7)), ("context.procname", "bash".into())];
    for (n, name) in KERNEL_CLASSES.into_iter().chain(["net_if_receive_skb"]).enumerate() {
        let own: Vec<(&str, FieldValue)> = match name {
            "sched_switch" => {
                vec![("prev_comm", "sh".into()), ("prev_tid", (-1).into()), ("prev_state", i64::MIN.into())]
            }
            "irq_handler_entry" => vec![("irq", 9.into()), ("name", "acpi".into())],
            "syscall_exit_read" => vec![("ret", (-4).into()), ("buf", u64::MAX.into())],
            "net_dev_queue" => ipv6_fields(net),
            "net_if_receive_skb" if n < KERNEL_CLASSES.len() => ipv4_fields(net),
            "inet_sock_local_in" => vec![("seq", 0x1234_5678.into()), ("flags", 0x400a.into())],
            _ => Vec::new(),
        };
        host.event(0, n as u64 * 1000, name, &context().into_iter().chain(own).collect::<Vec<_>>());
    }
}

fn ipv4_fields(net: NetLayout) -> Vec<(&'static str, FieldValue)> {
    let mut fields = vec![
        ("skbaddr", 0xffff_8880_1234_5678_u64.into()),
        ("name", "eth0".into()),
        ("network_header_type", "ipv4".into()),
        ("network_header.ipv4.version", 4.into()),
        ("network_header.ipv4.ihl", 5.into()),
        ("network_header.ipv4.tot_len", 1500.into()),
        ("network_header.ipv4.id", 0xabcd.into()),
        ("network_header.ipv4.protocol", "tcp".into()),
        ("network_header.ipv4.saddr", [10, 0, 0, 200].into()),
        ("network_header.ipv4.daddr", [10, 0, 0, 2].into()),
        ("network_header.ipv4.transport_header.tcp.source_port", 443.into()),
        ("network_header.ipv4.transport_header.tcp.seq", 0xdead_beef_u32.into()),
        ("network_header.ipv4.transport_header.tcp.data_offset", 8.into()),
        ("network_header.ipv4.transport_header.tcp.flags", 0x112.into()),
        ("network_header.ipv4.transport_header.tcp.window_size", 501.into()),
    ];
    if net != NetLayout::V2_9 {
        fields.push(("network_header.ipv4.transport_header_type", 1.into()));
    }
    fields
}

fn ipv6_fields(net: NetLayout) -> Vec<(&'static str, FieldValue)> {
    let mut fields = vec![
        ("name", "wlp0s20f3".into()),
        ("network_header_type", 2.into()),
        ("network_header.ipv6.version", 6.into()),
        ("network_header.ipv6.prio", 1.into()),
        ("network_header.ipv6.nexthdr", 6.into()),
        ("network_header.ipv6.payload_len", 33.into()),
        ("network_header.ipv6.saddr", [0xfd00_u16, 0, 0, 0, 0, 0, 0, 1].into()),
        ("network_header.ipv6.transport_header.tcp.ack_seq", 77.into()),
    ];
    if net != NetLayout::V2_9 {
        fields.push(("network_header.ipv6.transport_header_type", "tcp".into()));
    }
    fields
}

fn check_fields(event: &Event<'_>, net: NetLayout, layout: &str) {
    let check = |path: &str, expect: Value| assert_eq!(field(event, path), Some(expect), "{layout}: {path}");
    let list = |numbers: &[u64]| Value::Array(numbers.iter().map(|&n| Value::Unsigned(n)).collect());
    match event.name() {
        Some("sched_switch") => {
            check("prev_tid", Value::Signed(-1));
            check("prev_state", Value::Signed(i64::MIN));
            check("next_tid", Value::Signed(0));
        }
        Some("irq_handler_entry") => {
            check("irq", Value::Signed(9));
            check("name", "acpi".into());
        }
        Some("syscall_exit_read") => {
            check("ret", Value::Signed(-4));
            check("buf", Value::Unsigned(u64::MAX));
        }
        Some("net_dev_queue") => {
            check("network_header.ipv6.version", Value::Unsigned(6));
            check("network_header.ipv6.prio", Value::Unsigned(1));
            check("network_header.ipv6.payload_len", Value::Unsigned(33));
            check("network_header.ipv6.saddr", list(&[0xfd00, 0, 0, 0, 0, 0, 0, 1]));
            check("network_header.ipv6.transport_header.tcp.ack_seq", Value::Unsigned(77));
            assert_eq!(field(event, "network_header.ipv4.version"), None);
        }
        Some("net_if_receive_skb") if field(event, "network_header_type") == Some(Value::Unsigned(1)) => {
            check("skbaddr", Value::Unsigned(0xffff_8880_1234_5678));
            check("network_header.ipv4.ihl", Value::Unsigned(5));
            check("network_header.ipv4.tot_len", Value::Unsigned(1500));
            check("network_header.ipv4.id", Value::Unsigned(0xabcd));
            check("network_header.ipv4.saddr", list(&[10, 0, 0, 200]));
            check("network_header.ipv4.transport_header.tcp.source_port", Value::Unsigned(443));
            check("network_header.ipv4.transport_header.tcp.seq", Value::Unsigned(0xdead_beef));
            check("network_header.ipv4.transport_header.tcp.data_offset", Value::Unsigned(8));
            check("network_header.ipv4.transport_header.tcp.flags", Value::Unsigned(0x112));
            check("network_header.ipv4.transport_header.tcp.window_size", Value::Unsigned(501));
            if net == NetLayout::V2_13 {
                assert_eq!(field(event, "network_header.ipv4.transport_header.udp.len"), None);
            }
        }
        Some("inet_sock_local_in") => {
            check("seq", Value::Unsigned(0x1234_5678));
            check("flags", Value::Unsigned(0x400a));
        }
        _ => {}
    }
}

/// Bodies whose padding depends on where they begin, that end within a byte, or whose lengths vary.
#[test]
fn own_classes_of_any_shape_come_back() {
    const CHOICE: &str = "enum : integer { size = 8; align = 8; signed = 0; } { _none = 0, _wide = 1 } _tag;
        variant <_tag> {
            struct { } _none;
            struct { integer { size = 64; align = 8; signed = 0; } _word; } _wide;
        } _choice;
        integer { size = 3; align = 1; signed = 0; } _bits;";
    const SEQUENCE: &str = "integer { size = 16; align = 8; signed = 0; } _data_length;
        integer { size = 32; align = 8; signed = 1; } _data[_data_length];
        integer { size = 8; align = 8; signed = 0; } _note_length;
        integer { size = 8; align = 8; signed = 0; encoding = UTF8; } _note[_note_length];
        floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _share;";
    each_layout(|describe, _, layout| {
        let directory = tempfile::tempdir().unwrap();
        let mut host = LttngTrace::user_space("web");
        host.packet_size(4096);
        describe(&mut host);
        host.define("choice", CHOICE).define("sequence", SEQUENCE).define("empty", "");
        for n in 0..300_u32 {
            let time = u64::from(n) * 100;
            match n % 4 {
                0 => host.event(
                    0,
                    time,
                    "choice",
                    &[("tag", "wide".into()), ("choice.wide.word", n.into()), ("bits", 5.into())],
                ),
                1 => host.event(0, time, "choice", &[("bits", (n % 8).into())]),
                2 => host.event(0, time, "empty", &[]),
                _ => {
                    let data: Vec<u32> = (0..n % 7).collect();
                    let note = "x".repeat(n as usize % 5);
                    let fields = [("data", data.into()), ("note", note.into()), ("share", 0.25.into())];
                    host.event(0, time, "sequence", &fields)
                }
            };
        }
        host.write(directory.path()).unwrap();
        let trace = open(directory.path());
        let found = events(&trace, 0);
        assert_eq!(found.len(), 300, "{layout}");
        assert!(trace.streams()[0].packets.len() > 1, "{layout}");
        for (event, n) in found.iter().zip(0_u64..) {
            assert_eq!(event.cycles(), Some(n * 100), "{layout}");
            match n % 4 {
                0 => {
                    assert_eq!(field(event, "choice.wide.word"), Some(Value::Unsigned(n)), "{layout}");
                    assert_eq!(field(event, "bits"), Some(Value::Unsigned(5)), "{layout}");
                }
                1 => assert_eq!(field(event, "bits"), Some(Value::Unsigned(n % 8)), "{layout}"),
                2 => assert_eq!(event.name(), Some("empty")),
                _ => {
                    let data = (0..n as i64 % 7).map(Value::Signed).collect();
                    assert_eq!(field(event, "data"), Some(Value::Array(data)), "{layout}");
                    let note = "x".repeat(n as usize % 5);
                    assert_eq!(field(event, "note"), Some(note.as_str().into()), "{layout}");
                    assert_eq!(field(event, "share"), Some(Value::Float(0.25)), "{layout}");
                }
            }
        }
    });
}
