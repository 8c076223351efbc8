#!/usr/bin/env bash
# What ./dev dashboards starts, as a newcomer meets it. Argument: the executable.
set -euo pipefail
exec python3 -B "$(dirname "$0")/newcomer.py" "$(realpath "$1")"
