#!/usr/bin/env bash
# A served run whose processes are killed again and again. Argument: the executable.
set -euo pipefail
python3 -B "$(dirname "$0")/wire_kills.py" "$1" "${TROUPE_KILLS:-20}"
