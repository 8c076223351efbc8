#!/usr/bin/env bash
# A run that is watched: its pages over plain sockets, what Prometheus's own checker says of
# /metrics, `troupe why` beside it, and Ctrl-C. Argument: the executable.
set -euo pipefail
. "$(dirname "$0")/common.sh"

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

page_has() { page "$1" && grep -qF -- "$2" "$scratch/page"; }

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
start run "$troupe" run "$scratch/run.toml" --http 127.0.0.1:0 --http-hosts trainer,Trainer.example
run=$process
says run "^metrics at http://.*/metrics$"
address=$(sed -n 's|^metrics at http://\(.*\)/metrics$|\1|p' "$scratch/run.err")

until_is "is ready" page_has /readyz "200 OK"
page_has /healthz "200 OK" || fail "is not well"
until_is "makes versions" eval 'page_has /metrics "troupe_versions_total{line=\"model\"}" &&
  ! grep -q "^troupe_versions_total.* 0$" "$scratch/page"'
until_is "counts how long offers waited" eval 'page_has /metrics "visit_seconds_count{phase=\"buffer\"}" &&
  ! grep -q "phase=\"buffer\"} 0$" "$scratch/page"'
until_is "is evaluated" page_has /metrics 'troupe_evaluation_metric{metric="loss",split="test"'
if command -v promtool >/dev/null; then
  tail -n +2 "$scratch/page" | promtool check metrics || fail "promtool does not like it"
else
  echo "without promtool check metrics: there is no promtool (apt-get install prometheus)"
fi
page_has /why "waiting" || page_has /why "under way" || fail "does not say why"
page_has "/why?format=json" '"code"' || fail "does not say why in JSON"
page_has /nothing "404" && page_has / "there are /healthz, /metrics, /readyz, /why" || fail "knows a page that is none"
for host in localhost trainer:9464 trainer.example; do
  page /healthz $host && grep -q "200 OK" "$scratch/page" || fail "does not answer to $host"
done
page /healthz evil.example && grep -q "^HTTP/1.1 421" "$scratch/page" || fail "answers to any host"
page /healthz localhost POST && grep -q "^HTTP/1.1 405" "$scratch/page" || fail "answers a POST"

folder=$(echo "$scratch"/runs/*)
"$troupe" why "$folder" --format json >"$scratch/page"
python3 -c 'import json, sys; x = json.load(open(sys.argv[1])); assert x["success"] and not x["over"] \
  and x["http"] == sys.argv[2], x' "$scratch/page" "$address"

refused 3 "somebody else may have the port" run "$scratch/run.toml" --http "$address"
refused 3 "127.0.0.1:9464 would do" run "$scratch/run.toml" --http zebra
refused 2 "needs --http" run "$scratch/run.toml" --http-hosts trainer
refused 3 "is no name of a host" run "$scratch/run.toml" --http 127.0.0.1:0 --http-hosts "a b"

# A connection that says a byte now and then holds nothing up.
cat >"$scratch/slow.py" <<'PY'
import socket, sys, time
with socket.create_connection(tuple(sys.argv[1].rsplit(":", 1)), timeout=60) as s:
    s.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
    print("connected", flush=True)
    for _ in range(1000):
        s.sendall(b"x")
        time.sleep(0.1)
PY
start slow python3 "$scratch/slow.py" "$address"
slow=$process
until_is "nobody is slow" holds "$scratch/slow.out" connected
began=$SECONDS
kill -INT "$run"
ends_with 130 "$run" "a run after Ctrl-C"
tell TERM "$slow"
[ $((SECONDS - began)) -lt 60 ] || fail "a slow connection holds up the end"
grep -q "Interrupted:" "$folder/report.html" || fail "leaves no page after Ctrl-C"
"$troupe" why "$folder" | grep "the run is over: interrupted" >/dev/null || fail "does not say that it is over"
echo "ok"
