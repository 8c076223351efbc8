#!/usr/bin/env bash
# A block that is larger than a frame may be: see large_block.py. Argument: the executable.
set -euo pipefail
exec timeout 2000 python3 -B tests/e2e/large_block.py "$1" ${TROUPE_LONG:+--long}
