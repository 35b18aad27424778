//! The columns of the tables. Each is defined once: name, shape, meaning and what a row has in it.

use hnefi_engine::{BoardSize, MoveList, NamedRules, Position as Board, Reason, Square};
use hnefi_inference::{Features, GLOBALS, PLANES, PolicyIndex, Wdl, policy_planes};
use hnefi_record::{GameId, GameLine, RulesText, Step, end};
use hnefi_run::GameRecord;

use super::column::{RowColumn, Rows, column};
use super::parts::Entry;
use super::schema::Cell;
use super::{BoardColumns, PolicyColumns, SourceGame};
use crate::DataError;

/// `reason` as a number where a game ended by resignation; smaller numbers are the reasons of the rules in their order.
const RESIGNATION: u8 = Reason::ALL.len() as u8;

/// `rules` as a number where they are not published; smaller numbers are the published rulesets in their order.
const OWN_RULES: u8 = u8::MAX;

/// What names are stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    Texts,
    Numbers,
}

/// A row per ply.
pub(super) struct Positions;

/// One of them.
pub(super) struct Position<'a> {
    game: &'a SourceGame,
    id: GameId,
    index: usize,
    step: &'a Step<'a>,
    /// The game's last position.
    last: &'a Board,
    size: BoardSize,
    features: Features,
}

impl Rows for Positions {
    type Row<'a> = Position<'a>;

    fn each(entry: &Entry<'_>, visit: &mut dyn FnMut(&Position<'_>)) -> Result<(), DataError> {
        let (game, id, size) = (entry.game, entry.id, entry.game.record.rules.size());
        let last = &game.record.final_position()?;
        entry.walk(|index, step| {
            let features = Features::of(step.before, game.record.handicap);
            visit(&Position { game, id, index, step: &step, last, size, features });
        })
    }
}

impl Position<'_> {
    fn record(&self) -> &GameRecord {
        &self.game.record
    }

    /// The policy target as indices and weights.
    fn policy(&self) -> impl Iterator<Item = (usize, f32)> + '_ {
        self.step.ply.policy.iter().map(|&(mv, weight)| (PolicyIndex::of(mv, self.size).flat(self.size), weight))
    }

    /// Adds zeros for a dense policy, and returns them.
    fn dense<'v, T: Default + Clone>(&self, out: &'v mut Vec<T>) -> &'v mut [T] {
        let begin = out.len();
        out.resize(begin + policy_planes(self.size.side()) * self.size.squares(), T::default());
        &mut out[begin..]
    }
}

/// The columns of a table of positions, in order.
pub(super) fn positions(
    board: BoardColumns,
    policy: PolicyColumns,
    names: Names,
) -> Vec<Box<dyn RowColumn<Positions>>> {
    let texts = names == Names::Texts;
    let mut columns: Vec<Box<dyn RowColumn<Positions>>> = vec![
        match names {
            Names::Texts => column("game_id", Cell::One, GAME_ID, |row, out| out.push(row.id.to_string())),
            Names::Numbers => {
                let meaning = "identity of the game; `f\"{id:016x}\"` is its name in other formats";
                column("game_id", Cell::One, meaning, |row, out| out.push(row.id.number()))
            }
        },
        column("game", Cell::One, GAME, |row, out| out.push(row.record().game)),
        match names {
            Names::Texts => {
                column("generation", Cell::Optional, GENERATION, |row, out| out.extend(row.game.generation))
            }
            Names::Numbers => {
                column("generation", Cell::One, "generation of the run, -1 where there is none", |row, out| {
                    out.push(row.game.generation.and_then(|number| i32::try_from(number).ok()).unwrap_or(-1));
                })
            }
        },
        column("ply", Cell::One, "ply in the game, from 0", |row, out| out.push(row.index as u32)),
        match names {
            Names::Texts => column("rules", Cell::One, RULES, |row, out| {
                out.push(RulesText::of(&row.record().rules).name().to_owned())
            }),
            Names::Numbers => column("rules", Cell::One, "the ruleset, numbered as in docs/DATASETS.md", |row, out| {
                let place = NamedRules::published().position(|known| known.covers(&row.record().rules));
                out.push(place.and_then(|place| u8::try_from(place).ok()).unwrap_or(OWN_RULES));
            }),
        },
    ];
    if texts {
        columns.push(column("side", Cell::One, "side to move: `attackers` or `defenders`", |row, out| {
            out.push(row.step.before.side_to_move().to_string());
        }));
        columns.push(column("fen", Cell::One, "the position: rows from the top and the side to move", |row, out| {
            out.push(row.step.before.fen());
        }));
    }
    let meaning = "hash of board and side to move, the same for all eight images of a position";
    columns.push(column("position_hash", Cell::One, meaning, |row, out| {
        out.push(row.step.before.hash_up_to_symmetry());
    }));
    columns.push(match board {
        BoardColumns::Planes => {
            let meaning = "the network's input planes, 32 x N x N, each value 0 or 1";
            column("planes", Cell::PerSquare(PLANES), meaning, |row, out| {
                for plane in row.features.planes {
                    out.extend((0..row.size.squares()).map(|square| u8::from(plane.contains(Square::new(square)))));
                }
            })
        }
        BoardColumns::Compact => {
            let meaning = "N x N contents: 0 empty, 1 attacker, 2 defender, 3 king";
            column("board", Cell::PerSquare(1), meaning, |row, out| out.extend(contents(row.step.before)))
        }
    });
    let meaning = "the network's global input; entry 0 is 1 with the attackers to move";
    columns.push(column("globals", Cell::Fixed(GLOBALS), meaning, |row, out| out.extend(row.features.globals)));
    if texts {
        columns.push(column("move", Cell::One, "the move played, such as `a4b4`", |row, out| {
            out.push(row.step.ply.mv.text(row.size));
        }));
    }
    let meaning = "the move played, as an index into a flattened 4(N - 1) x N x N policy";
    columns.push(column("played", Cell::One, meaning, |row, out| {
        out.push(PolicyIndex::of(row.step.ply.mv, row.size).flat(row.size) as i32);
    }));
    match policy {
        PolicyColumns::Sparse => {
            let meaning = "policy target: indices into a flattened 4(N - 1) x N x N policy";
            columns.push(column("policy_index", Cell::List, meaning, |row, out| {
                out.extend(row.policy().map(|(index, _)| index as i32));
            }));
            let meaning = "policy target: their weights, which sum to 1, or none";
            columns.push(column("policy_weight", Cell::List, meaning, |row, out| {
                out.extend(row.policy().map(|(_, weight)| weight));
            }));
            let meaning = "the legal moves, as indices into a flattened 4(N - 1) x N x N policy";
            let name = if texts { "legal" } else { "legal_index" };
            columns.push(column(name, Cell::List, meaning, |row, out| {
                out.extend(legal_indices(row.step.before).map(|index| index as i32));
            }));
        }
        PolicyColumns::Dense => {
            let meaning = "policy target, 4(N - 1) x N x N weights that sum to 1, or all 0";
            columns.push(column("policy", Cell::PerPlace, meaning, |row, out| {
                let weights = row.dense::<f32>(out);
                row.policy().for_each(|(index, weight)| weights[index] = weight);
            }));
            let meaning = "the legal moves, 4(N - 1) x N x N: 1 where a move is legal, else 0";
            columns.push(column("legal_mask", Cell::PerPlace, meaning, |row, out| {
                let mask = row.dense::<u8>(out);
                legal_indices(row.step.before).for_each(|index| mask[index] = 1);
            }));
        }
    }
    columns.append(&mut vec![
        column(
            "wdl",
            Cell::Fixed(3),
            "how the game ended, for the side to move: win, draw, loss, one of them 1",
            |row, out| {
                out.extend(triple(Wdl::of_winner(row.record().winner(), row.step.before.side_to_move())));
            },
        ),
        column("raw", Cell::Fixed(3), "the network's chances of win, draw, loss for the side to move", |row, out| {
            out.extend(triple(row.step.ply.raw));
        }),
        column("searched", Cell::Fixed(3), "the same chances after the search", |row, out| {
            out.extend(triple(row.step.ply.searched));
        }),
        column("occupancy", Cell::PerSquare(1), OCCUPANCY, |row, out| out.extend(contents(row.last))),
        column("moves_left", Cell::One, "plies to the end of the game, this one included", |row, out| {
            out.push((row.record().plies.len() - row.index) as f32);
        }),
        column("playouts", Cell::One, "playouts of the search", |row, out| out.push(row.step.ply.playouts)),
        column("trains", Cell::One, "whether the ply is a training sample: it has a policy target", |row, out| {
            out.push(row.step.ply.trains);
        }),
        match names {
            Names::Texts => column("reason", Cell::One, REASON, |row, out| out.push(end(row.record()).1.to_owned())),
            Names::Numbers => {
                column("reason", Cell::One, "how the game ended, numbered as in docs/DATASETS.md", |row, out| {
                    let place = row
                        .record()
                        .outcome
                        .and_then(|end| Reason::ALL.iter().position(|&known| known == end.reason()));
                    out.push(place.map_or(RESIGNATION, |place| place as u8));
                })
            }
        },
    ]);
    columns
}

/// Win, draw and loss as a list.
fn triple(wdl: Wdl) -> [f32; 3] {
    [wdl.win, wdl.draw, wdl.loss]
}

/// The legal moves as indices into a flattened policy, in generation order.
fn legal_indices(position: &Board) -> impl Iterator<Item = usize> + use<> {
    let size = position.size();
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    (0..moves.len()).map(move |index| PolicyIndex::of(moves[index], size).flat(size))
}

/// Content of each square: 0 empty, 1 attacker, 2 defender, 3 king.
fn contents(position: &Board) -> impl Iterator<Item = u8> + use<'_> {
    let board = position.board();
    let king = board.king();
    (0..position.size().squares()).map(Square::new).map(move |square| {
        if Some(square) == king {
            3
        } else {
            u8::from(board.attackers().contains(square)) + 2 * u8::from(board.defenders().contains(square))
        }
    })
}

const GAME_ID: &str = "identity of the game: same moves, same id; the split follows from it";
const GAME: &str = "number of the game in its run";
const GENERATION: &str = "generation of the run, null where there is none";
const RULES: &str = "name of the ruleset, `own` for a mixture of options";
const OCCUPANCY: &str = "N x N contents in the game's last position, as in `board`; of resigned games not the end's";
const REASON: &str = "how the game ended, such as `king_captured`; empty while ongoing";

/// A row per game.
pub(super) struct Games;

impl Rows for Games {
    type Row<'a> = GameLine<'a>;

    fn each(entry: &Entry<'_>, visit: &mut dyn FnMut(&GameLine<'_>)) -> Result<(), DataError> {
        visit(&GameLine::of(&entry.game.record, entry.game.generation, false)?);
        Ok(())
    }
}

/// The columns of the table of games, in order. `import` reads those that are not derived back by their names.
pub(super) fn games() -> Vec<Box<dyn RowColumn<Games>>> {
    let options = "every option as JSON where `rules` is `own`, else null";
    let handicap = "what favoured the attackers: doublings of their playouts, and the defenders' share of random moves";
    let policy_count =
        "for each move the number of moves of its policy target, which follow each other in the next two";
    let would_have = "side that would have resigned in a game played on";
    vec![
        column("game_id", Cell::One, GAME_ID, |row, out| out.push(row.game_id.clone())),
        column("game", Cell::One, GAME, |row, out| out.push(row.game)),
        column("seed", Cell::One, "seed of the run", |row, out| out.push(row.seed)),
        column("generation", Cell::Optional, GENERATION, |row, out| out.extend(row.generation)),
        column("rules", Cell::One, RULES, |row, out| {
            out.push(row.rules.name().to_owned());
        }),
        column("options", Cell::Optional, options, |row, out| {
            if let RulesText::Options(rules) = &row.rules {
                out.extend(serde_json::to_string(rules));
            }
        }),
        column("ply_cap", Cell::One, "plies after which the game is a technical draw, 0 for none", |row, out| {
            out.push(u32::from(row.ply_cap));
        }),
        column("fen", Cell::Optional, "where the game began, null for the standard start", |row, out| {
            out.extend(row.fen.map(str::to_owned));
        }),
        column("attackers", Cell::One, "who played the attackers", |row, out| out.push(row.attackers.to_owned())),
        column("defenders", Cell::One, "who played the defenders", |row, out| out.push(row.defenders.to_owned())),
        column("handicap", Cell::Fixed(2), handicap, |row, out| out.extend(row.handicap)),
        column("plies", Cell::One, "number of plies", |row, out| out.push(row.moves.len() as u32)),
        column("moves", Cell::List, "the moves, such as `a4b4`", |row, out| out.extend_from_slice(&row.moves)),
        column("captures", Cell::List, "for each move the squares it emptied, a space between them", |row, out| {
            out.extend(row.captures.iter().map(|squares| squares.join(" ")));
        }),
        column("policy_count", Cell::List, policy_count, |row, out| {
            out.extend(row.policy.iter().map(|policy| policy.len() as u32));
        }),
        column("policy_move", Cell::List, "the moves of the policy targets", |row, out| {
            out.extend(row.policy.iter().flatten().map(|(mv, _)| mv.clone()));
        }),
        column("policy_weight", Cell::List, "their weights, which sum to 1 for each move played", |row, out| {
            out.extend(row.policy.iter().flatten().map(|&(_, weight)| weight));
        }),
        column("playouts", Cell::List, "for each move the search's playouts", |row, out| {
            out.extend_from_slice(&row.playouts);
        }),
        column("raw", Cell::List, "for each move three values: the network's win, draw and loss", |row, out| {
            out.extend_from_slice(row.raw.as_flattened());
        }),
        column("searched", Cell::List, "for each move three values: the search's win, draw and loss", |row, out| {
            out.extend_from_slice(row.searched.as_flattened());
        }),
        column("trains", Cell::List, "for each move whether it is a training sample", |row, out| {
            out.extend_from_slice(&row.trains);
        }),
        column("status", Cell::One, "`attackers` or `defenders` (who won), `draw` or `ongoing`", |row, out| {
            out.push(row.status.to_owned());
        }),
        column("reason", Cell::One, REASON, |row, out| out.push(row.reason.to_owned())),
        column("would_have_resigned", Cell::Optional, would_have, |row, out| {
            out.extend(row.would_have_resigned.map(|side| side.to_string()));
        }),
    ]
}
