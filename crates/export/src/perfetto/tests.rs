//! What is written is read back, packet by packet.
#![allow(clippy::unwrap_used)] // A test may panic.

use super::*;

/// The packets of a file, one a line: what is in them.
fn packets(mut bytes: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some((&tag, rest)) = bytes.split_first() {
        assert_eq!(tag, PACKET);
        bytes = rest;
        let packet = TracePacket::decode_length_delimited(&mut bytes).unwrap();
        assert_eq!(packet.trusted_packet_sequence_id, Some(SEQUENCE));
        lines.push(line(&packet));
    }
    lines
}

fn line(packet: &TracePacket) -> String {
    let mut line = packet.timestamp.map_or(String::new(), |at| format!("{at} "));
    if let Some(interned) = &packet.interned_data {
        let all = [
            ("category", &interned.event_categories),
            ("name", &interned.event_names),
            ("detail", &interned.debug_annotation_names),
        ];
        for (what, it) in all.iter().flat_map(|(what, all)| all.iter().map(move |it| (what, it))) {
            line += &format!("[{what} {}: {}] ", it.iid.unwrap(), it.name.as_ref().unwrap());
        }
    }
    if let Some(event) = &packet.track_event {
        assert_eq!(packet.sequence_flags, Some(NEEDS_INCREMENTAL_STATE));
        let kind = ["", "begin", "end", "instant", "counter"][event.r#type.unwrap() as usize];
        line += &format!("{kind} on {}", event.track_uuid.unwrap());
        line += &event.name_iid.map_or(String::new(), |name| format!(" name {name}"));
        for it in &event.debug_annotations {
            line += &format!(" {}=", it.name_iid.unwrap());
            line +=
                &it.int_value.map_or(it.string_value.clone().unwrap_or_default(), |value| value.to_string());
        }
        for flow in &event.flow_ids {
            line += &format!(" flow {flow} out");
        }
        for flow in &event.terminating_flow_ids {
            line += &format!(" flow {flow} in");
        }
        line += &event.double_counter_value.map_or(String::new(), |value| format!(" {value}"));
    }
    if let Some(track) = &packet.track_descriptor {
        line += &format!("track {}", track.uuid.unwrap());
        line += &track.parent_uuid.map_or(String::new(), |parent| format!(" under {parent}"));
        line += &track.name.as_ref().map_or(String::new(), |name| format!(" {name}"));
        if let Some(process) = &track.process {
            let labels = process.process_labels.join(",");
            line += &format!(" process {} {} of {labels}", process.pid.unwrap(), process.process_name());
        }
        if let Some(thread) = &track.thread {
            line += &format!(
                " thread {} of {} {}",
                thread.tid.unwrap(),
                thread.pid.unwrap(),
                thread.thread_name()
            );
        }
        line +=
            &track.counter.as_ref().map_or(String::new(), |counter| format!(" in {}", counter.unit_name()));
    }
    if let Some(snapshot) = &packet.clock_snapshot {
        let clocks =
            snapshot.clocks.iter().map(|it| format!("{}: {}", it.clock_id.unwrap(), it.timestamp.unwrap()));
        line += &clocks.collect::<Vec<_>>().join(", ");
    }
    if let Some(defaults) = &packet.defaults {
        line += &format!("clock {}", defaults.timestamp_clock_id.unwrap());
    }
    line
}

#[test]
fn a_timeline_is_read_back() {
    let mut bytes = Vec::new();
    let mut to = Perfetto::new(&mut bytes).unwrap();
    let host = to.track(&TrackKind::Host { host: 1, name: "app" }).unwrap();
    to.track(&TrackKind::Process { host: 1, pid: 7, name: "srv", host_name: "app" }).unwrap();
    let thread = to.track(&TrackKind::Thread { host: 1, pid: 7, tid: 8, name: "srv:0" }).unwrap();
    let state = to.track(&TrackKind::Under { parent: thread, name: "state" }).unwrap();
    let busy = to.track(&TrackKind::Counter { parent: host, name: "CPUs busy", unit: "CPUs" }).unwrap();
    to.clock(1, UnixNs(1_000), RawNs(10)).unwrap();
    let read = Event {
        name: "read",
        category: "syscall",
        args: &[("fd", Value::Int(-1)), ("path", Value::Text("/tmp"))],
        flow: Some(Flow::Start(5)),
    };
    to.start(thread, UnixNs(1_795_154_041_823_216_897), &read).unwrap();
    to.instant(state, UnixNs(3), &Event { flow: Some(Flow::End(5)), args: &[], ..read }).unwrap();
    to.end(thread, UnixNs(1_795_154_041_823_216_999)).unwrap();
    to.counter(busy, UnixNs(-4), 1.5).unwrap();
    to.finish().unwrap();
    let expect = [
        "clock 1",
        "track 1 app",
        "track 2 process 10000007 srv of app",
        "track 3 thread 10000008 of 10000007 srv:0",
        "track 4 under 3 state",
        "track 5 under 1 CPUs busy in CPUs",
        "1: 1000, 129: 10",
        "1795154041823216897 [category 1: syscall] [name 1: read] [detail 1: fd] [detail 2: path] \
         begin on 3 name 1 1=-1 2=/tmp flow 5 out",
        "3 instant on 4 name 1 flow 5 in",
        "1795154041823216999 end on 3",
        // There is no time before 1970.
        "0 counter on 5 1.5",
    ];
    assert_eq!(packets(&bytes), expect);
}
