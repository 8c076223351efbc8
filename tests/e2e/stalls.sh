#!/usr/bin/env bash
# Six runs by the wall clock that come to a stop, each for a reason of its own, and what `troupe why`
# and the page /why say of them. (How a full disk ends is in bad_input.sh.) Argument: the executable.
set -euo pipefail
# In a mount namespace of its own, where it may.
if [ "${2:-}" != alone ] && unshare -m true 2>/dev/null; then
  exec unshare -m bash "$0" "$1" alone
fi
. "$(dirname "$0")/common.sh"
leave() { umount "$scratch/runs" 2>/dev/null || true; }

# asks CODE WORDS: whether both name the stall, as CODE and in these words.
cat >"$scratch/asks.py" <<'PY'
import json, re, subprocess, sys, urllib.request
troupe, folder, address, code, words = sys.argv[1:]
told = subprocess.run([troupe, "why", folder, "--format", "json"], capture_output=True, text=True)
with urllib.request.urlopen(f"http://{address}/why?format=json", timeout=10) as page:
    both = [json.loads(told.stdout or "{}"), json.load(page)]
print(*[f"{x.get('code')}: {x.get('what')}; ends with {x.get('ends')}" for x in both], sep="\n")
sys.exit(not all(x.get("code") == code and re.search(words, x["what"]) and x["ends"] for x in both))
PY

# stall CODE WORDS KEY=VALUE…: a run with these settings comes to be named so within a minute.
stall() {
  local code=$1 words=$2 one sets=()
  shift 2
  for one in "$@"; do sets+=(--set "$one"); done
  rm -rf "$scratch"/runs/*
  start stalled "$troupe" run "$scratch/run.toml" "${sets[@]}" --http 127.0.0.1:0 --folder "$scratch/runs"
  until_is "not named as '$code', '$words'" is_named "$code" "$words"
  head -1 "$scratch/said"
  # A worker that hangs ends with the second. The run may have ended by itself.
  tell INT "$process"
  until_is "who is interrupted says nothing" eval 'holds "$scratch/stalled.err" "^ending the run" || ! goes_on "$process"'
  tell INT "$process"
  wait "$process" 2>/dev/null || true
}
is_named() { # CODE WORDS
  local address
  address=$(sed -n 's|^metrics at http://\(.*\)/metrics$|\1|p' "$scratch/stalled.err")
  [ -n "$address" ] && python3 "$scratch/asks.py" "$troupe" "$(echo "$scratch"/runs/*)" "$address" "$@" >"$scratch/said" 2>&1
}

mkdir "$scratch/runs"
cat >"$scratch/run.toml" <<'TOML'
name = "stalled"
method = "fedavg"
clock = "wall"
versions = 1000000000
evaluate_every = 0
workers = 1
[data]
kind = "quadratic"
dimension = 1000
[model]
kind = "quadratic"
[clients]
clients = 20
[pace]
mode = "fedbuff"
concurrency = 20
buffer_size = 5
[training]
local_steps = 5
batch_size = 0
learning_rate = 0.1
TOML
rounds=(pace.mode=sync clients.clients_per_round=8)

printf '[[scene]]\nversion = 3\nleave = [1, 20]\n' >"$scratch/all_leave.toml"
stall no_clients "no client is available: 20 were here before" scenario="$scratch/all_leave.toml"

printf '[[scene]]\nversion = 3\nleave = [1, 15]\n' >"$scratch/few_stay.toml"
stall quorum "next round needs 8 free clients, and of 5 that are here 5 are free" \
  "${rounds[@]}" scenario="$scratch/few_stay.toml"

stall worker "a worker has been at visit [0-9]+ of client [0-9]+ for" training.local_steps=1000000000

# One worker and long visits: what twenty clients began at one version comes after the next.
stall stale "the last [0-9]+ offers came too stale and were refused" pace.mode=fedasync \
  pace.staleness_max=0 training.local_steps=60000

# No visit is as short as its round. After ten such rounds the run fails.
stall no_offers "[0-9]+ rounds passed the deadline without an offer" \
  "${rounds[@]}" pace.round_deadline=1 training.local_steps=1000000

if mount -t tmpfs -o size=3m none "$scratch/runs" 2>/dev/null; then
  stall disk "cannot store .*No space left" data.dimension=20000
else
  echo "skipped: a full disk, which takes the right to mount one"
fi
echo "ok"
