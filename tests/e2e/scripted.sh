#!/usr/bin/env bash
# A scripted model is known by the digest of its file: a module with the same blocks that computes something
# else is refused, and the run goes on with who has the right one. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"

python3 -B "$here/scripted_module.py" "$scratch/run.pt" 1
python3 -B "$here/scripted_module.py" "$scratch/other.pt" 2
cp "$scratch/run.pt" "$scratch/copy.pt"
cat >"$scratch/scripted.toml" <<'TOML'
name = "scripted"
method = "fedavg"
rounds = 3
[data]
kind = "synthetic"
[clients]
clients = 2
clients_per_round = 2
[model]
kind = "torchscript"
[training]
local_steps = 2
batch_size = 10
learning_rate = 0.01
TOML
scripted=("$scratch/scripted.toml" --set "model.path=$scratch/run.pt" --folder)
"$troupe" run "${scripted[@]}" "$scratch/alone" --format json >"$scratch/wanted.out" 2>"$scratch/wanted.err" || fail "one process does not learn"

served=(--insecure)
takes_part() { join join --virtual 2 "$@" && wait "$joined"; } # ARGUMENTS…
misfits() { # TEXT ARGUMENTS…
  local code=0
  takes_part "${@:2}" || code=$?
  [ $code = 3 ] && grep -qF -- "$1" "$scratch/join.err" || fail "join ${*:2} ends with $code and not for '$1'"
}

serve served "${scripted[@]}" "$scratch/served"
misfits "this run has a scripted model"
misfits "is not the model that the run has: its digest is" --model "$scratch/other.pt"
misfits "there is no such file" --model "$scratch/nowhere.pt"
takes_part --model "$scratch/copy.pt" || fail "who has the run's model cannot take part"
wait "$server" || fail "a served run fails"
[ "$(digest_in "$scratch/served.out")" = "$(digest_in "$scratch/wanted.out")" ] || fail "it learns something else"

# Nor does a served run go on with another one.
serve begun "${scripted[@]}" "$scratch/begun"
kill -TERM "$server"
ends_with 0 "$server" "a server that nobody joined, and that is told to end,"
cp "$scratch/other.pt" "$scratch/run.pt"
refused 6 "is not the 'script' that the run began with" serve "$(folder_of)"
