//! Lists of messages between straight clocks: the truth is inside, and the error below that of the convex hulls of the peer.
//!
//! Needs python3 with numpy. `ISOCHRONE_LISTS=1000000 ISOCHRONE_REQUIRE_SHARED=1 cargo test --release -p isochrone-sync
//! --test it generated_lists:: -- --nocapture` for lists as long as those of the targets, and all of them.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::networks::hulls::{Line, to_reference};
use crate::networks::shared::shared;
use crate::networks::{Message, from_environment, network};
use isochrone_clock::{Network, Span, solve};
use serde_json::Value;

/// Messages of a list without a wish in the environment.
const MESSAGES: u64 = 100_000;
/// What the lists of the targets have.
const FULL: u64 = 1_000_000;
/// The largest error on the first of them, ns.
const TARGET_NS: f64 = 50.0;
/// Instants at which every clock is held against the truth.
const INSTANTS: u32 = 100;

/// A straight clock of the generator: what it shows at true time zero, and how much too fast it is.
#[derive(Clone, Copy)]
struct Clock {
    offset_s: f64,
    drift: f64,
}

/// A list and its truth.
struct List {
    messages: Vec<Message>,
    clocks: Vec<Clock>,
    seconds: f64,
}

/// The largest error of two estimators over all clocks, ns, and of the interval, if it missed the truth.
struct Errors {
    own: f64,
    hulls: f64,
    outside: usize,
    solved_ms: f64,
}

impl Clock {
    /// Raw ns at a true time.
    fn at(self, seconds: f64) -> f64 {
        // In this order no part of the nanoseconds is lost.
        (self.offset_s + seconds) * 1e9 + self.drift * seconds * 1e9
    }
}

impl List {
    /// Has the generator write one.
    fn generate(tool: &Path, messages: u64, options: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("list");
        let mut command = Command::new("python3");
        command.arg(tool).arg(&file).args(["--n", &messages.to_string()]).args(options.split_whitespace());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = |end: &str| std::fs::read_to_string(file.with_extension(end)).unwrap();
        let truth: Value = serde_json::from_str(&text("truth")).unwrap();
        let numbers = |key: &str| truth[key].as_array().unwrap().iter().map(|n| n.as_f64().unwrap());
        let clock = |(offset_s, drift)| Clock { offset_s, drift };
        let message = |line: &str| {
            let numbers: Vec<i64> = line.split(' ').map(|n| n.parse().unwrap()).collect();
            (numbers[0] as usize, numbers[2], numbers[1] as usize, numbers[3])
        };
        Self {
            messages: text("ext").lines().skip(1).map(message).collect(),
            clocks: numbers("o").zip(numbers("d")).map(clock).collect(),
            seconds: truth["dur"].as_f64().unwrap(),
        }
    }

    fn network(&self) -> Network {
        let span = |clock: &Clock| Span {
            begin: clock.at(0.0).floor() as i64,
            end: clock.at(self.seconds).ceil() as i64,
        };
        let spans = self.clocks.iter().map(span).collect();
        Network { reference: Some(0), ..network(spans, self.messages.iter().copied()) }
    }

    /// The errors; with `but_constants`, those that remain when every clock is moved to where its largest error is least.
    fn errors(&self, but_constants: bool) -> Errors {
        let network = self.network();
        let begin = Instant::now();
        let solution = solve(network.clone()).unwrap();
        let solved_ms = begin.elapsed().as_secs_f64() * 1e3;
        let peer: Vec<Line> = to_reference(&network, 0);
        let mut errors = Errors { own: 0.0, hulls: 0.0, outside: 0, solved_ms };
        for (clock, line) in peer.iter().enumerate().skip(1) {
            let (mut own, mut hulls) = (Vec::new(), Vec::new());
            for instant in (0..=INSTANTS).map(|i| self.seconds * f64::from(i) / f64::from(INSTANTS)) {
                let (raw, truth) = (self.clocks[clock].at(instant), self.clocks[0].at(instant));
                let (lo, hi, _) = solution.intervals[clock].at(raw.round() as i64).unwrap();
                errors.outside += usize::from(truth < lo as f64 - 2.0 || hi as f64 + 2.0 < truth);
                own.push(solution.corrections[clock].apply(raw.round() as i64) as f64 - truth);
                hulls.push(line.at(raw) - truth);
            }
            errors.own = errors.own.max(largest(&own, but_constants));
            errors.hulls = errors.hulls.max(largest(&hulls, but_constants));
        }
        errors
    }
}

fn largest(errors: &[f64], but_constant: bool) -> f64 {
    let (least, most) = errors.iter().fold((f64::MAX, f64::MIN), |(a, b), &e| (a.min(e), b.max(e)));
    if but_constant { (most - least) / 2.0 } else { most.max(-least) }
}

#[test]
#[cfg_attr(not(all(shared_data, python_numpy)), ignore = "needs ../shared/tools and python3 with numpy")]
fn truth_is_inside_and_the_error_below_that_of_the_hulls() {
    let tool = shared("tools/gen_lttv_text.py");
    let messages = from_environment("ISOCHRONE_LISTS").unwrap_or(MESSAGES);
    // The shortest ways of the two directions differ in one of them, which no estimator can see: an error that is constant,
    // and the same for all that take the same links.
    let (seeds, shapes) = (["1", "2"], ["--topology chain", "--topology star", "--asym 3", "--mean 2e-3"]);
    let all = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
    let seeds = if messages < FULL { &seeds[..] } else { &all[..] };
    let lists = seeds.iter().map(|seed| format!("--seed {seed}"));
    let (mut own, mut hulls, mut count) = (0.0, 0.0, 0.0);
    println!("{:28} largest error, ns: of the hulls  solved in ms", "");
    for options in lists.chain(shapes.map(|shape| format!("--seed 1 {shape}"))) {
        let list = List::generate(&tool, messages, &options);
        let errors = list.errors(options.contains("asym"));
        println!("{options:28} {:17.1} {:13.1} {:13.0}", errors.own, errors.hulls, errors.solved_ms);
        assert_eq!(errors.outside, 0, "{options}");
        if messages >= FULL && options == "--seed 1" {
            assert!(errors.own <= TARGET_NS, "{options}: {} ns", errors.own);
        }
        own += errors.own.ln();
        hulls += errors.hulls.ln();
        count += 1.0;
    }
    let (own, hulls) = ((own / count).exp(), (hulls / count).exp());
    println!("{:28} {own:17.1} {hulls:13.1}", "geometric mean");
    assert!(own < hulls);
}
