#!/usr/bin/env bash
# Over a dense model whose adapters stand inside its layers: what a run learns, and what clients are worth then, does not
# depend on workers, on the clock, on evaluation, on processes or on a kill; and its record is computed again to the bit.
# Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"

cat >"$scratch/small.toml" <<'TOML'
name = "small"
rounds = 24
evaluate_every = 12
[data]
kind = "synthetic"
dimension = 20
[clients]
clients = 6
clients_per_round = 4
expected = 6
[partition]
samples_per_client = 60
[model]
kind = "mlp"
hidden = [12]
factors = "inside"
[training]
batch_size = 10
learning_rate = 0.05
TOML
run=("$scratch/small.toml")

replays() { # NAME
  "$troupe" replay "$(echo "$scratch/$1"/*)" >"$scratch/out" 2>"$scratch/err" || fail "'$1' of $method is not computed again"
  grep -q "$equal_digests" "$scratch/out" || fail "'$1' of $method is computed again to another end"
}

# In one process torch_tests have what is learned and kept, and replays, of all methods: here are a mixture and two levels;
# all of them with TROUPE_LONG.
methods=(floral pf2lora)
[ -z "${TROUPE_LONG:-}" ] ||
  methods=(floral_optimal local_adaptor per_fedavg_lora homlora hetlora flexlora fdlora ffa_lora fedsa_lora "${methods[@]}")
# In two processes, of which one is killed when its clients keep something, and goes on with that.
for method in "${methods[@]}"; do
  run=("$scratch/small.toml" --set "method=$method")
  case $method in # At 0.05 some would diverge, and who is refused is left alone for a time. No rank is beyond a layer's.
    floral_optimal) run+=(--set learning_rate=0.02) ;;
    hetlora | flexlora) run+=(--set rank=8 --set rank_min=2) ;;
    ffa_lora | fedsa_lora) run+=(--set rank=8) ;;
  esac
  rm -rf "$scratch"/{one,served}
  ends one --set workers=1
  grep -q '"failures": {}' "$scratch/one.out" || fail "visits of $method fail"
  serve served "${run[@]}" --insecure --folder "$scratch/served" --set events=true
  join stays --virtual 3
  join killed --virtual 3 --store "$scratch/store-$method"
  has_versions "$(folder_of)" 2
  tell KILL "$joined"
  wait "$joined" 2>/dev/null || true
  join back --virtual 3 --store "$scratch/store-$method"
  wait "$server" || fail "a served run of $method fails"
  wait
  same served digest per_client
  replays served
done

# A server that is killed goes on with its folder, and its clients with what they keep.
rm -rf "$scratch/served"
serve first "${run[@]}" --insecure --folder "$scratch/served" --set events=true --set rounds=20
join lives --virtual 6
folder=$(folder_of)
has_versions "$folder" 3
goes_on "$server" || fail "the served run ended before its server could be killed"
tell KILL "$server"
wait "$server" 2>/dev/null || true
serve second "$folder" --insecure
wait "$server" || fail "a run whose server was killed fails"
wait
replays served

# So does a run in one process, and ends as the one that nobody killed.
long=(--set rounds=40 --set snapshot_seconds=0.02 --set workers=1)
rm -rf "$scratch/one"
ends one "${long[@]}"
start broken "$troupe" run "${run[@]}" "${long[@]}" --folder "$scratch/broken"
versions() { versions_in "$(echo "$scratch"/broken/*)"; }
while goes_on "$process" && [ "$(versions)" -lt 12 ]; do sleep 0.02; done
goes_on "$process" || fail "the run ended before it could be killed"
tell KILL "$process"
wait "$process" 2>/dev/null || true
"$troupe" run --resume "$(echo "$scratch"/broken/*)" --format json >"$scratch/again.out" 2>"$scratch/again.err" ||
  fail "a run that was killed does not go on"
same again digest per_client
