#!/usr/bin/env bash
# The less of the labels each client knows, the less ten of them learn: the example's four ways to
# deal Fashion-MNIST, four short rounds each. Argument: the executable.
set -euo pipefail
troupe=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

before=1.0
for dealt in partition.kind=iid partition.alpha=0.5 labels_per_client=2 labels_per_client=1; do
  "$troupe" run deploy/examples/heterogeneity.toml --set "$dealt" --set rounds=4 \
    --set local_epochs=1 --set evaluate_every=4 --set workers=1 --set ledger=memory \
    --set folder="$scratch" --format json >"$scratch/out" 2>"$scratch/err" ||
    { cat "$scratch/out" "$scratch/err"; exit 1; }
  accuracy=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["accuracy"])' \
    "$scratch/out")
  echo "$dealt: accuracy $accuracy"
  python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(not 0.2 < a < b)' \
    "$accuracy" "$before" || { echo "above 0.2 and below $before was expected"; exit 1; }
  before=$accuracy
done
echo "ok"
