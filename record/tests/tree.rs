//! Games with variations: what is written is read back, what people write is read, and nesting that does not fit is
//! named by its line.

use hnefi_engine::{Game, Move, Preset, Side};
use hnefi_record::pgn::{read_tree, tree_text};
use hnefi_record::{GameTree, LONGEST_COMMENT, PgnReader, PlyRecord, TreeMove, json_game};

fn read(text: &str) -> GameTree {
    read_tree(text, &[Preset::Brandubh.rules()]).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn error_of(text: &str) -> String {
    read_tree(text, &[Preset::Brandubh.rules()]).expect_err(text).to_string()
}

/// Moves with the place of what they follow, their comments and marks.
fn shown(tree: &GameTree) -> Vec<String> {
    let size = tree.record.rules.size();
    let shown = |mv: &TreeMove| {
        let after = mv.after.map_or("-".to_owned(), |after| after.to_string());
        format!("{after} {} {} {:?}", mv.mv.text(size), mv.comment, mv.nags).replace("  ", " ")
    };
    tree.moves.iter().map(shown).collect()
}

/// A tree grown at random: the same number, the same tree.
fn grown(seed: u64, most: usize) -> GameTree {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) as usize % below
    };
    let preset = [Preset::Brandubh, Preset::Historical, Preset::Tablut][random(3)];
    // What follows the start, and at 1 more what follows each move; grown at any place, sorted afterwards.
    let mut moves: Vec<TreeMove> = Vec::new();
    let mut following: Vec<Vec<usize>> = vec![Vec::new()];
    let path = |moves: &[TreeMove], mut at: Option<usize>| {
        let mut path = Vec::new();
        while let Some(index) = at {
            path.push(moves[index].mv);
            at = moves[index].after;
        }
        path.into_iter().rev().collect::<Vec<Move>>()
    };
    let play = |line: &[Move]| {
        let mut game = Game::new(&preset.rules());
        for &mv in line {
            game.play(mv).expect("legal");
        }
        game
    };
    let words = ["good", "(so)", "ß", "1-0", "[x", "$3", "what; then?", "3...", "\u{1f6e1}"];
    for _ in 0..most {
        let at = if random(3) > 0 { moves.len().checked_sub(1) } else { random(moves.len() + 1).checked_sub(1) };
        let game = play(&path(&moves, at));
        let Some(mv) = game.position().random_move(&mut random) else { continue };
        let place = at.map_or(0, |at| at + 1);
        if game.ending().is_some() || following[place].iter().any(|&index| moves[index].mv == mv) {
            continue;
        }
        let comment =
            (0..random(40).saturating_sub(30)).map(|_| words[random(words.len())]).collect::<Vec<_>>().join(" ");
        let nags = (0..random(3)).map(|index| (index * 7 + random(6)) as u8 + 1).collect();
        following[place].push(moves.len());
        following.push(Vec::new());
        moves.push(TreeMove { after: at, mv, comment, nags });
    }
    let mut sorted = Vec::new();
    let mut rest = vec![(0, None)];
    while let Some((place, after)) = rest.pop() {
        let after = match place {
            0 => after,
            place => {
                sorted.push(TreeMove { after, ..moves[place - 1].clone() });
                Some(sorted.len() - 1)
            }
        };
        rest.extend(following[place].iter().rev().map(|&index| (index + 1, after)));
    }
    let (mut main, mut place) = (Vec::new(), 0);
    while let Some(&first) = following[place].first() {
        main.push(moves[first].mv);
        place = first + 1;
    }
    let mut tree: GameTree = read("d6c6");
    tree.record.rules = preset.rules();
    tree.record.outcome = play(&main).outcome();
    tree.record.plies = main.into_iter().map(PlyRecord::unsearched).collect();
    GameTree { comment: words[random(words.len())].to_owned(), moves: sorted, ..tree }
}

#[test]
fn trees_are_read_back_as_they_were_written() {
    for seed in 1..200 {
        let tree = grown(seed, 1 + seed as usize % 70);
        let text = tree_text(&tree).unwrap_or_else(|error| panic!("{seed}: {error}"));
        let found = read_tree(&text, &[]).unwrap_or_else(|error| panic!("{seed}: {error}\n{text}"));
        assert_eq!(found, tree, "{seed}\n{text}");
        let game = PgnReader::new(text.as_bytes()).next().expect("a game").expect("a sound game");
        assert_eq!(game, tree.record, "a reader of games passes over the rest: {seed}\n{text}");
    }
}

#[test]
fn a_tree_looks_as_in_chess() {
    let tree = read(
        "{First words} 1. d6-c6! {a {nested one} d5-e5 (1... d5-f5 2. c6-c5 {so} c4-c3 (2... d3-e3)) (1... d3-c3?) \
         2. c6-c5 (2. c6-b6 $14) *",
    );
    let text = tree_text(&tree).expect("a sound tree");
    let expected = "{First words} 1. d6-c6 $1 {a (nested one} 1... d5-e5 (1... d5-f5 2. c6-c5 {so} 2... c4-c3 \
                    (2... d3-e3)) (1... d3-c3 $2) 2. c6-c5 (2. c6-b6 $14) *";
    assert_eq!(text.split("\n\n").nth(1).expect("moves").replace('\n', " "), expected);
    let longest = text.lines().map(|line| line.chars().count()).max();
    assert!(longest <= Some(100), "{text}");
    assert_eq!(shown(&tree)[..3], ["- d6c6 a (nested one [1]", "0 d5e5 []", "1 c6c5 []"]);
}

#[test]
fn what_people_write_is_read() {
    for text in ["1.d6-c6(1.d6-b6)d5-e5", "1 d6c6 ( 1 d6b6 {why} ) d5e5 timeout", "d6-c6 (d6-b6 1-0) d5-e5 *"] {
        assert_eq!(read(text).moves.len(), 3, "{text}");
        assert_eq!(read(text).record.plies.len(), 2, "{text}");
    }
    // A variation that repeats the game's own move goes into it, and the game stays first.
    let tree = read("1. d6-c6 d5-e5 (1... d5-e5 2. c6-b6) ({at once} 1... d5-f5) 2. c6-c5");
    assert_eq!(shown(&tree), ["- d6c6 []", "0 d5e5 []", "1 c6c5 []", "1 c6b6 []", "0 d5f5 at once []"]);
    assert_eq!(tree.record.plies.len(), 3);
    assert_eq!(read("d6c6 d5e5 (d5f5) resigned").record.resigned, Some(Side::Attackers));
    assert_eq!(read("[PlyCap \"2\"]\nd6c6 d5e5 (d5f5) 1/2-1/2").record.rules.ply_cap, 2);
}

#[test]
fn what_does_not_fit_is_named_with_its_place() {
    for (text, expected) in [
        ("1. d6-c6\n(1. d6-b6", "line 2: the variation that begins here has no end; expected )"),
        ("1. d6-c6 )", "line 1: a ) that ends no variation; expected a ( before"),
        ("(1. d6-b6)", "line 1: a variation before a move; expected the move that it is an alternative to"),
        ("d6c6 ((d6b6))", "line 1: a variation before a move"),
        ("1. d6-c6 {so", "line 1: the comment that begins here has no end; expected }"),
        ("1. d6-c6 (1. d6-b6 2. d6-b6)", "line 1: ply 2: illegal move d6b6"),
        ("1. d6-c6 * (1. d6-b6)", "line 1: \"(\" follows the result *; expected a tag or the end"),
        ("", "line 1: the text holds no game"),
        (&format!("d6c6 {{{}}}", "x".repeat(LONGEST_COMMENT + 1)), "line 1: a comment of 4001 characters"),
    ] {
        let error = error_of(text);
        assert!(error.starts_with(expected), "{text}: {error}");
    }
    let mut tree = read("d6c6 d5e5 (d5f5)");
    tree.moves[2].after = Some(7);
    assert!(tree_text(&tree).expect_err("no such move").to_string().contains("move 3 of the tree: it follows move 8"));
    tree.moves.swap(1, 2);
    assert!(tree_text(&tree).is_err());
}

#[test]
fn a_misprint_is_named_by_the_rules_that_read_the_most() {
    let mut rules = [Preset::Brandubh, Preset::Tablut, Preset::Copenhagen].map(|preset| preset.rules());
    let error = read_tree("1. h1-h3 g5-g4\n2. a1-a2 g4-g5 *", &rules).expect_err("a misprint").to_string();
    assert!(error.starts_with("line 2: ply 3: "), "{error}");
    let error = json_game(r#"{"moves": "h1-h3 g5-g4 a1-a2"}"#, &mut rules).expect_err("a misprint").to_string();
    assert!(error.starts_with("line 1: ply 3: "), "{error}");
}
