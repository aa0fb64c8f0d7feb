//! Where the kernel keeps the bytes of a packet: each program that reads BTF says the same.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

const HOST: &str = include_str!("../../src/host.sh");
const READ_BTF: &str = include_str!("../../src/read_btf.py");

/// What `pahole -C sk_buff` prints, in part.
const PAHOLE: &str = r"struct sk_buff {
	union {
		struct {
			struct sk_buff * next;               /*     0     8 */
		};                                           /*     0    24 */
	};
	unsigned int               len;                  /*   112     4 */
	unsigned int               data_len;             /*   116     4 */
	/* --- cacheline 3 boundary (192 bytes) --- */
	unsigned char *            head;                 /*   200     8 */
	unsigned char *            data;                 /*   208     8 */
};";

/// What `bpftool btf dump` prints, in part.
const BPFTOOL: &str = r"[1] INT 'long unsigned int' size=8 bits_offset=0 nr_bits=64 encoding=(none)
[7] STRUCT 'other' size=16 vlen=1
	'data' type_id=1 bits_offset=64
[90] STRUCT 'sk_buff' size=232 vlen=4
	'(anon)' type_id=91 bits_offset=0
	'len' type_id=12 bits_offset=896
	'data_len' type_id=12 bits_offset=928
	'data' type_id=80 bits_offset=1664
[91] UNION '(anon)' size=24 vlen=2";

/// Runs `skb_field` of the script with nothing but some programs.
fn asked(field: &str, programs: &[(&str, String)], btf: &Path) -> String {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in programs {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for name in ["sed", "awk", "head"] {
        let found =
            ["/usr/bin", "/bin"].map(|bin| Path::new(bin).join(name)).into_iter().find(|path| path.exists());
        std::os::unix::fs::symlink(found.unwrap(), directory.path().join(name)).unwrap();
    }
    let start = HOST.find("skb_field() {").unwrap();
    let function = HOST[start..].split_inclusive("\n}\n").next().unwrap();
    let function = function.replace("/sys/kernel/btf/vmlinux", btf.to_str().unwrap());
    let script = format!("has() {{ command -v \"$1\" >/dev/null 2>&1; }}\n{function}skb_field {field}\n");
    let output = Command::new("/bin/sh")
        .args(["-euc", &script])
        .env("PATH", directory.path())
        .env("read_btf", READ_BTF)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// BTF of a kernel with an integer, another structure, and `sk_buff`.
fn btf() -> Vec<u8> {
    let mut strings = vec![0];
    let mut name = |text: &str| {
        let at = strings.len() as u32;
        strings.extend_from_slice(text.as_bytes());
        strings.push(0);
        at
    };
    let structure = |name: u32, members: &[(u32, u32)], is_wide: bool| {
        let info = u32::from(is_wide) << 31 | 4 << 24 | members.len() as u32;
        let members = members.iter().flat_map(|(name, bits)| [*name, 1, *bits]);
        [name, info, 232].into_iter().chain(members).collect::<Vec<u32>>()
    };
    let (data, len) = (name("data"), name("len"));
    let types = [
        // An integer of 64 bits, which has a word more.
        vec![name("long"), 1 << 24, 8, 64],
        structure(name("other"), &[(data, 64)], false),
        // Offsets of structures with bit fields have the bits of the field above.
        structure(name("sk_buff"), &[(len, 896), (data, 1664)], true),
    ]
    .concat();
    let types: Vec<u8> = types.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut bytes = vec![0x9f, 0xeb, 1, 0];
    let head = [24, 0, types.len() as u32, types.len() as u32, strings.len() as u32];
    bytes.extend(head.iter().flat_map(|word| word.to_le_bytes()));
    [bytes, types, strings].concat()
}

#[test]
fn programs_that_read_btf_are_understood() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("vmlinux");
    fs::write(&file, btf()).unwrap();
    let prints = |text: &str| {
        format!(
            "#!/bin/sh\nwhile IFS= read -r line; do printf '%s\\n' \"$line\"; done <<'END'\n{text}\nEND\n"
        )
    };
    for (program, text) in [("pahole", PAHOLE), ("bpftool", BPFTOOL)] {
        let programs = [(program, prints(text))];
        assert_eq!(asked("data", &programs, &file), "208", "{program}");
        assert_eq!(asked("len", &programs, &file), "112", "{program}");
    }
    assert_eq!(asked("data", &[], &file), "");
    let none = directory.path().join("none");
    assert_eq!(asked("data", &[("pahole", prints(PAHOLE))], &none), "");
}

#[test]
#[cfg_attr(not(python3), ignore = "needs python3")]
fn python_reads_btf() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("vmlinux");
    fs::write(&file, btf()).unwrap();
    let ask = |field: &str| {
        let output = Command::new("python3").args(["-c", READ_BTF]).arg(&file).arg(field).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!((ask("data").as_str(), ask("len").as_str(), ask("none").as_str()), ("208\n", "112\n", ""));
}
