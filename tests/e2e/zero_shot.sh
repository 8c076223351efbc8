#!/usr/bin/env bash
# Clients that are never invited get the same of a run that is served as of one in one process, and of its folder
# afterwards. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"
served=(--insecure --folder "$scratch/runs")

cat >"$scratch/small.toml" <<'TOML'
name = "small"
rounds = 6
evaluate_every = 2
[data]
kind = "synthetic"
dimension = 6
[partition]
kind = "natural"
samples_per_client = 40
[clients]
clients = 12
clients_per_round = 3
held_out = 3
expected = 9
[model]
kind = "mlp"
hidden = [7]
[training]
batch_size = 8
learning_rate = 0.2
TOML
gated=(--set options.experts=3 --set options.chosen=2 --set options.anchors=0 --set options.anchors_per_round=0
  --set options.renormalise=1 --set options.gate_rate=0.3)

python3 - "$scratch/inputs.csv" <<'PY'
import random, sys
draws = random.Random(1)
with open(sys.argv[1], "w") as out:
    print(*"abcdef", sep=",", file=out)
    for _ in range(200):
        print(*(round(draws.gauss(0, 2), 3) for _ in range(6)), sep=",", file=out)
PY

for method in fedavg ddome; do
  options=(--set "method=$method")
  [ $method = fedavg ] || options+=("${gated[@]}")
  "$troupe" run "$scratch/small.toml" "${options[@]}" --folder "$scratch/runs" --format json \
    >"$scratch/here.out" 2>"$scratch/here.err" || fail "a run of $method fails"
  serve there "$scratch/small.toml" "${options[@]}"
  join joined --virtual 9
  wait "$server" || fail "a served run of $method fails"
  wait
  python3 - "$scratch/here.out" "$scratch/there.out" "$method" <<'PY' || fail "$method: a stranger is worth another thing elsewhere"
import json, sys
here, there = (json.load(open(path)) for path in sys.argv[1:3])
assert here["digest"] == there["digest"]
assert here["zero_shot"] and here["zero_shot"] == there["zero_shot"], (here["zero_shot"], there["zero_shot"])
assert here["zero_shot_bytes_down"] == there["zero_shot_bytes_down"] > 0
assert (here["rows_embedded"] is None) == (sys.argv[3] == "fedavg"), here
for x in here, there:
    lines = map(json.loads, open(x["folder"] + "/metrics.jsonl"))
    assert all("zero_shot" in y for y in lines if y["kind"] == "evaluation")
PY
  for run in here there; do
    folder=$(value_in "$scratch/$run.out" folder)
    "$troupe" predict "$folder" --data "$scratch/inputs.csv" --to "$scratch/$run.csv" >"$scratch/said" 2>&1 ||
      fail "nothing is predicted by $method of $run"
    grep -q '^200,[0-9]*,' "$scratch/$run.csv" || fail "not every row has an answer"
  done
  cmp -s "$scratch/here.csv" "$scratch/there.csv" || fail "$method: other answers of a run that was served"
  [ $method = fedavg ] || grep -q '^asked for experts [0-2], [0-2]$' "$scratch/said" || fail "nobody asked for experts"
done

"$troupe" eval "$folder" --matrix >"$scratch/said" 2>&1 || fail "there is no matrix"
python3 -c '
import json, sys
x = json.load(open(sys.argv[1]))
assert len(x["experts"]) == 3 and len(x["clients"]) == len(x["accuracy"]) == 12, x' "$folder/matrix.json" ||
  fail "the matrix is not of all experts and clients"
cut -d, -f1-5 "$scratch/inputs.csv" >"$scratch/narrow.csv"
refused 6 "narrow.csv:1: has 5 columns, and the run learned from 6" predict "$folder" --data "$scratch/narrow.csv" --to "$scratch/none.csv"
[ ! -e "$scratch/none.csv" ] || fail "what is refused is written"
