#!/usr/bin/env bash
# Disks of a served run and of its clients that are full, read-only or damaged. Argument: the executable.
set -euo pipefail
python=python3
"$python" -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
here=$(dirname "$0")
# Mounts of its own, where that is allowed.
if unshare -m true 2>/dev/null; then
  TROUPE_OWN_MOUNTS=1 exec unshare -m "$python" -B "$here/wire_disks.py" "$1"
fi
exec "$python" -B "$here/wire_disks.py" "$1"
