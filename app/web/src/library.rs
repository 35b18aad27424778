//! Game files below the folders named on the command line, and nothing else of the disk.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use hnefi_board::{EndingView, OpenGame, Origin, Problem, Refusal, player_name, problem, texts};
use hnefi_data::DataError;
use hnefi_engine::{NamedRules, Preset, Side};
use hnefi_inference::file;
use hnefi_record::end;
use hnefi_run::store::games_key;
use hnefi_run::{GameReader, GameRecord, PlyRecord, Run};
use serde::Serialize;

use crate::error::WebError;
use crate::opponent::last_part;
use crate::queries::{Order, RunQuery};
use hnefi_play::watch::names;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// Entries of a folder and games of a file that are listed at once.
const LISTED: usize = 500;

/// The kinds of files that hold games.
const ENDINGS: [&str; 6] = ["pgn", "jsonl", "json", "csv", "otg", "hgames"];

/// What files that name no ruleset may have been played by: what each board is mostly played by.
const USUAL: [Preset; 3] = [Preset::Copenhagen, Preset::Brandubh, Preset::Tablut];

/// The folders, by number.
pub(crate) struct Library {
    folders: Vec<PathBuf>,
    runs: Vec<Arc<Run>>,
}

/// A folder's entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Entry {
    is_file: bool,
    name: String,
}

/// Some entries of a folder.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct EntryList {
    entries: Vec<Entry>,
    /// Where the next part of the list begins, if there is more.
    next: Option<usize>,
}

/// A game in a list.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    index: usize,
    number: Option<u64>,
    players: Option<[String; 2]>,
    plies: usize,
    /// The largest change of the searched value between two plies, 0 to 1; none of a game without searches.
    surprise: Option<f32>,
    /// How it ended; none of an unfinished game.
    ending: Option<EndingView>,
    error: Option<Problem>,
}

/// Some games of a file.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct GameList {
    games: Vec<Summary>,
    /// Where the next part of the list begins, if there is more.
    next: Option<usize>,
}

impl Library {
    /// The library of these folders and runs.
    ///
    /// # Errors
    /// When a folder is not there.
    pub(crate) fn new(folders: &[PathBuf], runs: Vec<Arc<Run>>) -> Result<Library, WebError> {
        Ok(Library { folders: folders.iter().map(|path| real_folder(path)).collect::<Result<_, _>>()?, runs })
    }

    /// Names of the folders.
    pub(crate) fn folder_names(&self) -> Vec<String> {
        self.folders.iter().map(|folder| last_part(folder)).collect()
    }

    /// Names of the runs.
    pub(crate) fn run_names(&self) -> Vec<String> {
        names(&self.runs)
    }

    /// The runs.
    pub(crate) fn runs(&self) -> &[Arc<Run>] {
        &self.runs
    }

    /// A run.
    ///
    /// # Errors
    /// When there is no run of that number.
    pub(crate) fn run(&self, index: usize) -> Result<&Arc<Run>, Refusal> {
        self.runs.get(index).ok_or_else(|| Refusal::missing(unreadable(format!("there is no run {index} here"))))
    }

    /// The real path of something below a folder.
    ///
    /// # Errors
    /// When the path leads out of the folder in any way, or there is nothing.
    pub(crate) fn path(&self, folder: usize, path: &str) -> Result<PathBuf, Refusal> {
        let root = self.folders.get(folder);
        below(root.ok_or_else(|| Refusal::missing(unreadable(format!("there is no folder {folder} here"))))?, path)
    }

    /// The folders and game files in a folder, from the place `first` on.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn entries(&self, folder: usize, path: &str, first: usize) -> Result<EntryList, Refusal> {
        let path = self.path(folder, path)?;
        let read = std::fs::read_dir(&path)
            .map_err(|error| Refusal::missing(unreadable(format!("{}: {error}", last_part(&path)))))?;
        let mut entries: Vec<Entry> = read
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let name = entry.file_name().into_string().ok()?;
                let kind = std::fs::metadata(entry.path()).ok()?;
                let known = kind.is_dir() || (kind.is_file() && ending(&entry.path()).is_some());
                (known && !name.starts_with('.')).then_some(Entry { is_file: kind.is_file(), name })
            })
            .collect();
        entries.sort();
        let next = Some(first.saturating_add(LISTED)).filter(|&next| next < entries.len());
        Ok(EntryList { entries: entries.into_iter().skip(first).take(LISTED).collect(), next })
    }

    /// The games of a generation of a run.
    ///
    /// # Errors
    /// When there are none or the object is damaged.
    pub(crate) fn generation(&self, run: usize, generation: u32) -> Result<Games, Refusal> {
        let (run, key) = (self.run(run)?, games_key(generation));
        let size = run.store().size(&key).map_err(|_| Refusal::bad(unreadable(format!("{key} is damaged"))))?;
        if size.is_none_or(|size| size > LARGEST) {
            let problem = format!("{key}: expected an object of at most {} MiB", LARGEST >> 20);
            return Err(Refusal::missing(unreadable(problem)));
        }
        // Errors name objects; where they lie is nobody's business.
        let games = run.games(generation).map_err(|_| Refusal::bad(unreadable(format!("{key} is damaged"))))?;
        Ok(Box::new(games.into_iter().map(|game| texts::bounded(game).map_err(|error| error.to_string()))))
    }

    /// A game of a file or a run, and where it lies.
    ///
    /// # Errors
    /// When there is no such game, or it cannot be read.
    pub(crate) fn recorded(&self, asked: &OpenGame) -> Result<(GameRecord, Origin), Refusal> {
        match asked {
            OpenGame::Text { .. } | OpenGame::Address(_) | OpenGame::Kept { .. } => {
                Err(Refusal::bad(unreadable("a text is in no file".to_owned())))
            }
            OpenGame::File { folder, path, index } => {
                let path = self.path(*folder, path)?;
                let record = open(games(&path)?, *index)?;
                let origin = Origin { place: last_part(&path), generation: None, game: record.game };
                Ok((record, origin))
            }
            OpenGame::Run { run, generation, index } => {
                let record = open(self.generation(*run, *generation)?, *index)?;
                let run = self.run_names().swap_remove(*run);
                let origin = Origin { place: run, generation: Some(*generation), game: record.game };
                Ok((record, origin))
            }
        }
    }

    /// The generations of a run that have games, rising.
    ///
    /// # Errors
    /// When there is no such run.
    pub(crate) fn generations(&self, run: usize) -> Result<Vec<u32>, Refusal> {
        Ok(self.run(run)?.generations().unwrap_or_default())
    }
}

/// A file or an object that cannot be read, and why.
fn unreadable(detail: String) -> Problem {
    problem!("error.file", "this cannot be opened: {detail}", detail = detail)
}

/// The folder itself, where links lead.
fn real_folder(path: &Path) -> Result<PathBuf, WebError> {
    let wrong = |problem: String| WebError::Folder { path: path.to_owned(), problem };
    let real = path.canonicalize().map_err(|error| wrong(error.to_string()))?;
    if real.is_dir() { Ok(real) } else { Err(wrong("expected a folder".to_owned())) }
}

/// The real path of `path` below `root`, which is a real path itself.
fn below(root: &Path, path: &str) -> Result<PathBuf, Refusal> {
    let outside = || {
        let expected = "expected names below the folder, without .. and without links out";
        Refusal::bad(unreadable(format!("path {path:?}: {expected}")))
    };
    let relative = Path::new(path);
    if path.contains(['\\', '\0']) || !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(outside());
    }
    let real = root
        .join(relative)
        .canonicalize()
        .map_err(|_| Refusal::missing(unreadable(format!("there is no {path:?}"))))?;
    if real.starts_with(root) { Ok(real) } else { Err(outside()) }
}

fn ending(path: &Path) -> Option<&'static str> {
    let found = path.extension()?.to_str()?.to_ascii_lowercase();
    ENDINGS.into_iter().find(|ending| *ending == found)
}

/// The games of a file, one after the other.
pub(crate) type Games = Box<dyn Iterator<Item = Result<GameRecord, String>>>;

/// The games of a file.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn games(path: &Path) -> Result<Games, Refusal> {
    let wrong = |problem: String| Refusal::bad(unreadable(format!("{}: {problem}", last_part(path))));
    let kind = ending(path).ok_or_else(|| wrong(format!("expected a file ending in {}", ENDINGS.join(", "))))?;
    file::open(path, LARGEST).map_err(|error| wrong(error.to_string()))?;
    Ok(match kind {
        "hgames" => {
            let bytes = file::read(path, LARGEST).map_err(|error| wrong(error.to_string()))?;
            let games =
                GameReader::new(last_part(path), bytes).map_err(|error| Refusal::bad(unreadable(error.to_string())))?;
            Box::new(games.map(|game| {
                game.map_err(|error| error.to_string())
                    .and_then(|game| texts::bounded(game).map_err(|error| error.to_string()))
            }))
        }
        _ => {
            let games =
                hnefi_data::recorded_games(path, &USUAL.map(NamedRules::from)).map_err(|error| match error {
                    DataError::Unreadable { problem, .. } => wrong(problem),
                    other => Refusal::bad(unreadable(other.to_string())),
                })?;
            Box::new(games.map(|game| {
                game.map_err(|error| error.to_string())
                    .and_then(|game| texts::bounded(game).map_err(|error| error.to_string()))
            }))
        }
    })
}

/// Some of the games, from `first` on.
pub(crate) fn list(games: Games, first: usize, names: &HashMap<String, String>) -> GameList {
    let mut list = GameList::default();
    for (index, game) in games.enumerate().skip(first) {
        if list.games.len() == LISTED {
            list.next = Some(index);
            break;
        }
        list.games.push(Summary::new(index, game, names));
    }
    list
}

impl Summary {
    fn new(index: usize, game: Result<GameRecord, String>, names: &HashMap<String, String>) -> Summary {
        match game {
            Ok(game) => Summary {
                index,
                number: Some(game.game),
                plies: game.plies.len(),
                surprise: surprise(&game),
                ending: EndingView::of_record(&game),
                players: Some(game.players.map(|name| player_name(name, names))),
                error: None,
            },
            Err(error) => Summary {
                index,
                number: None,
                players: None,
                plies: 0,
                surprise: None,
                ending: None,
                error: Some(unreadable(error)),
            },
        }
    }
}

/// The largest change of the attackers' expected score between two searched plies that follow each other.
fn surprise(game: &GameRecord) -> Option<f32> {
    let first = game.start_position().ok()?.side_to_move();
    let score = |(index, ply): (usize, &PlyRecord)| {
        let side = if index % 2 == 0 { first } else { first.opponent() };
        ply.has_searched_value().then(|| ply.searched.seen_by(side, Side::Attackers).score())
    };
    let scores: Vec<Option<f32>> = game.plies.iter().enumerate().map(score).collect();
    let changes = scores.windows(2).filter_map(|pair| Some((pair[1]? - pair[0]?).abs()));
    changes.max_by(f32::total_cmp)
}

/// The games of a list that are wanted, in the order that is wanted, from the place `first` of these on. Damaged ones
/// are left out.
pub(crate) fn found(games: Games, wanted: &RunQuery, names: &HashMap<String, String>) -> GameList {
    let opening = plain_moves(&wanted.opening);
    let fits = |game: &GameRecord| {
        let (who, reason) = end(game);
        let result = [who.to_owned(), format!("{who}_{reason}")];
        let mut moves = String::new();
        for ply in &game.plies {
            if moves.len() >= opening.len() {
                break;
            }
            moves += &ply.mv.text(game.rules.size());
        }
        (wanted.result.is_empty() || result.contains(&wanted.result)) && moves.starts_with(&opening)
    };
    let mut games: Vec<Summary> = games
        .enumerate()
        .filter(|(_, game)| game.as_ref().is_ok_and(fits))
        .map(|(index, game)| Summary::new(index, game, names))
        .collect();
    match wanted.order {
        Order::Played => {}
        Order::Longest => games.sort_by_key(|game| Reverse(game.plies)),
        Order::Shortest => games.sort_by_key(|game| game.plies),
        Order::Surprise => games.sort_by(|a, b| {
            let surprise = |game: &Summary| game.surprise.unwrap_or(-1.0);
            surprise(b).total_cmp(&surprise(a))
        }),
    }
    let first = wanted.first;
    let next = Some(first.saturating_add(LISTED)).filter(|&next| next < games.len());
    GameList { games: games.into_iter().skip(first).take(LISTED).collect(), next }
}

/// Moves as people write them, one after the other: `1. Kd4-e4 d5-e5xe4+` is `d4e4d5e5`. The last one may be
/// unfinished.
fn plain_moves(text: &str) -> String {
    let squares = |word: &str| -> String {
        let word = word.to_ascii_lowercase();
        // The king's letter names a file, too, which no other file follows.
        let king = word.strip_prefix('k').filter(|rest| rest.starts_with(|next: char| next.is_ascii_alphabetic()));
        let moved = king.unwrap_or(&word).split('x').next().unwrap_or_default();
        moved.chars().filter(char::is_ascii_alphanumeric).collect()
    };
    text.split_whitespace().filter(|word| !word.ends_with('.')).map(squares).collect()
}

/// One of the games.
///
/// # Errors
/// When there is no such game or it does not follow the rules.
fn open(mut games: Games, index: usize) -> Result<GameRecord, Refusal> {
    let game =
        games.nth(index).ok_or_else(|| Refusal::missing(unreadable(format!("there is no game {index} here"))))?;
    game.map_err(|error| Refusal::bad(unreadable(error)))
}

#[cfg(test)]
mod tests {
    use hnefi_board::{Fit, Players, adviser};

    use super::*;
    use crate::models::Models;

    #[test]
    fn nothing_outside_the_folder_is_reached() {
        let above = tempfile::tempdir().expect("a folder");
        let root = above.path().join("games");
        std::fs::create_dir_all(root.join("deep")).expect("a folder");
        std::fs::write(above.path().join("secret.pgn"), "secret").expect("a file");
        std::fs::write(root.join("deep/mine.pgn"), "").expect("a file");
        #[cfg(unix)]
        std::os::unix::fs::symlink(above.path(), root.join("way-out")).expect("a link");
        let library = Library::new(&[root], Vec::new()).expect("the folder is there");
        assert!(library.path(0, "deep/mine.pgn").is_ok() && library.path(0, "").is_ok());
        for path in [
            "../secret.pgn",
            "deep/../../secret.pgn",
            "/etc/passwd",
            "way-out/secret.pgn",
            "way-out",
            "deep\\..\\..\\secret.pgn",
            "a\0b",
            "./../secret.pgn",
            "nowhere",
        ] {
            assert!(library.path(0, path).is_err(), "{path:?}");
        }
        assert!(library.path(1, "").is_err());
    }

    #[test]
    fn files_are_listed_and_games_opened() {
        let root = tempfile::tempdir().expect("a folder");
        let csv = "game,moves,a,d,result\n7,d6-c6 d5-e5,0,0,White\n8,d6-a1,0,0,Black\n";
        std::fs::write(root.path().join("games.csv"), csv).expect("a file");
        std::fs::write(root.path().join("notes.txt"), "no games").expect("a file");
        let library = Library::new(&[root.path().to_owned()], Vec::new()).expect("the folder is there");
        let list_of = |first| library.entries(0, "", first).expect("readable");
        assert_eq!(list_of(0).entries, [Entry { is_file: true, name: "games.csv".to_owned() }]);
        let many: Vec<PathBuf> = (0..LISTED).map(|number| root.path().join(format!("{number:04}.pgn"))).collect();
        many.iter().for_each(|path| std::fs::write(path, "").expect("a file"));
        assert_eq!((list_of(0).entries.len(), list_of(0).next), (LISTED, Some(LISTED)));
        assert_eq!((list_of(LISTED).entries.len(), list_of(LISTED).next), (1, None));
        let path = library.path(0, "games.csv").expect("below");
        let read = |path: &Path| games(path).expect("readable");
        let listed = list(read(&path), 0, &HashMap::new());
        assert_eq!((listed.games.len(), listed.next), (2, None));
        assert_eq!((listed.games[0].number, listed.games[0].plies), (Some(7), 2));
        assert!(listed.games[1].error.is_some(), "an illegal game is listed with what is wrong");
        assert_eq!(open(read(&path), 0).expect("a game").plies.len(), 2);
        assert!(open(read(&path), 1).is_err() && open(read(&path), 2).is_err());
        assert!(games(&root.path().join("notes.txt")).is_err());
    }

    #[test]
    fn networks_have_names_instead_of_identities() {
        let names = Models::new(hnefi_inference::Devices::cpu(), Vec::new(), Vec::new(), None).identities();
        let card = hnefi_inference::pretrained("brandubh").expect("shipped").expect("loads").card;
        for (found, shown) in [
            (card.id, "brandubh".to_owned()),
            ("0123456789abcdef".repeat(4), "network 01234567".to_owned()),
            ("Anna".to_owned(), "Anna".to_owned()),
            ("x".repeat(500), "x".repeat(60)),
        ] {
            assert_eq!(player_name(found, &names), shown);
        }
    }

    #[test]
    #[ignore = "needs recorded games, which are other people's data (HNEFI_GAMES)"]
    fn every_recorded_game_is_known_to_a_shipped_network() {
        let folder = PathBuf::from(std::env::var_os("HNEFI_GAMES").expect("HNEFI_GAMES, the folder of games.csv"));
        let models = Models::new(hnefi_inference::Devices::cpu(), Vec::new(), Vec::new(), None);
        for (file, network) in [("games.csv", "copenhagen"), ("games_brandubh.csv", "brandubh")] {
            let (mut count, mut known) = (0, 0);
            for game in games(&folder.join(file)).expect("readable") {
                let rules = game.unwrap_or_else(|problem| panic!("{file}: {problem}")).rules;
                let (id, fit) = adviser(&models.networks(), &rules).expect("an adviser");
                assert_eq!(String::from(id), format!("model:shipped/{network}"));
                count += 1;
                known += u32::from(fit == Fit::Rules);
            }
            assert!(count > 200 && count - known < 20, "{known} of {count} were played by rules that it learned");
        }
    }
}
