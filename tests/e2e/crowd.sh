#!/usr/bin/env bash
# One key that says 20,000 hellos and then floods, beside an honest one. Argument: the executable.
set -euo pipefail
here=$(dirname "$0")
for python in python3 /usr/bin/python3; do
  "$python" -c 'import numpy, zmq' 2>/dev/null || continue
  "$python" -B "$here/crowd.py" "$1"
  exit
done
echo "skipped: no python3 with numpy and zmq; ./dev setup installs both"
exit 77
