# shellcheck shell=bash disable=SC2034
# What the scripts of this folder share. Each sources it, and has then a folder `scratch` of its own, which goes with all of
# its processes when it ends.
#
# Who waits for a word in a file must not find there what an earlier process said. And who is sent a signal must be that
# process already, and no copy of this shell, which would drop it, or run the traps of this one. So `start` alone starts what
# runs beside a script, and each NAME.out and NAME.err is of one process.

# What waits for ever ends before ctest's patience does, and says what was there. A script may need more.
: "${patience:=570}" # Seconds.
if [ -z "${TROUPE_BOUND:-}" ]; then
  TROUPE_BOUND=1 exec timeout --foreground -s ALRM "$patience" bash "$0" "$@"
fi
trap 'fail "it goes on after $patience s"' ALRM
troupe=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
scratch=$(mktemp -d)
trap end EXIT

leave() { :; } # What else is to be undone.
end() {
  # A copy of this shell that is sent a signal runs this, too. (And there the first [ of it is true, whatever it asks.)
  case $BASHPID in "$$") ;; *) return 0 ;; esac
  local left
  left=$(jobs -pr)
  # shellcheck disable=SC2086
  [ -z "$left" ] || kill -9 $left 2>/dev/null || true
  wait 2>/dev/null
  leave
  rm -rf "$scratch"
}

fail() {
  echo "$1"
  tail -n 20 "$scratch"/{out,err,page,why,said} "$scratch"/*.{out,err} 2>/dev/null || true
  exit 1
}

# Sets `process`, which is that program when this returns, or has been.
start() { # NAME COMMAND…
  rm -f "$scratch/$1.out" "$scratch/$1.err"
  "${@:2}" >"$scratch/$1.out" 2>"$scratch/$1.err" &
  process=$!
  while [ "/proc/$process/exe" -ef "/proc/$$/exe" ]; do sleep 0.01; done
}

# However slow this machine is: whatever comes next stands on it.
until_is() { # WORDS COMMAND…
  local deadline=$((SECONDS + 60))
  until "${@:2}"; do
    [ $SECONDS -lt $deadline ] || fail "$1"
    sleep 0.1
  done
}

holds() { # FILE TEXT [COUNT]: whether so many of its lines have that
  local found
  found=$(grep -cs -- "$2" "$1" || true)
  [ "${found:-0}" -ge "${3:-1}" ]
}

says() { until_is "$1 does not say '$2'" holds "$scratch/$1.err" "$2"; } # NAME TEXT

goes_on() { jobs -pr | grep -x "$1" >/dev/null; } # PROCESS

# For who may have ended meanwhile: its number may be that of somebody else's process then.
tell() { ! goes_on "$2" || kill "-$1" "$2" 2>/dev/null || true; } # SIGNAL PROCESS

ends_with() { # CODE PROCESS WHO
  local code=0
  wait "$2" || code=$?
  [ $code = "$1" ] || fail "$3 ends with $code and not $1"
}

# How the line begins in which a replay says that all is equal, of which there is something: 0 of 0 are equal, too.
equal_digests='^\([1-9][0-9]*\)/\1 digests equal'
equal_scores="^\\([1-9][0-9]*\\)/\\1 scores of the run's end equal" # Where nothing is sent.

# -- what is served ------------------------------------------------------------------
served=() # What each server of a script is told.

# Sets `server`, `address` and `key`, which is empty for one without, and what they who join are told.
serve() { # NAME ARGUMENTS…
  start "$1" "$troupe" serve "${@:2}" "${served[@]}" --format json
  server=$process
  until_is "$1 says no address" hear_address "$scratch/$1.err"
  trust=(--insecure)
  [ -z "$key" ] || trust=(--server "$key")
}
hear_address() { read -r address key < <(sed -n '/^tcp:/ {p; q}' "$1"); } # A line that is whole.

# Sets `joined`.
join() { # NAME ARGUMENTS…
  start "$1" "$troupe" join "$address" "${trust[@]}" "${@:2}"
  joined=$process
}

# The folder of the run whose server has listened last.
folder_of() {
  { find "$scratch" -maxdepth 3 -name endpoint -printf '%T@ %h\n' || true; } | sort -n | tail -n 1 | cut -d ' ' -f 2-
}

versions_in() { cat "$1/metrics.jsonl" 2>/dev/null | grep -c '"kind": *"version"' || true; } # FOLDER

has_versions() { # FOLDER COUNT: waits for them
  until_is "there are no $2 versions in $1" holds "$1/metrics.jsonl" '"kind": *"version"' "$2"
}

value_in() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1" "$2"; } # FILE KEY
digest_in() { value_in "$1" digest; }

# -- language ------------------------------------------------------------------------
# Below FOLDER a little of what `./dev data language` brings, and models that have learned for a moment: a small one with a
# tokenizer of its own, by the example that makes it, and an encoder in the place of the one that is brought. Copies of the
# examples in TO find them there.
small_language() { # FOLDER TO
  python3 -B "$here/small_language.py" "$1" || fail "there are no small texts"
  cp -r deploy/examples "$2"
  find "$2" -name '*.toml' -exec sed -i \
    "s|build/language/models/[A-Za-z0-9._-]*[.]gguf|$1/models/small|g; s|build/language|$1|g" {} +
  "$troupe" data tokenizer "$1/languages/en" --size 400 --to "$1/models/small_tokens" >"$scratch/out" 2>&1 ||
    fail "a tokenizer cannot be made"
  learned "$1" small "$2/comigs/pretrain.toml" --set layers=1 --set embedding=32 --set heads=2 --set batch_size=8 \
    --set local_steps=60 --set own_steps=60 --set learning_rate=0.005
  cat >"$scratch/encoder.toml" <<TOML
name = "encoder"
method = "fedavg"
[data]
kind = "language"
task = "classify"
path = "$1/sections"
users = ["1", "2", "3", "4"]
tokenizer = "$1/models/small_tokens"
context = 128
validation_share = 0.0
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
  learned "$1" all-MiniLM-L6-v2 "$scratch/encoder.toml"
}

learned() { # FOLDER NAME FILE SETTINGS…: trains a model for one round, and writes it as FOLDER/models/NAME
  "$troupe" run "${@:3}" --set rounds=1 --set evaluate_every=0 --set ledger=memory --set events=false --set folder="$1/runs/$2" \
    >"$scratch/out" 2>&1 || fail "the model '$2' cannot be trained"
  "$troupe" export "$1/runs/$2"/* --block model --to "$1/models/$2" >"$scratch/out" 2>&1 ||
    fail "the model '$2' cannot be exported"
}

# In the place of models and corpora that publications have and nobody here: users, tasks and places are as many, and files
# are as others write them. Published examples among those in EXAMPLES find them in TO.
as_published() { # FOLDER TO EXAMPLES
  local one i=0 tongues=(de fr it nl)
  learned "$2" gpt2 "$3/comigs/pretrain.toml" --set layers=1 --set embedding=32 --set heads=2 --set batch_size=1 \
    --set local_steps=1 --set context=512 --set test_share=0.1
  learned "$2" Llama-3.2-1B "$3/comigs/pretrain.toml" --set architecture=llama --set layers=1 --set embedding=32 --set heads=2 \
    --set batch_size=1 --set local_steps=1
  python3 -B "$here/published_models.py" "$2" || fail "there are no stand-ins of what is published"
  for one in gpt2-medium gpt2-xl; do ln -s gpt2 "$2/models/$one"; done
  ln -s roberta-base "$2/models/roberta-large"
  for one in multilingual/{de,fr,it,nl} slimpajama/{stackexchange,github,arxiv,book} ag_news/{world,sports,business,science} \
    common_corpus/{youtube,books,tenders,patents}; do
    mkdir -p "$2/corpora/${one%/*}"
    ln -s "$1/languages/${tongues[i++ % 4]}" "$2/corpora/$one"
  done
  sed -i -E "s#([\"=])(corpora|models)/#\1$2/\2/#g" "$3"/*/*published*.toml
}

# -- what is refused -----------------------------------------------------------------
refused() { # CODE TEXT ARGUMENTS…
  local code=0
  timeout 60 "$troupe" "${@:3}" >"$scratch/out" 2>"$scratch/err" || code=$?
  [ $code = "$1" ] && grep -q -- "$2" "$scratch/err" ||
    fail "troupe ${*:3}: $code and not $1, or without '$2'"
}

# Of the settings in `run`, and where there are several of the `method`.
# shellcheck disable=SC2154 # Who calls it has them.
ends() { # NAME SETTINGS…
  "$troupe" run "${run[@]}" --folder "$scratch/$1" "${@:2}" --format json >"$scratch/$1.out" 2>"$scratch/$1.err" ||
    fail "a run '$1' fails"
}
same() { # NAME KEY…: as the first run of this method
  local key wanted found
  for key in "${@:2}"; do
    wanted=$(value_in "$scratch/one.out" "$key")
    found=$(value_in "$scratch/$1.out" "$key")
    [ "$wanted" != None ] || fail "'one'${method:+ of $method} has no $key"
    [ "$found" = "$wanted" ] || fail "'$1'${method:+ of $method} has another $key"
  done
}
