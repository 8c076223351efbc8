#!/usr/bin/env bash
# The command line as a process: exit codes, streams, JSON. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"

expect() { # EXIT-CODE WORD ARGUMENTS…: the code, and a word on stdout or stderr
  local code=0
  "$troupe" "${@:3}" >"$scratch/out" 2>"$scratch/err" || code=$?
  [ "$code" = "$1" ] && grep -qF -- "$2" "$scratch/out" "$scratch/err" ||
    fail "troupe ${*:3}: exit code $code, expected $1 and '$2'"
}

json() { python3 -c 'import json,sys; x=json.load(open(sys.argv[1])); assert eval(sys.argv[2]), x' \
  "$scratch/out" "$1"; }

expect 0 "check-config" --help
# What large messages cross in, unless it is said; how a default stands there is the library's.
for verb in serve join; do
  expect 0 "[1 - 4096]" "$verb" --help
  grep -Eq '\[1 - 4096\](=256| \[256\])' "$scratch/out" || fail "troupe $verb says no default of --chunk-kib"
done
expect 0 "troupe 0." version
expect 2 "unknown command" zebra
expect 0 "language_memory  is left out: " bench --only language_memory --texts "$scratch/nowhere"
expect 0 "of a small GPT-2" bench --only lora_step --texts "$scratch/nowhere" --repetitions 1
expect 2 "--zebra" version --zebra
expect 0 "ok" check-config deploy/examples/tiny.toml # documented.sh has all others.

expect 3 "did you mean 'pace.buffer_size'" check-config deploy/examples/tiny.toml \
  --set buffer_sise=3 --format json
json 'x["success"] is False and x["error"]["code"] == "invalid_config"'
[ ! -s "$scratch/err" ] || fail "JSON is not alone"

expect 2 "RUN is required" replay
expect 2 "no folder" replay "$scratch/nowhere"
expect 3 "cannot be read" replay "$scratch"
expect 2 "RUN is required" predict
expect 6 "holds no run" predict "$scratch" --data "$scratch/x.csv" --to "$scratch/y.csv"
expect 2 "--matrix, --routing or --writing is required" eval "$scratch"
expect 6 "holds no run" eval "$scratch" --matrix
expect 2 "nothing is said to be scored" eval
expect 2 "--text or --prompts is required" eval --model "$scratch"
expect 2 "a run is scored, or a model by itself" eval "$scratch" --matrix --model "$scratch"
expect 3 "is a folder" check-config "$scratch"
expect 3 "is a folder" run "$scratch" --format json
"$troupe" run deploy/examples/tiny.toml --set versions=2 --set ledger=memory --set evaluate_every=0 \
  --set samples_per_client=20 --folder "$scratch/runs" >"$scratch/out" 2>&1
run=$(echo "$scratch"/runs/*)
expect 0 "digests equal" replay "$run"
grep -q "$equal_digests\$" "$scratch/out" || fail "a run is not computed again"
expect 0 '"first_difference": null' replay "$run" --format json
json 'x["success"] and x["equal"] == x["total"] > 2'
cp "$run/events.jsonl" "$scratch/events.jsonl"
sed -i '0,/"checksum":"[0-9a-f]*"/s//"checksum":"0123456789abcdef"/' "$run/events.jsonl"
expect 1 "first difference: events.jsonl:" replay "$run"
expect 1 "recomputed" replay "$run" --format json
json 'not x["success"] and x["equal"] < x["total"] and x["first_difference"]["line"] > 3'
head -n 20 "$scratch/events.jsonl" >"$run/events.jsonl"
expect 1 "the end of the record" replay "$run"
sed '3s/"seed":[0-9]*/"seed":/' "$scratch/events.jsonl" >"$run/events.jsonl"
expect 6 "events.jsonl:3: " replay "$run"

expect 6 "/nowhere" data inspect deploy/examples/tiny.toml --set data.path=/nowhere
expect 0 "to the same bytes" data tokens docs/data.md --tokenizer bytes
expect 2 "--size is of no use to 'data tokens'" data tokens docs/data.md --tokenizer bytes --size 300
expect 0 "300 tokens from" data tokenizer docs/data.md --size 300 --to "$scratch/made"
expect 0 "bpe of 300 tokens" data tokens docs/data.md --tokenizer "$scratch/made"
# Whether the bar is met is not the question here: that the figure comes is.
timeout 120 "$troupe" bench --only idle_visits --repetitions 1 --format json \
  >"$scratch/out" 2>/dev/null || true
json 'x["figures"][0]["value"] > 0 and x["kernels"].startswith("torch ")'
# It has a value only where each scrape was answered.
timeout 300 "$troupe" bench --only watching --repetitions 1 --format json \
  >"$scratch/out" 2>/dev/null || true
json 'x["figures"][0]["value"] > 0 and x["figures"][0]["judged_by"] == "median"'
(ulimit -n 1000 && exec "$troupe" bench --only connected --format json) >"$scratch/out" 2>/dev/null
json 'x["success"] and all("10200" in y["left_out"] for y in x["figures"])'
expect 0 "torch" doctor --format json
json 'x["success"] and any(y["name"] == "LibTorch" and y["state"] == "ok" for y in x["findings"])'
echo "ok"
