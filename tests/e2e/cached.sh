#!/usr/bin/env bash
# What a client of another process has fetched and still is the newest does not cross the socket again. IFCA
# fetches four models for each visit, of which a round of one client changes one. Argument: the executable.
set -euo pipefail
troupe=$(realpath "$1")
scratch=$(mktemp -d)
started=()
end() { kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$scratch"; }
trap end EXIT
fail() { echo "$1"; tail -n 20 "$scratch"/*.out "$scratch"/*.err; exit 1; }
value_of() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1" "$2"; }

cat >"$scratch/small.toml" <<'TOML'
name = "small"
method = "ifca"
rounds = 12
evaluate_every = 0
[data]
kind = "synthetic"
dimension = 1000
[clients]
clients = 1
clients_per_round = 1
[model]
kind = "softmax"
[training]
local_steps = 2
batch_size = 10
learning_rate = 0.01
TOML
"$troupe" run "$scratch/small.toml" --folder "$scratch/runs" --format json >"$scratch/wanted.out" 2>"$scratch/wanted.err" ||
  fail "one process does not learn"
"$troupe" serve "$scratch/small.toml" --folder "$scratch/runs" --format json --insecure \
  >"$scratch/served.out" 2>"$scratch/served.err" &
server=$!
started+=("$server")
address=
for _ in $(seq 600); do
  address=$(grep -m 1 '^tcp://' "$scratch/served.err" 2>/dev/null || true)
  [ -z "$address" ] || break
  sleep 0.1
done
[ -n "$address" ] || fail "the server says no address"
timeout 120 "$troupe" join "$address" --insecure --virtual 1 >"$scratch/join.out" 2>"$scratch/join.err" ||
  fail "a process fails"
wait "$server" || fail "a served run fails"
[ "$(value_of "$scratch/served.out" digest)" = "$(value_of "$scratch/wanted.out" digest)" ] ||
  fail "it learns something else"

# Four at first and one a round, and four more for the last scores; with nothing kept it is four a round.
model=$(((1000 * 10 + 10) * 4))
down=$(value_of "$scratch/served.out" bytes_down)
((down > 12 * model)) || fail "only $down bytes went down: are these the models?"
((down < 26 * model)) || fail "$down bytes went down, which is $((down / model)) models where 19 would do"
