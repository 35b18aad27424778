//! Encirclement and the exit fort, by walking square by square.

use std::collections::HashSet;

use hnefi_engine::{Encirclement, Piece, Rules};

use super::{DIRECTIONS, Grid, Place, is_wall_end};

/// Every square that can be walked to from `start` over squares that `open` allows.
fn walk(grid: &Grid, start: &[Place], open: impl Fn(Place) -> bool) -> HashSet<Place> {
    let mut seen: HashSet<Place> = start.iter().copied().collect();
    let mut todo = start.to_vec();
    while let Some(here) = todo.pop() {
        for next in neighbours(grid, here) {
            if open(next) && seen.insert(next) {
                todo.push(next);
            }
        }
    }
    seen
}

fn neighbours(grid: &Grid, (x, y): Place) -> Vec<Place> {
    DIRECTIONS.iter().map(|&(dx, dy)| (x + dx, y + dy)).filter(|&place| grid.on_board(place)).collect()
}

/// No defender walks to the edge over squares not held by attackers.
pub fn is_encircled(rules: &Rules, grid: &Grid) -> bool {
    let free = |place: Place| grid.at(place) != 'A';
    let inside = grid.find("DK");
    let all_shut_in = inside.iter().all(|&man| !walk(grid, &[man], free).into_iter().any(|place| grid.is_edge(place)));
    match rules.encirclement {
        Encirclement::Off => false,
        Encirclement::AnyPocket => all_shut_in,
        Encirclement::SingleRegion => {
            let region = walk(grid, &inside[..1], free);
            all_shut_in && inside.iter().all(|man| region.contains(man))
        }
    }
}

/// Semantics 6 of the rules text, without its cheap first test.
pub fn is_exit_fort(rules: &Rules, grid: &Grid) -> bool {
    let king = grid.find("K")[0];
    let around_king = neighbours(grid, king);
    if !grid.is_edge(king) || grid.is_corner(king) || !around_king.iter().any(|&place| grid.at(place) == '.') {
        return false;
    }
    let attackers = grid.find("A");
    let attackers_stop =
        |place| grid.special(rules, place).is_none_or(|(_, special)| special.stop.contains(Piece::Attacker));
    let attackers_walk = |place| {
        attackers_stop(place)
            || grid.special(rules, place).is_none_or(|(_, special)| special.pass.contains(Piece::Attacker))
    };
    let mut safe: HashSet<Place> = grid.find("D").into_iter().collect();
    loop {
        let reached = walk(grid, &attackers, |place| place != king && !safe.contains(&place) && attackers_walk(place));
        if around_king.iter().any(|place| reached.contains(place)) {
            return false;
        }
        let occupied = |place: Place| reached.contains(&place) && (attackers_stop(place) || attackers.contains(&place));
        let hostile_by_itself = |place: Place| {
            let held = place == king || safe.contains(&place);
            grid.special(rules, place).is_some_and(|(_, special)| {
                if held { special.hostile_occupied } else { special.hostile_empty }.contains(Piece::Defender)
            })
        };
        let falls = |&(x, y): &Place| {
            [((x - 1, y), (x + 1, y)), ((x, y - 1), (x, y + 1))].into_iter().any(|(a, b)| {
                let (a_ok, b_ok) = (occupied(a) || hostile_by_itself(a), occupied(b) || hostile_by_itself(b));
                let both_need_men = occupied(a) && occupied(b) && !hostile_by_itself(a) && !hostile_by_itself(b);
                grid.on_board(a)
                    && grid.on_board(b)
                    && a_ok
                    && b_ok
                    && (occupied(a) || occupied(b))
                    && (!both_need_men || attackers.len() >= 2)
            })
        };
        let mut fallen: Vec<Place> = safe.iter().copied().filter(falls).collect();
        if fallen.is_empty() && rules.shieldwall {
            let end = |place: Place| is_wall_end(rules, grid, place);
            let member = |place: Place| (place == king || safe.contains(&place)) && !end(place);
            for row in rows(grid, member) {
                let closed = row.ends.iter().all(|&place| grid.on_board(place) && (occupied(place) || end(place)));
                let new = row.ends.iter().any(|&place| occupied(place));
                if closed && new && row.fronts.iter().all(|&front| occupied(front)) {
                    fallen.extend(row.members.into_iter().filter(|&place| place != king));
                }
            }
        }
        if fallen.is_empty() {
            return true;
        }
        for place in fallen {
            safe.remove(&place);
        }
    }
}

/// A row of men along an edge.
pub struct Row {
    pub members: Vec<Place>,
    /// The squares in front of them.
    pub fronts: Vec<Place>,
    /// The squares before the first and after the last, maybe off the board.
    pub ends: [Place; 2],
}

/// The longest rows of at least two members on each of the four edges.
pub fn rows(grid: &Grid, member: impl Fn(Place) -> bool) -> Vec<Row> {
    let last = grid.size() - 1;
    let mut found = Vec::new();
    // A corner of each edge, the way along it and the way inwards.
    for (start, along, inward) in
        [((0, 0), (1, 0), (0, 1)), ((0, last), (1, 0), (0, -1)), ((0, 0), (0, 1), (1, 0)), ((last, 0), (0, 1), (-1, 0))]
    {
        let at = |i: i32| (start.0 + i * along.0, start.1 + i * along.1);
        let is_member = |i: i32| (0..=last).contains(&i) && member(at(i));
        for first in (0..=last).filter(|&i| is_member(i) && !is_member(i - 1)) {
            let after = (first..=last + 1).find(|&i| !is_member(i)).unwrap();
            if after - first >= 2 {
                let members: Vec<Place> = (first..after).map(at).collect();
                let fronts = members.iter().map(|&(x, y)| (x + inward.0, y + inward.1)).collect();
                found.push(Row { members, fronts, ends: [at(first - 1), at(after)] });
            }
        }
    }
    found
}
