#!/usr/bin/env bash
# All that dashboards and alerts ask, asked of a Prometheus that watches a live run of processes, and looked at in a
# browser. Argument: the executable.
set -euo pipefail
# In a mount namespace of its own, where it may: a disk is filled.
if [ "${2:-}" != alone ] && unshare -m true 2>/dev/null; then
  exec unshare -m bash "$0" "$1" alone
fi
exec python3 -B "$(dirname "$0")/dashboards.py" "$1"
