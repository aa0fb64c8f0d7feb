//! Mapped pieces on disk: what was written comes back, and anything else is an error.

use std::fs::File;

use isochrone_hosts::ReadReport;
use isochrone_pipeline::piece_file::{self, Header, PieceFileError};
use isochrone_pipeline::{Border, Piece};
use isochrone_time::RawNs;
use proptest::prelude::*;

/// The form of the files here.
const FORM: u64 = 7;

type Model = (Vec<Vec<String>>, std::collections::BTreeMap<u64, i64>, u64);

fn header(from: Border, to: Border) -> Header {
    let report = ReadReport { events: 7, ..ReadReport::default() };
    let traces = vec!["1234".to_owned()];
    Header { host: "id".into(), name: "web".into(), traces, piece: Piece { from, to }, report }
}

fn model() -> Model {
    (vec![vec!["a".into(), "bc".into()], vec![]], [(1, -2), (3, 4)].into(), u64::MAX)
}

#[test]
fn what_was_written_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.piece");
    let header = header(Border::Begin, Border::At(RawNs(5)));
    piece_file::write(&mut File::create(&path).unwrap(), &path, FORM, &header, &model()).unwrap();
    assert_eq!(piece_file::read::<Header, Model>(&path, FORM).unwrap(), (header, model()));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn errors_say_what_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.piece");
    piece_file::write(
        &mut File::create(&path).unwrap(),
        &path,
        FORM,
        &header(Border::Begin, Border::End),
        &model(),
    )
    .unwrap();
    let good = std::fs::read(&path).unwrap();
    let check = |change: &dyn Fn(&mut Vec<u8>), expect: &str| {
        let mut bytes = good.clone();
        change(&mut bytes);
        std::fs::write(&path, bytes).unwrap();
        let error = piece_file::read::<Header, Model>(&path, FORM).unwrap_err().to_string();
        assert!(error.ends_with(expect), "{error}");
    };
    check(&|bytes| bytes.clear(), "no mapped piece: the file begins otherwise");
    check(&|bytes| bytes[3] = b'x', "no mapped piece: the file begins otherwise");
    check(&|bytes| bytes[8] = 9, "version 9 of the format is not understood, only 4");
    check(&|bytes| bytes.truncate(20), "it ends in its first lines");
    check(&|bytes| bytes.truncate(60), "it is not as long as it should be");
    check(&|bytes| bytes.push(0), "it is not as long as it should be");
    check(&|bytes| bytes[12] = 8, "map the pieces again with this one");
    check(&|bytes| bytes[27] = 0xff, "it is not as long as it should be");
    check(&|bytes| *bytes.last_mut().unwrap() ^= 1, "the checksum is wrong");
    std::fs::write(&path, &good).unwrap();
    let error = piece_file::read::<Header, Vec<String>>(&path, FORM).unwrap_err();
    assert!(matches!(error, PieceFileError::Damaged { what: "the body is of another kind", .. }), "{error}");
    let absent = piece_file::read::<Header, Model>(&directory.path().join("absent"), FORM).unwrap_err();
    assert!(matches!(absent, PieceFileError::Io { .. }));
}

#[test]
fn headers_of_neighbours_become_one() {
    let (begin, cut, end) = (Border::Begin, Border::At(RawNs(5)), Border::End);
    let both = header(begin, cut).merged(header(cut, end)).unwrap();
    assert_eq!((both.piece, both.report.events, both.traces.len()), (Piece::WHOLE, 14, 1));
    assert_eq!(header(begin, cut).merged(header(begin, cut)), None);
    let other = Header { host: "other".into(), ..header(cut, end) };
    assert_eq!(header(begin, cut).merged(other), None);
}

/// The checksum of a body that is nonsense may be right: the file may be written by an attacker. `bytes`
/// becomes the body.
fn forged(bytes: &[u8]) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.piece");
    piece_file::write(
        &mut File::create(&path).unwrap(),
        &path,
        FORM,
        &header(Border::Begin, Border::End),
        &(),
    )
    .unwrap();
    let mut file = std::fs::read(&path).unwrap();
    file[28..36].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
    let sum = piece_file::checksum(&[&file[44..], bytes]);
    file[36..44].copy_from_slice(&sum.to_le_bytes());
    file.extend(bytes);
    file
}

proptest! {
    /// No panic, and no memory that the file does not pay for: lengths in the body may be anything.
    #[test]
    fn any_body_is_read_or_refused(bytes in prop::collection::vec(prop::sample::select(vec![0_u8, 1, 2, 0x7f, 0x80, 0xff]), 0..60)) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.piece");
        std::fs::write(&path, forged(&bytes)).unwrap();
        match piece_file::read::<Header, Model>(&path, FORM) {
            Ok(_) | Err(PieceFileError::Damaged { what: "the body is of another kind", .. }) => {}
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
