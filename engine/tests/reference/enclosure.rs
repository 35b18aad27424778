//! Encirclement and the exit fort, by walking square by square.

use std::collections::HashSet;

use hnefi_engine::{Encirclement, Rules, ThroneHostileToDefenders};

use super::{DIRECTIONS, Grid, Place};

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
    let royal_corner = |place: Place| rules.corners && grid.is_corner(place);
    let mut safe: HashSet<Place> = grid.find("D").into_iter().collect();
    loop {
        let reached = walk(grid, &attackers, |place| place != king && !safe.contains(&place) && !royal_corner(place));
        if around_king.iter().any(|place| reached.contains(place)) {
            return false;
        }
        let occupied = |place: Place| reached.contains(&place) && !grid.is_throne(place);
        let throne_hostile = rules.throne_hostile_to_defenders == ThroneHostileToDefenders::WhenEmpty;
        let silent = |place: Place| royal_corner(place) || throne_hostile && grid.is_throne(place);
        let falls = |&(x, y): &Place| {
            [((x - 1, y), (x + 1, y)), ((x, y - 1), (x, y + 1))].into_iter().any(|(a, b)| {
                let (a_ok, b_ok) = (occupied(a) || silent(a), occupied(b) || silent(b));
                let both_need_men = occupied(a) && occupied(b);
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
            fallen = edge_rows(grid)
                .iter()
                .flat_map(|edge| wall_victims(edge, king, &safe, &occupied, &royal_corner))
                .collect();
        }
        if fallen.is_empty() {
            return true;
        }
        for place in fallen {
            safe.remove(&place);
        }
    }
}

/// The four edges, each as its squares in order with the square in front of each.
fn edge_rows(grid: &Grid) -> [Vec<(Place, Place)>; 4] {
    let last = grid.size() - 1;
    [
        (0..=last).map(|i| ((i, 0), (i, 1))).collect(),
        (0..=last).map(|i| ((i, last), (i, last - 1))).collect(),
        (0..=last).map(|i| ((0, i), (1, i))).collect(),
        (0..=last).map(|i| ((last, i), (last - 1, i))).collect(),
    ]
}

/// The men of whole rows on one edge that attackers could take by a shieldwall.
fn wall_victims(
    edge: &[(Place, Place)],
    king: Place,
    safe: &HashSet<Place>,
    occupied: &impl Fn(Place) -> bool,
    royal_corner: &impl Fn(Place) -> bool,
) -> Vec<Place> {
    let member = |place: Place| place == king || safe.contains(&place);
    let mut victims = Vec::new();
    for first in 0..edge.len() {
        for last in first + 1..edge.len() {
            let row = &edge[first..=last];
            let whole = row.iter().all(|&(place, _)| member(place));
            let Some(&(before, _)) = first.checked_sub(1).map(|index| &edge[index]) else { continue };
            let Some(&(after, _)) = edge.get(last + 1) else { continue };
            let maximal = !member(before) && !member(after);
            let closed = [before, after].into_iter().all(|end| occupied(end) || royal_corner(end));
            let new = occupied(before) || occupied(after);
            if whole && maximal && closed && new && row.iter().all(|&(_, front)| occupied(front)) {
                victims.extend(row.iter().map(|&(place, _)| place).filter(|&place| place != king));
            }
        }
    }
    victims
}
