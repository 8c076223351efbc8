#!/usr/bin/env bash
# Over a language model, for next tokens and for labels: what a run learns, and what clients are worth then, does not depend on
# workers, on the clock, on evaluation or on a kill; and its record is computed again to the bit. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"

texts=$scratch/language
small_language "$texts" "$scratch/examples"
run=("$scratch/examples/comigs/languages.toml" --set "users=['de', 'fr']" --set rounds=4 --set evaluate_every=2
  --set local_steps=5 --set batch_size=2 --set learning_rate=0.01 --set own_steps=20 --set router_every=6
  --set router_steps=2 --set test_tokens=600 --set validation_tokens=600)

# In one process language_run_test has what is learned and kept, and replays, of all methods: here are those with two
# adapters or levels, with nothing that is sent, and with one client; all of them with TROUPE_LONG.
methods=(comigs_2s centralised_lora fdlora pf2lora)
[ -z "${TROUPE_LONG:-}" ] ||
  methods+=(comigs comigs_2g pfedmoe fedavg_lora local_lora ffa_lora fedsa_lora pcl per_fedavg_lora homlora hetlora flexlora)
# Each of them once alone and once with all else that must not matter; and with evaluations, which look at what clients keep.
for method in "${methods[@]}"; do
  all=(--set "method=$method")
  [ $method != centralised_lora ] || all+=(--set pooled=true)
  rm -rf "$scratch/one" "$scratch/other"
  ends one "${all[@]}" --set workers=1 --set events=true
  ends other "${all[@]}" --set workers=2 --set clock=wall --set events=false --set evaluate_every=4
  same other digest clients_perplexity
  "$troupe" replay "$(echo "$scratch"/one/*)" >"$scratch/out" 2>"$scratch/err" || fail "$method is not computed again"
  case $method in
    comigs_2s | local_lora | centralised_lora) equal=$equal_scores ;; # Nothing is sent.
    *) equal=$equal_digests ;;
  esac
  grep -q "$equal\$" "$scratch/out" || fail "$method is computed again to another end"
  [ "$equal" = "$equal_scores" ] || continue
  # No digest would tell: their clients are worth something else.
  sed -i 's/^learning_rate = .*/learning_rate = 0.02/' "$scratch"/one/*/config.toml
  code=0
  "$troupe" replay "$(echo "$scratch"/one/*)" >"$scratch/out" 2>"$scratch/err" || code=$?
  [ $code = 1 ] && grep -q "^first difference: summary.json: " "$scratch/out" ||
    fail "$method is computed again with another rate, and nothing differs"
done
rm -rf "$scratch/one"
ends one --set workers=1 # CoMiGS, as the example has it.
ends blind --set workers=2 --set evaluate_every=0
same blind digest
ends wall --set clock=wall
same wall digest clients_perplexity

# Private state, moments and counters of steps are those of the run that nobody killed.
long=(--set rounds=40 --set own_steps=200 --set snapshot_seconds=0.02 --set workers=1)
rm -rf "$scratch/one"
ends one "${long[@]}"
start killed "$troupe" run "${run[@]}" "${long[@]}" --folder "$scratch/killed"
versions() { cat "$scratch"/killed/*/metrics.jsonl 2>/dev/null | grep -c '"version"' || true; }
while goes_on "$process" && [ "$(versions)" -lt 12 ]; do sleep 0.02; done
goes_on "$process" || fail "the run ended before it could be killed"
tell KILL "$process"
wait "$process" 2>/dev/null || true
# Of other texts it would be another.
text=$(echo "$texts"/languages/de/*.txt | cut -d ' ' -f 1)
cp "$text" "$scratch/text"
tr a e <"$scratch/text" >"$text"
refused 6 "is not the 'data' that the run began with" run --resume "$(echo "$scratch"/killed/*)"
cp "$scratch/text" "$text"
"$troupe" run --resume "$(echo "$scratch"/killed/*)" --format json >"$scratch/again.out" 2>"$scratch/again.err" ||
  fail "a run that was killed does not go on"
same again digest clients_perplexity

# Labelled rows: PF2LoRA, whose clients classify by a head that all share or by their own. One run alone and one with all else
# that must not matter; one in each pace under either clock, computed again; and one whose clients are in two processes, of
# which one is killed when they keep something, and goes on with that.
replays() { # NAME
  "$troupe" replay "$(echo "$scratch/$1"/*)" >"$scratch/out" 2>"$scratch/err" || fail "'$1' is not computed again"
  grep -q "$equal_digests" "$scratch/out" || fail "'$1' is computed again to another end"
}
for head in shared private; do
  method="pf2lora with a $head head"
  run=("$scratch/examples/pf2lora/sections.toml" --set "options.head=$head" --set clients=4 --set clients_per_round=4
    --set clients.expected=4 --set samples_per_client=60 --set rank=2 --set own_rank=1 --set batch_size=4 --set local_steps=4
    --set learning_rate=0.01 --set inner_rate=0.05 --set rounds=8 --set evaluate_every=4)
  rm -rf "$scratch"/{one,other}
  ends one --set workers=1
  ends other --set workers=2 --set clock=wall --set evaluate_every=8
  same other digest per_client
done
pace() { # MODE SETTINGS…
  local clock
  for clock in virtual wall; do
    rm -rf "$scratch/paced"
    ends paced --set mode="$1" --set clock="$clock" --set workers=2 --set evaluate_every=0 --set events=true "${@:2}"
    replays paced
  done
}
pace sync
pace semisync --set window_seconds=0.05 --set rounds=4
pace fedbuff --set buffer_size=2 --set rounds=0 --set updates=8
pace fedasync --set rounds=0 --set updates=8
served=("${run[@]}" --insecure --folder "$scratch/served" --set events=true)
serve served
there=(--virtual 2 --model "$texts/models/all-MiniLM-L6-v2" --data "$texts/sections")
join stays "${there[@]}"
join killed "${there[@]}" --store "$scratch/store"
has_versions "$(folder_of)" 2
goes_on "$server" || fail "the served run ended before a process of it could be killed"
tell KILL "$joined"
wait "$joined" 2>/dev/null || true
join back "${there[@]}" --store "$scratch/store"
wait "$server" || fail "a served run of $method fails"
same served digest per_client
replays served
