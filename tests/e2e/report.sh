#!/usr/bin/env bash
# A run's page, as a browser shows it: nothing overlaps or sticks out, in light and in dark, and
# nothing is fetched. Argument: the executable. With TROUPE_KEEP=FOLDER the pictures stay there.
set -euo pipefail
. "$(dirname "$0")/common.sh"
browser=$(command -v chromium || true)
if [ -z "$browser" ]; then
  echo "skipped: there is no chromium (apt-get install chromium)"
  exit 77
fi

"$troupe" run deploy/examples/quickstart.toml --set versions=30 --set evaluate_every=3 \
  --set workers=1 --set samples_per_client=100 --set folder="$scratch/runs" --set ledger=memory \
  --format json >"$scratch/out" 2>"$scratch/err" || fail "a run fails"
folder=$(value_in "$scratch/out" folder)
"$troupe" report "$folder" --out "$scratch/page.html"
cmp "$folder/report.html" "$scratch/page.html"
python3 tests/e2e/report_page.py "$browser" "$scratch/page.html" "${TROUPE_KEEP:-$scratch}"
echo "ok"
