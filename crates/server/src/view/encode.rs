//! The binary form of states, which `docs/page-api.md` describes: a hundred thousand rectangles would be
//! megabytes of JSON, and have to be drawn at once.

use rustc_hash::FxHashMap;

use super::states::Shape;

/// The first bytes of each answer.
const MAGIC: &[u8; 4] = b"ISO1";

/// The index of a label for states without one.
const NO_LABEL: u32 = u32::MAX;

/// Some rows and their states as bytes.
pub(crate) fn encode(rows: &[u32], shapes: &[Vec<Shape>]) -> Vec<u8> {
    let count = shapes.iter().map(Vec::len).sum::<usize>();
    let mut labels: Vec<&str> = Vec::new();
    let mut indices: FxHashMap<&str, u32> = FxHashMap::default();
    let mut of_shapes: Vec<u32> = Vec::with_capacity(count);
    for shape in shapes.iter().flatten() {
        let index = shape.label.as_deref().map_or(NO_LABEL, |label| {
            *indices.entry(label).or_insert_with(|| {
                labels.push(label);
                labels.len() as u32 - 1
            })
        });
        of_shapes.push(index);
    }
    // Text without anything that could fail.
    let json = serde_json::to_vec(&labels).unwrap_or_default();
    let mut out = Vec::with_capacity(16 + 8 * rows.len() + 21 * count + json.len() + 16);
    out.extend_from_slice(MAGIC);
    let sizes = [rows.len(), count, json.len()].map(|size| size as u32);
    let starts = shapes.iter().scan(0, |start, shapes| {
        *start += shapes.len() as u32;
        Some(*start)
    });
    let numbers = sizes.into_iter().chain(rows.iter().copied()).chain([0]).chain(starts).chain(of_shapes);
    out.extend(numbers.flat_map(u32::to_le_bytes));
    out.extend(shapes.iter().flatten().map(|shape| shape.style));
    out.resize(out.len().next_multiple_of(8), 0);
    out.extend(shapes.iter().flatten().flat_map(|shape| (shape.start.ns() as f64).to_le_bytes()));
    out.extend(shapes.iter().flatten().flat_map(|shape| (shape.end.ns() as f64).to_le_bytes()));
    out.extend_from_slice(&json);
    out
}

#[cfg(test)]
mod tests {
    use isochrone_time::SinceOrigin;

    use super::*;

    #[test]
    fn columns_are_where_the_page_expects_them() {
        let shape = |style, label: Option<&str>| {
            let (start, end) = (SinceOrigin(1), SinceOrigin(5));
            Shape { style, start, end, label: label.map(Into::into) }
        };
        let bytes =
            encode(&[7, 9], &[vec![shape(2, Some("read")), shape(1, None)], vec![shape(5, Some("read"))]]);
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(&bytes[..4], MAGIC);
        assert_eq!([4, 8, 12].map(u32_at), [2, 3, 8]);
        assert_eq!([16, 20].map(u32_at), [7, 9]);
        assert_eq!([24, 28, 32].map(u32_at), [0, 2, 3]);
        assert_eq!([36, 40, 44].map(u32_at), [0, NO_LABEL, 0]);
        assert_eq!(&bytes[48..51], [2, 1, 5]);
        let f64_at = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!([56, 64, 72, 80].map(|at| f64_at(at).to_bits()), [1.0, 1.0, 1.0, 5.0].map(f64::to_bits));
        assert_eq!(&bytes[104..], b"[\"read\"]");
    }
}
