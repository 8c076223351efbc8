#!/usr/bin/env bash
# Commands that train nothing start at once, and an executable without torch says what it
# lacks when it has something to train. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"
mkdir "$scratch/runs"
python3 tests/e2e/startup.py "$troupe" "$scratch/runs"

# Without libtroupe_torch.so beside it.
cp "$troupe" "$scratch/troupe"
short="--set ledger=memory --set evaluate_every=0 --folder $scratch/alone"
# shellcheck disable=SC2086
! "$scratch/troupe" run deploy/examples/tiny.toml --set versions=1 $short >"$scratch/out" 2>&1 ||
  fail "a run with torch succeeds where there is none"
grep -qF "libtroupe_torch.so is missing" "$scratch/out" || fail "a run without torch says not what it lacks"
"$scratch/troupe" doctor >"$scratch/out" 2>&1 || true
grep -q "MISSING *LibTorch" "$scratch/out" || fail "doctor says not what is missing"
# What needs no torch needs none.
# shellcheck disable=SC2086
"$scratch/troupe" run deploy/examples/floral/synthetic_linear.toml --set rounds=1 $short >"$scratch/out" 2>&1 ||
  fail "what needs no torch fails without it"
# In the folder of libraries of an installed one.
mkdir -p "$scratch/bin" "$scratch/lib/troupe"
mv "$scratch/troupe" "$scratch/bin/"
cp "$(dirname "$troupe")/libtroupe_torch.so" "$scratch/lib/troupe/"
# shellcheck disable=SC2086
"$scratch/bin/troupe" run deploy/examples/tiny.toml --set versions=1 --set samples_per_client=20 $short >"$scratch/out" 2>&1 ||
  fail "an installed one does not find torch"
