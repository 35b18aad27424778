//! Where the squares of each board are in the directed lines of [`crate::lines`].

/// Words for the 4N lines of the largest board, rounded up to whole 256-bit vectors.
pub(crate) const WORDS: usize = 12;

/// A set of squares as directed lines, four to a word, with four bits for each square: one in each direction.
pub(crate) type LineWords = [u64; WORDS];

/// Where the squares of one board size are in the lines.
pub(crate) struct LineTables {
    /// The lines of each square alone.
    pub of_square: [LineWords; 128],
    /// The square of each bit.
    pub square: [[u8; 16]; 4 * WORDS],
    pub board: LineWords,
    pub corners: LineWords,
    pub throne: LineWords,
}

impl LineTables {
    const fn new(n: usize) -> LineTables {
        let nothing = [0; WORDS];
        let mut t = LineTables {
            of_square: [nothing; 128],
            square: [[0; 16]; 4 * WORDS],
            board: nothing,
            corners: nothing,
            throne: nothing,
        };
        let mut s = 0;
        while s < n * n {
            let (file, rank) = (s % n, s / n);
            // Right, up, left, down.
            let places = [(rank, file), (n + file, rank), (2 * n + rank, n - 1 - file), (3 * n + file, n - 1 - rank)];
            let mut direction = 0;
            while direction < 4 {
                let (line, place) = places[direction];
                let (word, bit) = (line / 4, 1 << (16 * (line % 4) + place));
                t.of_square[s][word] |= bit;
                t.square[line][place] = s as u8;
                t.board[word] |= bit;
                if (file == 0 || file == n - 1) && (rank == 0 || rank == n - 1) {
                    t.corners[word] |= bit;
                }
                if file == n / 2 && rank == n / 2 {
                    t.throne[word] |= bit;
                }
                direction += 1;
            }
            s += 1;
        }
        t
    }
}

/// The lines of 7x7.
pub(crate) static SEVEN: LineTables = LineTables::new(7);
/// The lines of 9x9.
pub(crate) static NINE: LineTables = LineTables::new(9);
/// The lines of 11x11.
pub(crate) static ELEVEN: LineTables = LineTables::new(11);
