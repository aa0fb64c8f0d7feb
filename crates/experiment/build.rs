//! Tells the tests of this crate whether the data that they need are there.

#[path = "../shared_data.rs"]
mod shared_data;

fn main() {
    shared_data::tell_cargo();
}
