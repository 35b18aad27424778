//! Boards as the data files write them: one string a rank, top first, in A, D, K and dots.

/// The rows as FEN with the side to move, given as `attackers` or `defenders`.
pub fn fen(rows: &[String], to_move: &str) -> String {
    let rows: Vec<String> = rows.iter().map(|row| fen_row(row)).collect();
    format!("{} {}", rows.join("/"), &to_move[..1])
}

fn fen_row(row: &str) -> String {
    let mut text = String::new();
    let mut rest = row;
    while let Some(letter) = rest.chars().next() {
        let empty = rest.len() - rest.trim_start_matches('.').len();
        if empty > 0 {
            text += &empty.to_string();
        } else {
            text.push(letter.to_ascii_lowercase());
        }
        rest = &rest[empty.max(1)..];
    }
    text
}
