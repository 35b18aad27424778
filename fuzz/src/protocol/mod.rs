//! Lines of the protocol: of a client to us, and of the programs that we play against.
//!
//! The parsers are the product's files, taken as they are.

mod client;
mod uci;

/// The longest message about a line, in bytes.
const LONGEST: usize = 1000;

/// A conversation: each line is read by everybody who reads lines.
pub fn lines(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for line in text.split('\n').take(50) {
        uci::read(line);
        client::read(line);
    }
}

fn check(problem: &str) {
    assert!(problem.len() <= LONGEST && !problem.contains('\n') && !problem.is_empty(), "{problem:?}");
}

pub fn seeds() -> Vec<Vec<u8>> {
    [
        "joho debug on\nuci\nregister later\nisready\nucinewgame\nposition startpos\ngo ponder nodes 8\nponderhit\n\
         stop\nquit\n",
        "setoption name Threads value 2\nsetoption name NNFile value a b\nsetoption name Rules value tablut\n\
         setoption name Temperature value 0.5\nsetoption name Precision value int8\nsetoption name Hash value 64",
        "position startpos moves d6f6 d5f5\nposition fen 3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a moves d6f6",
        "go infinite\ngo wtime 60000 btime -30000 winc 1000 binc 500 movestogo 40\ngo depth 5 searchmoves d6f6 mate 3",
        "info depth 3 score cp 10 wdl 500 100 400 nodes 40 multipv 1 pv a4b4\nbestmove a4b4 ponder b5b6\n\
         option name Rules type combo default brandubh var brandubh\nbestmove (none)",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}
