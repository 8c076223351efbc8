#!/usr/bin/env bash
# Commands that train nothing start at once. Argument: the executable.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 tests/e2e/startup.py "$1" "$scratch"
