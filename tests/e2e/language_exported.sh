#!/usr/bin/env bash
# Folders of `troupe export` are those that another program has read, to the byte, and of what it said of them. Argument: the
# executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"
python3 -B tests/interop/language/exported.py "$troupe" "$scratch/exported" >"$scratch/out" 2>&1 ||
  fail "what is exported is not what the reference has read"
