#!/usr/bin/env bash
# Digests over processes, keys, chunks and cuts: see wire_digests.py. Argument: the executable.
set -euo pipefail
exec timeout 900 python3 -B tests/e2e/wire_digests.py "$1" ${TROUPE_LONG:+--long}
