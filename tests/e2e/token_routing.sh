#!/usr/bin/env bash
# Where tokens go in clients' own models, looked at when a run has ended: it is computed again, and nothing of it changes but
# routing.json and its report. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"

python3 -B "$here/small_language.py" "$scratch/language" || fail "there are no small texts"
cat >"$scratch/run.toml" <<TOML
name = "tokens"
method = "comigs"
rounds = 4
evaluate_every = 1
events = true
folder = "$scratch/runs"
[data]
kind = "language"
path = "$scratch/language/languages"
users = ["de", "fr"]
tokenizer = "bytes"
context = 32
tokens = 2000
validation_tokens = 400
test_tokens = 400
validation_share = 0.2
[model]
kind = "language"
layers = 4
embedding = 16
heads = 2
[training]
local_steps = 4
batch_size = 4
batches = "anywhere"
optimiser = "adamw"
learning_rate = 0.01
TOML

made() { # FOLDER SETTINGS…
  "$troupe" run "$scratch/run.toml" --set folder="$scratch/$1" "${@:2}" >"$scratch/out" 2>"$scratch/err" ||
    fail "a run of experts fails"
  folder=$(echo "$scratch/$1"/*)
}

often=(--set router_every=4 --set router_steps=2)
made runs "${often[@]}"
refused 2 "--matrix, --routing or --writing is required" eval "$folder"
refused 2 "models are compared, routers looked at, or texts written" eval "$folder" --matrix --routing
before=$(sha256sum "$folder"/{config.toml,events.jsonl,metrics.jsonl,model.safetensors,summary.json})
"$troupe" eval "$folder" --routing --format json >"$scratch/first.out" 2>"$scratch/err" || fail "nothing is seen of tokens"
[ "$before" = "$(sha256sum "$folder"/{config.toml,events.jsonl,metrics.jsonl,model.safetensors,summary.json})" ] ||
  fail "who looks changes the run"
python3 - "$folder/routing.json" "$scratch/first.out" <<'PY' || fail "what is seen is not where tokens go"
import json, sys
x, said = (json.load(open(path)) for path in sys.argv[1:])
assert said.pop("success") and said == x, said
assert x["first_expert"] == "generalist" and x["layers"] == 4, x
assert [(y["version"], y["steps"], y["clients"]) for y in x["looks"]] == [(k, 4 * k, 2) for k in (1, 2, 3, 4)], x["looks"]
for y in x["looks"] + x["clients"]:
    assert len(y["scores"]) == len(y["first_places"]) == 4, y
    assert all(0 < z < 1 for z in y["scores"]) and all(0 <= z <= 1 for z in y["first_places"]), y
assert [y["client"] for y in x["clients"]] == [1, 2], x["clients"]
for y in x["clients"]:
    assert y["layers"] == [1, 2, 4] and y["experts"] == 2 and y["steps"] == 16, y
    assert len(y["window"]) == 3, y
    assert all(len(z) == 32 and set(z) <= {0, 1} for z in y["window"]), y
for key in ("scores", "first_places"):
    for i in range(4):
        mean = sum(y[key][i] for y in x["clients"]) / 2
        assert abs(mean - x["looks"][-1][key][i]) < 1e-9, (key, i)
PY
"$troupe" eval "$folder" --routing >"$scratch/out" 2>"$scratch/err" || fail "nothing is seen of tokens again"
grep -q "client  experts   layer 1   layer 2   layer 4" "$scratch/out" || fail "what is seen is not said"
cp "$folder/routing.json" "$scratch/again"
"$troupe" eval "$folder" --routing --format json >"$scratch/second.out" 2>"$scratch/err" || fail "nothing is seen any more"
cmp -s "$folder/routing.json" "$scratch/again" && cmp -s "$scratch/first.out" "$scratch/second.out" ||
  fail "who looks again sees something else"
"$troupe" report "$folder" >"$scratch/out" 2>"$scratch/err" || fail "there is no report"
for text in "Where tokens go" "Mean score of the generalist" "Tokens of client 2"; do
  grep -q "$text" "$folder/report.html" || fail "the report does not have: $text"
done

# What has no routers, and what cannot be computed again.
made pretrained --set method=pretrained
refused 3 "has no routers" eval "$folder" --routing
made alone --set training.experts=[1]
refused 3 "no client of this run has a router" eval "$folder" --routing
made silent --set events=false
refused 6 "that of a run with events = true would do" eval "$folder" --routing
made lone --set method=comigs_2s
"$troupe" eval "$folder" --routing >"$scratch/out" 2>"$scratch/err" || fail "nothing is seen of experts that stay at home"
made unscored --set method=comigs_2s --set evaluate_every=0
refused 3 "nothing of the run could be compared" eval "$folder" --routing
[ ! -e "$folder/routing.json" ] || fail "what may be another run's is left in a folder"
made other "${often[@]}"
python3 - "$folder/events.jsonl" <<'PY'
import re, sys
text = open(sys.argv[1]).read()
at = [x.start() for x in re.finditer('"digests":', text)][-1]
found = re.compile("[0-9a-f]{64}").search(text, at)
digit = "0" if text[found.start()] != "0" else "1"
open(sys.argv[1], "w").write(text[: found.start()] + digit + text[found.start() + 1 :])
PY
refused 6 "computed again the run is another" eval "$folder" --routing
[ ! -e "$folder/routing.json" ] || fail "what is not the run's is left in its folder"
