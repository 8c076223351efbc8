#!/usr/bin/env bash
# What the documents tell people to type works: each example runs, and each command of troupe in a code
# block of README.md and docs/ that needs one process, both made short. Others (serve, join, stop, keys)
# and export have LINE, KEY or RUN in them: those of docs/own_data.md run, as do all of docs/language.md over texts of one's
# own, and serve.sh and keys.sh type the like. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"

commands() { # FILE:LINE, TAB, ARGUMENTS of troupe, a line per command
  python3 - README.md docs/*.md <<'PY'
import re, sys
for path in sys.argv[1:]:
    fenced, said = False, ""
    for number, line in enumerate(open(path), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            said += line.strip()
            if said.endswith("\\"):
                said = said[:-1]
                continue
            command = re.sub(r"\s#\s.*", "", said)
            command = re.sub(r"^\./dev run(?=$| -)", "./dev run deploy/examples/quickstart.toml", command)
            command = re.sub(r"^(\./dev|build/release/troupe)(?= )", "troupe", command)
            command = command.replace(":9464", ":0")  # Any port that is free.
            if re.match(r"troupe (run|replay|check-config|data|doctor|report|trace|version|why)\b", command):
                print(f"{path}:{number}\t{command.removeprefix('troupe ')}")
        said = ""
PY
}

# CIFAR-10 is not in any package: noise in its format is there instead.
python3 - "$scratch/cifar" <<'PY'
import os, random, sys
draws = random.Random(1)
os.mkdir(sys.argv[1])
for name in [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]:
    with open(f"{sys.argv[1]}/{name}", "wb") as out:
        for _ in range(100):
            out.write(bytes([draws.randrange(10)]) + draws.randbytes(3072))
PY

# So of CIFAR-100 and EMNIST, with a row of each label and more.
python3 - "$scratch" <<'PY'
import os, random, struct, sys
draws = random.Random(2)
os.mkdir(f"{sys.argv[1]}/cifar100")
for name, count in ("train", 1200), ("test", 200):
    with open(f"{sys.argv[1]}/cifar100/{name}.bin", "wb") as out:
        for i in range(count):
            out.write(bytes([i % 20, i % 100]) + draws.randbytes(3072))
os.mkdir(f"{sys.argv[1]}/emnist")
for name, count in ("train", 1240), ("t10k", 124):
    with open(f"{sys.argv[1]}/emnist/{name}-images-idx3-ubyte", "wb") as out:
        out.write(struct.pack(">4B3I", 0, 0, 8, 3, count, 28, 28) + draws.randbytes(count * 28 * 28))
    with open(f"{sys.argv[1]}/emnist/{name}-labels-idx1-ubyte", "wb") as out:
        out.write(struct.pack(">4BI", 0, 0, 8, 1, count) + bytes(i % 62 for i in range(count)))
PY

# Fashion-MNIST is packed, and most runs of it are of two rounds: they read it unpacked. tiny.toml reads it as it comes.
fashion=$scratch/fashion
mkdir "$fashion"
for file in /usr/share/datasets/fashion-mnist/*.gz; do
  zcat "$file" >"$fashion/$(basename "$file" .gz)"
done

# Examples of DDOME name a common model that somebody has made before: here a short run makes each.
common_of() { # NAME SETTINGS…
  "$troupe" run "deploy/examples/ddome/${from:-common.toml}" --set folder="$scratch/$1" --set rounds=2 --set workers=1 \
    --set ledger=memory --set samples_per_client=200 "${@:2}" >"$scratch/out" 2>&1 ||
    fail "the common model '$1' cannot be made"
  "$troupe" export "$scratch/$1"/* --block model --to "$scratch/$1.safetensors" >"$scratch/out" 2>&1 ||
    fail "the common model '$1' cannot be exported"
}

short() { # FILE: settings after which a run of it takes a second
  local length=versions every=0 name
  grep -q '^kind = "cifar10"' "$1" && echo "--set data.path=$scratch/cifar"
  grep -q '^kind = "cifar100"' "$1" && echo "--set data.path=$scratch/cifar100"
  grep -q '^path = "emnist' "$1" && echo "--set data.path=$scratch/emnist"
  if grep -q '^kind = "idx"' "$1" && ! grep -q '^path = "emnist' "$1" && [ "${1##*/}" != tiny.toml ]; then
    echo "--set data.path=$fashion"
  fi
  if grep -q '^kind = "resnet34"' "$1"; then # Of 64 channels, by ten clients a round.
    echo "--set model.width=4 --set training.local_steps=2"
    grep -q '^anchors_per_round' "$1" && echo "--set clients_per_round=4 --set options.anchors_per_round=2"
  fi
  name=$(sed -n 's|^common = "runs/\(.*\)"$|\1|p' "$1")
  [ -n "$name" ] && echo "--set common=$scratch/$name"
  grep -q '^rounds' "$1" && length=rounds
  grep -q '^stop' "$1" && every=1
  # A client of streams has its user's text, and no number of examples.
  if grep -q '^local_steps' "$1" && grep -q 'build/language' "$1"; then
    echo "--set local_steps=1 --set batch_size=4"
  fi
  if ! grep -q '^tokens' "$1" && ! grep -q '^tokenizer.*small_tokens' "$1"; then
    echo "--set samples_per_client=20"
  fi
  echo "--set $length=2 --set folder=$scratch --set workers=1 --set ledger=memory --set events=true" \
       "--set evaluate_every=$every --set local_epochs=1 --format json"
}

declare -A tried # By the whole command, where it stands.
try() { # WHERE ARGUMENTS…
  # What a network brings is for who asks for it.
  case "${*:2}" in
    "data language"* | *build/language*) echo "$1: left out"; return ;;
    *letters.toml* | *tickets.toml*) echo "$1: below"; return ;;
  esac
  # Those as published are of ten hours: each of their rows is read, over stand-ins; published.sh makes a round of some.
  [[ ${*:2} = "run "*published*.toml* ]] && set -- "$1" check-config "$3"
  # A sweep is hundreds of runs: sweep.sh makes a small one.
  [ "$2" = run ] && grep -q '^\[sweep\]' "$3" && set -- "$1" check-config "$3"
  # Nothing can be run where the data is: own_data.sh serves such a one.
  [ "$2" = run ] && grep -q '^kind = "elsewhere"' "$3" && set -- "$1" check-config "$3"
  local line="${*:2}" more=""
  [ "$2" = run ] && more=$(short "$3")
  # A sweep's rows begin from another file, and both may name common models; examples of language find small texts there.
  if [[ ${3-} = deploy/examples/* ]] && { [ "$2" = check-config ] || grep -q 'build/language' "$3"; }; then
    line="$2 $scratch/${3#deploy/} ${*:4}"
  fi
  # The folder that is documented is not here: that of a run above.
  case "${*:2}" in
    replay* | report* | trace* | why*) line="$2 $(dirname "$(find "$scratch" -name events.jsonl | head -n 1)")" ;;
    "doctor "*) line="doctor $(dirname "$(find "$scratch" -name events.jsonl | head -n 1)") ${*:4}" ;;
  esac
  [ -z "${tried[$line $more]-}" ] || { echo "$1: as ${tried[$line $more]}"; return; }
  tried[$line $more]=$1
  # Words as a shell would split them: there are no quotes in what is documented.
  # shellcheck disable=SC2086
  "$troupe" $line $more >"$scratch/out" 2>&1 || fail "$1: 'troupe $line' fails"
  echo "$1: troupe $line"
}

# Where a file names them they are those of here, in a copy for what is only checked.
small_language "$scratch/language" "$scratch/examples"
as_published "$scratch/language" "$scratch/published" "$scratch/examples"
find "$scratch/examples" -name '*.toml' -exec sed -i -e "s|runs/\([a-z0-9_]*\.safetensors\)|$scratch/\1|g" \
  -e "/^kind = \"idx\"/ { N; /\npath/! s|\n|\npath = \"$fashion\"\n| }" \
  -e "s|encoder[.]layer[.]5|encoder.layer.0|" {} + # The small encoder has one block.

clothes() { common_of "$@" --set data.path="$fashion"; }
clothes common
clothes common_alike --set model.hidden=[16]
clothes common_of_labels --set data.shift=none --set model.hidden=[32]
common_of synthetic_common --set data.kind=modes --set data.shift=none
images() { # NAME SETTINGS…
  from=common_images.toml common_of "$@" --set model.width=4 --set training.local_steps=2
}
images common_cifar10 --set data.path="$scratch/cifar"
images common_cifar100 --set data.kind=cifar100 --set data.path="$scratch/cifar100" \
  --set data.mean=[0.5071,0.4865,0.4409] --set data.deviation=[0.2673,0.2564,0.2762]
images common_emnist --set data.kind=idx --set data.path="$scratch/emnist" --set data.classes=62 \
  --set data.mean=[0.1736] --set data.deviation=[0.3317]

find deploy/examples -name "*.toml" | sort >"$scratch/listed"
while read -r file; do
  try "$file" run "$file"
done <"$scratch/listed"
for record in "$scratch"/*/events.jsonl; do
  "$troupe" replay "$(dirname "$record")" >"$scratch/out" 2>&1 || true
  grep -E '^([1-9][0-9]*)/\1 digests equal$' "$scratch/out" || fail "$record: not computed again"
done
# Each key of a result has its row, and each row a key.
python3 - "$scratch"/*/summary.json <<'PY' || fail "rows of summary.json in docs/run_folder.md are not its keys"
import json, re, sys
rows = open("docs/run_folder.md").read().split("\n## summary.json\n")[1].split("\n`language_costs` counts")[0]
said = {key for cell in re.findall(r"^\| (`.*?) \| ", rows, re.M) for key in re.findall("`([a-z_]+)`", cell)}
has = set().union(*(json.load(open(path)) for path in sys.argv[1:]), {"clients_scored", "clients_asked"})  # Of served runs.
assert said == has, (said - has, has - said)
PY
# What the head of an example says to set goes with fewer users, too, and where the file says how many clients there are.
sed "s/^users = .*/users = [\"de\", \"fr\", \"nl\"]/; \$a [clients]\nclients = 3" "$scratch/examples/comigs/languages.toml" \
  >"$scratch/fewer.toml"
for what in "all texts in one place" "as it comes"; do
  settings=$(sed -n "s/^# *$what  *--set/--set/p" deploy/examples/comigs/languages.toml)
  # shellcheck disable=SC2086
  [ -n "$settings" ] && "$troupe" check-config "$scratch/fewer.toml" $settings >"$scratch/out" 2>&1 ||
    fail "languages.toml, $what: $(tail -n 1 "$scratch/out")"
done
for what in "each by itself" "by FedProx"; do
  settings=$(sed -n "s/^# *$what  *--set/--set/p" deploy/examples/comigs/sweep_pretrain.toml)
  # shellcheck disable=SC2086
  [ -n "$settings" ] && "$troupe" check-config "$scratch/examples/comigs/pretrain.toml" $settings >"$scratch/out" 2>&1 ||
    fail "sweep_pretrain.toml, $what: $(tail -n 1 "$scratch/out")"
done
commands >"$scratch/commands"
while IFS=$'\t' read -r where line; do
  # shellcheck disable=SC2086
  try "$where" $line
done <"$scratch/commands"

# docs/own_data.md: its run is served, and its table brought by two places.
own=$scratch/own
mkdir "$own"
for kind in toml csv; do
  sed -n "/^\`\`\`$kind\$/,/^\`\`\`\$/p" docs/own_data.md | grep -v '^```' >"$own/two_wards.$kind"
done
cp "$own/two_wards.csv" "$own/north.csv"
cp "$own/two_wards.csv" "$own/south.csv"
mapfile -t typed < <(sed -n '/^On one machine, to try it:$/,/^The /p' docs/own_data.md | grep '^troupe ')
[ ${#typed[@]} = 3 ] || fail "docs/own_data.md: ${#typed[@]} commands on one machine"
address=tcp://127.0.0.1:0 # Any that is free: whose it was is known when it is served.
for i in 0 1 2; do
  line=${typed[$i]//tcp:\/\/127.0.0.1:7700/$address}
  # shellcheck disable=SC2086
  start "typed$i" env -C "$own" "$troupe" ${line#troupe }
  [ $i != 0 ] || until_is "docs/own_data.md: what is served says no address" hear_address "$scratch/typed0.out"
  began[i]=$process
done
for process in "${began[@]}"; do
  wait "$process" || fail "docs/own_data.md: what is typed fails"
done
grep -hq "joined as north, client [12] of the run, with 9 examples" "$scratch"/typed*.err || fail "docs/own_data.md: north has not joined"

# docs/language.md: what is typed for texts of one's own, over little ones and the small models.
texts=$scratch/texts
python3 - "$scratch/language" "$texts" <<'PY'
import json, pathlib, sys
brought, to = map(pathlib.Path, sys.argv[1:])
for folder in "letters", "tickets":
    (to / folder).mkdir(parents=True)
for name, user in ("ana", "de"), ("ben", "fr"), ("eva", "it"):
    pages = sorted((brought / "languages" / user).iterdir())
    (to / "letters" / f"{name}.txt").write_text("\f".join(page.read_text() for page in pages))
for name, group in ("north", 1), ("south", 2):
    lines = (brought / "sections" / f"{group}.jsonl").read_text().splitlines()[:120]
    rows = [{key: json.loads(line)[key] for key in ("text", "label")} for line in lines]
    (to / "tickets" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
PY
sed -n '/^## From your texts/,/^## Parts/p' docs/language.md |
  sed "s|build/language/models/[A-Za-z0-9-]*[.][A-Za-z0-9_]*[.]gguf|$scratch/language/models/small|g
       s|build/language|$scratch/language|g" >"$texts/page"
for name in letters tickets; do
  sed -n "/^name = \"$name\"/,/^\`\`\`\$/p" "$texts/page" | grep -v '^```' >"$texts/$name.toml"
done
mapfile -t typed < <(grep '^troupe ' "$texts/page")
[ ${#typed[@]} = 12 ] || fail "docs/language.md: ${#typed[@]} commands for texts of one's own"
folder=none # That the run before has said.
for line in "${typed[@]}"; do
  line=${line//RUN/$folder}
  # shellcheck disable=SC2086
  env -C "$texts" "$troupe" ${line#troupe } >"$scratch/out" 2>&1 || fail "docs/language.md: '$line' fails"
  [[ $line != "troupe run "* ]] || folder=$(sed -n 's/^  folder  *//p' "$scratch/out")
done
# And what it says of factors in a file is in the files.
python3 - "$texts" <<'PY' || fail "docs/language.md: factors are not in their files as the page says"
import json, pathlib, struct, sys
def header(name):
    with open(pathlib.Path(sys.argv[1]) / name, "rb") as file:
        return json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
letters, tickets = header("letters.safetensors"), header("tickets.safetensors")
assert float(letters["__metadata__"]["scale"]) == 16 / 8 ** 0.5, letters["__metadata__"]
assert tickets["__metadata__"]["scale"] == "1.0", tickets["__metadata__"]
assert letters["transformer.h.0.mlp.c_fc.weight.u"]["shape"] == [8, 128], letters
assert letters["transformer.h.0.mlp.c_fc.weight.v"]["shape"] == [8, 32], letters
labels = json.loads(tickets["__metadata__"]["labels"])
assert labels == ["devel", "libs", "math", "science"], labels
assert tickets["head.weight"]["shape"][0] == len(labels), tickets
PY
[ "$(grep -c README.md "$scratch/commands")" -ge 4 ] || fail "README.md: no commands"
echo "ok"
