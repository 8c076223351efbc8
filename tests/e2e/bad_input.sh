#!/usr/bin/env bash
# What a run says to bad input, and what it leaves: exit codes and messages, files that are
# missing, cut or damaged, a disk that is full, Ctrl-C at any moment. Argument: the executable.
set -euo pipefail
# In a mount namespace of its own, where it may: a disk is filled.
if [ "${2:-}" != alone ] && unshare -m true 2>/dev/null; then
  exec unshare -m bash "$0" "$1" alone
fi
. "$(dirname "$0")/common.sh"
leave() { umount "$scratch/disk" 2>/dev/null || true; }
tiny=$PWD/deploy/examples/tiny.toml
small=(--set samples_per_client=20 --set evaluate_every=0 --folder "$scratch/runs")

refused() { # EXIT-CODE WORDS ARGUMENTS… of a run
  local code=0
  timeout 120 "$troupe" run "${@:3}" >"$scratch/out" 2>"$scratch/err" || code=$?
  [ "$code" = "$1" ] && grep -qE -- "$2" "$scratch/err" && [ ! -s "$scratch/out" ] ||
    fail "troupe run ${*:3}: exit code $code, expected $1 and '$2'"
}

# -- the configuration -------------------------------------------------------------
refused 3 "did you mean 'training.learning_rate'" "$tiny" --set learning_rat=0.1
refused 3 "'clients' must be an integer from 1" "$tiny" --set clients=none
refused 3 "no effect|needs|impossible|cannot" "$tiny" --set method=scaffold --set mode=fedasync
refused 3 "'cnn' takes images" "$tiny" --set data.kind=synthetic --set model.kind=cnn \
  --set partition.kind=iid

refused 3 "'model.adapt' has 'query', and the model has no such layer; 'hidden1', 'output' would do" "$tiny" --set method=floral \
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
  timeout 60 "$troupe" $command "$scratch/deep_run" >"$scratch/out" 2>&1 || code=$?
  [ $code -lt 124 ] || fail "troupe $command of deep keys: $code"
done
soon() { # WORDS FILE: what check-config says of it
  local code=0
  (ulimit -v 4000000 && timeout 60 "$troupe" check-config "$2") >"$scratch/out" 2>"$scratch/err" || code=$?
  [ $code = 3 ] && grep -q "$1" "$scratch/err" && [ "$(wc -c <"$scratch/err")" -le 10000 ] ||
    { truncate -s '<2000' "$scratch/err"; fail "troupe check-config $2: $code"; }
}
seq -f 'unknown_%.0f = 1' 100000 >"$scratch/keys.toml"
soon "and 99990 more" "$scratch/keys.toml"
{ head -c 30000000 /dev/zero | tr '\0' k; echo ' = 1'; } >"$scratch/key.toml"
soon "... (30000000 bytes)" "$scratch/key.toml"
{ printf 'rounds = 1\n[model]\nhidden = [1'; head -c 4000000 /dev/zero | sed 's/\x00\x00/,1/g'; echo ']'; } >"$scratch/layers.toml"
soon "must be a list of up to 64, each" "$scratch/layers.toml"
{ head -c 200000 /dev/zero | tr '\0' '\n'; printf '[.model]\n'; } >"$scratch/lines.toml"
soon "lines.toml:200001: this is not TOML: a name" "$scratch/lines.toml"

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
[ ! -e "$scratch/runs" ] || fail "a refused run left a folder"

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
    [ -s "$run/$file" ] || fail "$run: no $file"
  done
done
rm -r "$scratch/runs"

# -- a full disk -------------------------------------------------------------------
full_disk() { # interrupted or room
  start disk "$troupe" run "$tiny" --set samples_per_client=20 --set evaluate_every=0 --set versions=12 \
    --folder "$scratch/disk" --format json
  says disk "^until     room on the disk"
  grep -q "^waiting .*No space left" "$scratch/disk.err" || fail "a full disk is not named"
  if [ "$1" = room ]; then
    mount -o remount,size=200m "$scratch/disk"
    wait "$process" || fail "a run does not go on when there is room"
    cp "$scratch"/disk/*/summary.json "$scratch/"
  else
    # Its last files have no room either; what was stored before can be read.
    head -c 6M /dev/zero >"$scratch/disk/others" 2>/dev/null || true
    kill -INT "$process"
    ends_with 1 "$process" "a run with a full disk and Ctrl-C"
    grep -q "No space left" "$scratch/disk.out" || fail "it does not end with a full disk"
    python3 -c 'import sqlite3,sys; x=sqlite3.connect(sys.argv[1]); \
      assert x.execute("SELECT max(version) FROM versions").fetchone()[0] > 0' \
      "$scratch"/disk/*/ledger.sqlite || fail "what was stored on a full disk cannot be read"
  fi
  umount "$scratch/disk"
}
mkdir "$scratch/disk"
if mount -t tmpfs -o size=6m none "$scratch/disk" 2>/dev/null; then
  full_disk interrupted
  mount -t tmpfs -o size=6m none "$scratch/disk"
  full_disk room
  "$troupe" run "$tiny" "${small[@]}" --set versions=12 >/dev/null 2>&1
  [ "$(digest_in "$scratch/summary.json")" = "$(digest_in "$scratch"/runs/*/summary.json)" ] ||
    fail "the full disk changed the result"
  rm -r "$scratch/runs"
else
  echo "skipped: a full disk, which takes the right to mount one"
fi

# -- Ctrl-C ------------------------------------------------------------------------
# While it reads, while it learns, while it scores, once or twice: it says so, ends with 130, and
# what it leaves can be read, continued or replayed.
quick=$PWD/deploy/examples/quickstart.toml
# (Jobs of a script ignore it, unless they are told not to.)
interrupted() { # ARGUMENTS… of a run
  rm -rf "$scratch/runs"
  start run env --default-signal=INT "$troupe" run "$quick" --set snapshot_seconds=0.1 --folder "$scratch/runs" "$@"
}
for after in 0.3 0.6 4 2 1; do
  interrupted --set evaluate_every=2
  sleep $after
  kill -INT "$process"
  code=0
  wait "$process" || code=$?
  folder=$(echo "$scratch"/runs/*)
  if [ $code != 130 ] || { [ -e "$folder" ] && ! { grep -q "^ending the run in order" "$scratch/run.err" &&
    grep -q "the run was interrupted" "$scratch/run.err" && [ -s "$folder/model.safetensors" ] &&
    "$troupe" why "$folder" | grep "the run is over: interrupted" >/dev/null; }; }; then
    ls "$folder"
    fail "Ctrl-C after $after s: exit code $code"
  fi
done

learned() { until_is "no version" eval '[ -s "$(echo "$scratch"/runs/*/metrics.jsonl)" ]'; }
# A run that SIGTERM ends has not come to its end either.
interrupted
learned
kill -TERM "$process"
ends_with 130 "$process" "a run after SIGTERM"
"$troupe" replay "$(echo "$scratch"/runs/*)" | grep "$equal_digests" >/dev/null || fail "what SIGTERM ended is not computed again"

interrupted
learned
kill -INT "$process"
sleep 0.01
tell INT "$process"
ends_with 130 "$process" "a run after Ctrl-C twice"
echo "ok"
