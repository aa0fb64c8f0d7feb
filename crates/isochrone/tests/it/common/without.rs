//! Traces from which classes of events are taken away: they have, in the metadata, names of the same length that nothing knows.

use std::path::Path;

/// Copies traces, without the event classes whose name is `cut`; returns how many these are.
pub(crate) fn copy_without(from: &Path, to: &Path, cut: &dyn Fn(&str) -> bool) -> usize {
    let mut count = 0;
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            count += copy_without(&path, &to, cut);
        } else {
            let mut bytes = std::fs::read(&path).unwrap();
            if entry.file_name() == "metadata" {
                count += rename(&mut bytes, cut);
            }
            std::fs::write(&to, bytes).unwrap();
        }
    }
    count
}

/// Where the text of packetized metadata is; all of what is no packets.
fn text_of(metadata: &[u8]) -> Vec<usize> {
    const HEADER: usize = 37;
    let size = |at: usize| u32::from_le_bytes(metadata[at..at + 4].try_into().unwrap()) as usize / 8;
    let mut text = Vec::new();
    let mut packet = 0;
    while packet + HEADER <= metadata.len() {
        text.extend(packet + HEADER..packet + size(packet + 24));
        packet += size(packet + 28);
    }
    text
}

/// Renames the event classes in the metadata of LTTng; a name may go on in the next packet.
fn rename(metadata: &mut [u8], cut: &dyn Fn(&str) -> bool) -> usize {
    const HEAD: &[u8] = b"event {\n\tname = \"";
    assert_eq!(metadata[..4], 0x75d1_1d57_u32.to_le_bytes());
    let places = text_of(metadata);
    let text: Vec<u8> = places.iter().map(|&at| metadata[at]).collect();
    let starts =
        text.windows(HEAD.len()).enumerate().filter(|(_, it)| *it == HEAD).map(|(at, _)| at + HEAD.len());
    let mut count = 0;
    for start in starts {
        let end = start + text[start..].iter().position(|&b| b == b'"').unwrap();
        if cut(std::str::from_utf8(&text[start..end]).unwrap()) {
            places[start..end].iter().for_each(|&at| metadata[at] = b'Z');
            count += 1;
        }
    }
    count
}
