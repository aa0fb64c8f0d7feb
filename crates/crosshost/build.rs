//! Tells the tests of this crate whether the data that they need are there.

fn main() {
    isochrone_shared_data::tell_cargo();
}
