//! Colours. The board paints its own background, so that it looks the same in dark and light terminals; text beside the
//! board takes the terminal's own colours and differs only by weight.

use ratatui::style::{Color, Modifier, Style};

/// What a square's background says, the strongest first when several hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    /// The piece that was picked up.
    Selected,
    /// Where it may go.
    Target,
    /// One end of the hinted move.
    Hint,
    /// One end of the last move.
    LastMove,
    /// A corner or the throne.
    Special,
    /// Any other square; neighbours differ a little.
    Plain {
        /// Whether it is one of the lighter half.
        light: bool,
    },
}

/// The colours of one terminal.
#[derive(Clone, Copy, Debug)]
pub struct Theme {
    palette: Option<Palette>,
}

#[derive(Clone, Copy, Debug)]
struct Palette {
    light: Color,
    dark: Color,
    special: Color,
    ornament: Color,
    last_move: Color,
    hint: Color,
    target: Color,
    selected: Color,
    attacker: Color,
    defender: Color,
    king: Color,
    captured: Color,
    cursor: Color,
}

impl Theme {
    /// For terminals that show every colour.
    pub const TRUE_COLOUR: Theme = Theme {
        palette: Some(Palette {
            light: Color::Rgb(176, 140, 96),
            dark: Color::Rgb(164, 128, 86),
            special: Color::Rgb(112, 80, 54),
            ornament: Color::Rgb(214, 184, 138),
            last_move: Color::Rgb(150, 128, 62),
            hint: Color::Rgb(104, 150, 184),
            target: Color::Rgb(140, 166, 104),
            selected: Color::Rgb(88, 142, 84),
            attacker: Color::Rgb(38, 32, 34),
            defender: Color::Rgb(252, 247, 232),
            king: Color::Rgb(255, 214, 64),
            captured: Color::Rgb(160, 28, 28),
            cursor: Color::Rgb(16, 16, 16),
        }),
    };

    /// For terminals with 256 colours: the nearest of them.
    pub const INDEXED: Theme = Theme {
        palette: Some(Palette {
            light: Color::Indexed(137),
            dark: Color::Indexed(101),
            special: Color::Indexed(95),
            ornament: Color::Indexed(223),
            last_move: Color::Indexed(143),
            hint: Color::Indexed(67),
            target: Color::Indexed(107),
            selected: Color::Indexed(65),
            attacker: Color::Indexed(234),
            defender: Color::Indexed(230),
            king: Color::Indexed(226),
            captured: Color::Indexed(88),
            cursor: Color::Indexed(16),
        }),
    };

    /// Without colours: shapes, brackets and weight say everything.
    pub const MONOCHROME: Theme = Theme { palette: None };

    /// The theme for the surroundings: `NO_COLOR` (no-color.org) rules out colours, `COLORTERM` promises all of them.
    pub fn from_environment() -> Theme {
        let set = |name: &str| std::env::var(name).unwrap_or_default();
        if !set("NO_COLOR").is_empty() || set("TERM") == "dumb" {
            Theme::MONOCHROME
        } else if ["truecolor", "24bit"].contains(&set("COLORTERM").as_str()) {
            Theme::TRUE_COLOUR
        } else {
            Theme::INDEXED
        }
    }

    /// Whether squares differ by their background.
    pub(super) fn has_colours(&self) -> bool {
        self.palette.is_some()
    }

    pub(super) fn ground(&self, ground: Ground) -> Style {
        match self.palette {
            None => Style::new().add_modifier(match ground {
                Ground::Selected => Modifier::REVERSED,
                Ground::Hint | Ground::LastMove => Modifier::UNDERLINED,
                Ground::Target | Ground::Special | Ground::Plain { .. } => Modifier::empty(),
            }),
            Some(palette) => Style::new().bg(match ground {
                Ground::Selected => palette.selected,
                Ground::Target => palette.target,
                Ground::Hint => palette.hint,
                Ground::LastMove => palette.last_move,
                Ground::Special => palette.special,
                Ground::Plain { light: true } => palette.light,
                Ground::Plain { light: false } => palette.dark,
            }),
        }
    }

    pub(super) fn attacker(&self) -> Style {
        self.foreground(|palette| palette.attacker)
    }

    pub(super) fn defender(&self) -> Style {
        self.foreground(|palette| palette.defender)
    }

    pub(super) fn king(&self) -> Style {
        self.foreground(|palette| palette.king)
    }

    pub(super) fn ornament(&self) -> Style {
        self.foreground(|palette| palette.ornament)
    }

    pub(super) fn captured(&self) -> Style {
        self.foreground(|palette| palette.captured)
    }

    pub(super) fn cursor(&self) -> Style {
        self.foreground(|palette| palette.cursor).add_modifier(Modifier::BOLD)
    }

    /// The parts of the bar: attackers, draws, defenders.
    pub(super) fn bar(&self) -> [Style; 3] {
        match self.palette {
            None => [Style::new(), Style::new(), Style::new()],
            Some(palette) => [palette.attacker, palette.special, palette.defender]
                .map(|colour| Style::new().fg(colour).bg(palette.dark)),
        }
    }

    /// Coordinates, counts and other things that matter less.
    pub(super) fn quiet(&self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Headings and what is new.
    pub(super) fn strong(&self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    fn foreground(&self, pick: impl Fn(&Palette) -> Color) -> Style {
        self.palette.as_ref().map_or(Style::new(), |palette| Style::new().fg(pick(palette)))
    }
}
