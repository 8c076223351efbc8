#!/usr/bin/env bash
# A round of examples as published, over stand-ins for their models and corpora: of each file of rows those that have something
# new, and all with TROUPE_LONG. A step is of two rows, and as small are the parts of texts; all else is as it is published.
# Argument: the executable.
set -euo pipefail
[ -z "${TROUPE_LONG:-}" ] || : "${patience:=3600}"
. "$(dirname "$0")/common.sh"

small_language "$scratch/language" "$scratch/examples"
as_published "$scratch/language" "$scratch/published" "$scratch/examples"

made=0
round_of() { # FILE ROW SETTINGS…
  local run=$1 row=$2 small=() seen
  shift 2
  # Of labelled texts there are few; a stream is bounded, and its routers learn in each visit.
  if [[ $run = */comigs/* ]]; then
    small=(--set data.tokens=2_000 --set data.validation_tokens=300 --set data.test_tokens=300)
    [[ "$*" != *data.user_tokens=* ]] ||
      small=(--set 'data.user_tokens=[1_000, 4_000, 4_000, 1_000]' --set data.validation_tokens=300 --set data.test_tokens=300)
    [[ "$*" != *data.mixed=true* ]] || small=(--set data.tokens=2_000 --set data.validation_tokens=1_000 --set data.test_tokens=1_000)
    [[ "$*" = *method=* && "$*" != *method=comigs* ]] || small+=(--set options.router_every=1)
    [[ "$*" = *method=* && "$*" != *method=comigs* || "$*" = *router_steps=* ]] || small+=(--set options.router_steps=1)
  fi
  "$troupe" run "$run" "$@" "${small[@]}" --set rounds=1 --set evaluate_every=1 --set local_steps=2 --set batch_size=2 \
    --set workers=1 --set ledger=memory --set events=false --folder "$scratch/runs" --format json >"$scratch/out" 2>"$scratch/err" ||
    fail "$run, $row: no round as it is published"
  seen=$(value_in "$scratch/out" success)
  [ "$seen" = True ] || fail "$run, $row: its round fails"
  made=$((made + 1))
}

for run in "$scratch"/examples/{comigs,pf2lora}/published.toml; do
  round_of "$run" "as it stands"
done
# shellcheck disable=SC2046 # A word or none.
python3 -B "$here/published_rows.py" $([ -z "${TROUPE_LONG:-}" ] || echo --all) "$scratch"/examples/*/sweep_published_*.toml \
  >"$scratch/rows"
while IFS=$'\t' read -r file row settings; do
  # shellcheck disable=SC2086
  round_of "${file%/*}/published.toml" "$row" $settings
  echo "${file##*/}: $row"
done <"$scratch/rows"
least=$([ -z "${TROUPE_LONG:-}" ] && echo 40 || echo 320)
[ "$made" -ge "$least" ] || fail "only $made rounds as published"
echo "ok"
