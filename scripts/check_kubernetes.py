#!/usr/bin/env python3
"""Holds docs/kubernetes/ to Kubernetes' published schemas, and what its containers are told to the program.

    scripts/check_kubernetes.py [--binary target/release/hnefi]

The schemas come with the package kubernetes-validate, so no cluster is asked and no network. Without credentials the
program must find nothing to complain of but that they are missing, or that it was built without buckets.
"""

import argparse
import pathlib
import re
import subprocess
import sys

import kubernetes_validate
import yaml

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs" / "kubernetes"

# The oldest and the newest that are tried.
VERSIONS = ["1.30", "1.37"]


def containers(manifest):
    """The containers of a manifest that has any."""
    return manifest.get("spec", {}).get("template", {}).get("spec", {}).get("containers", [])


def main():
    """Checks every manifest and every command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/release/hnefi")
    arguments = parser.parse_args()
    manifests = {path.name: yaml.safe_load(path.read_text()) for path in sorted(FOLDER.glob("*.yaml"))}
    values = manifests["run.yaml"]["data"]
    told = 0
    for name, manifest in manifests.items():
        for version in VERSIONS:
            kubernetes_validate.validate(manifest, version, strict=True)
        for container in containers(manifest):
            words = [re.sub(r"\$\((\w+)\)", lambda found: values[found[1]], word) for word in container["args"]]
            # No place of credentials either that a machine in a cloud would ask.
            environment = {"AWS_METADATA_ENDPOINT": "http://127.0.0.1:9", "AWS_ALLOW_HTTP": "true"}
            command = [arguments.binary, *words, "--store-timeout", "1"]
            ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
            expected = "no credentials" in ran.stderr or "buckets are not in this build" in ran.stderr
            if ran.returncode != 1 or not expected:
                sys.exit(f"{name}: hnefi {' '.join(words)}: expected no more than missing credentials:\n{ran.stderr}")
            told += 1
    print(f"{len(manifests)} manifests fit Kubernetes {' and '.join(VERSIONS)}, {told} commands the program")


if __name__ == "__main__":
    main()
