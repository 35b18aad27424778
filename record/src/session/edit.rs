//! Places of the tree: going there, and what is done with them.

use super::{MOST_WORDS, Session, TreeError};
use crate::{LONGEST_COMMENT, Place, START, comment_text};

impl Session {
    /// Goes to a place of the tree, 0 for the start. The line stays where the place is on it, and else goes on as the
    /// main continuation does.
    ///
    /// # Errors
    /// When there is no such place.
    pub fn go_to_place(&mut self, place: u32) -> Result<(), TreeError> {
        self.known(place)?;
        let on_line = if place == START { Some(0) } else { self.line.iter().position(|&known| known == place) };
        let ply = match on_line {
            Some(before) => before + usize::from(place != START),
            None => {
                let path = self.tree.path(place);
                let common = path.iter().zip(&self.line).take_while(|(there, here)| there == here).count();
                if self.game.len() > common {
                    self.go_to(Some(common));
                }
                self.line = path;
                let ply = self.line.len();
                self.line.extend(self.tree.onward(place));
                ply
            }
        };
        self.step_to(ply);
        Ok(())
    }

    /// Goes back to where the line left the main line, and takes the main line again; false when it is there already.
    pub fn go_to_main(&mut self) -> bool {
        let place = self.place();
        let last = self.tree.path(place).into_iter().take_while(|&place| self.tree.is_main(place)).last();
        let last = last.unwrap_or(START);
        let (moved, ply) = (last != place, self.tree.path(last).len());
        if moved {
            self.go_to(Some(ply));
        }
        self.line.truncate(ply);
        self.line.extend(self.tree.onward(last));
        moved
    }

    fn known(&self, place: Place) -> Result<(), TreeError> {
        if self.tree.contains(place) { Ok(()) } else { Err(TreeError::NoSuchMove(place)) }
    }

    /// The same for a place with a move.
    fn known_move(&self, place: Place) -> Result<(), TreeError> {
        if place == START { Err(TreeError::Start) } else { self.known(place) }
    }

    /// Makes the variation of this place the first of its alternatives or, if `to_main`, the main line.
    ///
    /// # Errors
    /// When there is no such move.
    pub fn promote(&mut self, place: u32, to_main: bool) -> Result<(), TreeError> {
        self.known_move(place)?;
        let changed = if to_main { self.tree.make_main(place) } else { self.tree.promote(place) };
        self.tree_stamp += u64::from(changed);
        Ok(())
    }

    /// Removes a move with all that follows. When that is on the board the position before it comes there.
    ///
    /// # Errors
    /// When there is no such move.
    pub fn remove(&mut self, place: u32) -> Result<(), TreeError> {
        self.known_move(place)?;
        if let Some(before) = self.line.iter().position(|&known| known == place) {
            if self.game.len() > before {
                self.go_to(Some(before));
            }
            self.line.truncate(before);
        }
        self.tree.remove(place);
        let here = self.place();
        if !self.has_taken_back() {
            // What else was played here is ahead now.
            self.line.extend(self.tree.onward(here));
        }
        self.tree_stamp += 1;
        Ok(())
    }

    /// Says something of a place, in one line and without braces; an empty text removes what was said.
    ///
    /// # Errors
    /// When there is no such place, or too much is said.
    pub fn comment(&mut self, place: u32, text: &str) -> Result<(), TreeError> {
        self.known(place)?;
        let text = comment_text(text);
        let length = text.chars().count();
        if length > LONGEST_COMMENT {
            return Err(TreeError::LongComment(length));
        }
        let all = self.tree.words() - self.tree.node(place).comment.len() + text.len();
        if all > MOST_WORDS {
            return Err(TreeError::ManyComments(all));
        }
        self.tree.node_mut(place).comment = text;
        self.tree_stamp += 1;
        Ok(())
    }
}
