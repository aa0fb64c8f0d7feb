//! What `-h` shows: of each option its first sentence, of the text behind them the first examples, and no
//! options for other programs and for clusters. `--help` has all of it.

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// Text of an option that is not longer than this is shown as it is.
const MAX_TEXT: usize = 76;
/// What is shorter says too little: `With --count:`.
const MIN_TEXT: usize = 24;
/// Number of examples.
const MAX_EXAMPLES: usize = 4;
/// Headings of options that few commands need.
const LEFT_OUT: [&str; 2] = ["LAMI", "Cluster"];

/// The command line with short texts for `-h`.
pub(super) fn shorten(command: Command) -> Command {
    let command = match command.get_after_help().map(ToString::to_string) {
        Some(text) => match first_examples(&text) {
            Some(short) => command.after_long_help(text).after_help(short),
            None => command,
        },
        None => command,
    };
    command.mut_args(shorten_argument).mut_subcommands(shorten)
}

fn shorten_argument(argument: Arg) -> Arg {
    let is_left_out = argument.get_help_heading().is_some_and(|heading| LEFT_OUT.contains(&heading));
    let argument = if is_left_out { argument.hide_short_help(true) } else { argument };
    let Some(help) = argument.get_help().map(ToString::to_string) else { return argument };
    let Some(short) = first_sentence(&help) else { return argument };
    let long = argument.get_long_help().cloned().unwrap_or_else(|| StyledStr::from(help));
    argument.help(short).long_help(long)
}

/// The first sentence of a text, and the default value at its end; `None`: the text is short.
fn first_sentence(text: &str) -> Option<String> {
    let (sentences, default) = match text.rfind(" [default: ").filter(|_| text.ends_with(']')) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    if text.chars().count() <= MAX_TEXT {
        return None;
    }
    let end = end_of(sentences, &[". ", "; ", ": "])
        .filter(|&end| sentences[..end].chars().count() <= MAX_TEXT)
        .or_else(|| end_of(sentences, &[". ", "; ", ": ", " ("]))?;
    Some(format!("{}{default}", &sentences[..end]))
}

/// Where the first of such ends is that is not in a quotation or in brackets.
fn end_of(text: &str, ends: &[&str]) -> Option<usize> {
    let is_quoted = |at: usize| {
        let before = &text[..at];
        before.matches('`').count() % 2 == 1 || before.matches('[').count() > before.matches(']').count()
    };
    text.char_indices()
        .map(|(at, _)| at)
        .find(|&at| at >= MIN_TEXT && ends.iter().any(|end| text[at..].starts_with(end)) && !is_quoted(at))
}

/// The first paragraphs of a text up to its first examples; `None`: there is no more.
fn first_examples(text: &str) -> Option<String> {
    let paragraphs: Vec<&str> = text.split("\n\n").collect();
    let examples = paragraphs.iter().position(|paragraph| paragraph.starts_with("Example"))?;
    let mut kept: Vec<String> =
        paragraphs[..examples].iter().map(|paragraph| (*paragraph).to_owned()).collect();
    let lines = paragraphs[examples].lines().take(1 + MAX_EXAMPLES);
    kept.push(lines.collect::<Vec<_>>().join("\n"));
    let short = kept.join("\n\n");
    (short.len() < text.len()).then_some(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_sentences() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(first_sentence(text).as_deref(), expect);
        check("Only these CPUs: 2, or 0-3,8", None);
        check(
            "Show at most N rows of each table; 0: all [default: as text, 10 of the tables that start \
             with the greatest]",
            Some(
                "Show at most N rows of each table [default: as text, 10 of the tables that start with \
                 the greatest]",
            ),
        );
        check(
            "Only within periods, and by period: `[NAME[(PARENT)]] : BEGIN [: END]`, with expressions as \
             those of events",
            Some("Only within periods, and by period"),
        );
        check(
            "A directory below which viewers may open more traces [default: none]: it needs a token, \
             as is printed",
            Some("A directory below which viewers may open more traces [default: none]"),
        );
        check(
            "With --count: by these fields, named as in --where; `$host`, `$event` and `$cpu` may be too",
            Some("With --count: by these fields, named as in --where"),
        );
        check(
            "With `a: b` and whatever else is in a text of one sentence that is so long that there is \
             no room for it",
            None,
        );
    }

    #[test]
    fn examples_come_first() {
        let text = "Lists:\n  a\n\nExamples:\n  1\n  2\n  3\n  4\n  5\n\nMore.";
        assert_eq!(first_examples(text).as_deref(), Some("Lists:\n  a\n\nExamples:\n  1\n  2\n  3\n  4"));
        assert_eq!(first_examples("Examples:\n  1"), None);
        assert_eq!(first_examples("Nothing."), None);
    }
}
