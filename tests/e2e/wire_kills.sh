#!/usr/bin/env bash
# A served run whose processes are killed again and again, with a witness on the wire. Argument: the executable.
set -euo pipefail
python=python3
"$python" -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
exec "$python" -B "$(dirname "$0")/wire_kills.py" "$1" "${TROUPE_KILLS:-20}"
