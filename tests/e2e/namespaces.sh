#!/usr/bin/env bash
# A served run over links that lose, delay, cut and forget. Argument: the executable.
set -euo pipefail
exec python3 -B "$(dirname "$0")/namespaces.py" "$1" ${TROUPE_LONG:+--long}
