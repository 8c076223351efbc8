#!/usr/bin/env bash
# Three processes with data of their own, which the server never sees, learn together; what does not
# fit the run is refused before the first visit. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"
served=(--insecure)

# Three classes in the corners of a space of four values; each ward has seen mostly one of them.
python3 - "$scratch" <<'PY'
import random, sys
draw = random.Random(1)
def table(path, rows, likes, features=4, labels=3):
    with open(path, "w") as out:
        out.write(",".join(f"f{i}" for i in range(features)) + ",label\n")
        for row in range(rows):
            label = likes if row % 4 else draw.randrange(labels)
            values = [draw.gauss(2.0 if i == label else 0.0, 0.5) for i in range(features)]
            out.write(",".join(f"{x:.4f}" for x in values) + f",{label}\n")
for k, rows in enumerate((120, 80, 40)):
    table(f"{sys.argv[1]}/ward{k}.csv", rows, k)
table(f"{sys.argv[1]}/wide.csv", 20, 0, features=5)
table(f"{sys.argv[1]}/strange.csv", 40, 0, labels=5)
open(f"{sys.argv[1]}/empty.csv", "w").write("f0,f1,f2,f3,label\n")
PY
cat >"$scratch/wards.toml" <<'TOML'
name = "wards"
method = "fedavg"
rounds = 40
evaluate_every = 10
[data]
kind = "elsewhere"
inputs = [4]
classes = 3
[clients]
clients = 3
clients_per_round = 3
[model]
kind = "softmax"
[training]
local_epochs = 1
batch_size = 10
learning_rate = 0.05
TOML

ward() { # NUMBER
  join "ward$1" --id "ward$1" --data "$scratch/ward$1.csv" --store "$scratch/store$1"
}

refused 3 "troupe serve would do" run "$scratch/wards.toml"
refused 3 "'inputs'" check-config "$scratch/wards.toml" --set 'inputs=[]'
serve learns "$scratch/wards.toml" --set keep_offers=true --folder "$scratch/runs"
unfit() { # CODE TEXT FILE
  refused "$1" "$2" join "$address" --insecure --store "$scratch/other" --id ward9 --data "$scratch/$3"
}
refused 6 "its clients bring theirs" join "$address" --insecure
unfit 6 "an example has 5 values, and this run learns from examples of 4" wide.csv
unfit 6 "no row follows the header" empty.csv
unfit 6 "label" strange.csv
unfit 6 "there is no such file" nowhere.csv
unfit 6 "neither train.csv" runs
refused 2 "is no name" join "$address" --insecure --store "$scratch/other" --data "$scratch/ward0.csv" --id $'a\x1b[2J'
refused 2 "is no name" join "$address" --insecure --store "$scratch/other" --data "$scratch/ward0.csv" \
  --id "$(printf 'a%.0s' $(seq 65))"
refused 2 "--store DIR would do" join "$address" --insecure --data "$scratch/ward0.csv" --id a
refused 2 "--data PATH would do" join "$address" --insecure --store "$scratch/other" --id a
folder=$(folder_of)
! grep -q ward9 "$folder/processes.json" || fail "who does not fit has a number"
[ ! -e "$scratch/other" ] || fail "who does not fit leaves a store"
for k in 0 1 2; do ward $k; says "ward$k" "joined as ward$k, client $((k + 1)) "; done
refused 5 "another process has the name 'ward1'" \
  join "$address" --insecure --store "$scratch/other" --id ward1 --data "$scratch/ward1.csv"
unfit 5 "room for 3 clients with data of their own" ward1.csv
wait "$server" || fail "a run of own data fails"
wait
python3 - "$folder" <<'PY' || fail "they did not learn"
import json, sys
lines = list(map(json.loads, open(sys.argv[1] + "/metrics.jsonl")))
losses = [x["training_loss"] for x in lines if "training_loss" in x]
assert len(losses) == 40 and losses[-1] < 0.5 * losses[0], losses
last = [x for x in lines if x["kind"] == "evaluation"][-1]
assert (last["clients_asked"], last["clients_scored"]) == (3, 3), last
assert last["per_client"]["mean"] > 0.9 and "accuracy" not in last, last
summary = json.load(open(sys.argv[1] + "/summary.json"))
assert summary["per_client"] == last["per_client"] and summary["accuracy"] is None, summary
PY

# What they computed is not computed again, but all that became of it, where offers were kept.
replayed() { # FOLDER TEXT
  "$troupe" replay "$1" >"$scratch/out" 2>"$scratch/err" && grep -q "$2" "$scratch/out" ||
    fail "a run of own data is not computed again"
}
replayed "$folder" "$equal_digests"
python3 - "$folder"/offers/2-3-* <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[-5] ^= 1
open(sys.argv[1], "wb").write(data)
PY
refused 6 "is damaged, or no offer that was kept" replay "$folder"
rm -rf "$folder/offers"
refused 3 "^troupe: 0/[1-9][0-9]* digests equal up to events.jsonl:[1-9]" replay "$folder"
grep -q "^hint: a run with keep_offers = true keeps what" "$scratch/err" || fail "a replay that stops has no hint of its own"

# The same beside clients of the run's own data, which are trained again.
sed '/^inputs\|^classes/d; s/kind = "elsewhere"/kind = "csv"/' "$scratch/wards.toml" >"$scratch/mixed.toml"
serve mixed "$scratch/mixed.toml" --set data.path="$scratch/ward0.csv" --set rounds=10 --set clients_per_round=4 \
  --set clients.clients=4 --set clients.expected=4 --set merge.samples_max=200 --set keep_offers=true --folder "$scratch/mixed"
ward 1
says ward1 "joined as ward1, client 5 "
join all --virtual 4 --data "$scratch/ward0.csv"
wait "$server" || fail "a mixed run fails"
wait
folder=$(folder_of)
[ -n "$(find "$folder/offers" -name '5-*')" ] || fail "who has data of its own offers nothing in a mixed run"
replayed "$folder" "$equal_digests"
rm "$folder"/offers/[1-4]-* # These are trained again.
replayed "$folder" "$equal_digests"
rm -r "$folder/offers"
refused 3 "^troupe: [1-9][0-9]*/[1-9][0-9]* digests equal up to events.jsonl:[1-9]" replay "$folder"
code=0
"$troupe" replay "$folder" --format json >"$scratch/out" 2>"$scratch/err" || code=$?
[ $code = 3 ] && python3 - "$scratch/out" <<'PY' || fail "a replay that stops says in JSON something else: $code"
import json, sys
x = json.load(open(sys.argv[1]))
assert not x["success"] and 0 < x["equal"] < x["total"] and x["first_difference"] is None, x
assert x["error"]["code"] == "offers_not_kept" and "client 5" in x["error"]["why"], x
PY

# Images as IDX, packed or not; what does not fit is refused as well.
python3 - "$scratch" <<'PY'
import gzip, pathlib, random, struct, sys
draw = random.Random(1)
def idx(path, extents, values, packed):
    data = struct.pack(f">HBB{len(extents)}I", 0, 8, len(extents), *extents) + bytes(values)
    path.with_suffix(".gz" if packed else "").write_bytes(gzip.compress(data) if packed else data)
def images(name, rows, labels=3, extents=(3, 2), packed=False):
    folder = pathlib.Path(sys.argv[1]) / name
    folder.mkdir()
    for part, count in ("train", rows), ("t10k", 9):
        found = [i % labels for i in range(count)]
        pixels = [draw.randrange(60) + (180 if at % labels == x else 0) for x in found for at in range(extents[0] * extents[1])]
        idx(folder / f"{part}-images-idx3-ubyte", (count, *extents), pixels, packed)
        idx(folder / f"{part}-labels-idx1-ubyte", (count,), found, packed)
    return folder
images("images0", 60)
images("images1", 30, packed=True)
images("turned", 30, extents=(2, 3))
images("strange", 30, labels=5)
(images("lacking", 30) / "t10k-labels-idx1-ubyte").unlink()
cut = images("cut", 30) / "train-images-idx3-ubyte"
cut.write_bytes(cut.read_bytes()[:-1])
PY
images=("$scratch/wards.toml" --set 'inputs=[1, 3, 2]' --set clients.clients=2 --set clients_per_round=2 --folder "$scratch/images")
serve unfit "${images[@]}"
unfit 6 "an example has 1 x 2 x 3 values, and this run learns from examples of 1 x 3 x 2" turned
unfit 6 "an example has 4 values" ward0.csv
unfit 6 "label" strange
unfit 6 "t10k-labels-idx1-ubyte: neither this file" lacking
unfit 6 "train-images-idx3-ubyte: cannot hold the 180 bytes" cut
kill -9 "$server" # In the end it would wait for those who were here lately.
wait "$server" 2>/dev/null || true
rm -r "$scratch/images"
serve images "${images[@]}"
for k in 0 1; do join "place$k" --id "place$k" --data "$scratch/images$k" --store "$scratch/place$k"; done
wait "$server" || fail "a run of own images fails"
wait
grep -q "joined as place1, client [12] of the run, with 30 examples" "$scratch/place1.err" || fail "packed images are not read"
python3 - "$(folder_of)" <<'PY' || fail "nothing is learned from images"
import json, sys
lines = list(map(json.loads, open(sys.argv[1] + "/metrics.jsonl")))
losses = [x["training_loss"] for x in lines if "training_loss" in x]
assert len(losses) == 40 and losses[-1] < 0.5 * losses[0], losses
last = [x for x in lines if x["kind"] == "evaluation"][-1]
assert last["clients_scored"] == 2 and last["per_client"]["worst"] > 0.9, last
PY

# What they set aside ends the next run.
rm -rf "$scratch"/store* "$scratch/runs"
serve stops "$scratch/wards.toml" --set rounds=1000000 --set evaluate_every=5 --set stop.metric=per_client.mean \
  --set stop.target=0.9 --folder "$scratch/runs"
for k in 0 1 2; do ward $k; done
wait "$server" || fail "a run that clients' scores end fails"
wait
grep -q "the target is reached" "$scratch"/runs/*/summary.json || fail "clients' scores end nothing"

# Names outlive the server and the processes.
rm -rf "$scratch"/store* "$scratch/runs"
serve before "$scratch/wards.toml" --set rounds=1000000 --folder "$scratch/runs"
folder=$(folder_of)
for k in 2 1 0; do
  ward $k
  says "ward$k" "joined as"
  # Who does not get its store takes no name from who is to come.
  refused 1 "works in this folder" join "$address" --insecure --store "$scratch/store$k" --id late --data "$scratch/ward1.csv"
done
last=$joined
has_versions "$folder" 1
kill -9 "$server" "$last"
wait "$server" "$last" 2>/dev/null || true
served=() # As it was.
serve after "$folder"
ward 0
says ward0 "joined as ward0, client 3 "
has_versions "$folder" $(($(versions_in "$folder") + 1))
timeout 60 "$troupe" stop "$folder" >"$scratch/out" 2>"$scratch/err" || fail "troupe stop fails"
wait "$server" || fail "a run that was stopped in order fails"
for k in 0 1 2; do until_is "ward$k does not hear the end" holds "$scratch/ward$k.out" "the run is over"; done
