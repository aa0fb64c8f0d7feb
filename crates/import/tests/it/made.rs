//! Recordings by trace-cmd that tests make: version 6, with any pages.

use std::path::Path;

/// The format of a switch between threads and that of a softirq.
pub(crate) const FORMATS: [(&str, &str); 2] = [
    (
        "sched",
        "name: sched_switch\nID: 300\nformat:\n\
         \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
         \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
         \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:1;\n\
         \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
         \tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n\
         \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\
         \tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:1;\n\
         \tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\
         \tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n",
    ),
    (
        "irq",
        "name: softirq_entry\nID: 93\nformat:\n\
         \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
         \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
         \tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n",
    ),
];

pub(crate) const PAGE: usize = 4096;

/// A record of a softirq.
pub(crate) fn softirq(tid: i32, vector: u32) -> Vec<u8> {
    let mut record = 93_u16.to_le_bytes().to_vec();
    record.extend_from_slice(&[0, 0]);
    record.extend_from_slice(&tid.to_le_bytes());
    record.extend_from_slice(&vector.to_le_bytes());
    record
}

/// A page: its time, flags of its commit, and records with the time since the one before.
pub(crate) fn page(time: u64, flags: u64, records: &[(u32, Vec<u8>)], behind: &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    for (delta, record) in records {
        let words = record.len() as u32 / 4;
        data.extend_from_slice(&(delta << 5 | words).to_le_bytes());
        data.extend_from_slice(record);
    }
    let mut page = time.to_le_bytes().to_vec();
    page.extend_from_slice(&(data.len() as u64 | flags).to_le_bytes());
    page.extend(data);
    page.extend_from_slice(behind);
    page.resize(PAGE, 0);
    page
}

/// Writes a recording of version 6: the clocks, with the one that was used in brackets, options, and the
/// pages of each CPU.
pub(crate) fn write(path: &Path, clocks: &str, more: &[(u16, &[u8])], cpus: &[Vec<Vec<u8>>]) {
    std::fs::write(path, bytes(clocks, more, cpus)).unwrap();
}

/// The bytes of a recording.
pub(crate) fn bytes(clocks: &str, more: &[(u16, &[u8])], cpus: &[Vec<Vec<u8>>]) -> Vec<u8> {
    let mut out = b"\x17\x08\x44tracing6\0\0\x08".to_vec();
    out.extend_from_slice(&(PAGE as u32).to_le_bytes());
    let sized = |out: &mut Vec<u8>, text: &[u8]| {
        out.extend_from_slice(&(text.len() as u64).to_le_bytes());
        out.extend_from_slice(text);
    };
    for name in [&b"header_page\0"[..], b"header_event\0"] {
        out.extend_from_slice(name);
        sized(&mut out, b"");
    }
    out.extend_from_slice(&0_u32.to_le_bytes());
    out.extend_from_slice(&(FORMATS.len() as u32).to_le_bytes());
    for (system, format) in FORMATS {
        out.extend_from_slice(system.as_bytes());
        out.push(0);
        out.extend_from_slice(&1_u32.to_le_bytes());
        sized(&mut out, format.as_bytes());
    }
    out.extend_from_slice(&[0; 8]);
    sized(&mut out, b"");
    out.extend_from_slice(&(cpus.len() as u32).to_le_bytes());
    out.extend_from_slice(b"options  \0");
    let uname: (u16, &[u8]) = (5, b"Linux web1 6.1.0 x86_64\0");
    for (number, data) in [uname, (4, clocks.as_bytes())].iter().chain(more) {
        out.extend_from_slice(&number.to_le_bytes());
        out.extend_from_slice(&(data.len() as u32).to_le_bytes());
        out.extend_from_slice(data);
    }
    out.extend_from_slice(&[0, 0]);
    out.extend_from_slice(b"flyrecord\0");
    let mut at = (out.len() + cpus.len() * 16).next_multiple_of(PAGE);
    for pages in cpus {
        let size = pages.len() * PAGE;
        out.extend_from_slice(&(at as u64).to_le_bytes());
        out.extend_from_slice(&(size as u64).to_le_bytes());
        at += size;
    }
    out.resize(out.len().next_multiple_of(PAGE), 0);
    out.extend(cpus.iter().flatten().flatten());
    out
}
