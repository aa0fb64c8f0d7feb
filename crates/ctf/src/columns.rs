//! Integers of many events, gathered into columns: for analyses that look at one field of all events of a
//! class at a time. Where they lie is found once, by `plan::gather`; one pass over an event reads them all.

use crate::plan::{EventPlan, FieldRef, Gather, StreamPlan};
use crate::trace::Event;

/// Integer fields of one event class, a column each and a row for each event pushed.
///
/// Memory is eight bytes a value until the columns are cleared; a few hundred rows at a time are enough to be
/// fast, and stay in the processor's cache.
///
/// ```no_run
/// use isochrone_ctf::{Columns, Trace};
/// # fn analyse(_: &[u64], _: &[u64]) {}
/// let trace = Trace::open("trace/kernel".as_ref())?;
/// for stream in 0..trace.streams().len() {
///     let plan = trace.stream_plan(stream);
///     let Some(switch) = plan.events.iter().find(|c| c.name.as_deref() == Some("sched_switch")) else { continue };
///     let field = |name| switch.payload_field(plan, &[name]);
///     let fields: Vec<_> = ["prev_tid", "next_tid"].into_iter().filter_map(field).collect();
///     let Some(mut columns) = Columns::new(plan, switch, &fields) else { continue };
///     for event in trace.events(stream) {
///         if columns.push(&event) && columns.rows() == 1000 {
///             analyse(columns.column(0), columns.column(1));
///             columns.clear();
///         }
///     }
///     analyse(columns.column(0), columns.column(1));
/// }
/// # Ok::<(), isochrone_ctf::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Columns {
    gather: Gather,
    rows: usize,
    /// Rows that there is space for.
    capacity: usize,
    /// Column after column, `capacity` values each.
    values: Vec<u64>,
}

impl Columns {
    /// Empty columns for some fields of an event class, in the order given. Linear in the class, and in the
    /// fields for each of its members.
    ///
    /// `None` if one of the fields is no integer (enumerations and truth values are), is of another class, or
    /// is not in every event of the class: inside a variant, an optional field or an array.
    pub fn new(stream: &StreamPlan, class: &EventPlan, fields: &[FieldRef]) -> Option<Self> {
        let gather = Gather::new(stream, class, fields)?;
        Some(Self { gather, rows: 0, capacity: 0, values: Vec::new() })
    }

    /// Appends a row with the fields of an event; `false`, and nothing is appended, if that is of another
    /// class. Linear in the fields, and where one lies after text or other fields of variable size, in what
    /// is before it.
    #[inline]
    pub fn push(&mut self, event: &Event<'_>) -> bool {
        if self.rows == self.capacity {
            self.grow();
        }
        let Self { gather, rows, capacity, values } = self;
        let row = *rows;
        let complete = event.gather(gather, |column, value| {
            if let Some(cell) = values.get_mut(column * *capacity + row) {
                *cell = value;
            }
        });
        *rows += usize::from(complete);
        complete
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.gather.signed.len()
    }

    /// The values of a field, numbered as in the list given to [`Self::new`]: those of a signed field are in
    /// two's complement (`value as i64`). Empty for a number beyond the list.
    pub fn column(&self, field: usize) -> &[u64] {
        let begin = field.saturating_mul(self.capacity);
        self.values.get(begin..begin.saturating_add(self.rows)).unwrap_or_default()
    }

    /// Whether the values of a field are signed.
    pub fn is_signed(&self, field: usize) -> bool {
        self.gather.signed.get(field).copied().unwrap_or(false)
    }

    /// Drops all rows; the space stays.
    pub fn clear(&mut self) {
        self.rows = 0;
    }

    /// Makes space for more rows.
    #[cold]
    fn grow(&mut self) {
        let capacity = (self.capacity * 2).max(64);
        let mut values = vec![0; self.width() * capacity];
        for field in 0..self.width() {
            values[field * capacity..][..self.rows].copy_from_slice(self.column(field));
        }
        (self.capacity, self.values) = (capacity, values);
    }
}
