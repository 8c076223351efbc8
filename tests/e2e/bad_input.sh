#!/usr/bin/env bash
# What a run says to bad input, and what it leaves: exit codes and messages, files that are
# missing, cut or damaged, a disk that is full, Ctrl-C at any moment. Argument: the executable.
set -euo pipefail
troupe=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tiny=$PWD/deploy/examples/tiny.toml
small=(--set samples_per_client=20 --set evaluate_every=0 --folder "$scratch/runs")

refused() { # EXIT-CODE WORDS ARGUMENTS… of a run
  local code=0
  timeout 120 "$troupe" run "${@:3}" >"$scratch/out" 2>"$scratch/err" || code=$?
  if [ "$code" != "$1" ] || ! grep -qE -- "$2" "$scratch/err" || [ -s "$scratch/out" ]; then
    echo "troupe run ${*:3}: exit code $code, expected $1 and '$2'"
    cat "$scratch/out" "$scratch/err"
    exit 1
  fi
}

# -- the configuration -------------------------------------------------------------
refused 3 "did you mean 'training.learning_rate'" "$tiny" --set learning_rat=0.1
refused 3 "'clients' must be an integer from 1" "$tiny" --set clients=none
refused 3 "no effect|needs|impossible|cannot" "$tiny" --set method=scaffold --set mode=fedasync
refused 3 "'cnn' takes images" "$tiny" --set data.kind=synthetic --set model.kind=cnn \
  --set partition.kind=iid

refused 3 "no layer 'query'; its layers are: 'hidden1', 'output'" "$tiny" --set method=floral \
  --set adapt=query

printf 'rounds = 1\n[.model]\n' >"$scratch/nameless.toml"
refused 3 "nameless.toml:2: this is not TOML: a name" "$scratch/nameless.toml"

# -- a configuration that is too large ---------------------------------------------
# Each ended the process, or kept it busy for minutes, or took gigabytes.
deep=a$(printf '.a%.0s' $(seq 115000))
echo "$deep = 1" >"$scratch/deep.toml"
refused 3 "deep.toml:1: this is not TOML: a key has 115001 parts" "$scratch/deep.toml"
printf '[sweep]\nmethods = ["fedavg"]\n[%s]\n' "$deep" >"$scratch/deep_sweep.toml"
refused 3 "deep_sweep.toml:3: this is not TOML: a key has 115001 parts" "$scratch/deep_sweep.toml"
printf '[[scene]]\n%s = 1\n' "$deep" >"$scratch/deep_scenario.toml"
refused 6 "deep_scenario.toml:2: a key has 115001 parts" "$tiny" --set scenario="$scratch/deep_scenario.toml"
mkdir "$scratch/deep_run"
cp "$scratch/deep.toml" "$scratch/deep_run/config.toml"
for command in report replay "run --resume"; do
  code=0
  timeout 20 "$troupe" $command "$scratch/deep_run" >"$scratch/out" 2>&1 || code=$?
  [ $code -lt 124 ] || { echo "troupe $command of deep keys: $code"; exit 1; }
done
within() { # SECONDS WORDS FILE: what check-config says of it
  local code=0
  (ulimit -v 4000000 && timeout "$1" "$troupe" check-config "$3") >"$scratch/out" 2>"$scratch/err" || code=$?
  if [ $code != 3 ] || ! grep -q "$2" "$scratch/err" || [ "$(wc -c <"$scratch/err")" -gt 10000 ]; then
    echo "troupe check-config $3: $code"
    head -c 2000 "$scratch/err"
    exit 1
  fi
}
seq -f 'unknown_%.0f = 1' 100000 >"$scratch/keys.toml"
within 15 "and 99990 more" "$scratch/keys.toml"
{ head -c 30000000 /dev/zero | tr '\0' k; echo ' = 1'; } >"$scratch/key.toml"
within 15 "... (30000000 bytes)" "$scratch/key.toml"
{ printf 'rounds = 1\n[model]\nhidden = [1'; head -c 4000000 /dev/zero | sed 's/\x00\x00/,1/g'; echo ']'; } >"$scratch/layers.toml"
within 15 "must be a list of up to 64, each" "$scratch/layers.toml"
{ head -c 200000 /dev/zero | tr '\0' '\n'; printf '[.model]\n'; } >"$scratch/lines.toml"
within 15 "lines.toml:200001: this is not TOML: a name" "$scratch/lines.toml"

# -- data --------------------------------------------------------------------------
images=/usr/share/datasets/fashion-mnist
copy() { # NAME: a folder of the four files, unpacked
  mkdir -p "$scratch/$1"
  local file
  for file in "$images"/*.gz; do
    zcat "$file" >"$scratch/$1/$(basename "$file" .gz)"
  done
}
refused 6 "/nowhere" "$tiny" --set data.path=/nowhere
copy data
labels=$scratch/data/train-labels-idx1-ubyte
printf '\xff' | dd of="$labels" bs=1 seek=20 conv=notrunc status=none
refused 6 "label 255 of example 12 stands far from the others" "$tiny" --set data.path="$scratch/data"
refused 6 "label 255 of example 12 is out of range; 0 to 9" "$tiny" \
  --set data.path="$scratch/data" --set data.classes=10
truncate -s 1000 "$labels"
refused 6 "train-labels-idx1-ubyte: .*fetch the file again" "$tiny" --set data.path="$scratch/data"
refused 3 "1 or more for each of 100000 clients cannot be had" "$tiny" --set clients=100000
{ echo label,a; seq 40 | awk '{print $1 % 2 "," $1}'; } >"$scratch/few.csv"
refused 3 "has no images of bytes" "$tiny" --set data.kind=csv --set data.path="$scratch/few.csv" \
  --set augment=crop_flip
refused 3 "has images of 1 channels, and 'mean' has 2 numbers" "$tiny" --set "mean=[0, 0]" \
  --set "deviation=[1, 1]"
[ ! -e "$scratch/runs" ] || { echo "a refused run left a folder"; exit 1; }

# -- where it writes ---------------------------------------------------------------
touch "$scratch/file"
mkdir -p "$scratch/a_run/logs"
touch "$scratch/a_run/logs/began.toml"
refused 3 "is the folder of a run" "$tiny" --folder "$scratch/a_run"
rm -r "$scratch/a_run"
refused 1 "file/runs: cannot make the run's folder: Not a directory" "$tiny" \
  --folder "$scratch/file/runs"

# -- a run that cannot go on -------------------------------------------------------
refused 1 "block 'model' diverged in tensor 'hidden1.weight'" "$tiny" "${small[@]}" \
  --set learning_rate=1e30 --set versions=3
printf '[[scene]]\nat = 0.01\nleave = [1, 100]\n' >"$scratch/all_leave.toml"
refused 1 "stands still at .* no client is at work" "$tiny" "${small[@]}" \
  --set scenario="$scratch/all_leave.toml"
for run in "$scratch"/runs/*; do
  for file in config.toml summary.json events.jsonl ledger.sqlite model.safetensors report.html; do
    [ -s "$run/$file" ] || { echo "$run: no $file"; exit 1; }
  done
done
rm -r "$scratch/runs"

# -- a full disk -------------------------------------------------------------------
digest() { python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["digest"])' "$1"; }
full_disk() {
  mount -t tmpfs -o size=6m none "$scratch/disk"
  : >"$scratch/err" # It is read before the run may have opened it.
  "$troupe" run "$tiny" --set samples_per_client=20 --set evaluate_every=0 --set versions=12 \
    --folder "$scratch/disk" --format json >"$scratch/out" 2>"$scratch/err" &
  local run=$! i
  for ((i = 0; i < 300; i++)); do
    grep -q "^until     room on the disk" "$scratch/err" && break
    sleep 0.1
  done
  grep -q "^waiting .*No space left" "$scratch/err"
  if [ "$1" = room ]; then
    mount -o remount,size=200m "$scratch/disk"
    wait $run
    cp "$scratch"/disk/*/summary.json "$scratch/"
  else
    kill -INT $run
    local code=0
    wait $run || code=$?
    # Its last files have no room either; what was stored before can be read.
    [ $code = 1 ] && grep -q "No space left" "$scratch/out"
    python3 -c 'import sqlite3,sys; x=sqlite3.connect(sys.argv[1]); \
      assert x.execute("SELECT max(version) FROM versions").fetchone()[0] > 0' \
      "$scratch"/disk/*/ledger.sqlite
  fi
}
mkdir "$scratch/disk"
if unshare -m mount -t tmpfs none "$scratch/disk" 2>/dev/null; then
  export troupe tiny scratch
  export -f full_disk
  unshare -m bash -euo pipefail -c "full_disk interrupted" ||
    { echo "a full disk and Ctrl-C"; cat "$scratch/out" "$scratch/err"; exit 1; }
  unshare -m bash -euo pipefail -c "full_disk room" ||
    { echo "a full disk"; cat "$scratch/out" "$scratch/err"; exit 1; }
  "$troupe" run "$tiny" "${small[@]}" --set versions=12 >/dev/null 2>&1
  [ "$(digest "$scratch/summary.json")" = "$(digest "$scratch"/runs/*/summary.json)" ] ||
    { echo "the full disk changed the result"; exit 1; }
  rm -r "$scratch/runs"
else
  echo "skipped: a full disk, which takes the right to mount one"
fi

# -- Ctrl-C ------------------------------------------------------------------------
# While it reads, while it learns, while it scores, once or twice: it says so, ends with 130, and
# what it leaves can be read, continued or replayed.
quick=$PWD/deploy/examples/quickstart.toml
# (Jobs of a script ignore it, unless they are told not to.)
interrupted() { # FOLDER-OF-RUNS ARGUMENTS… of a run
  env --default-signal=INT "$troupe" run "$quick" --set snapshot_seconds=0.1 --folder "$@" \
    >"$scratch/out" 2>"$scratch/err" &
  run=$!
}
for after in 0.3 0.6 4 2 1; do
  rm -rf "$scratch/runs"
  interrupted "$scratch/runs" --set evaluate_every=2
  sleep $after
  kill -INT $run
  code=0
  wait $run || code=$?
  folder=$(echo "$scratch"/runs/*)
  if [ $code != 130 ] || { [ -e "$folder" ] && ! { grep -q "^ending the run in order" "$scratch/err" &&
    grep -q "the run was interrupted" "$scratch/err" && [ -s "$folder/model.safetensors" ] &&
    "$troupe" why "$folder" | grep -q "the run is over: interrupted"; }; }; then
    echo "Ctrl-C after $after s: exit code $code"
    cat "$scratch/err"
    ls "$folder"
    exit 1
  fi
done

learned() { # Waits until the run has made a version.
  local i
  for ((i = 0; i < 600; i++)); do
    [ -s "$(echo "$scratch"/runs/*/metrics.jsonl)" ] && return
    sleep 0.1
  done
  echo "no version within a minute"
  return 1
}
# A run that SIGTERM ends has not come to its end either.
rm -rf "$scratch/runs"
interrupted "$scratch/runs"
learned
kill -TERM $run
code=0
wait $run || code=$?
[ $code = 130 ] || { echo "SIGTERM: exit code $code"; cat "$scratch/err"; exit 1; }
"$troupe" replay "$(echo "$scratch"/runs/*)" | grep -q "digests equal"

rm -rf "$scratch/runs"
interrupted "$scratch/runs"
learned
kill -INT $run
sleep 0.01
kill -INT $run 2>/dev/null || true
code=0
wait $run || code=$?
[ $code = 130 ] || { echo "Ctrl-C twice: exit code $code"; cat "$scratch/err"; exit 1; }
echo "ok"
