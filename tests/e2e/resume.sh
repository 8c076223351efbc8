#!/usr/bin/env bash
# A run with a real model is killed again and again, each time somewhere else, and goes on with
# --resume: it must end with the digest and the records of the run that nobody disturbed.
# TROUPE_KILLS (5; 50 in the long gate) is how often. Argument: the executable.
set -euo pipefail
troupe=$1
kills=${TROUPE_KILLS:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

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

value() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$@"; }

"$troupe" run "$scratch/run.toml" --folder "$scratch/whole" --format json \
  >"$scratch/whole.json" 2>"$scratch/err" || { cat "$scratch/whole.json" "$scratch/err"; exit 1; }
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
    "$troupe" run --resume "$folder" >"$scratch/out" 2>"$scratch/err" &
  else
    "$troupe" run "$scratch/run.toml" --folder "$scratch/killed" >"$scratch/out" 2>"$scratch/err" &
  fi
  pid=$!
  # Some versions further than the last time, and anywhere between two of them.
  upto=$((upto + 10 + RANDOM % 30))
  while kill -0 "$pid" 2>/dev/null && [ "$(versions)" -lt "$upto" ]; do sleep 0.02; done
  sleep "0.0$((RANDOM % 10))"
  kill -9 "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
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
[ "$killed" -ge "$kills" ] || { echo "the run was killed $killed times only"; exit 1; }
"$troupe" run --resume "$folder" --format json >"$scratch/again.json" 2>"$scratch/err" ||
  { cat "$scratch/again.json" "$scratch/err"; exit 1; }
for key in digest visits versions virtual_seconds; do
  [ "$(value "$scratch/whole.json" $key)" = "$(value "$scratch/again.json" $key)" ] ||
    { echo "$key differs"; exit 1; }
done
cmp "$whole/events.jsonl" "$folder/events.jsonl"
cmp "$whole/metrics.jsonl" "$folder/metrics.jsonl"
echo "killed $killed times; digest $(value "$scratch/again.json" digest)"
