//! The numbers of disks, as the kernel itself has them (`include/linux/kdev_t.h`); asked by whatever shows a disk of which no dump has a name.

/// Bits of a device's number that are the minor one.
const MINOR_BITS: u32 = 20;

/// The major and minor number of a device, as people write them.
///
/// ```
/// assert_eq!(isochrone_kernel::device_numbers(0x80_0001), "8:1");
/// ```
pub fn device_numbers(device: u32) -> String {
    format!("{}:{}", device >> MINOR_BITS, device & ((1 << MINOR_BITS) - 1))
}
