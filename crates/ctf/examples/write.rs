//! Writes a trace from scratch: `cargo run -p isochrone-ctf --example write -- DIRECTORY [1|2]`.
//!
//! The last argument chooses the version of CTF. The trace has one stream with a thermometer's readings.

use std::path::Path;

use isochrone_ctf::Value;
use isochrone_ctf::plan::Plan;
use isochrone_ctf::schema::Schema;
use isochrone_ctf::write::{PacketHead, PacketWriter, TraceDirectory, metadata};

/// What the trace holds, in the language of CTF 1.8.
const DESCRIPTION: &str = "/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; };
clock { name = seconds; freq = 1; };
typealias integer { size = 64; } := u64;
typealias integer { size = 64; map = clock.seconds.value; } := time;
stream {
    packet.context := struct { time timestamp_begin; time timestamp_end; u64 content_size; u64 packet_size; };
    event.header := struct { time timestamp; };
};
event { name = reading; fields := struct { floating_point { exp_dig = 11; mant_dig = 53; } celsius; string place; }; };
";

/// The same for CTF 2.
const DESCRIPTION_2: &str = include_str!("write.ctf2.json");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("which directory shall hold the trace?")?;
    let description = if arguments.next().as_deref() == Some("2") { DESCRIPTION_2 } else { DESCRIPTION };
    let schema: Schema = isochrone_ctf::parse_metadata(description)?;
    let plan = Plan::compile(&schema);
    let class = &plan.streams[0].events[0];
    let payload = class.payload.as_ref().ok_or("a reading has fields")?;

    let trace = TraceDirectory::create(Path::new(&directory), &metadata(&schema)?)?;
    let mut file = trace.stream_file("readings")?;
    let mut packets = PacketWriter::new(&plan, 0);
    for hour in 0..24 {
        // Sizes and times are filled in.
        let context = Value::Struct(vec![Value::Unsigned(0); 4]);
        packets.begin(PacketHead { header: None, context: Some(context), begin: hour * 3600 })?;
        for minute in 0..60 {
            let header = Value::Struct(vec![Value::Unsigned(0)]);
            packets.event(class, hour * 3600 + minute * 60, Some(header))?;
            let celsius = 12.0 - (hour as f64 - 14.0).abs() / 2.0;
            packets.field(payload, &Value::Struct(vec![Value::Float(celsius), Value::from("roof")]))?;
        }
        file.append(&packets.finish(hour * 3600 + 3599, 0)?)?;
    }
    file.close()?;
    Ok(())
}
