//! A second engine, as plain and slow as can be: a grid of letters, rules read straight off the rules text, no
//! tables, no hashes, no incremental state. It shares no code with the engine it checks, only the option types.

mod enclosure;

use hnefi_engine::{
    KingArmed, KingCapture, KingOnEdge, NoLegalMove, Outcome, Piece, Reason, Repetition, RepetitionCompares, Rules,
    Side, Special, Square,
};

/// File and rank, both from 0.
pub type Place = (i32, i32);

pub const DIRECTIONS: [Place; 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];

/// `A`, `D`, `K` or `.` for each square, by rank and file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    cells: Vec<Vec<char>>,
}

impl Grid {
    pub fn size(&self) -> i32 {
        self.cells.len() as i32
    }

    /// The letter on a square, a blank beyond the board.
    pub fn at(&self, (x, y): Place) -> char {
        if self.on_board((x, y)) { self.cells[y as usize][x as usize] } else { ' ' }
    }

    pub fn set(&mut self, (x, y): Place, letter: char) {
        self.cells[y as usize][x as usize] = letter;
    }

    pub fn on_board(&self, (x, y): Place) -> bool {
        (0..self.size()).contains(&x) && (0..self.size()).contains(&y)
    }

    pub fn places(&self) -> Vec<Place> {
        (0..self.size()).flat_map(|y| (0..self.size()).map(move |x| (x, y))).collect()
    }

    pub fn find(&self, letters: &str) -> Vec<Place> {
        self.places().into_iter().filter(|&place| letters.contains(self.at(place))).collect()
    }

    pub fn is_corner(&self, (x, y): Place) -> bool {
        let last = self.size() - 1;
        (x == 0 || x == last) && (y == 0 || y == last)
    }

    /// The number of the kind of special square, and what it does; nothing on an ordinary one.
    pub fn special(&self, rules: &Rules, (x, y): Place) -> Option<(usize, Special)> {
        let square = Square::new((y * self.size() + x) as usize);
        if !self.on_board((x, y)) {
            return None;
        }
        let kinds = [
            (rules.marks.throne(), rules.throne),
            (rules.marks.corners(), rules.corners),
            (rules.marks.attacker_forts(), rules.attacker_forts),
            (rules.marks.defender_forts(), rules.defender_forts),
        ];
        let kind = kinds.iter().position(|(squares, _)| squares.contains(square))?;
        Some((kind, kinds[kind].1))
    }

    pub fn is_throne(&self, rules: &Rules, place: Place) -> bool {
        matches!(self.special(rules, place), Some((0, _)))
    }

    /// Whether a square is by itself hostile to a piece.
    pub fn is_hostile(&self, rules: &Rules, place: Place, piece: Piece) -> bool {
        self.special(rules, place).is_some_and(|(_, special)| {
            if self.at(place) == '.' { special.hostile_empty } else { special.hostile_occupied }.contains(piece)
        })
    }

    pub fn is_edge(&self, (x, y): Place) -> bool {
        let last = self.size() - 1;
        x == 0 || x == last || y == 0 || y == last
    }
}

/// A position after which move of which side, none for the first.
#[derive(Clone)]
struct Past {
    grid: Grid,
    mover: Option<Side>,
    to_move: Side,
}

#[derive(Clone)]
pub struct Reference {
    pub rules: Rules,
    pub grid: Grid,
    pub to_move: Side,
    pub ply: u32,
    pub outcome: Option<Outcome>,
    /// Positions since the last capture, the present one last.
    past: Vec<Past>,
}

impl Reference {
    /// Begins a game on the board part of a FEN.
    pub fn new(rules: &Rules, fen: &str) -> Reference {
        let (rows, side) = fen.split_once(' ').unwrap();
        let mut cells: Vec<Vec<char>> = Vec::new();
        for row in rows.split('/') {
            let mut line = Vec::new();
            let mut empty = 0;
            for letter in row.chars() {
                if let Some(digit) = letter.to_digit(10) {
                    empty = 10 * empty + digit as usize;
                    continue;
                }
                line.extend(vec!['.'; std::mem::take(&mut empty)]);
                line.push(letter.to_ascii_uppercase());
            }
            line.extend(vec!['.'; empty]);
            cells.insert(0, line);
        }
        let grid = Grid { cells };
        let to_move = if side == "a" { Side::Attackers } else { Side::Defenders };
        let past = vec![Past { grid: grid.clone(), mover: None, to_move }];
        let mut game = Reference { rules: *rules, grid, to_move, ply: 0, outcome: None, past };
        if game.goals().iter().any(|&goal| game.grid.at(goal) == 'K') {
            game.outcome = Some(win(Side::Defenders, Reason::KingEscaped));
        } else {
            game.outcome = game.no_moves();
        }
        game
    }

    pub fn since_capture(&self) -> u32 {
        self.past.len() as u32 - 1
    }

    /// How often the present position has stood since the last capture.
    pub fn occurrences(&self) -> usize {
        self.past.iter().filter(|past| self.same(past, &self.grid, self.to_move)).count()
    }

    fn same(&self, past: &Past, grid: &Grid, to_move: Side) -> bool {
        past.grid == *grid
            && (self.rules.repetition_compares == RepetitionCompares::BoardAlone || past.to_move == to_move)
    }

    /// Legal moves, sorted by origin and destination read rank by rank.
    pub fn legal_moves(&self) -> Vec<(Place, Place)> {
        if self.outcome.is_some() {
            return Vec::new();
        }
        self.possible_moves().into_iter().filter(|&mv| !self.is_forbidden_repetition(mv)).collect()
    }

    /// Moves that only repetition may still forbid.
    fn possible_moves(&self) -> Vec<(Place, Place)> {
        let mut moves = Vec::new();
        for from in self.grid.find(if self.to_move == Side::Attackers { "A" } else { "DK" }) {
            for direction in DIRECTIONS {
                moves.extend(self.walk(from, direction).into_iter().map(|to| (from, to)));
            }
        }
        moves.sort_by_key(|&((fx, fy), (tx, ty))| (fy, fx, ty, tx));
        moves
    }

    /// Where a piece can stop in one direction.
    fn walk(&self, from: Place, (dx, dy): Place) -> Vec<Place> {
        let (piece, limit) = match self.grid.at(from) {
            'A' => (Piece::Attacker, self.rules.speed.attackers),
            'D' => (Piece::Defender, self.rules.speed.defenders),
            _ => (Piece::King, self.rules.speed.king),
        };
        let kind = |place| self.grid.special(&self.rules, place).map(|(kind, _)| kind);
        let mut stops = Vec::new();
        let mut here = (from.0 + dx, from.1 + dy);
        while self.grid.at(here) == '.' && (limit == 0 || stops_within(from, here, limit)) {
            let (mut may_stop, mut may_pass) = (true, true);
            if let Some((_, special)) = self.grid.special(&self.rules, here) {
                let may_enter = special.enter.contains(piece) || kind(from) == kind(here);
                may_stop = may_enter && special.stop.contains(piece);
                may_pass = may_enter && special.pass.contains(piece);
            }
            if may_stop {
                stops.push(here);
            }
            if !may_pass {
                break;
            }
            here = (here.0 + dx, here.1 + dy);
        }
        stops
    }

    fn is_forbidden_repetition(&self, mv: (Place, Place)) -> bool {
        if self.rules.repetition != Repetition::DefendersMayNot || self.to_move != Side::Defenders {
            return false;
        }
        let mut grid = self.grid.clone();
        move_piece(&mut grid, mv);
        if !self.captures(&grid, mv.1).is_empty() {
            return false;
        }
        let earlier = self.past.iter().filter(|past| self.same(past, &grid, Side::Attackers)).count();
        earlier + 1 >= usize::from(self.rules.repetition_occurrence)
    }

    /// Plays a legal move and returns what it captured.
    pub fn play(&mut self, mv: (Place, Place)) -> Vec<Place> {
        let mover = self.to_move;
        let king_moved = self.grid.at(mv.0) == 'K';
        move_piece(&mut self.grid, mv);
        let captured = self.captures(&self.grid, mv.1);
        let king_captured = captured.iter().any(|&place| self.grid.at(place) == 'K');
        for &place in &captured {
            self.grid.set(place, '.');
        }
        self.to_move = mover.opponent();
        self.ply += 1;
        if !captured.is_empty() {
            self.past.clear();
        }
        self.past.push(Past { grid: self.grid.clone(), mover: Some(mover), to_move: self.to_move });
        let escaped = king_moved && self.goals().contains(&mv.1);
        self.outcome = self.judge(mover, king_captured, escaped);
        captured
    }

    /// The outcome after a move, in the order of the rules.
    fn judge(&self, mover: Side, king_captured: bool, escaped: bool) -> Option<Outcome> {
        let rules = &self.rules;
        if king_captured {
            return Some(win(Side::Attackers, Reason::KingCaptured));
        }
        if escaped {
            return Some(win(Side::Defenders, Reason::KingEscaped));
        }
        if mover == Side::Defenders && rules.exit_fort && enclosure::is_exit_fort(rules, &self.grid) {
            return Some(win(Side::Defenders, Reason::ExitFort));
        }
        if mover == Side::Attackers && enclosure::is_encircled(rules, &self.grid) {
            return Some(win(Side::Attackers, Reason::Encirclement));
        }
        if self.occurrences() >= usize::from(rules.repetition_occurrence) {
            match rules.repetition {
                Repetition::Ignore | Repetition::DefendersMayNot => {}
                Repetition::Draw => return Some(Outcome::Draw { reason: Reason::Repetition }),
                Repetition::DefendersLose => return Some(win(Side::Attackers, Reason::Repetition)),
                Repetition::MoverLoses => return Some(win(mover.opponent(), Reason::Repetition)),
                Repetition::MoverWins => return Some(win(mover, Reason::Repetition)),
            }
        }
        if mover == Side::Defenders && rules.draw_fort_occurrence > 0 && self.grid.find("D").len() >= 4 {
            let stood = self.past.iter().filter(|past| past.mover == Some(Side::Defenders));
            let alike = stood.filter(|past| {
                past.grid.find("D") == self.grid.find("D") && past.grid.find("K") == self.grid.find("K")
            });
            if alike.count() >= usize::from(rules.draw_fort_occurrence) {
                return Some(win(Side::Attackers, Reason::DrawFort));
            }
        }
        if let Some(outcome) = self.no_moves() {
            return Some(outcome);
        }
        if rules.no_capture_draw_plies > 0 && self.since_capture() >= u32::from(rules.no_capture_draw_plies) {
            return Some(Outcome::Draw { reason: Reason::NoCapture });
        }
        if rules.ply_cap > 0 && self.ply >= u32::from(rules.ply_cap) {
            return Some(Outcome::Draw { reason: Reason::PlyCap });
        }
        None
    }

    /// The outcome if the side to move cannot move. Defenders who could, but for repetition, lose in any case.
    fn no_moves(&self) -> Option<Outcome> {
        let possible = self.possible_moves();
        if possible.is_empty() && self.rules.no_legal_move == NoLegalMove::Draw {
            Some(Outcome::Draw { reason: Reason::NoMoves })
        } else if possible.into_iter().all(|mv| self.is_forbidden_repetition(mv)) {
            Some(win(self.to_move.opponent(), Reason::NoMoves))
        } else {
            None
        }
    }

    fn goals(&self) -> Vec<Place> {
        let edge = self.rules.escape == hnefi_engine::Escape::Edge;
        let corner = |place| matches!(self.grid.special(&self.rules, place), Some((1, _)));
        let places = self.grid.places().into_iter();
        places.filter(|&place| if edge { self.grid.is_edge(place) } else { corner(place) }).collect()
    }

    /// What the piece that has just arrived on `to` captures; `grid` is the board after its move.
    fn captures(&self, grid: &Grid, to: Place) -> Vec<Place> {
        let mover = grid.at(to);
        let mut captured = Vec::new();
        for (dx, dy) in DIRECTIONS {
            let victim = (to.0 + dx, to.1 + dy);
            let beyond = (to.0 + 2 * dx, to.1 + 2 * dy);
            let falls = match (mover, grid.at(victim)) {
                ('A', 'D') => self.hostile_to_defender(grid, victim, beyond),
                ('A', 'K') => self.king_falls(grid, victim, beyond),
                ('D', 'A') => self.hostile_to_attacker(grid, beyond),
                ('K', 'A') => self.king_strikes() && self.hostile_to_attacker(grid, beyond),
                _ => false,
            };
            if falls {
                captured.push(victim);
            }
        }
        if self.rules.shieldwall {
            for place in self.shieldwall(grid, to) {
                if !captured.contains(&place) && grid.at(place) != 'K' {
                    captured.push(place);
                }
            }
        }
        captured
    }

    fn king_strikes(&self) -> bool {
        matches!(self.rules.king_armed, KingArmed::Armed | KingArmed::HammerOnly)
    }

    fn king_backs(&self) -> bool {
        matches!(self.rules.king_armed, KingArmed::Armed | KingArmed::AnvilOnly)
    }

    fn hostile_to_defender(&self, grid: &Grid, victim: Place, beyond: Place) -> bool {
        if grid.at(beyond) == 'A' || grid.is_hostile(&self.rules, beyond, Piece::Defender) {
            return true;
        }
        // Linnaeus: the king sits on a throne, and all his neighbours but the victim are attackers.
        self.rules.linnaean_capture
            && grid.at(beyond) == 'K'
            && grid.is_throne(&self.rules, beyond)
            && DIRECTIONS.iter().all(|&(dx, dy)| {
                let beside = (beyond.0 + dx, beyond.1 + dy);
                beside == victim || grid.at(beside) == 'A'
            })
    }

    fn hostile_to_attacker(&self, grid: &Grid, beyond: Place) -> bool {
        match grid.at(beyond) {
            'D' => true,
            'K' if self.king_backs() => true,
            _ => grid.is_hostile(&self.rules, beyond, Piece::Attacker),
        }
    }

    /// Whether the king falls to an attacker who has just arrived opposite `beyond`.
    fn king_falls(&self, grid: &Grid, king: Place, beyond: Place) -> bool {
        let beside: Vec<Place> = DIRECTIONS.iter().map(|&(dx, dy)| (king.0 + dx, king.1 + dy)).collect();
        let throne = |place| grid.is_throne(&self.rules, place);
        let strong = match self.rules.king_capture {
            KingCapture::Strong => true,
            KingCapture::StrongNearThrone => throne(king) || beside.iter().any(|&place| throne(place)),
            KingCapture::Weak => false,
        };
        let held = |place: Place| grid.at(place) == 'A' || grid.is_hostile(&self.rules, place, Piece::King);
        if !strong {
            return held(beyond);
        }
        if grid.is_edge(king) && self.rules.king_on_edge == KingOnEdge::Safe {
            return false;
        }
        beside.iter().all(|&place| !grid.on_board(place) || held(place))
    }

    /// The rows that the piece on `to` closes as a bracket.
    fn shieldwall(&self, grid: &Grid, to: Place) -> Vec<Place> {
        let (own, enemies) = match grid.at(to) {
            'A' => ("A", "DK"),
            _ if self.king_backs() => ("DK", "A"),
            _ => ("D", "A"),
        };
        let end = |place: Place| is_wall_end(&self.rules, grid, place);
        if grid.at(to) == 'K' && !self.king_strikes() || self.rules.shieldwall_flank && end(to) {
            return Vec::new();
        }
        if !self.rules.shieldwall_flank {
            let member = |place: Place| enemies.contains(grid.at(place)) && !end(place);
            let own = |place: Place| is_own(grid, own, place, to);
            let closed = enclosure::rows(grid, member).into_iter().filter(|row| {
                row.ends.iter().all(|&place| grid.on_board(place) && (own(place) || end(place)))
                    && row.fronts.iter().all(|&front| own(front))
            });
            return closed.flat_map(|row| row.members).collect();
        }
        let last = grid.size() - 1;
        let mut fallen = Vec::new();
        for (dx, dy) in DIRECTIONS {
            for (inward_x, inward_y) in DIRECTIONS {
                // An edge lies along the row and has nothing behind it.
                let behind = (to.0 - inward_x, to.1 - inward_y);
                if dx * inward_x + dy * inward_y != 0 || grid.on_board(behind) {
                    continue;
                }
                let mut row = Vec::new();
                let mut here = (to.0 + dx, to.1 + dy);
                while grid.on_board(here) && enemies.contains(grid.at(here)) && !end(here) {
                    let front = (here.0 + inward_x, here.1 + inward_y);
                    if !is_own(grid, own, front, to) {
                        break;
                    }
                    row.push(here);
                    here = (here.0 + dx, here.1 + dy);
                }
                let closed = end(here) || grid.on_board(here) && is_own(grid, own, here, to);
                assert!(row.len() <= last as usize + 1);
                if row.len() >= 2 && closed {
                    fallen.extend(row);
                }
            }
        }
        fallen
    }
}

/// Whether two squares on a line are no farther apart than this.
fn stops_within(from: Place, to: Place, limit: u8) -> bool {
    (from.0 - to.0).abs() + (from.1 - to.1).abs() <= i32::from(limit)
}

/// Whether a square closes a shieldwall as men do.
pub fn is_wall_end(rules: &Rules, grid: &Grid, place: Place) -> bool {
    rules.shieldwall_corners && matches!(grid.special(rules, place), Some((1, _)))
}

/// Whether a piece that can help stands there; the one that moved always can.
fn is_own(grid: &Grid, own: &str, place: Place, moved: Place) -> bool {
    place == moved || grid.on_board(place) && own.contains(grid.at(place))
}

fn move_piece(grid: &mut Grid, (from, to): (Place, Place)) {
    let letter = grid.at(from);
    grid.set(from, '.');
    grid.set(to, letter);
}

fn win(side: Side, reason: Reason) -> Outcome {
    Outcome::Win { side, reason }
}
