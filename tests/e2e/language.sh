#!/usr/bin/env bash
# A model of one's own by commands (a tokenizer, pretraining, a folder), then CoMiGS over it: two users in one process, in
# processes that join with the texts of all, and with a text of their own, which the server never has. Perplexity falls; a
# base of another digest is refused; and who is killed in the middle of a visit goes on. And what clients' own models write.
# Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"

texts=$scratch/language
small_language "$texts" "$scratch/examples"
model=$texts/models/small

# What was trained foretells its own kind of text better than another, and what is not there is refused.
worth() { # TEXT
  "$troupe" eval --model "$model" --text "$1" --format json >"$scratch/out" 2>"$scratch/err" || fail "a text is not scored"
  value_in "$scratch/out" perplexity
}
cat "$texts"/languages/en/*.txt >"$scratch/en.txt"
cat "$texts"/languages/de/*.txt >"$scratch/de.txt"
python3 -c 'import sys; own, other = map(float, sys.argv[1:]); assert 1 < own < other, (own, other)' \
  "$(worth "$scratch/en.txt")" "$(worth "$scratch/de.txt")" || fail "a model knows another language as well as its own"
"$troupe" eval --model "$model" --text "$scratch/en.txt" >"$scratch/out" 2>&1 &&
  grep -Eq "^  scored +[1-9][0-9]* of [1-9][0-9]* tokens$" "$scratch/out" || fail "who scores a text does not say how much of it"
printf '{"prompt": "the", "meant": ["the dog"]}\n{"prompt": "a"}\n' >"$scratch/meant.jsonl"
"$troupe" eval --model "$model" --prompts "$scratch/meant.jsonl" --tokens 4 >"$scratch/out" 2>&1 &&
  grep -q "METEOR [0-9.]* (synonyms: none)" "$scratch/out" || fail "who scores texts does not say what METEOR knows"
grep -qxF "of 1 of 2 texts, those with 'meant':" "$scratch/out" || fail "of how many texts scores are is not said"
# A tokenizer that makes no letters of bytes has no token for a space.
cp -r "$model" "$scratch/spaceless"
python3 - "$scratch/spaceless/tokenizer.json" <<'PY'
import json, sys
x = json.load(open(sys.argv[1]))
x["pre_tokenizer"] = None
json.dump(x, open(sys.argv[1], "w"))
PY
"$troupe" eval --model "$scratch/spaceless" --text "$scratch/en.txt" >"$scratch/out" 2>&1 &&
  grep -Eq "^  left out +[1-9][0-9]* of [1-9][0-9]* bytes" "$scratch/out" || fail "who scores a text does not say what is left out"
refused 6 "nowhere" eval --model "$texts/nowhere" --text "$scratch/en.txt"
"$troupe" data inspect "$model" >"$scratch/out" 2>&1 && grep -q "gpt2, 1 layers of 32" "$scratch/out" || fail "a model is not shown"
cp -r "$model" "$scratch/untold"
echo '{' >"$scratch/untold/tokenizer.json"
"$troupe" data inspect "$scratch/untold" --format json >"$scratch/out" 2>&1 &&
  grep -q '"why_no_tokenizer": ".*untold/tokenizer.json' "$scratch/out" || fail "why a model has no tokenizer is not said"

# Who waits is told for what, and never on stdout.
for _ in {1..400}; do cat "$scratch/en.txt"; done >"$scratch/long.txt"
start waits "$troupe" eval --model "$model" --text "$scratch/long.txt" --format json
says waits "^foretelling window [1-9][0-9]* of [1-9][0-9]*: [1-9][0-9]* s$"
[ ! -s "$scratch/waits.out" ] || fail "who waits is told so where answers are"
tell KILL "$process"
wait "$process" 2>/dev/null || true
rm "$scratch/long.txt"

run=("$scratch/examples/comigs/languages.toml" --set "users=['de', 'fr']" --set rounds=4 --set evaluate_every=1
  --set batch_size=4 --set learning_rate=0.01 --set own_steps=40 --set router_every=10 --set router_steps=2
  --set test_tokens=600 --set validation_tokens=600)

# The mean over clients of their perplexities, at each evaluation.
falls() { # FOLDER
  python3 - "$1" <<'PY' || fail "perplexity does not fall in $1"
import json, sys
lines = [json.loads(x) for x in open(sys.argv[1] + "/metrics.jsonl")]
found = [x["clients_perplexity"] for x in lines if "clients_perplexity" in x]
assert len(found) >= 2 and found[-1] < 0.95 * found[0], found
PY
}
"$troupe" run "${run[@]}" --folder "$scratch/runs" --format json >"$scratch/wanted.out" 2>"$scratch/wanted.err" ||
  fail "CoMiGS does not learn"
wanted=$(digest_in "$scratch/wanted.out")
falls "$(echo "$scratch"/runs/*)"

# A base whose values are all finite, and whose answer is not.
cp -r "$model" "$scratch/huge"
python3 - "$scratch/huge/model.safetensors" <<'PY'
import json, struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
begin = 8 + int.from_bytes(data[:8], "little")
found = next(x for name, x in json.loads(data[8:begin]).items() if name.endswith("wte.weight"))
width = found["shape"][1]
struct.pack_into(f"<{width}f", data, begin + found["data_offsets"][0], *[3e38] * width)
open(sys.argv[1], "wb").write(data)
PY
refused 1 "block '[a-z_.0-9]*' .*not finite any more; .*or a model whose own loss is a number" run "${run[@]}" --set model.path="$scratch/huge" \
  --folder "$scratch/huge.runs"
# A page of such a run says it while the run goes on, of the same clients as of accuracies.
start watched "$troupe" run "${run[@]}" --set rounds=1000000 --folder "$scratch/watched" --http 127.0.0.1:0
says watched "^metrics at http://.*/metrics$"
page=$(sed -n 's/^metrics at //p' "$scratch/watched.err")
scored() { # SCOPE
  python3 -c 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=10).read().decode())' "$page" >"$scratch/page" &&
    holds "$scratch/page" \
      "^troupe_evaluation_metric{metric=\"perplexity\",split=\"own_test\",scope=\"$1\"} [1-9]"
}
for scope in mean p10 worst; do until_is "a page says no perplexity of clients: $scope" scored $scope; done
tell INT "$process"
ends_with 130 "$process" "a run of language after Ctrl-C"

# What clients learned in common becomes a model again: it foretells their language better than its base, and writes.
"$troupe" run "$scratch/examples/comigs/languages.toml" --set method=homlora --set "users=['de', 'fr']" --set rounds=4 \
  --set evaluate_every=4 --set batch_size=4 --set learning_rate=0.01 --set own_steps=40 --set test_tokens=600 \
  --set validation_tokens=600 --folder "$scratch/common" >"$scratch/out" 2>&1 || fail "HOMLoRA does not learn"
"$troupe" export "$scratch"/common/* --merged --to "$scratch/merged" >"$scratch/out" 2>&1 || fail "its adapter is not merged"
"$troupe" export "$scratch"/common/* --merged --to "$scratch/merged" >"$scratch/out" 2>&1 || fail "the same is not written again"
refused 6 "--merged --to FOLDER makes one of it" eval --model "$(echo "$scratch"/common/*)" --text "$scratch/de.txt"
# It takes the place of no other model, and is of no other base.
was=$(sha256sum "$model"/* "$scratch"/common/*/model.safetensors)
refused 1 "model.safetensors is there and is another" export "$(echo "$scratch"/common/*)" --merged --to "$model"
refused 1 "which is no part of the model" export "$(echo "$scratch"/common/*)" --merged --to "$(echo "$scratch"/common/*)"
refused 1 "tokenizer.json is there and is another" export "$(echo "$scratch"/common/*)" --block adapter --to "$model/tokenizer.json"
[ "$was" = "$(sha256sum "$model"/* "$scratch"/common/*/model.safetensors)" ] || fail "what was refused has changed a file"
cp "$model/config.json" "$scratch/config.json"
sed -i 's/gelu_new/relu/' "$model/config.json"
another="is not the 'base' that the run began with"
refused 6 "$another" export "$(echo "$scratch"/common/*)" --merged --to "$scratch/nonsense"
refused 6 "$another" eval "$(echo "$scratch"/common/*)" --matrix
refused 6 "$another" replay "$(echo "$scratch"/common/*)"
cp "$scratch/config.json" "$model/config.json"
[ ! -e "$scratch/nonsense" ] || fail "an adapter is merged into another base"
python3 -c 'import sys; base, merged = map(float, sys.argv[1:]); assert 1 < merged < base, (base, merged)' \
  "$(worth "$scratch/de.txt")" "$(model=$scratch/merged worth "$scratch/de.txt")" || fail "a merged model has learned nothing"
echo "der" >"$scratch/prompts.txt"
"$troupe" eval --model "$scratch/merged" --prompts "$scratch/prompts.txt" --tokens 4 >"$scratch/out" 2>&1 &&
  grep -q "1 text" "$scratch/out" || fail "a merged model does not write"

# Clients write by models of their own: where nobody learns that is what the base writes by itself, and what it is worth there.
described() { # NAME SETTINGS…
  "$troupe" run "$scratch/examples/pf2lora/describe.toml" --set clients=2 --set clients_per_round=2 --set rounds=2 \
    --set evaluate_every=2 --set events=true --set learning_rate=0.02 --set folder="$scratch/$1" "${@:2}" >"$scratch/out" 2>&1 ||
    fail "the run '$1' of descriptions fails"
}
writes() { # NAME
  "$troupe" eval "$scratch/$1"/* --writing --beam 2 --tokens 12 --format json >"$scratch/$1.json" 2>"$scratch/err" ||
    fail "clients of '$1' do not write"
}
for one in pretrained local_lora; do
  described $one --set method=$one
  writes $one
done
for client in 1 2; do
  python3 - "$scratch/pretrained.json" $client >"$scratch/asked.jsonl" <<'PY'
import json, sys
client = json.load(open(sys.argv[1]))["clients"][int(sys.argv[2]) - 1]
for text in client["texts"]:
    print(json.dumps({"prompt": text["prompt"], "meant": text["meant"]}))
PY
  "$troupe" eval --model "$model" --prompts "$scratch/asked.jsonl" --beam 2 --tokens 12 --format json >"$scratch/alone.json" \
    2>"$scratch/err" || fail "the base does not write what clients describe"
  python3 - "$scratch"/{pretrained,alone,local_lora}.json $client <<'PY' || fail "client $client does not write by its own model"
import json, sys
base, alone, own = (json.load(open(path)) for path in sys.argv[1:4])
base, own = (x["clients"][int(sys.argv[4]) - 1] for x in (base, own))
said = lambda x: [(y["prompt"], y["said"], y["meant"]) for y in x["texts"]]
assert base["described"] == len(base["texts"]) > 1 and said(base) == said(alone), (base, alone)
assert base["scores"] == alone["scores"], (base["scores"], alone["scores"])
assert [x[::2] for x in said(own)] == [x[::2] for x in said(base)] and said(own) != said(base), own
PY
done
cp "$scratch"/local_lora/*/writing.json "$scratch/kept.json"
mv "$scratch/local_lora.json" "$scratch/first.json"
writes local_lora
cmp -s "$scratch/first.json" "$scratch/local_lora.json" && cmp -s "$scratch"/local_lora/*/writing.json "$scratch/kept.json" ||
  fail "who looks again reads something else"
python3 - "$scratch"/{kept,local_lora}.json <<'PY' || fail "a folder does not have what clients' texts are worth"
import json, sys
kept, said = (json.load(open(path)) for path in sys.argv[1:])
assert said.pop("success") and all(x.pop("texts") for x in said["clients"]) and kept == said, (kept, said)
for name in ("bleu", "ter", "rouge_l"):
    assert abs(sum(x["scores"][name] for x in kept["clients"]) / 2 - kept["scores"][name]) < 1e-9, kept
PY
"$troupe" eval "$scratch"/local_lora/* --writing --tokens 4 >"$scratch/out" 2>&1 && grep -q "^client  described  ended" "$scratch/out" ||
  fail "what clients' texts are worth is not said"
refused 3 "clients of this run describe nothing" eval "$(echo "$scratch"/runs/*)" --writing

refused 2 "nothing to merge" export "$(echo "$scratch"/runs/*)" --merged --to "$scratch/none"
refused 3 "is not the tokenizer of" eval --model "$scratch/merged" --tokenizer bytes --text "$scratch/de.txt"

refused 3 "learned from texts" predict "$(echo "$scratch"/runs/*)" --data "$scratch/en.txt" --to "$scratch/none.csv"

# The users of the run, in two processes. Each has a copy of the base, and looks at nothing of the server's.
cp -r "$model" "$scratch/copy"
served=("${run[@]}" --insecure --folder "$scratch/served")
serve users --set clients.expected=2 --set events=true
refused 3 "this run adapts a language model of a file" join "$address" --insecure --data "$texts/languages"
refused 6 "which a process that joins has as well" join "$address" --insecure --model "$scratch/copy"
# Another base: of the same sizes, with one bit of one weight changed.
cp -r "$model" "$scratch/other"
python3 - "$scratch/other/model.safetensors" <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[-4] ^= 1
open(sys.argv[1], "wb").write(data)
PY
refused 3 "other is not the model that the run has: its digest is" \
  join "$address" --insecure --model "$scratch/other" --data "$texts/languages"
cp -r "$texts/languages" "$scratch/changed"
echo "one word more" >>"$scratch/changed/de/0.txt"
refused 6 "is not what the run learns from" join "$address" --insecure --model "$scratch/copy" --data "$scratch/changed"
user() { # NUMBER
  join "user$1" --virtual 1 --model "$scratch/copy" --data "$texts/languages" --store "$scratch/user$1"
  says "user$1" "joined with"
}
for i in 1 2; do user $i; done
# One is killed in the middle of a visit, when it has moments and counters of its own; it goes on with what it kept.
folder=$(folder_of)
killed_in_a_visit() { # prints its number
  python3 - "$folder/events.jsonl" "$joined" <<'PY'
import json, os, signal, sys, time
def under_way():
    events = [json.loads(x) for x in open(sys.argv[1]) if x.endswith("\n")]
    of = lambda name: {x["visit"] for x in events if x["event"] == name and x.get("client") == 2}
    return of("fetched") - of("offered") - {1}
process, deadline = int(sys.argv[2]), time.monotonic() + 60
while time.monotonic() < deadline:
    os.kill(process, signal.SIGSTOP) # However fast it is, it gets on by 2 ms from look to look.
    time.sleep(0.005)
    if under_way():
        settled = time.monotonic() + 1.5 # Of what it has offered there is a line by then, on a busy machine, too.
        while under_way() and time.monotonic() < settled:
            time.sleep(0.02)
        if visits := under_way():
            os.kill(process, signal.SIGKILL)
            print(*visits)
            sys.exit()
    os.kill(process, signal.SIGCONT)
    time.sleep(0.002)
sys.exit(1)
PY
}
has_kept_its_offer() { # VISIT: it was killed between keeping what it learned and telling it
  rm -rf "$scratch/looked"
  cp -r "$scratch/user2" "$scratch/looked"
  python3 - "$scratch/looked" "$1" <<'PY'
import pathlib, sqlite3, sys
(book,) = pathlib.Path(sys.argv[1]).rglob("*.sqlite")
(kept,) = sqlite3.connect(book).execute("SELECT count(*) FROM offers WHERE number = ?", (int(sys.argv[2]),)).fetchone()
sys.exit(0 if kept else 3)
PY
}
while :; do
  visit=$(killed_in_a_visit) || fail "no visit was there to be killed in"
  wait "$joined" 2>/dev/null || true
  found=0
  has_kept_its_offer "$visit" || found=$?
  user 2
  case $found in 0) ;; 3) break ;; *) fail "a store is not read" ;; esac
done
wait "$server" || fail "a served run of language fails"
wait
python3 - "$folder/events.jsonl" "$visit" <<'PY' || fail "who was killed has not gone on with its visit"
import json, sys
events = [x for x in map(json.loads, open(sys.argv[1])) if (x.get("client"), x.get("visit")) == (2, int(sys.argv[2]))]
told = [x["event"] for x in events]
# Of two lines, before and after.
assert told[0] == "invited" and told.count("offered") == 1 and told[:told.index("offered")].count("fetched") >= 4, told
PY
[ "$(digest_in "$scratch/users.out")" = "$wanted" ] ||
  fail "users in processes of their own, of which one was killed, learn something else"

# Texts that stay where they are: the server has the base, and no text at all.
mv "$texts/languages" "$scratch/homes"
sed -i '/^path = .*languages"$/d; s/^users = .*/brought = true/; /^cache = /d' "$scratch/examples/comigs/languages.toml"
run=("$scratch/examples/comigs/languages.toml" --set clients=2 "${run[@]:3}")
refused 3 "troupe serve would do" run "${run[@]}"
refused 6 "its clients bring theirs" data inspect "$scratch/examples/comigs/languages.toml"
served=("${run[@]}" --insecure --folder "$scratch/brought")
serve brought
place() { # NAME TEXT ARGUMENTS…
  join "$1" --id "$1" --data "$2" --store "$scratch/store-$1" --model "$scratch/copy" "${@:3}"
}
refused 6 "its clients bring theirs" join "$address" --insecure --model "$scratch/copy"
refused 3 "is not the model that the run has" \
  join "$address" --insecure --id north --data "$scratch/homes/de" --store "$scratch/lost" --model "$scratch/other"
printf 'few' >"$scratch/few.txt"
refused 6 "user 'few' has" join "$address" --insecure --id north --data "$scratch/few.txt" --store "$scratch/lost" \
  --model "$scratch/copy"
refused 2 "--expert-memory" join "$address" --insecure --experts 2 --expert-memory 1
refused 3 "has 1 to 8 experts, and --experts says 9" \
  join "$address" --insecure --id north --data "$scratch/homes/de" --store "$scratch/lost" --model "$scratch/copy" --experts 9
place north "$scratch/homes/de" --audit "$scratch/north.audit"
printf 'caf\351\n' >"$scratch/homes/fr/latin.txt"
refused 6 "latin.txt:1: byte 3 of the file, '.xe9', is no UTF-8" \
  join "$address" --insecure --id south --data "$scratch/homes/fr/" --store "$scratch/lost" --model "$scratch/copy"
rm "$scratch/homes/fr/latin.txt"
cp "$(find "$scratch/homes/fr/" -name '*.txt' | head -1)" "$scratch/homes/fr/zz_again.txt"
place south "$scratch/homes/fr/" --experts 4 --audit "$scratch/south.audit"
says north "joined as north, client"
says south "joined as south, client"
says south " left out of what is learned from and tested with"
wait "$server" || fail "a run of texts that stay where they are fails"
wait
folder=$(folder_of)
falls "$folder"
! grep -q "$scratch/homes" "$folder/config.toml" || fail "the server knows where texts are"
# What the average is worth to a client nobody else hears, and nobody computes what it set aside, since nothing stops by that.
for one in north south; do
  holds "$scratch/$one.out" "^  perplexity_merged  [0-9]" || fail "$one does not say what the average is worth to it"
  ! holds "$scratch/$one.out" perplexity_validation || fail "$one scores what nobody asks for"
done
# One has two experts and the other four, as they say at home: what leaves them is of one size and one kind, none of its fields is
# that number, and the server's folder has it nowhere.
python3 - "$scratch" "$folder" <<'PY' || fail "the server can tell how many experts a client has"
import json, pathlib, sys
scratch, folder = map(pathlib.Path, sys.argv[1:])
def said(name):
    found = {}
    for x in map(json.loads, open(scratch / (name + ".audit"))):
        if "message" in x:
            sizes = {k: y for k, y in x["fields"].items() if isinstance(y, str)}
            found.setdefault(x["message"], []).append((sorted(x["fields"]), sizes))
    return found
north, south = said("north"), said("south")
assert north["offer_made"][0] == south["offer_made"][0], (north["offer_made"][0], south["offer_made"][0])
for name in set(north) & set(south):
    fields = {str(x[0]) for x in north[name] + south[name]}
    assert len(fields) == 1 and "expert" not in str(fields), fields
for name in ("config.toml", "events.jsonl"):
    assert "expert" not in (folder / name).read_text(), name
kept = [sum(x.stat().st_size for x in (scratch / ("store-" + name)).rglob("*") if x.is_file()) for name in ("north", "south")]
assert kept[1] > 1.05 * kept[0], kept
PY
python3 - "$folder" <<'PY' || fail "the server scores what it has not"
import json, sys
last = [x for x in map(json.loads, open(sys.argv[1] + "/metrics.jsonl")) if x["kind"] == "evaluation"][-1]
assert (last["clients_asked"], last["clients_scored"]) == (2, 2) and "perplexity" not in last, last
PY
