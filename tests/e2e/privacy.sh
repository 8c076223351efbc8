#!/usr/bin/env bash
# What clients send of themselves where they ask for experts. Argument: the executable.
set -euo pipefail
for python in python3 /usr/bin/python3; do
  "$python" -c 'import numpy' 2>/dev/null || continue
  "$python" -B "$(dirname "$0")/privacy.py" "$1"
  exit
done
echo "skipped: no python3 with numpy; ./dev setup installs both"
exit 77
