#!/usr/bin/env bash
# What earlier builds kept of clients is gone on with. Argument: the executable.
set -euo pipefail
exec python3 -B "$(dirname "$0")/old_store.py" "$1"
