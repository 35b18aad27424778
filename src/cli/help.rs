//! The program's own help: its commands in groups, in the order in which a newcomer meets them.

use clap::Command;

/// Headings with their commands. A build without a feature lacks some of them.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Play", &["play", "uci", "puzzles"]),
    ("Train", &["train", "watch", "metrics", "check", "worker", "fetch", "imitate", "relabel"]),
    ("Measure", &["match", "tune", "ladder", "judge", "bench", "doctor", "perft"]),
    (
        "Games and networks for other programs",
        &["selfplay", "export", "import", "replay", "analyse", "review", "export-net"],
    ),
    ("Install", &["completions", "man", "help"]),
];

/// The program with its commands in groups.
pub fn grouped(command: Command) -> Command {
    let groups: String = GROUPS.iter().map(|(heading, names)| group(&command, heading, names)).collect();
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    ))
}

/// One heading with its commands, laid out by clap as it lays out a list of commands.
fn group(program: &Command, heading: &str, names: &[&str]) -> String {
    let found = |name: &&str| match *name {
        "help" => Some(Command::new("help").about("Print this message or the help of a command")),
        name => program.find_subcommand(name).cloned(),
    };
    let mut list = Command::new("list")
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .subcommands(names.iter().filter_map(found).enumerate().map(|(order, command)| command.display_order(order)))
        .help_template("{subcommands}")
        .max_term_width(110);
    format!("{heading}:\n{}\n\n", list.render_help().ansi().to_string().trim_end())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_stands_in_one_group() {
        let command = grouped(Cli::command());
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        for subcommand in command.get_subcommands() {
            let name = subcommand.get_name();
            assert_eq!(grouped.iter().filter(|known| **known == name).count(), 1, "{name}");
        }
        let help = command.clone().render_help().to_string();
        for (heading, _) in GROUPS {
            assert!(help.contains(&format!("\n{heading}:\n  ")), "{help}");
        }
        for line in help.lines() {
            assert!(line.chars().count() <= 110, "{line}");
        }
        assert!(help.contains("Usage: hnefi") && help.contains("Exit status"), "{help}");
    }
}
