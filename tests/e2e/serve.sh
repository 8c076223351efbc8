#!/usr/bin/env bash
# A run served to clients in processes of their own learns what it learns in one process, and what
# cannot be joined is refused by its code. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"
served=(--insecure --folder "$scratch/runs")

cat >"$scratch/small.toml" <<'TOML'
name = "small"
method = "scaffold"
rounds = 20
evaluate_every = 5
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
tiny=(deploy/examples/tiny.toml --set rounds=10)
data=/usr/share/datasets/fashion-mnist

"$troupe" run "${tiny[@]}" --folder "$scratch/runs" --format json >"$scratch/wanted.out" 2>"$scratch/wanted.err"
wanted=$(digest_in "$scratch/wanted.out")
# One and two: wire_digests.py.
serve served "${tiny[@]}" --set clients.expected=100
for i in 1 2 3 4; do
  join "joined_$i" --virtual 25 --data $data
done
wait "$server" || fail "a served run fails"
wait
found=$(digest_in "$scratch/served.out")
[ "$found" = "$wanted" ] || fail "of four processes: $found and not $wanted"
for i in 1 2 3 4; do
  grep -q "the run is over" "$scratch/joined_$i.out" || fail "a process did not hear the end"
done
# What is rounded crosses as halves, and is the same in one process.
"$troupe" run "${tiny[@]}" --set wire=bf16 --folder "$scratch/runs" --format json >"$scratch/rounded.out" 2>"$scratch/rounded.err"
[ "$(digest_in "$scratch/rounded.out")" != "$wanted" ] || fail "nothing is rounded"
serve halves "${tiny[@]}" --set wire=bf16 --set clients.expected=100
for i in 1 2; do join "half_$i" --virtual 50 --data $data; done
wait "$server" || fail "a served run of bf16 fails"
wait
[ "$(digest_in "$scratch/halves.out")" = "$(digest_in "$scratch/rounded.out")" ] || fail "of bf16 over sockets comes something else"
# How often processes fetch the same version is theirs.
while read -r half whole way; do
  python3 -c 'import sys; half, whole = map(int, sys.argv[1:]); assert 0.49 * whole < half < 0.55 * whole, (half, whole)' \
    "$(value_in "$scratch/$half.out" "$way")" "$(value_in "$scratch/$whole.out" "$way")" || fail "bf16 saves nothing: $half, $way"
done <<<"halves served bytes_up
rounded wanted bytes_up
rounded wanted bytes_down"

# Made-up data needs no path; two that ask for more clients than there are. What simulations alone have is named, and without effect.
{
  printf 'snapshot_seconds = 5\nscenario = "/nowhere"\n'
  cat "$scratch/small.toml"
  printf '[devices]\ndrop_out = 0.5\n[network]\ndelay = 5\n[availability]\nkind = "windows"\n[crashes]\nper_hour = 900\n'
} >"$scratch/lived.toml"
serve few "$scratch/lived.toml"
for key in snapshot_seconds scenario devices.drop_out network.delay availability.kind crashes.per_hour; do
  line=$(grep -n "^${key##*.} = " "$scratch/lived.toml" | tail -n 1 | cut -d: -f1)
  [ "$(grep -c "^note: $scratch/lived.toml:$line: '$key' has no effect: it is of simulations" "$scratch/few.err")" = 1 ] ||
    fail "that $key has no effect is not said once"
done
join one --virtual 9
says one "joined with 9"
refused 5 "of the run's 12 clients 3 are free; --virtual 3 would do" join "$address" --insecure --virtual 4
join two --virtual 3
wait "$server" || fail "a served run fails"
wait
"$troupe" run "$scratch/small.toml" --folder "$scratch/runs" --format json >"$scratch/wanted.out" 2>"$scratch/wanted.err"
[ "$(digest_in "$scratch/few.out")" = "$(digest_in "$scratch/wanted.out")" ] ||
  fail "SCAFFOLD over sockets is another"
[ "$(value_in "$scratch/few.out" per_client)" = "$(value_in "$scratch/wanted.out" per_client)" ] ||
  fail "clients that score themselves are worth something else"

refused 4 "nobody answers at tcp://127.0.0.1:9" join tcp://127.0.0.1:9 --insecure --wait 4
grep -q "nobody has answered at tcp://127.0.0.1:9 yet" "$scratch/err" || fail "who waits for a server says nothing"
refused 4 "^'no..host' does not resolve: " join tcp://no..host:7700 --insecure=anywhere --wait 4
grep -q "'no..host' does not resolve: .*; it is dialled until --wait is over" "$scratch/err" || fail "who waits for a name says nothing"
# A name that has no address of IPv4, on a machine of its own.
printf 'fd00::5 six.test\n' >"$scratch/hosts"
printf 'hosts: files\n' >"$scratch/names"
in_six() {
  unshare -m bash -c 'mount --bind "$1/hosts" /etc/hosts && mount --bind "$1/names" /etc/nsswitch.conf && shift && exec "$@"' - "$scratch" "$@"
}
if in_six true 2>/dev/null; then
  code=0
  in_six timeout 60 "$troupe" join tcp://six.test:9 --insecure=anywhere --wait 4 >"$scratch/out" 2>"$scratch/err" || code=$?
  [ $code = 4 ] && grep -q "^'six.test' has addresses of IPv6 alone" "$scratch/err" ||
    fail "a name of IPv6 alone: $code"
else
  echo "skipped: a name of IPv6 alone, which takes the right to mount"
fi
refused 2 "'nowhere' is no address" join nowhere --insecure
refused 2 "ADDRESS is required" join
refused 2 "nothing says whose server that is" join tcp://127.0.0.1:9
refused 1 "cannot make" join tcp://127.0.0.1:9 --insecure --store "$scratch/small.toml/in"
refused 2 "takes one address" serve "${tiny[@]}" --insecure --listen 127.0.0.1:7700
refused 2 "listens on this machine alone" serve "${tiny[@]}" --insecure --listen tcp://0.0.0.0:0
serve strict "${tiny[@]}"
refused 3 "in use; another port would do" serve "${tiny[@]}" --insecure --listen "$address" --folder "$scratch/runs"
refused 6 "this run learns from data in files" join "$address" --insecure
refused 6 "there is no such file" join "$address" --insecure --data "$scratch/nothing"
mkdir "$scratch/nothing"
refused 6 "neither this file" join "$address" --insecure --data "$scratch/nothing"
mkdir "$scratch/other"
cp -r $data/. "$scratch/other"
python3 - "$scratch/other" <<'PY'
import glob, gzip, sys
name = sorted(glob.glob(sys.argv[1] + '/train-labels*'))[0]
opens = gzip.open if name.endswith('.gz') else open
text = bytearray(opens(name, 'rb').read())
text[-1] = (text[-1] + 1) % 10
opens(name, 'wb').write(bytes(text))
PY
refused 6 "is not what the run learns from" join "$address" --insecure --data "$scratch/other"
kill -INT "$server"
ends_with 130 "$server" "an interrupted server"

# What was ended before anything had happened has not failed.
serve idle "${tiny[@]}"
join idles --data $data
says idles "joined with"
timeout 60 "$troupe" stop "$(folder_of)" >"$scratch/out" 2>"$scratch/err" || fail "an idle run is not ended"
wait "$server" || fail "a run that was ended before its first visit fails"
wait "$joined" || fail "who idled fails"
grep -q "1 client was here, and nothing was trained" "$scratch/idles.out" || fail "who idled took part"

# A server that no longer knows whose its clients are has given their numbers to others.
serve forgets "$scratch/small.toml" --set rounds=1000000 --set clients.expected=2 --set clients.clients_per_round=2
join leased --virtual 2 --store "$scratch/leased.store"
folder=$(folder_of)
has_versions "$folder" 1
kill -INT "$joined"
ends_with 130 "$joined" "an interrupted process"
kill -9 "$server"
wait "$server" 2>/dev/null || true
sed -i -E 's/"[0-9a-f]{32}": \[/"00112233445566778899aabbccddeeff": [/' "$folder/processes.json"
serve knows "$folder"
join leased --virtual 2 --store "$scratch/leased.store"
says leased "joined with 2 of the run's 12 clients: 3 to 4"
says leased "what clients of other numbers kept: 1, 2; the server does not know any more"
# SIGTERM is how services are told to end, and no failure of theirs.
kill -TERM "$joined"
ends_with 0 "$joined" "a process that is told to end"
find "$scratch/leased.store" -type f -perm /077 | grep . && fail "others may read a store"
kill -TERM "$server"
ends_with 0 "$server" "a server that is told to end"
refused 1 "troupe serve $folder goes on with it" run --resume "$folder"
# For people the address is the first line; and there is room for as many connections as may be.
start plain "$troupe" serve "$folder"
plain=$process
until_is "a server says nothing to people" holds "$scratch/plain.out" ""
[ "$(head -n 1 "$scratch/plain.out")" = "$address" ] || fail "the first line is no address"
read -r soft hard < <(sed -n 's/^Max open files *//p' "/proc/$plain/limits")
[ "$soft" = "${hard%% *}" ] || fail "a server may open $soft files of $hard"
kill -TERM "$plain"
ends_with 0 "$plain" "a server that nobody joined"

# A run in one process that was killed goes on as a served one: its clients are gone with it, its versions are not. For what they
# had offered to a round that was closed and not merged nobody waits, since those who come have forgotten it.
start walled "$troupe" run "$scratch/small.toml" --set clock=wall --set rounds=1000000 --folder "$scratch/walled"
until_is "a run makes no folder" eval '[ -n "$(ls "$scratch/walled" 2>/dev/null)" ]'
folder=$(echo "$scratch"/walled/*)
has_versions "$folder" 6
kill -9 "$process"
wait "$process" 2>/dev/null || true
refused 1 "its clients ended with it, and others begin anew; troupe serve $folder goes on with it" run --resume "$folder"
"$troupe" why "$folder" --format json | grep "troupe serve $folder goes on with it" >/dev/null || fail "why says not how it goes on"
serve again "$folder"
round=$(sed -n '/^ *[0-9]*%  round / {s/.*  round \([0-9]*\)\/.*/\1/p; q}' "$scratch/again.err")
[ "${round:-0}" -ge 2 ] || fail "who goes on with a run begins at round '$round'"
join others --virtual 12
has_versions "$folder" $(($(versions_in "$folder") + 6))
timeout 60 "$troupe" stop "$folder" >"$scratch/out" 2>"$scratch/err" || fail "what was served later is not stopped"
wait "$server" || fail "what is served later fails"
python3 - "$folder" <<'PY' || fail "what was served later does not go on where it was"
import json, sqlite3, sys
told = [json.loads(x) for x in open(sys.argv[1] + "/metrics.jsonl")]
assert [x["at"] for x in told] == sorted(x["at"] for x in told), "time goes back"
ledger = sqlite3.connect(f"file:{sys.argv[1]}/ledger.sqlite?mode=ro", uri=True)
for line, head in ledger.execute("SELECT line, head FROM lines").fetchall():
    found = [x for x, in ledger.execute("SELECT DISTINCT version FROM merges WHERE line = ? ORDER BY 1", (line,))]
    assert found == list(range(1, head + 1)), (line, head, found[-9:])
assert not ledger.execute("SELECT 1 FROM merges GROUP BY line, client, number HAVING count(*) > 1").fetchall()
PY
"$troupe" replay "$folder" >"$scratch/out" 2>"$scratch/err" || fail "what is served later cannot be replayed"

# Who may ends a run in order; its clients hear so, and there is nothing more to end. A process that is
# connected and stands still is not waited for, neither for its scores nor for its last word.
serve long "$scratch/small.toml" --set rounds=1000000
join lasting --virtual 6
lasting=$joined
join frozen --virtual 6
frozen=$joined
folder=$(folder_of)
has_versions "$folder" 1
kill -STOP "$frozen"
timeout 40 "$troupe" stop "$folder" >"$scratch/out" 2>"$scratch/err" ||
  fail "troupe stop fails, or waits for who stands still"
kill -CONT "$frozen"
python3 - "$folder" <<'PY' || fail "scores of who stood still are counted"
import json, sys
last = [x for x in map(json.loads, open(sys.argv[1] + "/metrics.jsonl")) if "clients_asked" in x][-1]
assert (last["clients_asked"], last["clients_scored"]) == (12, 6), last
PY
grep -q "stopped by its operator" "$scratch/out" || fail "troupe stop says not how it ended"
[ -f "$folder/summary.json" ] && [ -f "$folder/report.html" ] || fail "a stopped run has no report"
wait "$server" || fail "a run that was stopped in order fails"
wait "$lasting" || fail "clients of a stopped run fail"
# Who stood still may not have heard it, and would look for the server for ever.
tell TERM "$frozen"
wait "$frozen" || true
grep -q "stopped by its operator" "$scratch/lasting.out" || fail "clients do not hear why it ended"
refused 4 "has ended" stop "$folder"
! grep -q "goes on" "$scratch/err" || fail "what has ended goes on"
! grep -q "waiting for it" "$scratch/err" || fail "it waits for the end of what has ended"
! "$troupe" why "$folder" --format json | grep "goes on" >/dev/null || fail "what has ended goes on"
refused 2 "is not the folder of a run" stop "$scratch"

# A server that ends for now says so, and another run at its address is joined anew.
# It can be looked at from both sides.
pages_of() { sed -n 's|^metrics at http://\(.*\)/metrics$|\1|p' "$scratch/$1.err"; }
page() { python3 -c 'import sys, urllib.request as u
print(u.urlopen("http://" + sys.argv[1] + sys.argv[2], timeout=10).read().decode())' "$1" "$2" >"$scratch/page"; }
page_has() { page "$1" "$2" 2>/dev/null && grep -q -- "$3" "$scratch/page"; }
shows() { until_is "$2 does not show $3" page_has "$@"; } # ADDRESS PAGE TEXT
why_has() { "$troupe" why "$scratch/store" >"$scratch/why" 2>&1 && grep -q -- "$1" "$scratch/why"; }
why_says() { until_is "troupe why STORE does not say $1" why_has "$1"; } # TEXT
# A client keeps what it offered until it hears what became of it.
has_what_was_told() { # FOLDER
  python3 - "$1" "$scratch"/store/run-*/clients.sqlite <<'PY' || fail "clients were told of what is in no version"
import json, sqlite3, sys
def read(path, sql):
    return set(sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute(sql))
folder, store = sys.argv[1:]
events = [json.loads(x) for x in open(folder + "/events.jsonl")]
def visits(*names):
    return {(x["client"], x["visit"]) for x in events if x["event"] in names}
told = visits("offered") - visits("refused", "withdrawn", "visit_failed") - read(store, "SELECT client, number FROM offers")
assert len(told) >= 6, len(told)
for line, in read(folder + "/ledger.sqlite", "SELECT line FROM lines"):
    lacks = told - read(folder + "/ledger.sqlite", f"SELECT client, number FROM merges WHERE line = {line}")
    assert not lacks, (line, sorted(lacks)[:9])
PY
}
serve first "$scratch/small.toml" --set rounds=1000000 --http 127.0.0.1:0
refused 2 "needs --http" join "$address" --insecure --http-hosts trainer
join stays --virtual 12 --store "$scratch/store" --http 127.0.0.1:0
stays=$joined
says stays "joined with"
shows "$(pages_of first)" /metrics '^troupe_connections 1$'
shows "$(pages_of first)" /metrics '^troupe_socket_bytes_total{direction="up",kind="values"} [1-9]'
if command -v promtool >/dev/null; then
  promtool check metrics <"$scratch/page" || fail "promtool does not like what a server says"
fi
pages=$(pages_of stays)
# Each kind is there from the start, on both sides, and together they are what crossed.
kinds_of() { grep -c "^troupe_socket_bytes_total{direction=\"$1\",kind=\"\(values\|small\|said_again\|link\|unheard\)\"} " "$scratch/page"; }
for side in "$(pages_of first)" "$pages"; do
  shows "$side" /metrics '^troupe_socket_bytes_total'
  [ "$(kinds_of up) $(kinds_of down)" = "5 5" ] || { cat "$scratch/page"; fail "not all kinds of bytes are said"; }
done
# What somebody works in is nobody else's.
refused 1 "works in this folder" join "$address" --insecure --virtual 12 --store "$scratch/store"
refused 1 "works in this folder" serve "$(folder_of)" --insecure
shows "$pages" /metrics '^troupe_connected 1$'
shows "$pages" /metrics '^troupe_visits_total [1-9]'
if command -v promtool >/dev/null; then
  promtool check metrics <"$scratch/page" || fail "promtool does not like what a process says"
fi
! grep -q "client=" "$scratch/page" || fail "a client is a label"
shows "$pages" /readyz ok
why_says "under way\|waits\? here for an invitation\|on its way"
"$troupe" why "$scratch/store" --format json | grep "\"http\": \"$pages\"" >/dev/null || fail "why STORE says not where"
folder=$(folder_of)
has_versions "$folder" 6
kill -TERM "$server"
ends_with 0 "$server" "a server that is told to end while clients learn"
has_what_was_told "$folder"
why_says "the server said that it will be back"
shows "$pages" /metrics '^troupe_connected 0$'
says stays "the server ends for now"
"$troupe" replay "$(folder_of)" >"$scratch/out" 2>"$scratch/err" &&
  grep -q "$equal_digests, of a run that was interrupted" "$scratch/out" ||
  { cat "$scratch/out" "$scratch/err"; fail "an interrupted run is not computed again"; }
serve goes_on "$folder"
has_versions "$folder" $(($(versions_in "$folder") + 6))
kill -INT "$server"
ends_with 130 "$server" "a server that is interrupted while clients learn"
has_what_was_told "$folder"
before=$address
serve second "$scratch/small.toml" --set seed=7 --listen "$before"
wait "$server" || fail "the second run fails"
wait "$stays" || fail "who changes runs fails"
grep -q "the connection is lost" "$scratch/stays.err" && grep -q "the connection is back after" "$scratch/stays.err" ||
  fail "a process says not that its connection was lost and is back"
why_says "this process has ended"
grep -q "another run is served there now" "$scratch/stays.err" || fail "another run is not noticed"
"$troupe" run "$scratch/small.toml" --set seed=7 --folder "$scratch/runs" --format json >"$scratch/wanted.out" 2>"$scratch/wanted.err"
[ "$(digest_in "$scratch/second.out")" = "$(digest_in "$scratch/wanted.out")" ] ||
  fail "who changed runs brought something of the first"
# What is kept of another run is set aside, and a line says so: of who lived through it, and of who is started with that store.
aside() { grep -c "another run, which are set aside there\|2 other runs, which are set aside there" "$scratch/$1.err" || true; }
[ "$(aside stays)" = 1 ] || fail "who changes runs says not once that the first is set aside"
serve third "$scratch/small.toml" --set seed=8 --set rounds=1000000
for name in later again; do
  join $name --virtual 12 --store "$scratch/store"
  says $name "joined with"
  tell TERM "$joined"
  ends_with 0 "$joined" "a process that is told to end"
done
[ "$(aside later) $(aside again)" = "1 0" ] || fail "who is started with the store of other runs says not once that they are set aside"
