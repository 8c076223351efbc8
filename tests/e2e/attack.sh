#!/usr/bin/env bash
# Two of ten clients send -10 times their delta: what a mean makes of it, and what protects.
# Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"

attacked() { # WHAT-MUST-HOLD SETTINGS…: of `accuracy` and of `refused`, the clients that were
  local set=()
  for x in "${@:2}"; do set+=(--set "$x"); done
  "$troupe" run deploy/examples/attack.toml --set folder="$scratch" --set workers=1 \
    --set ledger=memory "${set[@]}" --format json >"$scratch/out" 2>"$scratch/err" || true
  python3 - "$scratch/out" "$1" "${*:2}" <<'PY' || fail "what must hold does not"
import collections, json, math, sys
run = json.load(open(sys.argv[1]))
diverged = not run["success"] and "block 'model' diverged" in str(run["error"])
accuracy = 0.0 if diverged else run["accuracy"]  # A run that diverged has none.
refused = collections.Counter()
if not diverged:
    for line in open(run["folder"] + "/events.jsonl"):
        event = json.loads(line)
        if event["event"] == "visit_failed":
            refused[event["client"], event["why"]] += 1
print(f"{sys.argv[3] or 'as it is'}: accuracy {accuracy}, refused {dict(refused)}")
sys.exit(0 if eval(sys.argv[2]) else f"this must hold: {sys.argv[2]}")
PY
}

calm='accuracy > 0.7 and not diverged and not refused'
attacked 'accuracy < 0.3 and not refused'
attacked "$calm" attack.clients=0
attacked "$calm" merge.rule=median
attacked "$calm" merge.rule=trimmed_mean merge.trim=2
attacked "$calm" merge.rule=krum merge.bad=2
both='{(1, "malformed"): 3, (2, "malformed"): 3}' # They are left alone then.
attacked "accuracy > 0.7 and not diverged and refused == $both" merge.clip_norm=1
echo "ok"
