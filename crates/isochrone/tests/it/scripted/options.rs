//! What can be asked of any analysis: of several hosts, of several analyses at once, in pieces, in other formats.

use isochrone_testkit::{Generation, KernelScript};

use super::run::{Said, analyze, check_all};

const ALL: &str = "cputop,fds,iolatencyfreq,iolatencystats,iolatencytop,iolog,iousagetop,irqfreq,irqlog,irqstats,memtop,processes,schedfreq,schedlog,schedstats,schedtop,syscalls,syscallstats,usage";

/// A bit of everything, 1 µs after the other.
fn host(name: &str, generation: Generation) -> KernelScript {
    let mut host = KernelScript::new(name, generation).cpus(2).packet_events(7);
    host.process(10, "web").thread(11, 10, "pool").process(20, "db");
    host.at(500).dump().dump_file(10, 0, 2, "/dev/null");
    for round in 1..=10 {
        let at = |us: u64| round * 10_000 + us * 1_000;
        host.at(at(0)).cpu(0).switch(0, 10);
        let fields = [("dfd", (-100).into()), ("filename", "/x".into())];
        host.at(at(1)).enter("openat", &fields).after(500).exit("openat", 3);
        host.at(at(2)).enter("read", &[("fd", 3.into())]);
        host.at(at(2) + 100).page_alloc(2).block_insert(8 << 20, round, 8).after(50).block_issue(
            8 << 20,
            round,
            8,
        );
        host.at(at(3)).irq_entry(27, "virtio").after(100).softirq_raise(3).after(50).irq_exit(27);
        host.at(at(4)).softirq_entry(3).wake(20, 1).after(700).softirq_exit(3);
        host.at(at(4) + 800).block_complete(8 << 20, round, 8).net_queue("eth0", 90).net_receive("eth0", 70);
        host.at(at(5)).cpu(1).switch(0, 20).after(10).page_free(0);
        host.at(at(6))
            .cpu(0)
            .exit("read", -11)
            .after(10)
            .enter("close", &[("fd", 3.into())])
            .after(5)
            .exit("close", 0);
        host.at(at(7)).cpu(0).wake(11, 0).switch(10, 11);
        host.at(at(8)).cpu(1).switch(20, 0);
        host.at(at(9)).cpu(0).switch(11, 0);
    }
    host.lose(1, 46_000, 64_500, 3);
    host
}

#[test]
fn of_two_hosts() {
    let mut web = KernelScript::new("web", Generation::V2_13);
    web.process(10, "nginx").at(100).switch(0, 10).after(50).switch(10, 0);
    let mut db = KernelScript::new("db", Generation::V2_1);
    db.process(10, "postgres").at(120).switch(0, 10).after(80).switch(10, 0);
    // They exchanged no packets.
    let said = analyze(&[&web, &db], "cputop");
    assert_eq!(said.status, Some(1), "{}", said.stderr);
    let told =
        "warning: no usable chain of messages ties db and web together: their times cannot be compared";
    assert!(said.stderr.contains(told), "{}", said.stderr);
    let check = |arguments: &str, expect: &[&str]| {
        let arguments = format!("{arguments} --no-sync");
        check_all(&[&web, &db], &arguments, "host tid comm cpu_ns percent", expect);
    };
    let rows = ["db 10 postgres 80 100", "web 10 nginx 50 100"];
    check("cputop", &rows);
    check("cputop --host web", &rows[1..]);
    check("cputop --host web,db", &rows);
    check("cputop --procname n*", &rows[1..]);
    check("cputop --limit 1", &rows[..1]);
    check_all(&[&web, &db], "cputop --no-sync --table cpus", "host cpu busy_ns", &["db 0 80", "web 0 50"]);
}

#[test]
fn in_one_pass_as_apart() {
    let host = host("h1", Generation::V2_13);
    let together = analyze(&[&host], &format!("{ALL} --format json")).stdout;
    let apart: Vec<String> =
        ALL.split(',').map(|name| analyze(&[&host], &format!("{name} --format json")).stdout).collect();
    assert_eq!(together, apart.concat());
    assert_eq!(together.lines().count(), 19);
}

#[test]
fn in_the_order_in_which_they_were_asked_for() {
    let host = host("h1", Generation::V2_13);
    for (format, between) in [("json", ""), ("csv", "\n"), ("text", "\n")] {
        // At an instant, the other two hear all, and `cputop` what its window lets through.
        for at in ["", "--at @12500"] {
            let say = |names: &str| analyze(&[&host], &format!("{names} --format {format} {at}")).stdout;
            // Alone, it is not asked about an instant.
            let alone = analyze(&[&host], &format!("cputop --format {format}")).stdout;
            // A table alone has no name before it.
            let named = |name: &str| match (format, say(name)) {
                ("csv", text) if !text.starts_with('#') => format!("# {name}\n{text}"),
                (_, text) => text,
            };
            let apart = [named("syscalls"), alone, named("processes")];
            assert_eq!(
                say("syscalls,cputop,syscalls,processes,cputop"),
                apart.join(between),
                "{format} {at}"
            );
        }
    }
}

#[test]
fn in_pieces_as_whole() {
    for generation in [Generation::V2_1, Generation::V2_13] {
        let host = host("h1", generation);
        let say = |arguments: &str| {
            let Said { stdout, status, .. } = analyze(&[&host], &format!("{ALL} --format json {arguments}"));
            assert_eq!(status, Some(0));
            stdout
        };
        let whole = say("--threads 1");
        for pieces in ["--threads 2", "--chunks 1", "--chunks 2", "--chunks 7", "--chunks 50 --threads 3"] {
            assert_eq!(say(pieces), whole, "{generation:?} {pieces}");
        }
        let window = "--begin @23500 --end @81200";
        assert_eq!(say(&format!("{window} --chunks 9")), say(window));
    }
    let host = host("h1", Generation::V2_13);
    for at in ["--at @12500", "--at @54000", "--at @96005"] {
        let say = |arguments: &str| {
            analyze(&[&host], &format!("processes,fds,syscalls --format json {at} {arguments}")).stdout
        };
        assert_eq!(say("--chunks 9"), say("--threads 1"), "{at}");
    }
}

#[test]
fn in_three_formats() {
    let mut host = KernelScript::new("h1", Generation::V2_13);
    host.process(10, "a,b").at(100).switch(0, 10).after(50).switch(10, 0);
    let say = |arguments: &str| analyze(&[&host], arguments).stdout;
    let csv = "host,cpu,busy_ns,idle_ns,unknown_ns,percent\nh1,0,50,0,0,100\n";
    assert_eq!(say("cputop --table cpus --format csv"), csv);
    let all = say("cputop --format csv");
    let expect = "# processes\nhost,pid,tid,comm,cpu_ns,unknown_ns,migrations,percent,priorities\n\
                  h1,,10,\"a,b\",50,0,0,100,20\n\n# cpus\n";
    assert!(all.starts_with(expect), "{all}");
    let json = "{\"analysis\":\"cputop\",\"version\":1,\"sync\":false,\"range\":[100,150],\"tables\":[{\"name\":\"total\",\
                \"columns\":[{\"name\":\"host\",\"unit\":\"none\"},{\"name\":\"cpus\",\"unit\":\"count\"},{\"name\":\
                \"busy_ns\",\"unit\":\"ns\"},{\"name\":\"idle_ns\",\"unit\":\"ns\"},{\"name\":\"unknown_ns\",\"unit\":\
                \"ns\"},{\"name\":\"percent\",\"unit\":\"percent\"}],\"rows\":[[\"h1\",1,50,0,0,100.0]]}],\"notes\":[]}\n";
    assert_eq!(say("cputop --table total --format json"), json);
}
