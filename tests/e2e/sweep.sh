#!/usr/bin/env bash
# Many runs from one file: interrupted, continued, with a run that fails, and the table that comes
# out. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"
umask 022

sed 's/^rounds = .*/rounds = 400/' deploy/examples/floral/synthetic_linear.toml >"$scratch/synthetic_linear.toml"
cat >"$scratch/sweep.toml" <<'TOML'
[sweep]
run = "synthetic_linear.toml"
methods = ["fedavg", "floral"]
seeds = [4, 6]
metrics = ["test_mse", "recovered"]
[sweep.settings]
sync = []
buffered = ["mode=fedbuff", "buffer_size=10", "versions=400"]
[sweep.published]
"floral sync" = "9e-8"
TOML

sweep() { "$troupe" run "$@" >"$scratch/out" 2>"$scratch/err"; } # ARGUMENTS…

sweep "$scratch/sweep.toml" --folder "$scratch/whole" || fail "a sweep fails"
whole=$(echo "$scratch"/whole/*)
grep -Eq "^run 1/8  .*, seed [46]: test_mse [0-9].*, in .* s; about .* left$" "$scratch/err" || fail "a run says not what it came to"
grep -Eq "^run 8/8  .*, in [^;]* s$" "$scratch/err" || fail "the last run says not its end"
grep -q "^| floral sync | .* | .* | 1 ± 0 | 1 | 9e-8 | 2 |$" "$scratch/out" || fail "no such row"
for file in table.md table.csv table.json figure.svg; do
  [ -s "$whole/$file" ] || fail "no $file"
done
! find "$scratch/whole" -perm /077 | grep . || fail "others may read these"
python3 - "$whole/table.json" <<'PY'
import json, sys
rows = {x["name"]: x["metrics"]["test_mse"] for x in json.load(open(sys.argv[1]))}
assert set(rows) == {"fedavg sync", "floral sync", "fedavg buffered", "floral buffered"}, rows
assert all(x["runs"] == 2 for x in rows.values()), rows
assert rows["floral sync"]["most"] < 0.05 < 0.3 < rows["fedavg sync"]["least"], rows
PY

# What is asked of a run says of a sweep where its runs are.
for words in "report" "why" "replay" "eval --matrix" "eval --routing"; do
  read -r verb option <<<"$words"
  code=0
  # shellcheck disable=SC2086
  "$troupe" $verb "$whole" $option >"$scratch/out" 2>"$scratch/err" || code=$?
  [ $code = 6 ] && grep -qF "in folders of $whole/runs, and whose table is $whole/table.md" "$scratch/err" ||
    fail "troupe $words of a sweep ends with $code"
done

# A row that cannot be run is found before the first run is made.
sed 's/^buffered = .*/buffered = ["init=nowhere.safetensors"]/' "$scratch/sweep.toml" >"$scratch/wrong.toml"
code=0
sweep "$scratch/wrong.toml" --folder "$scratch/wrong" || code=$?
[ $code = 6 ] && grep -q "row '.* buffered': " "$scratch/err" && [ ! -e "$scratch/wrong" ] ||
  fail "a row that cannot be run ends with $code"

# Ctrl-C in the middle, and the rest afterwards: the same table.
start cut env --default-signal=INT "$troupe" run "$scratch/sweep.toml" --folder "$scratch/cut"
until_is "a sweep makes no runs" eval '[ "$(find "$scratch/cut" -name "*.json" -path "*cells*" 2>/dev/null | wc -l)" -ge 2 ]'
kill -INT "$process"
ends_with 130 "$process" "a sweep after Ctrl-C"
grep -q "makes the other runs" "$scratch/cut.err" || fail "Ctrl-C says not how it goes on"
cut=$(echo "$scratch"/cut/*)
[ "$(find "$cut/cells" -name '*.json' | wc -l)" -lt 8 ] || fail "nothing was left to do"
sweep --resume "$cut" || fail "a sweep does not go on"
cmp "$whole/table.md" "$cut/table.md" || fail "another table"

# Paths mean what they meant where it was started; what is no result is made again.
cp "$whole"/runs/fedavg-sync-4/*/model.safetensors "$scratch/start.safetensors"
printf '[sweep]\nrun = "synthetic_linear.toml"\nmethods = ["fedavg"]\nseeds = [4, 6]\nmetrics = ["test_mse"]\n' \
  >"$scratch/here.toml"
(cd "$scratch" && sweep here.toml --folder here --set init=start.safetensors --set rounds=2) || fail "no relative path"
here=$(echo "$scratch"/here/*)
cp "$here/table.md" "$scratch/before.md"
: >"$here/cells/fedavg-6.json"
(cd / && sweep --resume "$here") || fail "does not go on from elsewhere"
cmp "$scratch/before.md" "$here/table.md" || fail "another table from elsewhere"
code=0
sweep "$scratch/here.toml" --http 127.0.0.1:0 || code=$?
[ $code = 2 ] && grep -q "is for one run" "$scratch/err" || fail "--http ends with $code"
sweep "$scratch/here.toml" --folder "$scratch/typo" --set rounds=2 || fail "a sweep fails"
sed -i 's/test_mse/tets_mse/' "$scratch"/typo/*/sweep.toml
code=0
sweep --resume "$(echo "$scratch"/typo/*)" || code=$?
[ $code = 1 ] || fail "a sweep without its metric ends with $code"
grep -q "no run has a number called 'tets_mse'" "$scratch/err" || fail "says nothing of an absent metric"

# A row that cannot be, before anything is run; and a run that fails.
code=0
sweep "$scratch/sweep.toml" --set method_that_is_none=1 --folder "$scratch/none" || code=$?
[ $code = 3 ] && [ ! -e "$scratch/none" ] && grep -q "row 'fedavg sync'" "$scratch/err" || fail "ends with $code"
sed -i 's/seeds = .*/seeds = [4]/; s/^sync = .*/wild = ["learning_rate=1e30"]/; /published/,$d' "$scratch/sweep.toml"
code=0
sweep "$scratch/sweep.toml" --folder "$scratch/wild" || code=$?
[ $code = 1 ] && grep -q "failed: .*/cells/fedavg-wild-4.log" "$scratch/err" || fail "ends with $code"
grep -q "1 failed or missing" "$scratch"/wild/*/table.md || fail "counts no failure"
echo "ok"
