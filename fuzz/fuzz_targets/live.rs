//! Any bytes as the answers of a relay daemon, which is gone behind them: refused, or followed to the end, and what was kept is read.
#![no_main]

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread;

use isochrone_ctf::live::{Connection, LiveSession, LiveTrace, Room};
use isochrone_experiment::LiveEvents;
use libfuzzer_sys::fuzz_target;

/// What the next viewer gets.
static ANSWERS: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The address of something that answers one viewer after the other.
static DAEMON: LazyLock<String> = LazyLock::new(|| {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for mut viewer in listener.incoming().flatten() {
            let answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let _ = viewer.write_all(&answers).and_then(|()| viewer.shutdown(Shutdown::Write));
            // Until it has gone: what it asked and nobody read would reset the connection.
            while viewer.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {}
        }
    });
    address
});

/// So much may be kept.
const ROOM: u64 = 16 << 20;

fuzz_target!(|bytes: &[u8]| {
    *ANSWERS.lock().unwrap_or_else(PoisonError::into_inner) = bytes.to_vec();
    let is_stopped = Arc::new(AtomicBool::new(false));
    let Ok(directory) = tempfile::tempdir() else { return };
    let Ok(connection) = Connection::open(&DAEMON, &is_stopped) else { return };
    let room = Arc::new(Room::new(ROOM));
    let Ok(mut session) = LiveSession::attach(connection, "h", "s", directory.path(), room) else { return };
    let mut events = LiveEvents::new(None);
    loop {
        let is_over = session.poll().map_or(true, |progress| progress.is_over);
        if is_over {
            session.give_up();
        }
        let growing: Vec<LiveTrace> = session.traces().collect();
        let shown = events.read(&growing, !session.has_unread(), |_, ready| {
            ready.for_each(drop);
            Ok::<(), isochrone_ctf::Error>(())
        });
        if is_over || shown.is_err() {
            break;
        }
    }
    let _ = (session.unreadable(), events.of_traces().count());
});
