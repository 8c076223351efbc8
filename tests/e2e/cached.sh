#!/usr/bin/env bash
# What a client of another process has fetched and still is the newest does not cross the socket again. IFCA
# fetches four models for each visit, of which a round of one client changes one. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"
served=(--insecure --folder "$scratch/runs")

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
serve served "$scratch/small.toml"
join join --virtual 1
wait "$joined" || fail "a process fails"
wait "$server" || fail "a served run fails"
[ "$(digest_in "$scratch/served.out")" = "$(digest_in "$scratch/wanted.out")" ] ||
  fail "it learns something else"

# Four at first and one a round, and four more for the last scores; with nothing kept it is four a round.
model=$(((1000 * 10 + 10) * 4))
down=$(value_in "$scratch/served.out" bytes_down)
((down > 12 * model)) || fail "only $down bytes went down: are these the models?"
((down < 26 * model)) || fail "$down bytes went down, which is $((down / model)) models where 19 would do"
