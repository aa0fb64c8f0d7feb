//! `memtop`: pages that were allocated and freed.

use isochrone_testkit::{Generation, KernelScript};

use super::run::check;

/// Thread 10 allocates one page and eight at once, thread 11 of its process frees the eight; nobody runs when one more is freed.
fn host(generation: Generation) -> KernelScript {
    let mut host = KernelScript::new("h1", generation);
    host.process(10, "web").thread(11, 10, "pool").at(1).dump();
    host.at(10).switch(0, 10).page_alloc(0).after(5).page_alloc(3);
    host.at(20).switch(10, 11).page_free(3).after(5).switch(11, 0).page_free(0);
    host
}

#[test]
fn by_thread_and_process() {
    const COLUMNS: &str = "pid tid comm allocated_pages freed_pages net_pages allocations frees";
    for generation in Generation::ALL {
        let rows = ["10 10 web 9 0 9 2 0", "0 0 swapper/0 0 1 -1 0 1", "10 11 pool 0 8 -8 0 1"];
        check(&host(generation), "memtop", COLUMNS, &rows);
    }
    let host = host(Generation::V2_13);
    check(&host, "memtop --by-process --pid 10", COLUMNS, &["10 10 web 9 8 1 2 1"]);
    check(&host, "memtop --table total", "allocated_pages freed_pages net_pages", &["9 9 0"]);
    check(&host, "memtop --table total --begin @12", "allocated_pages freed_pages", &["8 9"]);
}

/// The kernel reports pages that it frees in a batch twice: they count once, by whichever of the two events is traced.
#[test]
fn freed_in_batches() {
    let freed = |untraced: &[&str]| {
        let mut host = KernelScript::new("h1", Generation::V2_13).untraced(untraced);
        host.process(10, "web").at(10).switch(0, 10);
        for at in [20, 30, 40] {
            host.at(at).event("kmem_mm_page_free_batched", &[]).page_free(0);
        }
        host
    };
    let check = |untraced: &[&str]| check(&freed(untraced), "memtop", "tid freed_pages frees", &["10 3 3"]);
    check(&[]);
    check(&["kmem_mm_page_free_batched"]);
    check(&["kmem_mm_page_free"]);
}
