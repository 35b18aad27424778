#!/usr/bin/env python3
"""Holds the crates that we build on to deny.toml: known holes, licences, places, bans. Needs cargo-deny, git, Python.

    scripts/check_dependencies.py                     # all workspaces, from the committed snapshot of advisories
    scripts/check_dependencies.py --update CHECKOUT   # a new snapshot, from a checkout of rustsec/advisory-db

The snapshot under scripts/advisories/ holds every advisory of the RustSec database for the crates of our lock files.
A crate that is newer than the snapshot is an error, since the snapshot could not know it.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SNAPSHOT = ROOT / "scripts" / "advisories"
# Where cargo-deny looks for the database of https://github.com/rustsec/advisory-db below its `db-path`.
DATABASE = ROOT / "target" / "advisories" / "advisory-db-3157b0e258782691"


def workspaces():
    """The folders with a lock file of their own."""
    return [
        folder
        for name in [".", "python", "wasm", "fuzz", "interleavings"]
        if (folder := ROOT / name).joinpath("Cargo.lock").exists()
    ]


def crates():
    """The names of all crates of others in the lock files."""
    found = set()
    for folder in workspaces():
        text = (folder / "Cargo.lock").read_text()
        found |= set(re.findall(r'^name = "(.+)"\nversion = ".+"\nsource = ', text, re.MULTILINE))
    return found


def git(folder, *arguments):
    return subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True).stdout


def update(checkout):
    """Writes the snapshot anew from the newest commit of a checkout, bare or not."""
    wanted = crates()
    commit, date = git(checkout, "log", "-1", "--format=%H %cs").decode().split()
    shutil.rmtree(SNAPSHOT / "crates", ignore_errors=True)
    SNAPSHOT.mkdir(parents=True, exist_ok=True)
    advisories = 0
    for path in git(checkout, "ls-tree", "-r", "--name-only", "HEAD", "crates/").decode().splitlines():
        if pathlib.PurePath(path).parts[1] in wanted:
            (SNAPSHOT / path).parent.mkdir(parents=True, exist_ok=True)
            (SNAPSHOT / path).write_bytes(git(checkout, "show", f"HEAD:{path}"))
            advisories += 1
    for licence in ["LICENSE.txt", "LICENSES/CC0-1.0.txt", "LICENSES/CC-BY-4.0.txt"]:
        (SNAPSHOT / licence).parent.mkdir(exist_ok=True)
        (SNAPSHOT / licence).write_bytes(git(checkout, "show", f"HEAD:{licence}"))
    names = "\n".join(sorted(wanted))
    (SNAPSHOT / "crates.txt").write_text(f"# rustsec/advisory-db {commit} {date}: looked through for\n{names}\n")
    print(f"{advisories} advisories for {len(wanted)} crates, as of {date}")


def check(cargo_deny):
    """Checks every workspace; returns whether all is well."""
    head, *known = (SNAPSHOT / "crates.txt").read_text().splitlines()
    unknown = sorted(crates() - set(known))
    if unknown:
        print(
            f"the snapshot of advisories does not know {', '.join(unknown)}: --update it",
            file=sys.stderr,
        )
    # cargo-deny wants a repository, and the time when it was fetched.
    shutil.rmtree(DATABASE, ignore_errors=True)
    shutil.copytree(SNAPSHOT, DATABASE)
    who = ["-c", "user.name=snapshot", "-c", "user.email=snapshot@localhost"]
    git(DATABASE, "init", "--quiet")
    git(DATABASE, "add", "--all")
    git(DATABASE, *who, "commit", "--quiet", "--message", head)
    (DATABASE / ".git" / "FETCH_HEAD").write_text("")
    date = head.split()[3].rstrip(":")
    well = not unknown
    for folder in workspaces():
        print(
            f"{folder.relative_to(ROOT) / 'Cargo.lock'}, advisories as of {date}",
            flush=True,
        )
        manifest = folder / "Cargo.toml"
        # Crates are downloaded as for a build; the advisories are the snapshot's.
        subprocess.run(
            ["cargo", "fetch", "--quiet", "--locked", "--manifest-path", manifest],
            check=True,
        )
        arguments = [
            "--frozen",
            "--config",
            ROOT / "deny.toml",
            "--manifest-path",
            manifest,
            "check",
        ]
        # Of the exceptions in deny.toml, some concern one workspace alone.
        arguments += ["--hide-inclusion-graph", "--allow", "advisory-not-detected"]
        well &= subprocess.run([cargo_deny, *arguments], check=False, cwd=ROOT).returncode == 0
    return well


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", metavar="CHECKOUT", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.update:
        update(arguments.update)
        return
    installed = ROOT / "target" / "python" / "bin" / "cargo-deny"
    cargo_deny = os.environ.get("CARGO_DENY") or shutil.which("cargo-deny")
    cargo_deny = cargo_deny or (str(installed) if installed.exists() else None)
    if cargo_deny is None:
        print("skipped: no cargo-deny (cargo install cargo-deny, or scripts/requirements.txt)")
        return
    sys.exit(0 if check(cargo_deny) else 1)


if __name__ == "__main__":
    main()
