#!/usr/bin/env bash
# A run's folder is its user's alone, and holds files of its own: no links, no pipes.
# Argument: the executable.
set -euo pipefail
troupe=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
umask 022

# Models of 636 KB that do not travel, so that they are in files of their own.
code=0
env --default-signal=INT timeout -s INT 4 "$troupe" run deploy/examples/quickstart.toml \
  --set method=ditto --set snapshot_seconds=0.2 --set versions=100000 --folder "$scratch/runs" \
  >"$scratch/out" 2>"$scratch/err" || code=$?
run=$(echo "$scratch"/runs/*)
[ $code = 124 ] && [ "$(find "$run/versions" -size +64k | wc -l)" -gt 10 ] ||
  { echo "no run to look at: $code"; cat "$scratch/err"; exit 1; }
if find "$scratch/runs" -perm /077 | grep .; then
  echo "others may read these"
  exit 1
fi

# --resume would cut what a link names, and wait for a pipe.
echo precious >"$scratch/precious"
refused() { # WHAT-STANDS-THERE
  code=0
  timeout 20 "$troupe" run --resume "$run" >"$scratch/out" 2>"$scratch/err" || code=$?
  if [ $code != 1 ] || ! grep -q "$1 is " "$scratch/err" || [ "$(cat "$scratch/precious")" != precious ]; then
    echo "resumed with $1: $code"
    cat "$scratch/err"
    exit 1
  fi
}
for name in ledger.lock status.json metrics.jsonl logs/run.log ledger.sqlite; do
  mv "$run/$name" "$scratch/kept"
  ln -s "$scratch/precious" "$run/$name"
  refused "$name"
  rm "$run/$name"
  mkfifo "$run/$name"
  refused "$name"
  rm "$run/$name"
  mv "$scratch/kept" "$run/$name"
done

# Terabytes of holes are not searched for a line.
for name in events.jsonl metrics.jsonl; do
  cp "$run/$name" "$scratch/kept"
  truncate -s 8T "$run/$name"
  code=0
  timeout 20 "$troupe" run --resume "$run" >"$scratch/out" 2>"$scratch/err" || code=$?
  if [ $code != 1 ] || ! grep -q "$name: has 8796093022208 bytes, and no line ends" "$scratch/err"; then
    echo "resumed with holes in $name: $code"
    cat "$scratch/err"
    exit 1
  fi
  mv "$scratch/kept" "$run/$name"
done

# What is made takes the place of files alone.
mkfifo "$scratch/pipe"
ln -s "$scratch/precious" "$scratch/link"
for command in report trace; do
  for to in pipe link; do
    code=0
    timeout 60 "$troupe" $command "$run" --out "$scratch/$to" >"$scratch/out" 2>"$scratch/err" || code=$?
    if [ $code != 1 ] || ! grep -q "which is not replaced" "$scratch/err" || ! [ -p "$scratch/pipe" ] ||
      ! [ -L "$scratch/link" ]; then
      echo "troupe $command --out replaced a $to: $code"
      cat "$scratch/err"
      exit 1
    fi
  done
done

# Nor does anybody who only reads.
for name in events.jsonl summary.json status.json metrics.jsonl; do
  rm -f "$run/$name"
  mkfifo "$run/$name"
  for command in why report replay trace; do
    code=0
    timeout 20 "$troupe" $command "$run" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ $code -lt 124 ] || { echo "troupe $command with a pipe as $name: $code"; exit 1; }
  done
  rm "$run/$name"
done
echo ok
