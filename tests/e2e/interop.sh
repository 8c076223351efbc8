#!/usr/bin/env bash
# Clients in Python, written from docs/wire_format.md, in served runs. Argument: the executable.
set -euo pipefail
here=$(dirname "$0")
for python in python3 /usr/bin/python3; do
  "$python" -c 'import numpy, tomllib, zmq' 2>/dev/null || continue
  "$python" -B "$here/interop.py" "$1"
  exit
done
echo "skipped: no python3 with numpy and zmq; ./dev setup installs both"
exit 77
