//! A game with what else was thought of, variations, comments and marks: as a list, and as a tree to walk through.

use std::collections::BTreeMap;

use hnefi_engine::{Ending, Game, Move, Ply};

use crate::{Chances, GameRecord, RecordError};

/// The longest comment, in characters.
pub const LONGEST_COMMENT: usize = 4_000;

/// The most marks of one move.
pub const MOST_NAGS: usize = 8;

/// A game with variations.
#[derive(Clone, Debug, PartialEq)]
pub struct GameTree {
    /// The game itself: rules, start, players, the main line and how it ended.
    pub record: GameRecord,
    /// What is said of the start.
    pub comment: String,
    /// All moves, each behind the one that it follows. Behind a move stands at once its first continuation with all
    /// that follows, then the others; so the first continuations from the start are the record's plies.
    pub moves: Vec<TreeMove>,
}

/// One move of a [`GameTree`].
#[derive(Clone, Debug, PartialEq)]
pub struct TreeMove {
    /// Place in the list of the move that it follows, `None` at the start.
    pub after: Option<usize>,
    /// The move.
    pub mv: Move,
    /// What is said of it, see [`comment_text`]; may be empty.
    pub comment: String,
    /// Marks by their numbers in PGN: 1 is `!`, 2 is `?`, and so on.
    pub nags: Vec<u8>,
}

impl TreeMove {
    /// A move without words.
    pub fn new(after: Option<usize>, mv: Move) -> TreeMove {
        TreeMove { after, mv, comment: String::new(), nags: Vec::new() }
    }
}

impl From<GameRecord> for GameTree {
    fn from(record: GameRecord) -> GameTree {
        let moves = line(&record);
        GameTree { record, comment: String::new(), moves }
    }
}

/// The moves of a record.
pub(crate) fn line(record: &GameRecord) -> Vec<TreeMove> {
    let mv = |(index, mv): (usize, Move)| TreeMove::new(index.checked_sub(1), mv);
    record.plies.iter().map(|ply| ply.mv).enumerate().map(mv).collect()
}

/// Names a place in a tree: the position after a move. Removed places' numbers are not given again.
pub type Place = u32;

/// The place before the first move.
pub const START: Place = 0;

/// A position and the move that led to it.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The move, none at the start.
    pub ply: Option<Ply>,
    /// The place before; of the start itself.
    pub parent: Place,
    /// What follows, the main continuation first.
    pub children: Vec<Place>,
    /// How the position is seen, and the playouts behind it.
    pub view: Option<(Chances, u32)>,
    /// What is said of it.
    pub comment: String,
    /// Marks by their numbers in PGN.
    pub nags: Vec<u8>,
    /// How the game ended here.
    pub ending: Option<Ending>,
}

/// All moves.
#[derive(Clone, Debug)]
pub struct MoveTree {
    nodes: BTreeMap<Place, Node>,
    next: Place,
}

impl MoveTree {
    pub(crate) fn new() -> MoveTree {
        MoveTree { nodes: BTreeMap::from([(START, Node::default())]), next: START + 1 }
    }

    /// The moves of a [`GameTree`]: what is played in it, and what is said.
    ///
    /// # Errors
    /// When a move is illegal, stands in the wrong place, or the first continuations are not the record's plies.
    pub(crate) fn of(record: &GameRecord, comment: &str, moves: &[TreeMove]) -> Result<MoveTree, RecordError> {
        let mut game = Game::from_position(record.start_position()?);
        let mut tree = MoveTree::new();
        tree.node_mut(START).comment = comment_text(comment);
        // The places of the moves, and those on the way to the one that was played last.
        let (mut places, mut path): (Vec<Place>, Vec<Place>) = (Vec::with_capacity(moves.len()), Vec::new());
        for (index, mv) in moves.iter().enumerate() {
            let bad = |problem: String| record.inconsistent(format!("move {} of the tree", index + 1), problem);
            let out_of_order =
                |after| bad(format!("it follows move {}; expected one on the way to the move before", after + 1));
            let depth = mv.after.map_or(Ok(0), |after| {
                let depth = places.get(after).and_then(|place| path.iter().rposition(|on_path| on_path == place));
                depth.map(|depth| depth + 1).ok_or_else(|| out_of_order(after))
            })?;
            while path.len() > depth {
                path.pop();
                game.undo();
            }
            let ply = *game.play(mv.mv).map_err(|illegal| bad(illegal.to_string()))?;
            let before = path.last().copied().unwrap_or(START);
            let place = tree.child_or_add(before, ply, game.ending());
            let node = tree.node_mut(place);
            (node.comment, node.nags) = (comment_text(&mv.comment), mv.nags.clone());
            places.push(place);
            path.push(place);
        }
        let main = tree.onward(START).filter_map(|place| tree.node(place).ply).map(|ply| ply.mv);
        if record.plies.iter().map(|ply| ply.mv).ne(main) {
            return Err(record.inconsistent("the tree".to_owned(), "its main line is not the game".to_owned()));
        }
        Ok(tree)
    }

    /// All moves, in the order of a [`GameTree`].
    pub(crate) fn moves(&self) -> Vec<TreeMove> {
        let mut moves = Vec::with_capacity(self.len());
        let mut rest = vec![(START, None)];
        while let Some((place, after)) = rest.pop() {
            let Node { ply, comment, nags, children, .. } = self.node(place);
            if let Some(ply) = ply {
                moves.push(TreeMove { after, mv: ply.mv, comment: comment.clone(), nags: nags.clone() });
            }
            let last = moves.len().checked_sub(1);
            rest.extend(children.iter().rev().map(|&child| (child, last)));
        }
        moves
    }

    /// Moves in the tree.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks whether nothing was played")]
    pub fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    pub(crate) fn contains(&self, place: Place) -> bool {
        self.nodes.contains_key(&place)
    }

    /// The node of a place that is in the tree.
    pub fn node(&self, place: Place) -> &Node {
        &self.nodes[&place]
    }

    pub(crate) fn node_mut(&mut self, place: Place) -> &mut Node {
        self.nodes.get_mut(&place).expect("the place is in the tree")
    }

    /// The place that a move leads to, if it was made before.
    pub(crate) fn child(&self, parent: Place, mv: Move) -> Option<Place> {
        let leads = |place: &Place| self.node(*place).ply.is_some_and(|ply| ply.mv == mv);
        self.node(parent).children.iter().copied().find(leads)
    }

    /// The place that a move leads to: a new one, behind earlier ones from here, unless it was made before.
    pub(crate) fn child_or_add(&mut self, parent: Place, ply: Ply, ending: Option<Ending>) -> Place {
        if let Some(known) = self.child(parent, ply.mv) {
            return known;
        }
        let place = self.next;
        self.next += 1;
        self.nodes.insert(place, Node { ply: Some(ply), parent, ending, ..Node::default() });
        self.node_mut(parent).children.push(place);
        place
    }

    /// The places from the first move to this one.
    pub fn path(&self, place: Place) -> Vec<Place> {
        let mut path = Vec::new();
        let mut at = place;
        while at != START {
            path.push(at);
            at = self.node(at).parent;
        }
        path.reverse();
        path
    }

    /// The main continuation behind a place.
    pub fn onward(&self, place: Place) -> impl Iterator<Item = Place> + '_ {
        let next = |place: Place| self.node(place).children.first().copied();
        std::iter::successors(next(place), move |&place| next(place))
    }

    /// Whether a place is on the main line.
    pub fn is_main(&self, place: Place) -> bool {
        place == START || self.branch(place).is_none()
    }

    /// The last place on the way here that is not its parent's main continuation.
    fn branch(&self, place: Place) -> Option<Place> {
        let mut at = place;
        while at != START {
            let parent = self.node(at).parent;
            if self.node(parent).children.first() != Some(&at) {
                return Some(at);
            }
            at = parent;
        }
        None
    }

    /// Makes the variation that this place belongs to the first of its alternatives; false when it is on the main line.
    pub(crate) fn promote(&mut self, place: Place) -> bool {
        self.branch(place).map(|branch| self.prefer(branch)).is_some()
    }

    /// Makes a place the main continuation of the one before.
    pub(crate) fn prefer(&mut self, place: Place) {
        let parent = self.node(place).parent;
        self.node_mut(parent).children.sort_by_key(|&child| child != place);
    }

    /// Makes the way to this place the main line.
    pub(crate) fn make_main(&mut self, place: Place) -> bool {
        let mut changed = false;
        while self.promote(place) {
            changed = true;
        }
        changed
    }

    /// Removes a place other than the start, with all that follows.
    pub(crate) fn remove(&mut self, place: Place) {
        let parent = self.node(place).parent;
        self.node_mut(parent).children.retain(|&child| child != place);
        let mut rest = vec![place];
        while let Some(place) = rest.pop() {
            rest.extend(self.nodes.remove(&place).map(|node| node.children).unwrap_or_default());
        }
    }

    /// All places but the start: behind each at once its main continuation with all that follows, then the others.
    pub fn in_order(&self) -> Vec<Place> {
        let mut order = Vec::with_capacity(self.len());
        let mut rest = vec![START];
        while let Some(place) = rest.pop() {
            if place != START {
                order.push(place);
            }
            rest.extend(self.node(place).children.iter().rev());
        }
        order
    }

    /// Bytes of all comments.
    pub(crate) fn words(&self) -> usize {
        self.nodes.values().map(|node| node.comment.len()).sum()
    }
}

/// A comment as a game's text can hold it: in one line, without braces.
pub fn comment_text(text: &str) -> String {
    let bare: String = text
        .chars()
        .map(|c| match c {
            '{' => '(',
            '}' => ')',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect();
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}
