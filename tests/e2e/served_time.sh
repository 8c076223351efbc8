#!/usr/bin/env bash
# The time of a served run goes on over processes, and never back: what it may take is counted from when it began, whatever
# the clocks of machines say. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"
served=(--insecure --folder "$scratch/runs")

cat >"$scratch/short.toml" <<'TOML'
name = "short"
method = "fedavg"
time_budget = 6.0
evaluate_every = 0
[data]
kind = "synthetic"
dimension = 20
[clients]
clients = 4
[pace]
mode = "fedbuff"
buffer_size = 2
concurrency = 4
[model]
kind = "softmax"
[training]
local_epochs = 1
batch_size = 10
learning_rate = 0.05
TOML

# Seconds of its own time.
reached() {
  python3 - "$folder/metrics.jsonl" <<'PY'
import json, sys
print(max([json.loads(x)["at"] for x in open(sys.argv[1]).read().split("\n")[:-1]], default=0))
PY
}

serve before "$scratch/short.toml"
folder=$(folder_of)
join join --virtual 4 --store "$scratch/store"
until_is "the run takes no second" eval '[[ $(reached 2>/dev/null) == [1-9]* ]]'
kill -9 "$server"
wait "$server" 2>/dev/null || true
cp -r "$folder" "$scratch/copy"
rm -f "$scratch/copy/control"

# By a clock that was set back by a day what it took counts all the same.
reached=$(reached)
began=$(date +%s.%N)
TROUPE_CLOCK_OFFSET=-86400 serve back "$folder"
wait "$server" || fail "a run whose clock was set back fails"
wait "$joined" || fail "clients of a run whose clock was set back fail"
python3 - "$folder" "$reached" "$(python3 -c "import time; print(time.time() - $began)")" <<'PY' || fail "the run's time goes back, or begins again"
import json, sys
folder, reached, took = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
at = [json.loads(x)["at"] for x in open(folder + "/metrics.jsonl")]
last = json.load(open(folder + "/summary.json"))
assert 1 <= reached < 6, f"it was killed after {reached} s of its own"
assert at == sorted(at), at
assert at[-1] < 16 and took > 6 - reached - 0.5, f"until {at[-1]} s of its own, in {took} s after {reached}"
assert last["reason"] == "the run's length is reached", last
PY

# By one that is a day ahead the time is over.
folder=$scratch/copy
before=$(versions_in "$folder")
TROUPE_CLOCK_OFFSET=86400 serve ahead "$folder"
timeout 60 tail --pid="$server" -f /dev/null || fail "a run whose time is over goes on"
wait "$server" || fail "a run whose time is over fails"
[ "$(versions_in "$folder")" = "$before" ] && grep -q "the run's length is reached" "$folder/summary.json" ||
  fail "a run whose time is over learns on"

# A run that failed is over, and nobody is told that it goes on.
sed 's/^time_budget = .*/time_budget = 1.0/' "$scratch/short.toml" >"$scratch/nobody.toml"
serve nobody "$scratch/nobody.toml"
folder=$(folder_of)
ends_with 1 "$server" "a run without a version in its time"
! grep -q "goes on" "$scratch/nobody.err" || fail "what is over goes on"
[ -e "$folder/summary.json" ] || fail "a run that failed leaves no summary"
! "$troupe" serve "$folder" --insecure >"$scratch/out" 2>&1 || fail "a run that failed is served"
holds "$scratch/out" "has ended" || fail "a run that failed has not ended"
