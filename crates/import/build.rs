//! Sets `cfg(shared_data)` where the data are there that tests of this crate need. Not part of the
//! published crate.

#[path = "../shared_data.rs"]
mod shared_data;

fn main() {
    shared_data::tell_cargo();
}
