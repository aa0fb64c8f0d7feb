//! Finds out which data and programs are there that tests of this crate need. Not part of the published crate.

#[path = "../shared_data.rs"]
mod shared_data;
#[path = "../test_programs.rs"]
mod test_programs;

fn main() {
    shared_data::tell_cargo();
    let of_python = ["python3", "python_arrow", "python_engines"];
    test_programs::set_cfgs(
        &[&["babeltrace2", "lttng", "prometheus", "trace_cmd", "tracefs"], &of_python[..]].concat(),
    );
}
