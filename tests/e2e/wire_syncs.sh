#!/usr/bin/env bash
# What a served run says is on the disk before, by a trace of system calls. Argument: the executable.
set -euo pipefail
exec python3 -B "$(dirname "$0")/wire_syncs.py" "$1"
