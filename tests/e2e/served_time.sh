#!/usr/bin/env bash
# The time of a served run goes on over processes, and never back: what it may take is counted from when it began, whatever
# the clocks of machines say. Argument: the executable.
set -euo pipefail
troupe=$(realpath "$1")
scratch=$(mktemp -d)
started=()
end() { kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$scratch"; }
trap end EXIT
fail() { echo "$1"; tail -n 20 "$scratch"/*.out "$scratch"/*.err; exit 1; }

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

# Sets `address` and `server`.
serve() { # NAME SECONDS ARGUMENTS…: with a clock that is off by so many
  local name=$1 off=$2
  shift 2
  TROUPE_CLOCK_OFFSET=$off "$troupe" serve "$@" --insecure --folder "$scratch/runs" --format json \
    >"$scratch/$name.out" 2>"$scratch/$name.err" &
  server=$!
  started+=("$server")
  for _ in $(seq 600); do
    address=$(grep -m 1 '^tcp://' "$scratch/$name.err" 2>/dev/null || true)
    [ -z "$address" ] || return 0
    sleep 0.1
  done
  fail "$name says no address"
}
versions() { grep -c '"kind":"version"' "$folder/metrics.jsonl" 2>/dev/null || true; }
# Seconds of its own time.
reached() {
  python3 - "$folder/metrics.jsonl" <<'PY'
import json, sys
print(max([json.loads(x)["at"] for x in open(sys.argv[1]).read().split("\n")[:-1]], default=0))
PY
}

serve before 0 "$scratch/short.toml"
folder=$(dirname "$(echo "$scratch"/runs/*/endpoint)")
"$troupe" join "$address" --insecure --virtual 4 --store "$scratch/store" >"$scratch/join.out" 2>"$scratch/join.err" &
joined=$!
started+=("$joined")
for _ in $(seq 100); do [[ $(reached) == 0* ]] || break; sleep 0.1; done
kill -9 "$server"
wait "$server" 2>/dev/null || true
cp -r "$folder" "$scratch/copy"
rm -f "$scratch/copy/control"

# By a clock that was set back by a day what it took counts all the same.
reached=$(reached)
began=$(date +%s.%N)
serve back -86400 "$folder"
wait "$server" || fail "a run whose clock was set back fails"
wait "$joined" || fail "clients of a run whose clock was set back fail"
python3 - "$folder" "$reached" "$(python3 -c "import time; print(time.time() - $began)")" <<'PY' || fail "the run's time goes back, or begins again"
import json, sys
folder, reached, took = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
at = [json.loads(x)["at"] for x in open(folder + "/metrics.jsonl")]
last = json.load(open(folder + "/summary.json"))
assert 1 <= reached < 6, f"it was killed after {reached} s of its own"
assert at == sorted(at), at
assert at[-1] < 7 and took > 6 - reached - 0.5, f"until {at[-1]} s of its own, in {took} s after {reached}"
assert last["reason"] == "the run's length is reached", last
PY

# By one that is a day ahead the time is over.
before=$(grep -c '"kind":"version"' "$scratch/copy/metrics.jsonl")
folder=$scratch/copy
serve ahead 86400 "$folder"
timeout 30 tail --pid="$server" -f /dev/null || fail "a run whose time is over goes on"
wait "$server" || fail "a run whose time is over fails"
[ "$(versions)" = "$before" ] && grep -q "the run's length is reached" "$folder/summary.json" ||
  fail "a run whose time is over learns on"
