#!/usr/bin/env bash
# What the witness of wire_kills.sh would notice. Needs no executable.
set -euo pipefail
python=python3
"$python" -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
here=$(dirname "$0")
"$python" -B "$here/wire_recoveries.py"
exec "$python" -B "$here/wire_witness.py" "$here/../golden/messages"
