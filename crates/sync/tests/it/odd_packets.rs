//! Packets that are no messages, or not all of one: fragments, broadcasts, other protocols, buffers without a
//! packet.

use isochrone_ctf::Trace;
use isochrone_matching::traffic::Passed;
use isochrone_matching::{Extraction, extract};
use isochrone_net::{Direction, Sighting, Transport};
use isochrone_testkit::{Cluster, Family, FieldValue, LttngTrace};

type Fields<'f> = Vec<(&'f str, FieldValue)>;

/// Events of a class, one every microsecond, in a trace without others.
fn extraction(family: Family, events: &[(&str, Fields<'_>)]) -> Extraction {
    let directory = tempfile::tempdir().unwrap();
    let empty = Cluster::chain(2).messages(0);
    let mut trace: LttngTrace = empty.trace(&empty.simulate().unwrap(), 0, family, |_| {}).unwrap();
    for ((name, fields), n) in events.iter().zip(1..) {
        trace.event(0, n * 1000, name, fields);
    }
    trace.write(directory.path()).unwrap();
    extract(&[(&Trace::open(directory.path()).unwrap(), 0)], &|_| {})
}

fn passed(extraction: &Extraction, direction: Direction) -> Passed {
    let passed = extraction.traffic[0].of(direction);
    Passed { declared: false, headerless: false, ..passed }
}

/// An IPv4 packet with this transport header.
fn ipv4(transport: &'static str, changes: &[(&'static str, i64)]) -> Fields<'static> {
    let mut fields: Fields<'static> = vec![
        ("name", "eth0".into()),
        ("network_header_type", "ipv4".into()),
        ("network_header.ipv4.ihl", 5.into()),
        ("network_header.ipv4.tot_len", 1500.into()),
        ("network_header.ipv4.transport_header_type", transport.into()),
    ];
    for &(name, value) in changes {
        match fields.iter_mut().find(|(known, _)| *known == name) {
            Some(field) => field.1 = value.into(),
            None => fields.push((name, value.into())),
        }
    }
    fields
}

#[test]
fn fragments_after_the_first_have_no_transport_header() {
    let fragment = "network_header.ipv4.frag_off";
    let check = |transport, word, packets| {
        let event = ("net_dev_queue", ipv4(transport, &[(fragment, word)]));
        let expect = Passed { packets, other: 1 - packets, ..Passed::default() };
        let extraction = extraction(Family::IPV4, &[event]);
        assert_eq!(passed(&extraction, Direction::Sent), expect, "{transport} {word:#x}");
        assert_eq!(extraction.sightings.len() as u64, packets);
    };
    check("udp", 0x2000, 1);
    check("udp", 0x20b9, 0);
    check("udp", 0x00b9, 0);
    check("tcp", 0x4000, 1);
    check("tcp", 0x0001, 0);
}

#[test]
fn a_length_that_does_not_fit_is_unknown() {
    let tcp_words = "network_header.ipv4.transport_header.tcp.data_offset";
    let check = |total, words, expect| {
        let changes = [("network_header.ipv4.tot_len", total), (tcp_words, words)];
        let extraction = extraction(Family::IPV4, &[("net_dev_queue", ipv4("tcp", &changes))]);
        let [Sighting { packet, .. }] = extraction.sightings.as_slice() else { panic!("{extraction:?}") };
        let Transport::Tcp(segment) = &packet.transport else { panic!("{packet:?}") };
        assert_eq!(segment.payload, expect, "{total} {words}");
    };
    check(1500, 8, Some(1448));
    check(52, 8, Some(0));
    check(51, 8, None);
    // More than 64 KiB in one packet.
    check(0, 8, None);
}

#[test]
fn only_echoes_of_icmp_are_matched() {
    let header = "network_header.ipv4.transport_header.icmp";
    let (kind, rest) = (format!("{header}.type"), format!("{header}.gateway"));
    let check = |number: u8, packets| {
        let mut fields: Fields<'_> = ipv4("icmp", &[]);
        fields.extend([(kind.as_str(), number.into()), (rest.as_str(), 0x0007_0009.into())]);
        let extraction = extraction(Family::IPV4, &[("net_if_receive_skb", fields)]);
        let expect = Passed { packets, other: 1 - packets, ..Passed::default() };
        assert_eq!(passed(&extraction, Direction::Received), expect, "{number}");
        for Sighting { packet, .. } in &extraction.sightings {
            let Transport::Echo(echo) = &packet.transport else { panic!("{packet:?}") };
            assert_eq!((echo.reply, echo.identifier, echo.sequence), (number == 0, 7, 9));
        }
    };
    check(0, 1);
    check(8, 1);
    check(3, 0);
    check(5, 0);
}

#[test]
fn receptions_of_lttv_are_joined_by_their_buffer() {
    let arrive = |skb: u64, protocol: u16| -> (&'static str, Fields<'static>) {
        ("dev_receive", vec![("skb", skb.into()), ("protocol", protocol.into())])
    };
    let tcp = |skb: u64, seq: u32| -> (&'static str, Fields<'static>) {
        let fields = vec![("skb", skb.into()), ("seq", seq.into()), ("ack", 1.into()), ("syn", 1.into())];
        ("tcpv4_rcv_extended", fields)
    };
    let udp = |skb: u64, unicast: u8| -> (&'static str, Fields<'static>) {
        ("udpv4_rcv_extended", vec![("skb", skb.into()), ("unicast", unicast.into()), ("ulen", 20.into())])
    };
    let check = |events: &[(&str, Fields<'_>)], times: &[i64], unstamped, other| {
        let extraction = extraction(Family::LttvExtended, events);
        let found: Vec<_> = extraction.sightings.iter().map(|sighting| sighting.time.ns()).collect();
        assert_eq!(found, times, "{events:?}");
        let passed = passed(&extraction, Direction::Received);
        assert_eq!((passed.unstamped, passed.other), (unstamped, other), "{events:?}");
    };
    check(&[arrive(1, 0x0800), arrive(2, 0x0800), tcp(2, 5), tcp(1, 6)], &[2000, 1000], 0, 0);
    // Converters may have left the protocol in network order.
    check(&[arrive(1, 0x0008), tcp(1, 5)], &[1000], 0, 0);
    // Of another protocol than IPv4.
    check(&[arrive(1, 0x0806), tcp(1, 5)], &[], 1, 1);
    // The buffer is used again; what is in it has come once.
    check(&[arrive(1, 0x0800), arrive(1, 0x0800), tcp(1, 5), tcp(1, 6)], &[2000], 1, 0);
    check(&[arrive(1, 0x0800), udp(1, 1)], &[1000], 0, 0);
    // A broadcast is no message, and frees its buffer.
    check(&[arrive(1, 0x0800), udp(1, 0), tcp(1, 5)], &[], 1, 1);
}

#[test]
fn departures_of_lttv_are_of_ipv4() {
    let check = |network: u16, transport: u8, packets| {
        let fields = vec![
            ("network_protocol", network.into()),
            ("transport_protocol", transport.into()),
            ("tot_len", 60.into()),
            ("ihl", 5.into()),
            ("source", 7.into()),
        ];
        let extraction = extraction(Family::LttvExtended, &[("dev_xmit_extended", fields)]);
        let expect = Passed { packets, other: 1 - packets, ..Passed::default() };
        assert_eq!(passed(&extraction, Direction::Sent), expect, "{network:#x} {transport}");
    };
    check(0x0800, 6, 1);
    check(0x0008, 6, 1);
    check(0x0800, 17, 1);
    check(0x0800, 1, 0);
    check(0x86dd, 6, 0);
    check(0x0806, 6, 0);
}
