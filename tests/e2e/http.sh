#!/usr/bin/env bash
# A run that is watched: its pages over plain sockets, what Prometheus's own checker says of
# /metrics, `troupe why` beside it, and Ctrl-C. Argument: the executable.
set -euo pipefail
troupe=$1
scratch=$(mktemp -d)
run=""
trap '[ -z "$run" ] || kill -9 "$run" 2>/dev/null || true; rm -rf "$scratch"' EXIT

fail() { echo "$1"; cat "$scratch"/err* "$scratch/page" 2>/dev/null; exit 1; }

until_is() { # WHAT COMMAND…: tries for 60 s
  for _ in $(seq 300); do
    "${@:2}" && return
    sleep 0.2
  done
  fail "$1"
}

page() { # PATH [HOST [METHOD]]: status line and body into $scratch/page
  python3 - "$address" "$1" "${2:-$address}" "${3:-GET}" >"$scratch/page" <<'PY'
import socket, sys
place, path, host, method = sys.argv[1:]
with socket.create_connection(tuple(place.rsplit(":", 1)), timeout=10) as s:
    s.sendall(f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    data = b"".join(iter(lambda: s.recv(65536), b""))
head, body = data.decode().split("\r\n\r\n", 1)
print(head.split("\r\n")[0] + "\n" + body, end="")
PY
}

holds() { page "$1" && grep -qF -- "$2" "$scratch/page"; }

# A run that does not end by itself: visits are short, and there are many.
cat >"$scratch/run.toml" <<TOML
name = "watched"
method = "fedavg"
clock = "wall"
rounds = 1000000000
evaluate_every = 100
workers = 1
ledger = "memory"
events = false
folder = "$scratch/runs"
[data]
kind = "quadratic"
[model]
kind = "quadratic"
[clients]
clients = 12
clients_per_round = 4
[pace]
mode = "sync"
[training]
local_steps = 5
batch_size = 0
learning_rate = 0.1
TOML
"$troupe" run "$scratch/run.toml" --http 127.0.0.1:0 --http-hosts trainer,Trainer.example >"$scratch/out" 2>"$scratch/err" &
run=$!
until_is "says where it listens" grep -q "^metrics at http" "$scratch/err"
address=$(sed -n 's|^metrics at http://\(.*\)/metrics$|\1|p' "$scratch/err")

until_is "is ready" holds /readyz "200 OK"
holds /healthz "200 OK" || fail "is not well"
until_is "makes versions" eval 'holds /metrics "troupe_versions_total{line=\"model\"}" &&
  ! grep -q "^troupe_versions_total.* 0$" "$scratch/page"'
until_is "counts how long offers waited" eval 'holds /metrics "visit_seconds_count{phase=\"buffer\"}" &&
  ! grep -q "phase=\"buffer\"} 0$" "$scratch/page"'
until_is "is evaluated" holds /metrics 'troupe_evaluation_metric{metric="loss",split="test"'
if command -v promtool >/dev/null; then
  tail -n +2 "$scratch/page" | promtool check metrics || fail "promtool does not like it"
else
  echo "without promtool check metrics: there is no promtool (apt-get install prometheus)"
fi
holds /why "waiting" || holds /why "under way" || fail "does not say why"
holds "/why?format=json" '"code"' || fail "does not say why in JSON"
holds /nothing "404" && holds / "there are /healthz, /metrics, /readyz, /why" || fail "knows a page that is none"
for host in localhost trainer:9464 trainer.example; do
  page /healthz $host && grep -q "200 OK" "$scratch/page" || fail "does not answer to $host"
done
page /healthz evil.example && grep -q "^HTTP/1.1 421" "$scratch/page" || fail "answers to any host"
page /healthz localhost POST && grep -q "^HTTP/1.1 405" "$scratch/page" || fail "answers a POST"

folder=$(echo "$scratch"/runs/*)
"$troupe" why "$folder" --format json >"$scratch/page"
python3 -c 'import json, sys; x = json.load(open(sys.argv[1])); assert x["success"] and not x["over"] \
  and x["http"] == sys.argv[2], x' "$scratch/page" "$address"

code=0
"$troupe" run "$scratch/run.toml" --http "$address" >"$scratch/out2" 2>"$scratch/err2" || code=$?
[ "$code" = 3 ] && grep -q "somebody else may have the port" "$scratch/err2" || fail "takes a port twice"
code=0
"$troupe" run "$scratch/run.toml" --http zebra >"$scratch/out2" 2>"$scratch/err2" || code=$?
[ "$code" = 3 ] && grep -q "127.0.0.1:9464 would do" "$scratch/err2" || fail "takes any address"

code=0
"$troupe" run "$scratch/run.toml" --http-hosts trainer >"$scratch/out2" 2>"$scratch/err2" || code=$?
[ "$code" = 2 ] && grep -q "needs --http" "$scratch/err2" || fail "takes hosts of no port"
code=0
"$troupe" run "$scratch/run.toml" --http 127.0.0.1:0 --http-hosts "a b" >"$scratch/out2" 2>"$scratch/err2" || code=$?
[ "$code" = 3 ] && grep -q "is no name of a host" "$scratch/err2" || fail "takes any name of a host"

# A connection that says a byte now and then holds nothing up.
python3 - "$address" 2>/dev/null <<'PY' &
import socket, sys, time
with socket.create_connection(tuple(sys.argv[1].rsplit(":", 1)), timeout=10) as s:
    s.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
    for _ in range(100):
        s.sendall(b"x")
        time.sleep(0.1)
PY
slow=$!
sleep 0.5
began=$(date +%s%N)
kill -INT "$run"
code=0
wait "$run" || code=$?
run=""
kill $slow 2>/dev/null || true
[ $(($(date +%s%N) - began)) -lt 8000000000 ] || fail "a slow connection holds up the end"
[ "$code" = 130 ] || fail "ends with $code after Ctrl-C"
grep -q "Interrupted:" "$folder/report.html" || fail "leaves no page after Ctrl-C"
"$troupe" why "$folder" | grep -q "the run is over: interrupted" || fail "does not say that it is over"
echo "ok"
