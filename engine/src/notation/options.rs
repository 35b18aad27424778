//! The options of a rules record, with their values and what they are when left out: the notation's and, beginning with
//! `x-`, our own.

/// What an option's value is made of.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// One of these letters.
    Choice(&'static [&'static str]),
    /// A list of pieces.
    Pieces,
    /// A list of squares.
    Squares,
    /// Squares a move, for all or for each kind of piece.
    Speeds,
    /// A whole number that is not negative.
    Number,
    /// An option of something that we do not play: only the value that turns it off.
    Off(&'static str),
    /// An option of pieces that are on none of our boards; the value says nothing.
    Absent(&'static [&'static str]),
}

pub(super) struct RecordOption {
    pub key: &'static str,
    pub kind: Kind,
    /// The value where the option is left out, in the form that [`super::values`] gives to every value.
    pub usual: &'static str,
}

const fn option(key: &'static str, kind: Kind, usual: &'static str) -> RecordOption {
    RecordOption { key, kind, usual }
}

const YES_OR_NO: Kind = Kind::Choice(&["y", "n"]);
const JUMPS: Kind = Kind::Absent(&["n", "r", "j", "c", "y"]);

/// All options but the board, the name and the start, in the order in which they are written.
pub(super) const OPTIONS: [RecordOption; 46] = [
    option("esc", Kind::Choice(&["c", "e"]), "c"),
    option("surf", YES_OR_NO, "y"),
    option("atkf", YES_OR_NO, "y"),
    option("tfr", Kind::Choice(&["i", "d", "w", "l"]), "d"),
    option("ka", Kind::Choice(&["y", "a", "h", "n"]), "y"),
    option("ks", Kind::Choice(&["s", "c", "m", "w", "y", "n"]), "s"),
    option("kj", Kind::Off("jumps"), "n"),
    option("nj", JUMPS, ""),
    option("cj", JUMPS, ""),
    option("mj", JUMPS, ""),
    option("gj", JUMPS, ""),
    option("spd", Kind::Speeds, "-1"),
    option("cor", Kind::Squares, "default"),
    option("cen", Kind::Squares, "default"),
    option("afor", Kind::Squares, ""),
    option("dfor", Kind::Squares, ""),
    option("corh", Kind::Pieces, "tTK"),
    option("cenh", Kind::Pieces, "t"),
    option("cenhe", Kind::Pieces, "tTK"),
    option("aforh", Kind::Pieces, "TK"),
    option("dforh", Kind::Pieces, "t"),
    option("corp", Kind::Pieces, "K"),
    option("cenp", Kind::Pieces, "tTK"),
    option("aforp", Kind::Pieces, "tTK"),
    option("dforp", Kind::Pieces, "TK"),
    option("cors", Kind::Pieces, "K"),
    option("cens", Kind::Pieces, "K"),
    option("afors", Kind::Pieces, "tTK"),
    option("dfors", Kind::Pieces, "TK"),
    option("corre", Kind::Pieces, "tTK"),
    option("cenre", Kind::Pieces, "tTK"),
    option("aforre", Kind::Pieces, "tTK"),
    option("dforre", Kind::Pieces, "tTK"),
    option("sw", Kind::Choice(&["n", "w", "s"]), "n"),
    option("swf", YES_OR_NO, "y"),
    option("efe", YES_OR_NO, "n"),
    option("linc", YES_OR_NO, "n"),
    option("ber", Kind::Off("berserk moves"), "n"),
    // Our own, for what the notation has no word for. OpenTafl passes over them.
    option("x-rep", Kind::Choice(&["no", "defenders-lose", "defenders-may-not"]), "no"),
    option("x-repn", Kind::Number, "3"),
    option("x-repboard", YES_OR_NO, "n"),
    option("x-oneregion", YES_OR_NO, "n"),
    option("x-nomove", Kind::Choice(&["loss", "draw"]), "loss"),
    option("x-nocapture", Kind::Number, "0"),
    option("x-drawfort", Kind::Number, "0"),
    option("x-plycap", Kind::Number, "0"),
];
