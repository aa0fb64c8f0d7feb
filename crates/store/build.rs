//! Sets whether the data that the tests of this crate need exist.

fn main() {
    isochrone_shared_data::tell_cargo();
}
