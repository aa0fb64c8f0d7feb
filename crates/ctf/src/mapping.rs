//! Files as byte slices, and what becomes of the process when one of them is truncated meanwhile. The only
//! module of the project with `unsafe` code.
#![allow(unsafe_code)]

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use memmap2::Advice;
use memmap2::Mmap;
#[cfg(target_os = "linux")]
use memmap2::UncheckedAdvice;

use crate::Error;

#[cfg(unix)]
pub use truncation::{exit_on_truncation, survive_truncation};

/// A whole file in the address space, read-only; pages come and go as the kernel sees fit, so that a trace of
/// any size takes no anonymous memory. Or bytes that no file of their own has.
#[derive(Debug)]
pub(crate) struct FileMap {
    content: Content,
    identity: Identity,
}

#[derive(Debug)]
enum Content {
    /// An empty file, which cannot be mapped.
    Empty,
    Mapped(Mapped),
    Memory(Vec<u8>),
}

/// A mapping, and its entry in the list of all of them. The entry goes first.
#[derive(Debug)]
struct Mapped {
    #[cfg(unix)]
    entry: truncation::Entry,
    map: Mmap,
}

/// What distinguishes a file from all others, whatever its name: device and inode. Where the system has no
/// such numbers, all files look alike, and only lengths distinguish them.
type Identity = (u64, u64);

/// Number of mapped files became shorter while they were read, at some time: with [`survive_truncation`],
/// what is asked of them later is worth nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncations(u64);

impl Truncations {
    /// As many as there are now.
    pub fn now() -> Self {
        #[cfg(unix)]
        return Self(truncation::count());
        #[cfg(not(unix))]
        Self(0)
    }

    /// Files that became shorter since then, and that are still mapped as they were: as they were named when
    /// they were opened.
    pub fn since(self) -> Vec<PathBuf> {
        #[cfg(unix)]
        return truncation::since(self.0);
        #[cfg(not(unix))]
        Vec::new()
    }
}

/// What has become of a file since it was mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// It is as long as it was.
    None,
    /// It is longer.
    Grown,
    /// It is shorter: the bytes that are missing must not be looked at, and no slice has them any more.
    Shrunk,
    /// Another file has taken its name. The mapping is still that of the former, whose bytes live as long as
    /// it.
    Replaced,
}

/// How the bytes of a file are read from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// One after another, as the kernel expects unless told: it reads what is around and after them, too.
    Onward,
    /// A few here and there: what is around them would be read for nothing.
    Scattered,
}

impl FileMap {
    /// Maps a file at the length it has now. Never waits: what is no regular file is an error.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let io = |source| Error::new(path, source);
        // Opening a device may do something, so that it is looked at before; and what is opened may be
        // another by then.
        refuse_odd(fs::metadata(path).map_err(io)?.file_type()).map_err(io)?;
        let file = open_at_once(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        refuse_odd(metadata.file_type()).map_err(io)?;
        let identity = identity(&metadata);
        if metadata.len() == 0 {
            return Ok(Self { content: Content::Empty, identity });
        }
        // SAFETY: `Mmap::map` demands that the mapped bytes do not change while slices of them live. The
        // mapping is read-only, so this process cannot. Another process can: tracers only append, and bytes
        // after the length that the file has here are not mapped (the rest of the last page is after the end
        // of every slice); a tracer in overwrite mode writes new files. A file that grows gets a new mapping
        // (`Self::refresh`), and as that takes the map for itself alone, no slice of the old one is left.
        // Against a file that a file is rewritten anyway, all decoding is written to be memory-safe for any
        // bytes: each bound is taken from the slice's length, never from bytes read twice, and no byte is
        // interpreted as anything but an integer or lossily as text. A file that is truncated ends the
        // process with SIGBUS, which is no memory unsafety (`exit_on_truncation` makes it an error message;
        // with `survive_truncation` what is missing is read as zeros, which are bytes as any others, and
        // `Truncations` says so afterwards); one that was truncated before it is looked at again is mapped at
        // its new length, and does not.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        Ok(Self { content: Content::Mapped(Mapped::new(map, path)), identity })
    }

    /// Bytes in memory.
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Self {
        Self { content: Content::Memory(bytes), identity: (0, 0) }
    }

    /// Looks at the file of that name again and maps what it has become. Files that are as they were cost one
    /// call of the system. No slice of the bytes outlives this: it takes the map for itself.
    pub(crate) fn refresh(&mut self, path: &Path) -> Result<Change, Error> {
        let now = fs::metadata(path).map_err(|source| Error::new(path, source))?;
        let is_same = identity(&now) == self.identity && now.len() == self.bytes().len() as u64;
        if is_same && !self.is_cut() {
            return Ok(Change::None);
        }
        let new = Self::open(path)?;
        let (before, after) = (self.bytes().len(), new.bytes().len());
        if before > 0 && new.identity != self.identity {
            return Ok(Change::Replaced);
        }
        *self = new;
        Ok(match before.cmp(&after) {
            std::cmp::Ordering::Less => Change::Grown,
            std::cmp::Ordering::Equal => Change::None,
            std::cmp::Ordering::Greater => Change::Shrunk,
        })
    }

    /// A part of the bytes is not needed for now: it no longer counts as memory of the process. Where it is
    /// looked at again, the kernel reads it again.
    pub(crate) fn forget(&self, start: usize, length: usize) {
        #[cfg(target_os = "linux")]
        if let Content::Mapped(Mapped { map, .. }) = &self.content
            && start.checked_add(length).is_some_and(|end| end <= map.len())
        {
            // SAFETY: `DontNeed` is unsafe because pages with changes of the process lose them. The mapping
            // is shared with the file and read-only, so it has none: the next access finds the bytes of the
            // file as before, for slices that live meanwhile as well. Pages that stand for what a truncated
            // file lacks (`survive_truncation`) are zeros before and after.
            let advice = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, start, length) };
            // Advice that is refused costs nothing but memory.
            drop(advice);
        }
    }

    /// Says how its bytes are read from now on. That changes how long it takes, not what is read.
    pub(crate) fn expect(&self, access: Access) {
        #[cfg(unix)]
        if let Content::Mapped(Mapped { map, .. }) = &self.content {
            let advice = match access {
                Access::Onward => Advice::Normal,
                Access::Scattered => Advice::Random,
            };
            // Advice that is refused costs nothing but time.
            drop(map.advise(advice));
        }
    }

    /// Has the kernel read a part of the bytes, as far as there are so many, without waiting for them.
    pub(crate) fn read_ahead(&self, start: usize, length: usize) {
        #[cfg(unix)]
        if let Content::Mapped(Mapped { map, .. }) = &self.content
            && start < map.len()
        {
            drop(map.advise_range(Advice::WillNeed, start, length.min(map.len() - start)));
        }
    }

    /// Whether bytes of it were missing when they were read.
    fn is_cut(&self) -> bool {
        #[cfg(unix)]
        return matches!(&self.content, Content::Mapped(mapped) if mapped.entry.is_cut());
        #[cfg(not(unix))]
        false
    }

    /// The file's bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.content {
            Content::Empty => &[],
            Content::Mapped(mapped) => &mapped.map,
            Content::Memory(bytes) => bytes,
        }
    }
}

impl Mapped {
    #[cfg(unix)]
    fn new(map: Mmap, path: &Path) -> Self {
        Self { entry: truncation::Entry::new(&map, path), map }
    }

    #[cfg(not(unix))]
    fn new(map: Mmap, _: &Path) -> Self {
        Self { map }
    }
}

/// Opens a file for reading; a pipe without waiting for a writer.
fn open_at_once(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.open(path)
}

/// Refuses what is no regular file.
fn refuse_odd(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    Err(io::Error::other(format!("it is {}, not a file", name_of(kind))))
}

#[cfg(unix)]
fn name_of(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match kind {
        _ if kind.is_dir() => "a directory",
        _ if kind.is_fifo() => "a named pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
fn name_of(kind: FileType) -> &'static str {
    if kind.is_dir() { "a directory" } else { "something else" }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {
    (0, 0)
}

/// SIGBUS: which mapping it is about, and how it ends the process, or what is read instead.
///
/// The handler may run at any instruction of any thread, so it takes no lock and allocates nothing: it walks
/// a list of entries that only ever grows, and reads and writes atomics. An entry whose mapping is gone is
/// used again for another one.
#[cfg(unix)]
mod truncation {
    use std::collections::BTreeMap;
    use std::ffi::{c_int, c_void};
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
    use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

    use memmap2::Mmap;

    /// One mapping. Its fields belong together while `version` is even and stays what it is.
    #[derive(Debug)]
    struct Slot {
        version: AtomicU32,
        /// Addresses of the mapping.
        start: AtomicUsize,
        end: AtomicUsize,
        /// The file's name, in the entry's memory.
        name: AtomicPtr<u8>,
        length: AtomicUsize,
        /// Its number among those that became shorter; 0: it did not.
        cut: AtomicU64,
        next: Option<&'static Slot>,
    }

    /// What is known of slots besides what the handler needs. A writer of any slot holds it.
    #[derive(Debug)]
    struct Known {
        /// Places of mappings that are gone.
        free: Vec<&'static Slot>,
        /// Those of mappings by their addresses, and the files.
        mapped: BTreeMap<usize, (&'static Slot, PathBuf)>,
    }

    /// The last slot that was made; the others follow it.
    static SLOTS: AtomicPtr<Slot> = AtomicPtr::new(std::ptr::null_mut());
    static KNOWN: Mutex<Known> = Mutex::new(Known { free: Vec::new(), mapped: BTreeMap::new() });
    /// Number of mappings became shorter.
    static CUTS: AtomicU64 = AtomicU64::new(0);
    /// Bytes of a page, where the process continues without what is missing; 0: it does not.
    static PAGE: AtomicUsize = AtomicUsize::new(0);
    /// What to say, the status to end with, and what was done about the signal before.
    static ENDING: OnceLock<(&'static str, i32)> = OnceLock::new();
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    /// The entry of a mapping in the list; it lasts as long as this.
    #[derive(Debug)]
    pub(super) struct Entry {
        slot: &'static Slot,
        /// Shown by the handler: `slot` points into it.
        _name: Arc<[u8]>,
    }

    impl Entry {
        pub(super) fn new(map: &Mmap, path: &Path) -> Self {
            // It goes to a terminal.
            let name = path.display().to_string().replace(char::is_control, "?");
            let name: Arc<[u8]> = name.into_bytes().into();
            let range = map.as_ptr_range();
            let mut known = known();
            let slot = known.free.pop().unwrap_or_else(Slot::add);
            slot.write(range.start.addr(), range.end.addr(), &name);
            known.mapped.insert(range.start.addr(), (slot, path.to_owned()));
            Self { slot, _name: name }
        }

        pub(super) fn is_cut(&self) -> bool {
            self.slot.cut.load(Ordering::Relaxed) > 0
        }
    }

    impl Drop for Entry {
        fn drop(&mut self) {
            let mut known = known();
            known.mapped.remove(&self.slot.start.load(Ordering::Relaxed));
            self.slot.write(0, 0, &[]);
            known.free.push(self.slot);
        }
    }

    fn known() -> MutexGuard<'static, Known> {
        KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count() -> u64 {
        CUTS.load(Ordering::Relaxed)
    }

    /// Files of mappings that became shorter since this many did.
    pub(super) fn since(before: u64) -> Vec<PathBuf> {
        if count() == before {
            return Vec::new();
        }
        let is_later = |slot: &Slot| slot.cut.load(Ordering::Relaxed) > before;
        let known = known();
        let cut = known.mapped.values().filter(|(slot, _)| is_later(slot));
        cut.map(|(_, path)| path.clone()).collect()
    }

    impl Slot {
        /// Puts a new one into the list. The caller holds `KNOWN`.
        fn add() -> &'static Self {
            let first = SLOTS.load(Ordering::Relaxed);
            // SAFETY: what `SLOTS` points to was leaked below, and is never changed but through its atomics.
            let next: Option<&'static Self> = unsafe { first.as_ref() };
            let slot = Box::leak(Box::new(Self {
                version: AtomicU32::new(0),
                start: AtomicUsize::new(0),
                end: AtomicUsize::new(0),
                name: AtomicPtr::new(std::ptr::null_mut()),
                length: AtomicUsize::new(0),
                cut: AtomicU64::new(0),
                next,
            }));
            SLOTS.store(slot, Ordering::Release);
            slot
        }

        /// Gives it another mapping. The caller holds `KNOWN`.
        fn write(&self, start: usize, end: usize, name: &[u8]) {
            let version = self.version.load(Ordering::Relaxed);
            self.version.store(version.wrapping_add(1), Ordering::Relaxed);
            fence(Ordering::Release);
            self.start.store(start, Ordering::Relaxed);
            self.end.store(end, Ordering::Relaxed);
            self.name.store(name.as_ptr().cast_mut(), Ordering::Relaxed);
            self.length.store(name.len(), Ordering::Relaxed);
            self.cut.store(0, Ordering::Relaxed);
            self.version.store(version.wrapping_add(2), Ordering::Release);
        }

        /// Whether an address is in its mapping; `false` while that changes.
        fn contains(&self, address: usize) -> bool {
            let version = self.version.load(Ordering::Acquire);
            let range = self.start.load(Ordering::Relaxed)..self.end.load(Ordering::Relaxed);
            fence(Ordering::Acquire);
            version.is_multiple_of(2)
                && version == self.version.load(Ordering::Relaxed)
                && range.contains(&address)
        }
    }

    /// Makes a file that becomes shorter while it is read an error message on stderr, `PREFIX` in front of
    /// it, and the end of the process with this status, instead of its death by SIGBUS. What is still in
    /// buffers is not written. For programs: a library must not decide this. Later calls change nothing.
    ///
    /// # Errors
    /// The system refuses the handler.
    pub fn exit_on_truncation(prefix: &'static str, status: i32) -> io::Result<()> {
        if ENDING.set((prefix, status)).is_err() {
            return Ok(());
        }
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_sigbus;
        // SAFETY: both structures are plain numbers, for which zeros are values; they live during the calls,
        // and the handler has the form that SA_SIGINFO asks for. What the handler does is allowed in one (see
        // there).
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let mut before: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&raw mut action.sa_mask);
            if libc::sigaction(libc::SIGBUS, &raw const action, &raw mut before) != 0 {
                return Err(io::Error::last_os_error());
            }
            let _ = BEFORE.set(before);
        }
        Ok(())
    }

    /// From now on, what is missing of a file that becomes shorter while it is read is read as zeros, and
    /// [`Truncations`](super::Truncations) names the file: for servers, where one file must not cost the
    /// answers about all others. Whoever reads has to ask it before anything that was read is believed.
    /// Without [`exit_on_truncation`] before, it changes nothing.
    pub fn survive_truncation() {
        // SAFETY: it takes and gives plain numbers.
        let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        PAGE.store(usize::try_from(bytes).unwrap_or(0), Ordering::Relaxed);
    }

    /// Puts zeros in the slot of what a mapping lacks: from the page of an address to its end, as all of that
    /// is behind the end of the file.
    ///
    /// # Safety
    /// The address lies in the mapping of the slot, and that mapping lives until this returns.
    unsafe fn fill(slot: &Slot, address: usize, page: usize) -> bool {
        let from = address - address % page;
        let end = slot.end.load(Ordering::Relaxed).next_multiple_of(page);
        let (protection, kind) = (libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED);
        // SAFETY: all pages from here to the end are those of the one mapping (it begins at a page, and its
        // last page is its own), so that nothing else is replaced, and as it lives, no caller has put
        // anything else there. It was mapped read-only and stays so. Slices of it keep their addresses and
        // lengths; that their bytes change is no more than what a file that is rewritten does
        // (`FileMap::open`). The mapping is removed as a whole when its owner goes, with these pages. The
        // call takes no lock of the process and allocates nothing in it: it is one call of the system.
        let made = unsafe {
            libc::mmap(std::ptr::with_exposed_provenance_mut(from), end - from, protection, kind, -1, 0)
        };
        if made == libc::MAP_FAILED {
            return false;
        }
        let _ = slot.cut.compare_exchange(
            0,
            CUTS.fetch_add(1, Ordering::Relaxed) + 1,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        true
    }

    /// Names the file and ends the process, or puts zeros in the slot of what is missing, where the fault
    /// lies in one of the mappings; else lets happen what would have happened without it.
    extern "C" fn on_sigbus(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
        // SAFETY: the kernel gives a valid `info` to handlers with SA_SIGINFO. It calls this within the
        // instruction that touched the missing page, or for a signal that a process sent, which has no
        // address. All that is called is async-signal-safe: `write`, `_exit`, `sigaction`, `raise`, atomics
        // and loads of cells that are set once; for `mmap` see `fill`. The name of a matching slot can be
        // read: the thread that faulted has a slice of the mapping, so that the mapping lives, and with it
        // its entry, which holds the name and which is not written to meanwhile.
        unsafe {
            let sent = (*info).si_code <= 0;
            let slot = if sent { None } else { find((*info).si_addr().addr()) };
            let page = PAGE.load(Ordering::Relaxed);
            // The instruction is tried again.
            if let Some(slot) = slot
                && page > 0
                && fill(slot, (*info).si_addr().addr(), page)
            {
                return;
            }
            if let (Some(slot), Some((prefix, status))) = (slot, ENDING.get()) {
                let (name, length) = (slot.name.load(Ordering::Relaxed), slot.length.load(Ordering::Relaxed));
                let said = " became shorter while it was read\n";
                libc::write(2, prefix.as_ptr().cast(), prefix.len());
                libc::write(2, name.cast(), length);
                libc::write(2, said.as_ptr().cast(), said.len());
                libc::_exit(*status);
            }
            match BEFORE.get() {
                Some(before) => libc::sigaction(signal, before, std::ptr::null_mut()),
                None => libc::signal(signal, libc::SIG_DFL) as c_int,
            };
            // The faulting instruction is tried again when this returns; what was sent has to be sent again.
            if sent {
                libc::raise(signal);
            }
        }
    }

    fn find(address: usize) -> Option<&'static Slot> {
        // SAFETY: as in `Slot::add`.
        let mut slot: Option<&'static Slot> = unsafe { SLOTS.load(Ordering::Acquire).as_ref() };
        while let Some(here) = slot.filter(|slot| !slot.contains(address)) {
            slot = here.next;
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_follows_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let other = directory.path().join("other");
        fs::write(&path, "").unwrap();
        let mut map = FileMap::open(&path).unwrap();
        let mut check = |act: &dyn Fn(), change: Change, bytes: &str| {
            act();
            assert_eq!((map.refresh(&path).unwrap(), map.bytes()), (change, bytes.as_bytes()));
        };
        check(&|| {}, Change::None, "");
        check(&|| fs::write(&path, "abc").unwrap(), Change::Grown, "abc");
        check(&|| fs::write(&path, "abcdef").unwrap(), Change::Grown, "abcdef");
        check(&|| fs::write(&path, "ab").unwrap(), Change::Shrunk, "ab");
        let replace = || {
            fs::write(&other, "xyz").unwrap();
            fs::rename(&other, &path).unwrap();
        };
        check(&replace, Change::Replaced, "ab");
        fs::remove_file(&path).unwrap();
        assert!(map.refresh(&path).is_err());
        assert_eq!(map.bytes(), b"ab");
    }

    #[test]
    fn what_is_said_of_reading_changes_no_byte() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let check = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            for map in [FileMap::open(&path).unwrap(), FileMap::of_bytes(bytes.to_vec())] {
                for access in [Access::Scattered, Access::Onward] {
                    map.expect(access);
                    for (start, length) in [(0, 1), (5, 0), (4095, 2), (9_999, usize::MAX), (usize::MAX, 1)] {
                        map.read_ahead(start, length);
                    }
                    assert_eq!(map.bytes(), bytes);
                }
            }
        };
        check(&[]);
        check(&[1]);
        check(&[2; 10_000]);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let check = |path: &Path, expect: &str| {
            let error = FileMap::open(path).unwrap_err();
            assert!(error.to_string().ends_with(expect), "{error}");
        };
        check(directory.path(), "cannot be read: it is a directory, not a file");
        check(Path::new("/dev/zero"), "cannot be read: it is a device, not a file");
        let socket = directory.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        check(&socket, "it is a socket, not a file");
        let pipe = directory.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        check(&pipe, "it is a named pipe, not a file");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_truncated_while_it_is_read_ends_the_process_with_its_name() {
        use std::process::Command;
        // The process that dies is another run of this test.
        const CHILD: &str = "ISOCHRONE_TRUNCATED_FILE";
        if let Some(path) = std::env::var_os(CHILD) {
            exit_on_truncation("error: ", 2).unwrap();
            // Entries that come and go before and after it.
            drop(FileMap::open(Path::new("Cargo.toml")).unwrap());
            let map = FileMap::open(Path::new(&path)).unwrap();
            let _other = FileMap::open(Path::new("Cargo.toml")).unwrap();
            OpenOptions::new().write(true).open(&path).unwrap().set_len(1).unwrap();
            let sum: u64 = map.bytes().iter().map(|&byte| u64::from(byte)).sum();
            unreachable!("the missing bytes were read: {sum}");
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a\nfile");
        fs::write(&path, vec![1; 1 << 16]).unwrap();
        let name = "mapping::tests::a_file_that_is_truncated_while_it_is_read_ends_the_process_with_its_name";
        let mut child = Command::new(std::env::current_exe().unwrap());
        let output = child.args([name, "--exact", "--nocapture"]).env(CHILD, &path).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let expect =
            format!("error: {}/a?file became shorter while it was read\n", directory.path().display());
        assert!(said.ends_with(&expect), "{said}");
        assert_eq!(output.status.code(), Some(2));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_truncated_may_cost_no_more_than_what_is_read_of_it() {
        use std::process::Command;
        // What the handler does is the process's: another one tries it.
        const CHILD: &str = "ISOCHRONE_SURVIVED_FILE";
        if let Some(path) = std::env::var_os(CHILD) {
            let path = Path::new(&path);
            exit_on_truncation("error: ", 2).unwrap();
            survive_truncation();
            let mut map = FileMap::open(path).unwrap();
            let other = FileMap::open(Path::new("Cargo.toml")).unwrap();
            let before = Truncations::now();
            let sum = |map: &FileMap| map.bytes().iter().map(|&byte| u64::from(byte)).sum::<u64>();
            assert_eq!((sum(&map), before.since()), (1 << 16, Vec::new()));
            let set = |length| OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
            set(8192 + 5);
            // Two threads at once; the rest of the last page is the file's own.
            std::thread::scope(|scope| {
                let sums: Vec<_> = (0..2).map(|_| scope.spawn(|| sum(&map))).collect();
                assert!(sums.into_iter().all(|sum| sum.join().unwrap() == 8192 + 5));
            });
            assert_eq!((before.since(), Truncations::now().since()), (vec![path.to_owned()], Vec::new()));
            // A file that has its length again is mapped again.
            set(1 << 16);
            assert_eq!(map.refresh(path).unwrap(), Change::None);
            assert_eq!((sum(&map), before.since(), sum(&other) > 0), (8192 + 5, Vec::new(), true));
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, vec![1; 1 << 16]).unwrap();
        let name = "mapping::tests::a_file_that_is_truncated_may_cost_no_more_than_what_is_read_of_it";
        let mut child = Command::new(std::env::current_exe().unwrap());
        let output = child.args([name, "--exact", "--nocapture"]).env(CHILD, &path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[cfg(unix)]
    #[test]
    fn other_faults_end_the_process_as_ever() {
        use std::os::unix::process::ExitStatusExt;
        use std::process::Command;
        const CHILD: &str = "ISOCHRONE_OTHER_SIGBUS";
        if let Some(path) = std::env::var_os(CHILD) {
            exit_on_truncation("error: ", 2).unwrap();
            let _ours = FileMap::open(Path::new("Cargo.toml")).unwrap();
            let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
            // SAFETY: what is to be shown is what happens where nothing else does.
            let map = unsafe { Mmap::map(&file) }.unwrap();
            file.set_len(1).unwrap();
            let sum: u64 = map.iter().map(|&byte| u64::from(byte)).sum();
            unreachable!("the missing bytes were read: {sum}");
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, vec![1; 1 << 16]).unwrap();
        let name = "mapping::tests::other_faults_end_the_process_as_ever";
        let mut child = Command::new(std::env::current_exe().unwrap());
        let status = child.args([name, "--exact"]).env(CHILD, &path).output().unwrap().status;
        assert_eq!(status.signal(), Some(libc::SIGBUS));
    }
}
