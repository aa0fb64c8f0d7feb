//! Corrections of clocks that do not run straight, bent so that no message arrives before it was sent.
//!
//! An estimate between its instants is a line, and the messages between them know nothing of that. Where one is inverted, both
//! its clocks get a knot at the instants of the message, moved toward each other within their guaranteed rows: since the
//! message is part of the guarantee, there is room.

use crate::correction::Correction;
use crate::error::ClockError;
use crate::interval::{Interval, IntervalRow};
use crate::link::Link;
use crate::uncertainty::Row;

/// Rounds of moving knots: messages of several links pull at one another.
const ROUNDS: usize = 8;

/// A correction bent so that it stays inside the rows, also between them.
pub(crate) fn inside(correction: &Correction, rows: &[Row]) -> Result<Correction, ClockError> {
    let guarantee = interval(rows)?;
    let within = |(raw, time): (i64, i64)| {
        let (lo, hi, _) = guarantee.at(raw).unwrap_or((time, time, 0));
        let limit = crate::MAX_ABS_NS;
        (raw, time.clamp(lo, hi).clamp(-limit, limit))
    };
    let knots = correction.knots().iter().copied().map(within).collect::<Vec<_>>();
    let bent = monotone(knots, correction)?;
    // The lines between these knots are held against the rows.
    let outside = |row: &&Row| !(row.lo..=row.hi).contains(&bent.apply(row.raw));
    let moves: Vec<(i64, i64)> =
        rows.iter().filter(outside).map(|r| within((r.raw, bent.apply(r.raw)))).collect();
    if moves.is_empty() { Ok(bent) } else { through(&bent, moves) }
}

fn interval(rows: &[Row]) -> Result<Interval, ClockError> {
    let row = |r: &Row| IntervalRow { raw: r.raw, lo: r.lo, hi: r.hi, e95: 0 };
    Interval::new(rows.iter().map(row).collect())
}

fn monotone(mut knots: Vec<(i64, i64)>, like: &Correction) -> Result<Correction, ClockError> {
    for i in 1..knots.len() {
        knots[i].1 = knots[i].1.max(knots[i - 1].1);
    }
    Correction::new(knots, like.rate_before(), like.rate_after())
}

/// The corrections, bent. `rows` are the guarantees by clock.
pub(crate) fn uninverted(
    mut corrections: Vec<Correction>,
    rows: &[(usize, &[Row])],
    reference: usize,
    links: &[&Link],
) -> Result<Vec<Correction>, ClockError> {
    let mut guarantees: Vec<Option<Interval>> = vec![None; corrections.len()];
    for (clock, rows) in rows {
        guarantees[*clock] = Some(interval(rows)?);
    }
    for _ in 0..ROUNDS {
        // By clock: (raw time, where to).
        let mut moves: Vec<Vec<(i64, i64)>> = vec![Vec::new(); corrections.len()];
        for link in links {
            for (sender, sent, receiver, received) in link.messages() {
                let (departs, arrives) =
                    (corrections[sender].apply(sent), corrections[receiver].apply(received));
                // Beyond the range of times there can be no knot: such a message stays as it is.
                let in_range = |time: i64| (-crate::MAX_ABS_NS..=crate::MAX_ABS_NS).contains(&time);
                if departs <= arrives || !in_range(departs) || !in_range(arrives) {
                    continue;
                }
                let room = |clock: usize, raw: i64| {
                    guarantees[clock]
                        .as_ref()
                        .and_then(|i| i.at(raw))
                        .map_or((departs, departs), |(lo, hi, _)| (lo, hi))
                };
                // As early as the sender can be, as late as the receiver can be; where they meet.
                let earliest = if sender == reference { departs } else { room(sender, sent).0.min(departs) };
                let latest =
                    if receiver == reference { arrives } else { room(receiver, received).1.max(arrives) };
                let meeting = departs.midpoint(arrives).clamp(earliest.min(latest), latest.max(earliest));
                if sender != reference {
                    moves[sender].push((sent, meeting.min(departs)));
                }
                if receiver != reference {
                    moves[receiver].push((received, meeting.max(arrives)));
                }
            }
        }
        if moves.iter().all(Vec::is_empty) {
            break;
        }
        for (clock, moves) in moves.into_iter().enumerate().filter(|(_, moves)| !moves.is_empty()) {
            corrections[clock] = through(&corrections[clock], moves)?;
        }
    }
    Ok(corrections)
}

/// A correction with more knots. Of two at one time the one that moves farther counts.
fn through(correction: &Correction, mut moves: Vec<(i64, i64)>) -> Result<Correction, ClockError> {
    let far = |&(raw, to): &(i64, i64)| (to as i128 - correction.apply(raw) as i128).unsigned_abs();
    moves.sort_by_key(|m| (m.0, std::cmp::Reverse(far(m))));
    moves.dedup_by_key(|m| m.0);
    let is_moved = |raw: i64| moves.binary_search_by_key(&raw, |m| m.0).is_ok();
    let mut knots: Vec<(i64, i64)> = correction.knots().iter().copied().filter(|k| !is_moved(k.0)).collect();
    knots.extend(&moves);
    knots.sort_unstable();
    // Clocks do not go back: what was moved to an earlier time takes all before it along, monotone() the others.
    let mut limit = i64::MAX;
    for knot in knots.iter_mut().rev() {
        if is_moved(knot.0) && knot.1 < correction.apply(knot.0) {
            limit = limit.min(knot.1);
        }
        knot.1 = knot.1.min(limit);
    }
    monotone(knots, correction)
}
