#!/usr/bin/env bash
# What nobody trains is known by its digest: who has it not brings it, keeps it, or is given it, and
# all of these learn what one process learns. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"

cat >"$scratch/small.toml" <<'TOML'
name = "small"
rounds = 4
[data]
kind = "low_rank"
[clients]
clients = 2
clients_per_round = 2
[model]
kind = "regression"
hidden = []
[training]
local_steps = 5
batch_size = 0
learning_rate = 0.001
[merge]
delta_max = 64.0
TOML
# Sets `base`, what is `run` with it, and the digest that is `wanted`.
begin() { # NAME, of a configuration
  "$troupe" run "$scratch/$1.toml" --set method=fedavg --folder "$scratch/base-$1" --format json \
    >"$scratch/base.out" 2>"$scratch/base.err" || fail "the base is not learned"
  base=$(echo "$scratch/base-$1"/*/model.safetensors)
  run=("$scratch/$1.toml" --set method=homlora --set "init=$base" --folder "$scratch/runs")
  "$troupe" run "${run[@]}" --format json >"$scratch/wanted.out" 2>"$scratch/wanted.err" || fail "one process does not learn"
  wanted=$(digest_in "$scratch/wanted.out")
  served=("${run[@]}" --insecure)
}

takes_part() { join join --virtual 2 "$@" && wait "$joined"; } # ARGUMENTS…
lacks() { # ARGUMENTS…
  local code=0
  takes_part "$@" || code=$?
  [ $code = 3 ] && grep -q "the run's 'model' is other than the one made here" "$scratch/join.err" ||
    fail "who lacks what nobody trains ends with $code"
}
learns() { # NAME ARGUMENTS…
  takes_part "${@:2}" || fail "$1: a process fails"
  wait "$server" || fail "$1: a served run fails"
  [ "$(digest_in "$scratch/$1.out")" = "$wanted" ] || fail "$1 learns something else"
}

begin small
serve brought
lacks
lacks --store "$scratch/store"
grep -q "it is not served" "$scratch/join.err" || fail "it does not say why"
learns brought --model "$base"

serve given --serve-frozen
learns given --store "$scratch/store"
kept=$(echo "$scratch"/store/frozen/*)
[ -f "$kept" ] || fail "what was given is not kept"

serve kept
learns kept --store "$scratch/store"

# A store that cannot keep it is none that cannot take part; a file in the place of the folder is as a full disk there.
mkdir "$scratch/narrow"
: >"$scratch/narrow/frozen"
serve narrow --serve-frozen
learns narrow --store "$scratch/narrow"
grep -q "what came as 'model' is not kept, and is asked for again by who joins next" "$scratch/join.err" || fail "it does not say that it is not kept"

# What was kept and is damaged is no longer it.
serve damaged
printf 'x' | dd of="$kept" bs=1 seek=5 conv=notrunc status=none
lacks --store "$scratch/store"
kill "$server"
wait "$server" || true

# What is larger than one answer of 131,072 values comes in several.
sed 's/^kind = "low_rank"/kind = "synthetic"\ndimension = 400/; s/^kind = "regression"/kind = "mlp"/; s/^hidden.*/hidden = [400]/
  s/^rounds.*/rounds = 2/; s/^local_steps.*/local_steps = 2/; s/^batch_size.*/batch_size = 10/' "$scratch/small.toml" >"$scratch/large.toml"
begin large
serve large --serve-frozen
learns large --store "$scratch/others"
[ "$(stat -c %s "$scratch"/others/frozen/*)" -gt $((4 * 131072)) ] || fail "one answer was enough"

# What a method looks through, which is no part of its model: here of a run with another seed. The layout has its digest.
sed 's/^kind = "low_rank"/kind = "clusters"/; s/^hidden.*/hidden = [5]/; s/^clients = 2/clients = 4\nexpected = 4/' "$scratch/small.toml" >"$scratch/gated.toml"
"$troupe" run "$scratch/gated.toml" --set method=fedavg --set seed=2 --set "model.hidden=[4]" --folder "$scratch/common" --format json \
  >"$scratch/base.out" 2>"$scratch/base.err" || fail "the common model is not learned"
common=$(echo "$scratch"/common/*)
run=("$scratch/gated.toml" --set method=ddome --set "common_model.hidden=[4]" --set "common=$common" --set options.experts=2 --set options.chosen=1
  --set options.anchors=2 --set options.anchors_per_round=1 --folder "$scratch/runs")
"$troupe" run "${run[@]}" --format json >"$scratch/wanted.out" 2>"$scratch/wanted.err" || fail "one process does not learn through it"
wanted=$(digest_in "$scratch/wanted.out")
served=("${run[@]}" --insecure)
joins() { join join --virtual 4 "$@" && wait "$joined"; } # ARGUMENTS…
through() { # NAME ARGUMENTS…
  joins "${@:2}" || fail "$1: a process fails"
  wait "$server" || fail "$1: a served run fails"
  [ "$(digest_in "$scratch/$1.out")" = "$wanted" ] || fail "$1 learns something else"
}

serve lacking
code=0
joins || code=$?
[ $code = 3 ] && grep -q "the run's 'common' is other than the one made here" "$scratch/join.err" ||
  fail "who lacks the common model ends with $code"
grep -q -- "--common PATH" "$scratch/join.err" || fail "it does not say what would do"
through lacking --common "$common"

# How often a process asked, by what it says that goes up: once for all of its clients, and never for what it has.
# (Who hears nothing for a while says the same question again.)
asked() { # AUDIT
  python3 -c '
import json, sys
pieces = map(json.loads, open(sys.argv[1]))
parts = [y for x in pieces for y in x.get("frames", [x])]
print(len({x["fields"]["nonce"] for x in parts if x.get("message") == "frozen_asked"}))' "$1"
}
serve common --serve-frozen
through common --store "$scratch/commons" --audit "$scratch/audit-common"
[ "$(asked "$scratch/audit-common")" = 1 ] || fail "it is asked for more than once, or never"
[ "$(echo "$scratch"/commons/frozen/* | wc -w)" = 1 ] || fail "what came is not kept"
serve again --serve-frozen
through again --store "$scratch/commons" --audit "$scratch/audit-again"
[ "$(asked "$scratch/audit-again")" = 0 ] || fail "what is kept is asked for again"
grep -q '"offer_made"' "$scratch/audit-again" || fail "the audit says nothing"

# A process that is killed when it has it asks no more when it comes back, and all learn what they would have learned.
"$troupe" run "${run[@]}" --set rounds=60 --format json >"$scratch/wanted.out" 2>"$scratch/wanted.err" || fail "a longer run does not learn"
wanted=$(digest_in "$scratch/wanted.out")
served+=(--set rounds=60)
serve crashed --serve-frozen
join killed --virtual 4 --store "$scratch/crash"
has_come() { [ -n "$(find "$scratch/crash/frozen" -type f -size "+0" 2>/dev/null)" ]; }
until_is "nothing comes to who joins" has_come
has_versions "$(folder_of)" 2
kill -9 "$joined"
wait "$joined" || true
through crashed --store "$scratch/crash" --audit "$scratch/audit-crash"
[ "$(asked "$scratch/audit-crash")" = 0 ] || fail "who was killed asks again for what he has"

# What rows look like through it is made again, and kept by nobody: a client of this method has a generator and counts.
python3 - "$scratch"/commons/run-*/clients.sqlite <<'PY' || fail "clients keep more than their state"
import sqlite3, sys
sizes = []
for path in sys.argv[1:]:
    sizes += [x for (x,) in sqlite3.connect(path).execute("SELECT length(body) FROM states")]
assert sizes and all(x is not None and x < 128 for x in sizes), sizes
PY

# Nobody but the run's folder has it any more.
rm -r "$common"
"$troupe" export "$(folder_of)" --block common --to "$scratch/exported.safetensors" >/dev/null || fail "the run's folder has no common model"
