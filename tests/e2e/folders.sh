#!/usr/bin/env bash
# A run's folder is its user's alone, and holds files of its own: no links, no pipes.
# Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"
umask 022

# Models of 636 KB that do not travel, so that they are in files of their own.
start run "$troupe" run deploy/examples/quickstart.toml \
  --set method=ditto --set snapshot_seconds=0.2 --set versions=100000 --folder "$scratch/runs"
until_is "no run to look at" eval '[ "$(find "$scratch"/runs/*/versions -size +64k 2>/dev/null | wc -l)" -gt 10 ]'
kill -INT "$process"
ends_with 130 "$process" "a run that is interrupted"
run=$(echo "$scratch"/runs/*)
! find "$scratch/runs" -perm /077 | grep . || fail "others may read these"

# --resume would cut what a link names, and wait for a pipe.
echo precious >"$scratch/precious"
unfit() { # WHAT-STANDS-THERE
  refused 1 "$1 is " run --resume "$run"
  [ "$(cat "$scratch/precious")" = precious ] || fail "resumed with $1"
}
for name in ledger.lock status.json metrics.jsonl logs/run.log ledger.sqlite; do
  mv "$run/$name" "$scratch/kept"
  ln -s "$scratch/precious" "$run/$name"
  unfit "$name"
  rm "$run/$name"
  mkfifo "$run/$name"
  unfit "$name"
  rm "$run/$name"
  mv "$scratch/kept" "$run/$name"
done

# Terabytes of holes are not searched for a line.
for name in events.jsonl metrics.jsonl; do
  cp "$run/$name" "$scratch/kept"
  truncate -s 8T "$run/$name"
  refused 1 "$name: has 8796093022208 bytes, and no line ends" run --resume "$run"
  mv "$scratch/kept" "$run/$name"
done

# What is made takes the place of files alone.
mkfifo "$scratch/pipe"
ln -s "$scratch/precious" "$scratch/link"
for command in report trace; do
  for to in pipe link; do
    refused 1 "which is not replaced" $command "$run" --out "$scratch/$to"
    [ -p "$scratch/pipe" ] && [ -L "$scratch/link" ] || fail "troupe $command --out replaced a $to"
  done
done

# Nor does anybody who only reads.
for name in events.jsonl summary.json status.json metrics.jsonl; do
  rm -f "$run/$name"
  mkfifo "$run/$name"
  for command in why report replay trace; do
    code=0
    timeout 60 "$troupe" $command "$run" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ $code -lt 124 ] || fail "troupe $command with a pipe as $name: $code"
  done
  rm "$run/$name"
done
echo ok
