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

# -- what is refused -----------------------------------------------------------------
refused() { # CODE TEXT ARGUMENTS…
  local code=0
  timeout 60 "$troupe" "${@:3}" >"$scratch/out" 2>"$scratch/err" || code=$?
  [ $code = "$1" ] && grep -q -- "$2" "$scratch/err" ||
    fail "troupe ${*:3}: $code and not $1, or without '$2'"
}
