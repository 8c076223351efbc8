#!/usr/bin/env bash
# How often a joining process syncs, and what it writes for a visit, by its system calls. Argument: the executable.
set -euo pipefail
exec python3 -B "$(dirname "$0")/wire_writes.py" "$1"
