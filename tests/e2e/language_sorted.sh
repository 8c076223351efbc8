#!/usr/bin/env bash
# The more rows are sorted by label, the more is PF2LoRA above HOMLoRA: four clients, texts of two labels whose words say
# little of them, and an encoder that has learned nothing yet. Accuracies are means of clients, as they are after a merge. Who
# always answers a client's commonest label is better than all of these (docs/methods.md). Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"

python3 -B - "$scratch/texts" <<'PY'
import json, pathlib, random, sys
draw = random.Random(1)
to = pathlib.Path(sys.argv[1])
to.mkdir()
words = [x + y for x in ("ba", "de", "fi", "go", "ku", "la") for y in ("me", "ni", "po", "ru")]
of = {"one": words[:12], "two": words[12:]}
for user in "12":
    rows = []
    for i in range(400):
        label, other = ("one", "two") if i % 2 == 0 else ("two", "one")
        said = (draw.choice(of[label if draw.random() < 0.6 else other]) for _ in range(6))
        rows.append({"text": f"{' '.join(said)} {user}{i}.", "label": label, "source": f"{user}{i}"})
    (to / f"{user}.jsonl").write_text("".join(json.dumps(x) + "\n" for x in rows), encoding="utf-8")
PY
mkdir "$scratch/models"
"$troupe" data tokenizer "$scratch/texts" --size 300 --to "$scratch/models/tokens" >"$scratch/out" 2>&1 ||
  fail "a tokenizer cannot be made"
cat >"$scratch/encoder.toml" <<TOML
name = "encoder"
method = "fedavg"
[data]
kind = "language"
task = "classify"
path = "$scratch/texts"
tokenizer = "$scratch/models/tokens"
label = "label"
context = 32
validation_share = 0.0
test_share = 0.2
[model]
kind = "language"
architecture = "bert"
layers = 1
embedding = 16
heads = 2
[training]
local_steps = 2
batch_size = 4
TOML
learned "$scratch" encoder "$scratch/encoder.toml"

accuracy_of() { # FRACTION METHOD SETTINGS…
  "$troupe" run deploy/examples/pf2lora/sections.toml --set sorted_fraction="$1" --set method="$2" "${@:3}" \
    --set data.path="$scratch/texts" --set model.path="$scratch/models/encoder" --set test_share=0.2 --set clients=4 \
    --set clients_per_round=4 --set samples_per_client=150 --set rounds=10 --set evaluate_every=10 --set learning_rate=0.003 \
    --set workers=1 --set ledger=memory --set events=false --folder "$scratch/runs" --format json \
    >"$scratch/run.out" 2>"$scratch/run.err" || fail "a run of $2 fails"
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["per_client"]["mean"])' "$scratch/run.out"
}

for fraction in 0.3 0.6 1.0; do
  two=$(accuracy_of $fraction pf2lora --set own_rank=4 --set options.inner_rate=3)
  one=$(accuracy_of $fraction homlora)
  more=$(accuracy_of $fraction homlora --set options.rank=12)
  echo "$fraction $two $one $more" | tee -a "$scratch/accuracies"
done
python3 - "$scratch/accuracies" <<'PY' || fail "the trend is another one"
import sys
of = {float(x[0]): [float(y) for y in x[1:]] for x in map(str.split, open(sys.argv[1]))}
gaps = [two - one for two, one, _ in of.values()]
assert gaps == sorted(set(gaps)), f"the gap to HOMLoRA does not grow: {gaps}"
assert all(two > of[0.3][0] - 0.05 for two, _, _ in of.values()), "PF2LoRA loses by sorted labels"
assert of[1.0][1] < of[0.3][1] - 0.05, "HOMLoRA does not lose by sorted labels"
assert all(of[x][0] > of[x][2] for x in (0.6, 1.0)), "HOMLoRA of more ranks comes to PF2LoRA"
PY
echo "ok"
