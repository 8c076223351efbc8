#!/usr/bin/env bash
# Where tokens go in clients' own models, looked at when a run has ended: it is computed again, and nothing of it changes but
# routing.json and its report. And at home, of clients that joined with texts of their own: what their stores say is what one
# process says that has all texts. Argument: the executable.
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
refused 2 "troupe: --routing is required" eval "$folder"
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
grep -qxF "in $folder/routing.json; troupe report $folder draws it" "$scratch/out" || fail "nothing says where that is"
cp "$folder/routing.json" "$scratch/again"
"$troupe" eval "$folder" --routing --format json >"$scratch/second.out" 2>"$scratch/err" || fail "nothing is seen any more"
cmp -s "$folder/routing.json" "$scratch/again" && cmp -s "$scratch/first.out" "$scratch/second.out" ||
  fail "who looks again sees something else"
"$troupe" report "$folder" >"$scratch/out" 2>"$scratch/err" || fail "there is no report"
for text in "Where tokens go" "Mean score of the generalist" "Tokens of client 2, fr" "Perplexity of the clients"; do
  grep -q "$text" "$folder/report.html" || fail "the report does not have: $text"
done

# What has no routers, and what cannot be computed again.
made pretrained --set method=pretrained
refused 2 "nothing in this run is for eval" eval "$folder"
grep -qF "troupe report $folder shows it" "$scratch/err" || fail "nothing says where what models are worth is"
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

# Users in processes of their own, each with the text that nobody else has, and what one process says of both.
made whole "${often[@]}" --set rounds=2 --set training.experts=[2,3]
"$troupe" eval "$folder" --routing --format json >"$scratch/whole.out" 2>"$scratch/err" || fail "nothing is seen of two users"
wanted=$(digest_in "$folder/summary.json")
sed '/^path = /d; s/^users = .*/brought = true/' "$scratch/run.toml" >"$scratch/brought.toml"
served=("$scratch/brought.toml" --insecure --set clients=2)
user() { # NAME ARGUMENTS…
  join "$1" --id "$1" --data "$scratch/language/languages/$1" --store "$scratch/store-$1" "${@:2}"
  says "$1" "joined as $1"
}

# Who waits for another has not trained; and nobody looks while a process works there.
serve waits "${often[@]}" --set rounds=2 --folder "$scratch/waits"
user de
refused 1 "works in this folder" eval "$scratch/store-de" --routing
tell TERM "$joined"
ends_with 0 "$joined" "a process that is told to end"
refused 3 "none of these clients has trained yet" eval "$scratch/store-de" --routing
tell KILL "$server"
wait "$server" 2>/dev/null || true
rm -r "$scratch/store-de"

serve brought "${often[@]}" --set rounds=2 --folder "$scratch/brought"
user de
user fr --experts 3
wait "$server" || fail "a run of texts that are elsewhere fails"
wait
[ "$(digest_in "$scratch/brought.out")" = "$wanted" ] || fail "users with their own texts learn something else"
for name in de fr; do
  (cd "$scratch" && "$troupe" eval "store-$name" --routing --format json >"$name.home.out" 2>"$scratch/err") ||
    fail "nothing is seen at home"
done
python3 - "$scratch"/{whole,de.home,fr.home}.out <<'PY' || fail "at home something else is seen"
import json, sys
whole, *homes = (json.load(open(path)) for path in sys.argv[1:])
assert [x["experts"] for x in whole["clients"]] == [2, 3], whole["clients"]
for wanted, home in zip(whole["clients"], homes, strict=True):
    (found,), (look,) = home["clients"], home["looks"]
    assert home["success"] and home["untrained"] == [] and home["first_expert"] == "generalist", home
    for key in ("client", "experts", "steps", "layers", "window"):
        assert found[key] == wanted[key], (key, found[key], wanted[key])
    for key in ("scores", "first_places"):
        assert all(abs(x - y) < 1e-9 for x, y in zip(found[key], wanted[key], strict=True)), (key, found[key], wanted[key])
        assert look[key] == found[key], look
    assert look["steps"] == 8 and look["clients"] == 1 and "version" not in look, look
PY
home=$(echo "$scratch"/store-fr/run-*)
cp "$home/routing.json" "$scratch/again"
"$troupe" eval "$home" --routing >"$scratch/out" 2>"$scratch/err" || fail "nothing is seen of one run's clients"
for text in "client  experts   layer 1   layer 2   layer 4" "client 2: the first choice of each token" "^layer 4   [0-2]\{32\}$"; do
  grep -q "$text" "$scratch/out" || fail "what is seen at home does not have: $text"
done
cmp -s "$home/routing.json" "$scratch/again" || fail "who looks again at home sees something else"
grep -q "made anew" "$scratch/err" && fail "what was seen at home is not read again"
echo nonsense >"$home/routing.json"
"$troupe" eval "$home" --routing >"$scratch/out" 2>"$scratch/err" || fail "nothing is seen where nonsense was"
grep -q "routing.json is not what was written there, and is made anew" "$scratch/err" || fail "looks are lost without a word"
cmp -s "$home/routing.json" "$scratch/again" || fail "where nonsense was something else is seen"
for text in "Mean score of the generalist" "Tokens of client 2"; do
  grep -q "$text" "$home/routing.html" || fail "the page at home does not have: $text"
done
find "$home" -name 'routing.*' -perm /077 | grep . && fail "others may read where tokens go"

# Texts that are others, or gone, and what is no store.
cp -r "$scratch/language/languages/fr" "$scratch/kept"
sed -i "s/e/o/g" "$scratch"/language/languages/fr/*.txt
"$troupe" eval "$scratch/store-fr" --routing >"$scratch/out" 2>"$scratch/err" || fail "nothing is seen of other texts"
grep -q "the texts here are others than when this client joined" "$scratch/err" || fail "other texts are not noted"
rm -r "$scratch/language/languages/fr"
refused 6 "fr: there is no such file or folder; what this process joined with would do" eval "$scratch/store-fr" --routing
mv "$scratch/kept" "$scratch/language/languages/fr"
rm "$home/joined.json"
refused 6 "joined.json is not there" eval "$scratch/store-fr" --routing
rm -r "$home"
refused 6 "of a process that has no clients yet" eval "$scratch/store-fr" --routing
refused 6 "holds no run (config.toml), and no clients that joined one (id)" eval "$scratch" --routing
rm -r "$scratch/store-de"
served=("$scratch/brought.toml" --insecure --set clients=1)

# Who trained with three experts and comes again with two is told so, and keeps what it has.
serve lasting "${often[@]}" --set rounds=4000 --folder "$scratch/lasting"
refused 3 "hold no expert" join "$address" --insecure --id fr --expert-memory 0.0001 --data "$scratch/language/languages/fr" \
  --store "$scratch/refused"
[ ! -e "$scratch/refused" ] || fail "who is refused leaves a store"
user fr --experts 3
has_versions "$(echo "$scratch"/lasting/*)" 2
tell TERM "$joined"
ends_with 0 "$joined" "a process that is told to end"
before=$(sha256sum "$scratch"/store-fr/run-*/joined.json)
refused 3 "has trained with 3 experts, and --experts says 2" join "$address" --insecure --id fr --experts 2 \
  --data "$scratch/language/languages/fr" --store "$scratch/store-fr"
grep -q "hint: --experts 3 would do" "$scratch/err" || fail "nothing is said of what would do"
[ "$before" = "$(sha256sum "$scratch"/store-fr/run-*/joined.json)" ] || fail "who is refused has replaced what it joined with"
"$troupe" eval "$scratch/store-fr" --routing >"$scratch/out" 2>"$scratch/err" || fail "nothing is seen of who was refused"
user fr --experts 3
tell TERM "$joined"
ends_with 0 "$joined" "a process that came again"
tell KILL "$server"
wait "$server" 2>/dev/null || true
serve unrouted --set method=fedavg_lora --set rounds=1 --folder "$scratch/unrouted"
user de
wait "$server" || fail "a run without routers fails"
wait
refused 3 "method 'fedavg_lora' has no routers" eval "$scratch/store-de" --routing
