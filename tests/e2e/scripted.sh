#!/usr/bin/env bash
# A scripted model is known by the digest of its file: a module with the same blocks that computes something
# else is refused, and the run goes on with who has the right one. Argument: the executable.
set -euo pipefail
troupe=$(realpath "$1")
here=$(dirname "$(readlink -f "$0")")
scratch=$(mktemp -d)
started=()
end() { kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$scratch"; }
trap end EXIT
fail() { echo "$1"; tail -n 20 "$scratch"/*.out "$scratch"/*.err; exit 1; }
digest_in() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["digest"])' "$1"; }

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
scripted=("$scratch/scripted.toml" --set "model.path=$scratch/run.pt" --format json --folder)
"$troupe" run "${scripted[@]}" "$scratch/alone" >"$scratch/wanted.out" 2>"$scratch/wanted.err" || fail "one process does not learn"

# Sets `address` and `server`.
serve() { # NAME ARGUMENTS…
  local name=$1
  shift
  "$troupe" serve "$@" >"$scratch/$name.out" 2>"$scratch/$name.err" &
  server=$!
  started+=("$server")
  for _ in $(seq 600); do
    address=$(grep -m 1 '^tcp://' "$scratch/$name.err" 2>/dev/null || true)
    [ -z "$address" ] || return 0
    sleep 0.1
  done
  fail "$name says no address"
}
join() { timeout 120 "$troupe" join "$address" --insecure --virtual 2 "$@" >"$scratch/join.out" 2>"$scratch/join.err"; }
misfits() { # TEXT ARGUMENTS…
  local text=$1 code=0
  shift
  join "$@" || code=$?
  [ $code = 3 ] && grep -qF -- "$text" "$scratch/join.err" || fail "join $* ends with $code and not for '$text'"
}

serve served "${scripted[@]}" "$scratch/served" --insecure
misfits "this run has a scripted model"
misfits "is not the model that the run has: its digest is" --model "$scratch/other.pt"
misfits "there is no such file" --model "$scratch/nowhere.pt"
join --model "$scratch/copy.pt" || fail "who has the run's model cannot take part"
wait "$server" || fail "a served run fails"
[ "$(digest_in "$scratch/served.out")" = "$(digest_in "$scratch/wanted.out")" ] || fail "it learns something else"

# Nor does a served run go on with another one.
serve begun "${scripted[@]}" "$scratch/begun" --insecure
kill -TERM "$server"
code=0
wait "$server" || code=$?
[ $code = 0 ] || fail "a server that nobody joined, and that is told to end, ends with $code"
cp "$scratch/other.pt" "$scratch/run.pt"
code=0
timeout 120 "$troupe" serve "$(echo "$scratch"/begun/*)" >"$scratch/again.out" 2>"$scratch/again.err" || code=$?
[ $code = 1 ] && grep -q "is not the module that its clients train" "$scratch/again.err" ||
  fail "a run that goes on with another module ends with $code"
