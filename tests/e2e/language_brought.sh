#!/usr/bin/env bash
# `./dev data language` to its end, over pages, packages and wheels that are made up: each file that comes of them is as a hand
# has written it. What would fetch is ours here, and fetches nothing.
set -euo pipefail
. "$(dirname "$0")/common.sh"
mkdir -p "$scratch/bin" "$scratch/modules/pip"
touch "$scratch/modules/pip/"{__init__,__main__}.py

program() { # NAME TEXT
  printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}

program apt-get ':'
program apt-config ':'
program apt-cache 'echo "linux-doc"; echo "  Depends: linux-doc-6.1"'
PATH="$scratch/bin:$PATH" PYTHONPATH="$scratch/modules" python3 -B "$here/language_brought.py" "$scratch/texts" \
  >"$scratch/out" 2>&1 || fail "what is brought is not what it was made of"
