//! Pieces that go through a bucket of a server of S3's protocol, by the commands that `examples/pieces`
//! names: whatever happens to the process that maps, what is fetched at the other end comes to what the
//! chunks come to. Needs the PyPI packages `awscli` and `moto[server]`.

use std::io::{BufRead, BufReader};

use super::in_place::{Fleet, said};
use super::*;

/// A server with the bucket `traces`, which ends with its test.
struct Bucket {
    process: Child,
    address: String,
}

impl Drop for Bucket {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Bucket {
    fn start() -> Self {
        let mut server = Command::new("python3");
        server.args(["-c", include_str!("bucket.py")]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = server.spawn().unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).unwrap();
        assert!(address.starts_with("http://"), "{address}");
        Self { process, address: address.trim().to_owned() }
    }

    /// The environment of a client.
    fn environment(&self) -> [(&'static str, &str); 4] {
        [
            ("AWS_ENDPOINT_URL", &self.address),
            ("AWS_ACCESS_KEY_ID", "a"),
            ("AWS_SECRET_ACCESS_KEY", "b"),
            ("AWS_DEFAULT_REGION", "us-east-1"),
        ]
    }

    /// Fetches what is there to a directory.
    fn fetch(&self, to: &Path) {
        let mut fetching = Command::new("aws");
        fetching.args(["s3", "sync", "--only-show-errors", "s3://traces/pieces/"]).arg(to);
        let output = fetching.envs(self.environment()).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }
}

const PUT: &str = "timeout 300 aws s3 cp --only-show-errors {} s3://traces/pieces/";

#[test]
#[cfg_attr(not(all(python_engines, shared_data)), ignore = "needs awscli, moto and ../shared/data")]
fn pieces_through_a_bucket() {
    let from = corpus("vm/rot2");
    let fleet = Fleet::new(&from, "spans");
    let bucket = Bucket::start();
    let start = |address: &str| {
        let environment = bucket.environment().map(|(name, value)| match name {
            "AWS_ENDPOINT_URL" => (name, address.to_owned()),
            _ => (name, value.to_owned()),
        });
        let mut command = fleet.command(&["--exec", PUT, "--delete-pieces"]);
        command.envs(environment).spawn().unwrap()
    };
    // At first nobody answers, and what cannot be handed over waits.
    fleet.bring_all();
    let mut watching = start("http://127.0.0.1:9");
    wait_for(&fleet.sessions.path("log"), "to hand over; next attempt in");
    watching.kill().unwrap();
    watching.wait().unwrap();
    for kill in 0..4 {
        let mut watching = start(&bucket.address);
        thread::sleep(Duration::from_millis(300 + kill * 700));
        watching.kill().unwrap();
        watching.wait().unwrap();
    }
    let mut last = fleet.command(&["--once", "--exec", PUT, "--delete-pieces"]);
    assert!(last.envs(bucket.environment()).status().unwrap().success());
    assert!(fleet.pieces("out").is_empty());
    // The other end: all that is there, fetched twice.
    let received = fleet.sessions.path("received");
    (0..2).for_each(|_| bucket.fetch(&received));
    fleet.check_received(ANALYSES);
    let steps = "cputop,messages,accounting";
    let of = |directory: &Path| ok(&["watch", "-q", "--once", "--format", "json", steps, text(directory)]);
    assert!(of(&received) == of(&from));
}
