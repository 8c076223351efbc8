#!/usr/bin/env bash
# The less of the labels each client knows, the less ten of them learn: the example's four ways to
# deal Fashion-MNIST, four short rounds each. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"

before=1.0
for dealt in partition.kind=iid partition.alpha=0.5 labels_per_client=2 labels_per_client=1; do
  "$troupe" run deploy/examples/heterogeneity.toml --set "$dealt" --set rounds=4 \
    --set local_epochs=1 --set evaluate_every=4 --set workers=1 --set ledger=memory \
    --set folder="$scratch" --format json >"$scratch/out" 2>"$scratch/err" || fail "a run fails"
  accuracy=$(value_in "$scratch/out" accuracy)
  echo "$dealt: accuracy $accuracy"
  python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(not 0.2 < a < b)' \
    "$accuracy" "$before" || fail "above 0.2 and below $before was expected"
  before=$accuracy
done
echo "ok"
