//! `irqlog`, `irqstats` and `irqfreq`: handlers of interrupts, and softirqs.

use isochrone_testkit::{Generation, KernelScript};

use super::run::check;

const LOG: &str = "begin_ns end_ns duration_ns cpu type number name raised_ns";

/// Interrupt 27 twice, 10 and 30 ns, the second one within softirq 3, which was raised by the first one; softirq 1 of
/// which nobody knows when it was raised.
fn host(generation: Generation) -> KernelScript {
    let mut host = KernelScript::new("h1", generation).cpus(2);
    host.at(100).irq_entry(27, "virtio").after(5).softirq_raise(3).after(5).irq_exit(27);
    host.at(115).softirq_entry(3);
    host.at(120).irq_entry(27, "virtio").after(30).irq_exit(27);
    host.at(160).softirq_exit(3);
    host.at(170).cpu(1).softirq_entry(1).after(2).softirq_exit(1);
    host.at(200).irq_entry(5, "disk");
    host
}

const VIRTIO: [&str; 2] = ["100 110 10 0 IRQ 27 virtio ?", "120 150 30 0 IRQ 27 virtio ?"];
const NET: &str = "115 160 45 0 SoftIRQ 3 NET_RX_SOFTIRQ 105";
const TIMER: &str = "170 172 2 1 SoftIRQ 1 TIMER_SOFTIRQ ?";

#[test]
fn one_by_one() {
    for generation in Generation::ALL {
        check(&host(generation), "irqlog", LOG, &[VIRTIO[0], NET, VIRTIO[1], TIMER]);
    }
    let host = host(Generation::V2_13);
    let check = |arguments: &str, expect: &[&str]| check(&host, &format!("irqlog {arguments}"), LOG, expect);
    check("--irq", &VIRTIO);
    check("--irq=27", &VIRTIO);
    check("--irq=5", &[]);
    check("--softirq", &[NET, TIMER]);
    check("--softirq=1", &[TIMER]);
    check("--irq=27 --softirq=1", &[VIRTIO[0], VIRTIO[1], TIMER]);
    check("--min 30", &[NET, VIRTIO[1]]);
    check("--max 10ns", &[VIRTIO[0], TIMER]);
    check("--cpu 1", &[TIMER]);
    // Those that end there.
    check("--begin @150 --end @170", &[NET, VIRTIO[1]]);
}

#[test]
fn counted() {
    for generation in Generation::ALL {
        let host = host(generation);
        let hard = "number name count min_ns avg_ns max_ns stdev_ns total_ns";
        check(&host, "irqstats --table hard", hard, &["27 virtio 2 10 20 30 14.142135623730951 40"]);
        let soft = "number name count min_ns max_ns total_ns raised_count raised_min_ns raised_max_ns";
        let rows = ["1 TIMER_SOFTIRQ 1 2 2 2 0 ? ?", "3 NET_RX_SOFTIRQ 1 45 45 45 1 10 10"];
        check(&host, "irqstats --table soft", soft, &rows);
    }
}

#[test]
fn distributed() {
    let host = host(Generation::V2_13);
    let freq = "type number what lo_ns hi_ns count";
    let rows = ["IRQ 27 duration 10 19 1", "IRQ 27 duration 20 30 1"];
    check(&host, "irqfreq --linear --bars 2 --irq=27", freq, &rows);
    let quantiles = "number what count p50_ns max_ns";
    let rows = ["27 duration 2 10 30", "1 duration 1 2 2", "3 duration 1 45 45", "3 raise latency 1 10 10"];
    check(&host, "irqfreq --table quantiles", quantiles, &rows);
}

/// The raise latency counts from the first of several raises. An interrupt of which an end is missing, or lost, is left out.
#[test]
fn raises_and_missing_ends() {
    let mut host = KernelScript::new("h1", Generation::V2_13);
    host.at(100)
        .softirq_raise(3)
        .after(10)
        .softirq_raise(3)
        .after(20)
        .softirq_entry(3)
        .after(5)
        .softirq_exit(3);
    // Nobody raised it again.
    host.at(150).softirq_entry(3).after(7).softirq_exit(3);
    host.at(200).irq_entry(27, "virtio").after(30).irq_exit(27);
    host.at(240).irq_entry(27, "virtio").after(4).irq_exit(27);
    host.at(300).irq_exit(27);
    host.lose(0, 210, 220, 1).at(225);
    host.new_packet(0);
    let raised = "number count total_ns raised_count raised_min_ns raised_max_ns";
    check(&host, "irqstats --table soft", raised, &["3 2 12 1 30 30"]);
    check(&host, "irqlog --irq", LOG, &["240 244 4 0 IRQ 27 virtio ?"]);
    let untraced = host.untraced(&["irq_softirq_raise"]);
    check(&untraced, "irqstats --table soft", raised, &["3 2 12 0 ? ?"]);
    let rows = ["27 duration 1", "3 duration 2"];
    check(&untraced, "irqfreq --table quantiles", "number what count", &rows);
}

/// Interrupt 1 takes 1 to 29 ns once each, and 30 else: short durations are exact. Interrupt 2 takes 8 to 800 ns, 8 apart: quantiles are at most
/// 1/16 above the exact ones, and never below.
#[test]
fn quantiles() {
    let mut host = KernelScript::new("h1", Generation::V2_13);
    for ns in 1..=100_u64 {
        host.at(1_000 * ns).irq_entry(1, "short").after(ns.min(30)).irq_exit(1);
        host.at(1_000 * ns + 100).irq_entry(2, "long").after(8 * ns).irq_exit(2);
    }
    let columns = "number count p50_ns p90_ns p99_ns max_ns";
    let said = super::run::analyze(&[&host], "irqfreq --table quantiles --format json").stdout;
    let rows = super::run::rows(&said, columns);
    assert_eq!(rows[0], "1 100 30 30 30 30");
    let figures: Vec<u64> = rows[1].split(' ').map(|figure| figure.parse().unwrap()).collect();
    assert_eq!([figures[0], figures[1], figures[5]], [2, 100, 800]);
    for (found, exact) in figures[2..5].iter().zip([400, 720, 792]) {
        assert!((exact..=exact + exact / 16).contains(found), "{found} {exact}");
    }
}
