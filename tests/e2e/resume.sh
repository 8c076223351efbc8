#!/usr/bin/env bash
# A run with a real model is killed again and again, each time somewhere else, and goes on with
# --resume: it must end with the digest and the records of the run that nobody disturbed.
# TROUPE_KILLS (5; 50 in the long gate) is how often. Argument: the executable.
set -euo pipefail
kills=${TROUPE_KILLS:-5}
patience=$((420 + 30 * kills)) # Seconds.
. "$(dirname "$0")/common.sh"

cat >"$scratch/run.toml" <<TOML
name = "killed"
versions = $((100 + kills * 40))
evaluate_every = 20
snapshot_seconds = 0.02
workers = 1
[data]
path = "/usr/share/datasets/fashion-mnist"
[partition]
samples_per_client = 50
[clients]
clients = 100
[pace]
mode = "fedbuff"
buffer_size = 5
concurrency = 20
[server]
optimiser = "adam"
server_learning_rate = 0.01
[devices]
speed = { kind = "uniform", slowest = 0.1, fastest = 1.0 }
[model]
kind = "mlp"
hidden = [100]
[training]
batch_size = 10
TOML

"$troupe" run "$scratch/run.toml" --folder "$scratch/whole" --format json \
  >"$scratch/whole.json" 2>"$scratch/err" || fail "a run fails"
whole=$(echo "$scratch"/whole/*)
versions() { cat "$scratch"/killed/*/metrics.jsonl 2>/dev/null | grep -c '"version"' || true; }

has_snapshot() { # LEDGER
  python3 - "$1" <<'PY'
import sqlite3, sys
try:
    kept = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True).execute("SELECT count(*) FROM kept_parts")
    sys.exit(kept.fetchone()[0] == 0)
except sqlite3.Error:
    sys.exit(1)
PY
}

RANDOM=7
upto=0
killed=0
folder=
for ((attempt = 0; attempt < 4 * kills && killed < kills; ++attempt)); do
  if [ -n "$folder" ]; then
    start killed "$troupe" run --resume "$folder"
  else
    start killed "$troupe" run "$scratch/run.toml" --folder "$scratch/killed"
  fi
  # Some versions further than the last time, and anywhere between two of them.
  upto=$((upto + 10 + RANDOM % 30))
  while goes_on "$process" && [ "$(versions)" -lt "$upto" ]; do sleep 0.02; done
  sleep "0.0$((RANDOM % 10))"
  tell KILL "$process"
  wait "$process" 2>/dev/null || true
  folder=$(echo "$scratch"/killed/*)
  [ ! -e "$folder/summary.json" ] || break
  # Before the first snapshot there is nothing to go on from.
  if ! has_snapshot "$folder/ledger.sqlite"; then
    rm -rf "$scratch/killed"
    folder=
    upto=0
    continue
  fi
  killed=$((killed + 1))
done
[ "$killed" -ge "$kills" ] || fail "the run was killed $killed times only"
"$troupe" run --resume "$folder" --format json >"$scratch/again.json" 2>"$scratch/err" || fail "a run that was killed does not go on"
for key in digest visits versions virtual_seconds; do
  [ "$(value_in "$scratch/whole.json" $key)" = "$(value_in "$scratch/again.json" $key)" ] || fail "$key differs"
done
cmp "$whole/events.jsonl" "$folder/events.jsonl"
cmp "$whole/metrics.jsonl" "$folder/metrics.jsonl"
echo "killed $killed times; digest $(digest_in "$scratch/again.json")"
