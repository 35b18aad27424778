//! Players that matches and boards can seat.
