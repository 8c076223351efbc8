#!/usr/bin/env bash
# What live processes say of themselves is what docs/metrics.md says, and Prometheus's own checker
# takes it. Argument: the executable.
set -euo pipefail
exec python3 -B "$(dirname "$0")/metrics.py" "$1"
