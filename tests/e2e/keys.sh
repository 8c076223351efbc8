#!/usr/bin/env bash
# With keys a served run learns what it learns in one process; nobody else comes in, who is denied hears
# so and is heard no more, and a line enrols one key. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"
served=(--folder "$scratch/runs")
# What this machine does not allow is said; in the long gate that is red.
not_seen() { echo "$1"; [ -z "${TROUPE_NO_SKIPS:-}" ] || fail "TROUPE_NO_SKIPS is set"; }

cat >"$scratch/small.toml" <<'TOML'
name = "small"
method = "scaffold"
rounds = 20
[data]
kind = "synthetic"
dimension = 400
[clients]
clients = 12
clients_per_round = 6
expected = 12
[model]
kind = "softmax"
[training]
local_epochs = 1
batch_size = 10
learning_rate = 0.05
TOML
sed 's/rounds = 20/rounds = 1000000/' "$scratch/small.toml" >"$scratch/long.toml"
keys=$scratch/keys

member() { join "$1" --store "$scratch/$1" "${@:2}"; } # STORE ARGUMENTS…

# Two processes with a key each.
for name in alice bob; do
  public=$("$troupe" keys new --keys "$scratch/$name")
  "$troupe" keys allow "$public" --keys "$keys" --name $name --numbers 9 >/dev/null
done
serve served "$scratch/small.toml" --keys "$keys"
member alice --virtual 9
refused 5 "may have 9 clients at most" join "$address" --server "$key" --store "$scratch/bob" --virtual 10
member bob --virtual 3
wait "$joined" || fail "bob is not let in"
wait "$server" || fail "a served run fails"
wait
"$troupe" run "$scratch/small.toml" --folder "$scratch/runs" --format json \
  >"$scratch/wanted.out" 2>"$scratch/wanted.err"
[ "$(digest_in "$scratch/served.out")" = "$(digest_in "$scratch/wanted.out")" ] ||
  fail "with keys another run"

# What goes on is served as it was, and by nobody who is another.
refused 2 "no address" join "${address#tcp://}/$key/$key" --store "$scratch/alice"
! grep -q "$key" "$scratch/err" || fail "a line without its beginning is shown"
serve bound "$scratch/long.toml" --keys "$keys"
bound=$(folder_of)
known=$key
refused 1 "process $server works in this folder" serve "$bound"
kill -9 "$server"
wait "$server" 2>/dev/null || true
refused 3 "was served with a key" serve "$bound" --insecure
refused 3 "know it: $known; there is none in" serve "$bound" --keys "$scratch/none"
refused 3 "another key than that in" serve "$bound" --keys "$scratch/bob"
[ ! -e "$bound/keys" ] && [ ! -e "$scratch/none" ] || fail "another pair is made"
mv "$keys" "$keys.elsewhere"
refused 3 "says where it is now" serve "$bound"
mv "$keys.elsewhere" "$keys"
serve again "$bound"
[ "$key" = "$known" ] && grep -q "$address" "$scratch/bound.err" || fail "it goes on as another, or elsewhere"
# A store's clients are its key's: with another pair they would be others.
member alice --virtual 9
says alice "joined with"
kill -INT "$joined"
wait "$joined" || true
cp "$scratch/alice/pair" "$scratch/alice.pair"
cp "$scratch/bob/pair" "$scratch/alice/pair"
refused 1 "that the server knows by the key" join "$address" --server "$key" --store "$scratch/alice" --virtual 3
cp "$scratch/alice.pair" "$scratch/alice/pair"
kill -INT "$server"
wait "$server" || true
"$troupe" why "$bound" >"$scratch/why"
grep -q "interrupted; troupe serve $bound goes on with it" "$scratch/why" || fail "why says not that it goes on"

# Who mistypes a folder of keys hears so, and makes none.
for verb in "list" "deny alice" "invite --name a --address tcp://127.0.0.1:1"; do
  refused 2 "there is no folder" keys $verb --keys "$scratch/none"
  refused 2 "there are no keys in" keys $verb --keys "$scratch/runs"
done
[ ! -e "$scratch/none" ] && [ ! -e "$scratch/runs/allowed" ] || fail "a folder of keys is made by mistake"
refused 2 "takes one address" keys invite --name a --keys "$keys" --address 127.0.0.1:7702
refused 2 "did you mean '--name'" keys invite --nmae a --name b --keys "$keys"
"$troupe" keys list --keys "$keys" | grep "own data as \*, expires" >/dev/null || fail "keys list says not whose data"

refused 2 "'role' is 'client'" keys allow "$known" --keys "$keys" --name gert --role server
refused 2 "'role' is 'client'" keys invite --name gert --keys "$keys" --role server
"$troupe" keys list --keys "$keys" >"$scratch/list"
! grep -q gert "$scratch/list" || fail "a role that there is not is allowed"

# Who listens at every address of its machine hears that nobody dials that, and no line says it.
serve every "$scratch/long.toml" --keys "$scratch/everykeys" --listen tcp://0.0.0.0:0
grep -q "note: tcp://0.0.0.0:0 is every address of this machine" "$scratch/every.err" || fail "an address that nobody dials is not named"
invite=(keys invite --name a --keys "$scratch/everykeys")
refused 2 "'$address' is every address of the server's machine" "${invite[@]}"
refused 2 "--address tcp://HOST:PORT says where" "${invite[@]}" --address 'tcp://[::]:7700'
"$troupe" "${invite[@]}" --address tcp://192.0.2.1:7700 | grep "^tcp://192.0.2.1:7700/$key/" >/dev/null || fail "a line has another address"
kill "$server"
ends_with 0 "$server" "who listens everywhere"

# Who is here is heard no more when its key runs out, or when somebody writes into its file, and the folder shows neither:
# within ten seconds, and what came of it is looked at below.
serve over "$scratch/long.toml" --keys "$scratch/overkeys"
over=("$server")
for name in hana ida; do
  public=$("$troupe" keys new --keys "$scratch/$name")
  "$troupe" keys allow "$public" --keys "$scratch/overkeys" --name $name --role client --numbers 1 >/dev/null
  member $name --virtual 1
  says $name "joined with"
  over+=("$joined")
done
"$troupe" keys allow "$(awk '$1 == "public" {print $2}' "$scratch/hana/pair")" --keys "$scratch/overkeys" --name hana --numbers 1 \
  --valid 2s >/dev/null
sleep 1 # The folder has changed, for which the server looks twice.
printf 'half of a fi' >"$scratch/overkeys/allowed/$public"
over_at=$(date +%s)

# Keys in the run's folder, which is there when it serves; who is not let in hears so at once.
serve strict "$scratch/long.toml" --http 127.0.0.1:0
own=$(find "$scratch/runs" -mindepth 2 -maxdepth 2 -name keys)
grep -q "a pair of keys is made in $own; troupe keys invite --keys $own " "$scratch/strict.err" || fail "where the keys are is not said"
refused 5 "does not let this key in" join "$address" --server "$key" --store "$scratch/carol"
carol=$(awk '$1 == "public" {print $2}' "$scratch/carol/pair")
grep -q "$carol" "$scratch/err" || fail "it does not say which key"
refused 5 "has not the key" join "$address" --server "$carol" --store "$scratch/carol"
refused 5 "wants keys" join "$address" --insecure
refused 2 "no address" join nowhere --insecure
refused 2 "on this machine alone" join tcp://192.0.2.1:7700 --insecure
refused 2 "64 digits" join "$address" --server abc --store "$scratch/carol"
refused 2 "there is a --store" join "$address" --server "$key"
refused 2 "one of them would do" join "$address" --server "$key" --insecure
refused 2 "one of them would do" serve "$scratch/small.toml" --insecure --keys "$keys"
refused 2 "takes one address" serve "$scratch/small.toml" --listen 'tcp://127.0.0.1:0;tcp://127.0.0.1:0'
"$troupe" keys allow "$carol" --keys "$own" --name carol >/dev/null
member carol --virtual 12 --http 127.0.0.1:0
events=$own/../events.jsonl
until_is "carol is allowed and does not take part" holds "$events" '"offer' 5
# What is secret meanwhile, and what is shown.
: >"$scratch/secret_words"
note_macs() {
  local before
  before=$(wc -l <"$scratch/secret_words")
  for _ in $(seq 300); do
    python3 -B "$here/unseen.py" macs "$scratch/carol" >>"$scratch/secret_words"
    [ "$(wc -l <"$scratch/secret_words")" = "$before" ] || return 0
  done
  fail "carol has no ticket"
}
page_of() { sed -n 's|^metrics at \(http://[^/]*\).*$|\1|p' "$1"; }
look() {
  python3 -B "$here/unseen.py" look "$scratch/shown" "$troupe" "$own/.." "$scratch/carol" -- \
    "$(page_of "$scratch/strict.err")" "$(page_of "$scratch/carol.err")"
}
note_macs
look
# Another key for its invitations: who is at work goes on, and so does who comes after it.
sealed() { stat -c %a "$own/../seal" 2>/dev/null; }
refused 4 "nobody serves" keys rotate "$scratch"
refused 2 "as 90s, 15m" keys rotate "$own/.." --valid soon
"$troupe" keys rotate "$own/.." --valid 5s >/dev/null || fail "the key of invitations is not changed"
[ "$(sealed)" = 600 ] || fail "the key of invitations is others' as well"
visits() { grep -c '"offer' "$events"; }
until_is "with another key nobody goes on" holds "$events" '"offer' $(($(visits) + 5))
note_macs
look
waits_for_one() { # Whether one page after another of the server's has the same round, and somebody at work for it
  timeout 20 python3 - "$(page_of "$scratch/strict.err")/metrics" <<'PY'
import re, sys, time, urllib.request
def page_after(before):
    while True:
        page = urllib.request.urlopen(sys.argv[1], timeout=10).read().decode()
        made = re.search(r"^troupe_run_seconds (\S+)$", page, re.M)[1]
        if made != before:
            return made, re.findall(r'^(?:troupe_round|troupe_round_offers|troupe_clients{state="at_work"}) .*$', page, re.M)
        time.sleep(0.1)
made, _ = page_after(None)
made, first = page_after(made)
_, second = page_after(made)
sys.exit(len(first) != 3 or first != second or 'troupe_clients{state="at_work"} 0' in first)
PY
}
counts() { # REGULAR-EXPRESSION…: whether the server's page has a line of each
  python3 - "$(page_of "$scratch/strict.err")/metrics" "$@" <<'PY'
import re, sys, urllib.request
page = urllib.request.urlopen(sys.argv[1], timeout=10).read().decode()
sys.exit(not all(re.search(f"^{x}$", page, re.M) for x in sys.argv[2:]))
PY
}
# Between two visits there is nothing to withdraw: it is held in the middle of one, when what it had said is heard, until
# the server has seen that its key is gone.
kill -STOP "$joined"
until_is "no round waits for who stands still" waits_for_one
"$troupe" keys deny carol --keys "$own" >/dev/null
until_is "who is denied keeps its sessions" counts "troupe_sessions 0"
kill -CONT "$joined"
code=0
began=$SECONDS
wait "$joined" || code=$?
[ $code = 5 ] && [ $((SECONDS - began)) -le 10 ] && grep -q "or no longer: $carol" "$scratch/carol.err" ||
  fail "who is denied does not hear so: $code after $((SECONDS - began)) s"
until_is "who is denied keeps its visits" holds "$events" '"withdrawn"'
before=$(visits)
sleep 1
[ "$(visits)" = "$before" ] || fail "who is denied is still heard"
# What it said last was not heard.
for reason in denied_key unknown_key; do
  until_is "a refusal of $reason is not in the log" holds "$own/../logs/run.log" "refused: $reason"
done
until_is "refusals are not counted, or who was refused is connected" counts "troupe_connections 0" \
  'troupe_refusals_total{reason="'{unknown_key,denied_key,no_key}'"} [1-9][0-9]*'
# A line enrols one key of two that come at once, and is good for nothing else.
line=$("$troupe" keys invite --name ward --keys "$own" --numbers 2)
both=()
for name in dora emil; do
  start $name "$troupe" join "$line" --store "$scratch/$name" --virtual 3
  both+=("$process")
done
for process in "${both[@]}"; do ends_with 5 "$process" "one of two with a line for one"; done
cat "$scratch"/{dora,emil}.err >"$scratch/both"
grep -q "used up" "$scratch/both" && grep -q "may have 2 clients at most" "$scratch/both" ||
  fail "a line did not enrol one of two"
until_is "who was refused and has left is counted as connected" counts "troupe_connections 0"
refused 2 "no whole invitation" join "${line%?}" --store "$scratch/dora"
refused 2 "there is a --store" join "$line"
line=$("$troupe" keys invite --name late --keys "$own" --valid 1s)
sleep 2
refused 5 "has expired" join "$line" --store "$scratch/late"
# Nobody finds a secret in what runs leave, say and show: keys, tokens, MACs and the keys of these.
{
  awk '$1 == "secret" {print "a key", $2}' "$keys/pair" "$own/pair" "$scratch"/*/pair
  awk '$1 == "now" || $1 == "before" {print $2}' "$own/../seal" | tr , '\n' | sed 's/^/the key of tickets /'
  echo "the token of a line" "${line##*/}"
} >>"$scratch/secret_words"
mkdir "$scratch/said"
cp "$scratch"/*.out "$scratch"/*.err "$scratch/said"
python3 -B "$here/unseen.py" search "$scratch/secret_words" "$scratch/runs" "$scratch/said" "$scratch/shown" ||
  fail "a secret is shown"
# Nor a key or a line, but the server's in `endpoint`.
for secret in $(awk '$1 == "secret" {print $2}' "$own/pair" "$scratch"/*/pair) \
              $(awk '$1 == "public" {print $2}' "$scratch"/*/pair) "${line##*/}"; do
  ! grep -rqa --exclude-dir=keys --exclude=endpoint "$secret" "$scratch/runs" || fail "the folder has a key"
  ! grep -qa "${line##*/}" "$scratch"/*.out "$scratch"/*.err || fail "a line is shown"
done
# A process with keys leaves no image of itself, where another does.
mkdir "$scratch/cores"
dies() { # FILE TEXT ARGUMENTS…: whether a core file is left of who has said that
  rm -f "$scratch"/cores/*
  start dies bash -c 'cd "$1" && ulimit -c unlimited && shift && exec "$@"' - "$scratch/cores" "${@:3}"
  until_is "$3 does not say '$2'" holds "$scratch/dies.$1" "$2"
  kill -ABRT "$process" || fail "$3 has ended already"
  wait "$process" 2>/dev/null || true
  [ -n "$(ls "$scratch/cores")" ]
}
if dies out there python3 -u -c 'import time; print("there"); time.sleep(100)'; then
  ! dies err "nobody has answered" "$troupe" join tcp://127.0.0.1:9 --wait 0 --server "$key" --store "$scratch/frida" ||
    fail "join leaves its keys"
  ! dies out "^tcp:" "$troupe" serve "$scratch/long.toml" --keys "$keys" --folder "$scratch/runs" ||
    fail "serve leaves its keys"
else
  not_seen "no core files here: whether processes are dumpable is not seen"
fi
chmod 640 "$own/pair"
kill -INT "$server"
wait "$server" || true
refused 1 "chmod 600" serve "$(dirname "$own")"
# Of those whose keys are good no more, since before.
for process in "${over[@]:1}"; do
  until_is "whose key has run out, or is half of one, is still here" eval "! goes_on $process"
  ends_with 5 "$process" "whose key is good no more"
done
for name in hana ida; do
  grep -q "or no longer: " "$scratch/$name.err" || fail "$name does not hear why it ends"
  took=$(($(stat -c %Y "$scratch/$name.err") - over_at))
  [ $took -le 15 ] || fail "$name is heard for $took s more"
done
kill -INT "${over[0]}"
wait "${over[0]}" || true

# A run that had no keys has some from now on, and says so once.
start walled "$troupe" run "$scratch/long.toml" --set clock=wall --folder "$scratch/walled"
until_is "a run makes no folder" eval '[ -n "$(ls "$scratch/walled" 2>/dev/null)" ]'
walled=$(echo "$scratch"/walled/*)
has_versions "$walled" 1
kill -9 "$process"
wait "$process" 2>/dev/null || true
serve keyless "$walled"
grep -q "a pair of keys is made in $walled/keys; troupe keys invite" "$scratch/keyless.err" || fail "keys are made without a word"
kill -INT "$server"
wait "$server" || true
serve keyed "$walled"
! grep -q "a pair of keys is made" "$scratch/keyed.err" || fail "keys are made that were there"

# A line for one name brings that one and nobody else, though it has no numbers.
printf 'f0,f1,label\n1,0,0\n0,1,1\n2,0,0\n0,2,1\n' >"$scratch/ward.csv"
sed 's/^kind = "synthetic"/kind = "elsewhere"/; s/^dimension.*/inputs = [2]\nclasses = 2/; s/"scaffold"/"fedavg"/' \
  "$scratch/long.toml" >"$scratch/wards.toml"
serve wards "$scratch/wards.toml" --keys "$scratch/wardkeys"
own_of() { own=(join "$line" --id "$1" --data "$scratch/ward.csv" --store "$scratch/$2"); } # Sets `own`.
line=$("$troupe" keys invite --name ward7 --clients ward7 --numbers 0 --keys "$scratch/wardkeys")
own_of ward8 ward7
refused 5 "may have 0 clients at most" "${own[@]}"
own_of ward7 ward7
start ward7 "$troupe" "${own[@]}"
one=$process
says ward7 "joined as ward7"
own_of ward7 ward9
refused 5 "used up" "${own[@]}"
line=$("$troupe" keys invite --name wards --clients 'ward*' --numbers 0 --keys "$scratch/wardkeys")
own_of ward9 ward9
refused 5 "may have 0 clients at most" "${own[@]}"
kill -INT "$one" "$server"
wait "$one" "$server" || true

# A round has no deadline, and one of its clients stands still: with its key denied the round closes.
sed 's/^\(expected\|clients_per_round\).*/\1 = 2/; s/"scaffold"/"fedavg"/' "$scratch/long.toml" >"$scratch/round.toml"
serve round "$scratch/round.toml" --keys "$scratch/roundkeys"
folder=$(folder_of)
versions() { versions_in "$folder"; }
more() { # COUNT SECONDS: whether there are more versions in that time
  local end=$((SECONDS + $2))
  until [ "$(versions)" -gt "$1" ]; do [ $SECONDS -lt $end ] || return 1; sleep 0.1; done
}
both=()
for name in ann ben; do
  public=$("$troupe" keys new --keys "$scratch/$name")
  "$troupe" keys allow "$public" --keys "$scratch/roundkeys" --name $name --numbers 1 >/dev/null
  member $name --virtual 1
  both+=("$joined")
done
more 2 60 || fail "two keys make no rounds"
kill -STOP "${both[1]}"
for _ in 1 2 3 4; do # What it had said closes the one that was open.
  before=$(versions)
  more "$before" 2 || break
done
! more "$before" 2 || fail "a round closes without whom it waits for"
"$troupe" keys deny ben --keys "$scratch/roundkeys" >/dev/null
more "$before" 30 || fail "a round waits for whose key is denied"
kill -CONT "${both[1]}"
code=0
wait "${both[1]}" || code=$?
[ $code = 5 ] || fail "who was denied while it stood still ends with $code"
kill -INT "${both[0]}" "$server"
wait "${both[0]}" "$server" || true

# A hello of whose key has just been denied opens no session and takes no slot, though the server may still remember that it was good.
# Ten keys have two clients each.
sed 's/^clients = .*/clients = 20/; s/^expected.*/expected = 1/; s/^clients_per_round.*/clients_per_round = 1/' "$scratch/long.toml" >"$scratch/doors.toml"
serve doors "$scratch/doors.toml" --keys "$scratch/doorkeys" --http 127.0.0.1:0
for python in python3 /usr/bin/python3; do
  "$python" -c 'import numpy, tomllib, zmq' 2>/dev/null || continue
  "$python" -B "$here/denied.py" "$troupe" "$scratch/doorkeys" "$address" "$key" "$(page_of "$scratch/doors.err")/metrics" ||
    fail "who is denied comes in by its hello"
  exit 0
done
not_seen "no python3 with numpy and zmq: hellos of who is denied are not tried"
