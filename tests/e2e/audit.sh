#!/usr/bin/env bash
# What a joining process says that it sends is what goes by, and nobody writes down what is secret. Argument: the executable.
set -euo pipefail
for python in python3 /usr/bin/python3; do
  "$python" -c 'import numpy' 2>/dev/null || continue
  "$python" -B "$(dirname "$0")/audit.py" "$1"
  exit
done
echo "skipped: no python3 with numpy; ./dev setup installs both"
exit 77
