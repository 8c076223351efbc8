#!/usr/bin/env bash
# A served run beside strangers who say mutated pieces and frames, without keys and with. Argument: the executable.
set -euo pipefail
for python in python3 /usr/bin/python3; do
  "$python" -c 'import numpy, tomllib, zmq' 2>/dev/null || continue
  "$python" -B "$(dirname "$0")/../interop/hostile.py" "$1" "${TROUPE_FRAMES:-100000}" "${TROUPE_KEYED_FRAMES:-20000}"
  exit
done
echo "skipped: no python3 with numpy and zmq; ./dev setup installs both"
exit 77
