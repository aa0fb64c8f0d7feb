//! How tables look to people.

use isochrone_testkit::{Generation, KernelScript};

use super::run::analyze;

/// A web server and a database on two CPUs, from 1 ms to 2 ms.
fn host() -> KernelScript {
    let mut host = KernelScript::new("web1", Generation::V2_13).cpus(2);
    host.process(10, "nginx").process(20, "postgres");
    host.at(1_000_000).switch(0, 10).cpu(1).switch(0, 0);
    let fields = [("dfd", (-100).into()), ("filename", "/srv/a".into())];
    host.at(1_010_000).enter("openat", &fields).after(12_345).exit("openat", 3);
    host.at(1_100_000).irq_entry(27, "virtio").after(2_500).irq_exit(27).wake(20, 1);
    host.at(1_250_000).cpu(1).switch(0, 20);
    host.at(1_300_000).irq_entry(27, "virtio").after(4_000).irq_exit(27);
    host.at(1_400_000)
        .enter("read", &[("fd", 3.into()), ("count", 100.into())])
        .after(250_000)
        .exit("read", 100);
    host.at(1_750_000).cpu(1).switch(20, 0);
    host.at(2_000_000).switch(10, 0);
    host
}

fn shown(arguments: &str, expect: &str) {
    let said = analyze(&[&host()], arguments);
    assert_eq!(said.stdout, expect, "{arguments}");
}

#[test]
fn cputop() {
    shown(
        "cputop --table processes",
        "\
cputop: 1970-01-01 00:00:00.001000000 to 1970-01-01 00:00:00.002000000 UTC (1.000 ms)

Per-TID usage
  host  tid  comm      cpu time  migrations   percent  priorities
  web1   10  nginx     1.000 ms           0  100.00 %  20          ██████████████████████████████
  web1   20  postgres  500.0 µs           0   50.00 %  20          ███████████████
",
    );
}

#[test]
fn syscallstats() {
    shown(
        "syscallstats --table syscalls",
        "\
syscallstats: 1970-01-01 00:00:00.001000000 to 1970-01-01 00:00:00.002000000 UTC (1.000 ms)

System calls by thread and name
  host  tid  comm   syscall  count     total       min       max  errors       avg       p50       p95       p99
  web1   10  nginx  read         1  250.0 µs  250.0 µs  250.0 µs       0  250.0 µs  250.0 µs  250.0 µs  250.0 µs
  web1   10  nginx  openat       1  12.35 µs  12.35 µs  12.35 µs       0  12.35 µs  12.35 µs  12.35 µs  12.35 µs
",
    );
}

#[test]
fn syscalls() {
    shown(
        "syscalls",
        "\
syscalls: 1970-01-01 00:00:00.001000000 to 1970-01-01 00:00:00.002000000 UTC (1.000 ms)

System calls
  host               begin  duration  cpu  tid  comm   line
  web1  00:00:00.001010000  12.35 µs    0   10  nginx  openat(AT_FDCWD, \"/srv/a\", O_RDONLY) = 3</srv/a>
  web1  00:00:00.001400000  250.0 µs    0   10  nginx  read(3</srv/a>, 100) = 100
",
    );
}

#[test]
fn fds() {
    shown(
        "fds",
        "\
fds: 1970-01-01 00:00:00.001000000 to 1970-01-01 00:00:00.002000000 UTC (1.000 ms)

File descriptors
  host  tid  comm   fd  kind               begin  read bytes  written bytes  errors  name
  web1   10  nginx   3  file  00:00:00.001022345         100              0       0  /srv/a
",
    );
}

#[test]
fn irqfreq() {
    shown(
        "irqfreq --linear --bars 3 --table freq",
        "\
irqfreq: 1970-01-01 00:00:00.001000000 to 1970-01-01 00:00:00.002000000 UTC (1.000 ms)

Frequency distribution of interrupts
  host  type  number  name    what            lo        hi  count
  web1  IRQ       27  virtio  duration  2.500 µs  2.999 µs      1  ██████████████████████████████
  web1  IRQ       27  virtio  duration  3.000 µs  3.499 µs      0
  web1  IRQ       27  virtio  duration  3.500 µs  4.000 µs      1  ██████████████████████████████
",
    );
}

#[test]
fn schedtop() {
    shown(
        "schedtop",
        "\
schedtop: 1970-01-01 00:00:00.001000000 to 1970-01-01 00:00:00.002000000 UTC (1.000 ms)

Scheduling top
  host              wakeup              switch   latency  priority  cpu  tid  comm      waker tid  waker comm
  web1  00:00:00.001102500  00:00:00.001250000  147.5 µs        20    1   20  postgres         10  nginx       ██████████████████████████████
",
    );
}

#[test]
fn processes() {
    shown(
        "processes --at @1450000",
        "\
processes: at 1970-01-01 00:00:00.001450000 UTC

What every thread did
  host  tid  comm      state                 since  cpu  mode     syscall       syscall since
  web1   10  nginx     running  00:00:00.001000000    0  syscall  read     00:00:00.001400000
  web1   20  postgres  running  00:00:00.001250000    1  ?        ?                         ?

What every CPU ran
  host  cpu  tid  comm                   since  mode     syscall       syscall since
  web1    0   10  nginx     00:00:00.001000000  syscall  read     00:00:00.001400000
  web1    1   20  postgres  00:00:00.001250000  ?        ?                         ?
",
    );
}
