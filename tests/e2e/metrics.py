#!/usr/bin/env python3
"""Live processes of each kind against the table of docs/metrics.md: metrics.py EXECUTABLE

A run of one process, a server and a process that joins it, with a method whose clients mix experts; and a run whose clients ask
for experts, which has what they ask for.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
HOMES = {"all": {"run", "serve", "join"}}
RUN = """
name = "watched"
method = "floral"
clock = "wall"
rounds = 1000000
evaluate_every = 20
workers = 1
events = false
folder = "{folder}"
[data]
kind = "synthetic"
dimension = 20
[clients]
clients = 12
clients_per_round = 6
[model]
kind = "softmax"
[training]
local_epochs = 1
batch_size = 10
learning_rate = 0.05
"""
# As RUN, but that clients ask a gate for two of three experts.
ASKED = RUN.replace('"floral"', '"ddome"').replace('"watched"', '"asked"') + """
[options]
experts = 3
chosen = 2
anchors = 0
"""


def table():
    """{name: (type, {label: values}, homes, help)} of the page."""
    out = {}
    for line in PAGE.read_text().splitlines():
        cells = [x.strip() for x in line.split("|")[1:-1]]
        if len(cells) != 6 or not cells[0].startswith("`"):
            continue
        labels = {}
        for label in filter(None, cells[3].split(";")):
            words = re.findall(r"`([^`]*)`", label)
            labels[words[0]] = words[1:]
        homes = HOMES.get(cells[4]) or set(cells[4].split(", "))
        out[cells[0].strip("`")] = cells[1], labels, homes, cells[5]
    return out


def read(text):
    """{family: (type, help, [labels of each sample])}"""
    types, helps, samples = {}, {}, {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name, says = line[7:].split(" ", 1)
            assert name not in helps, f"{name} begins twice"
            helps[name] = says
        elif line.startswith("# TYPE "):
            name, types[name] = line[7:].split(" ")
        else:
            name, labels = re.match(r"([a-z_]+)(?:\{(.*)\})? \S+$", line).groups()
            if name not in types:
                name = re.sub(r"_(bucket|sum|count)$", "", name)
            found = dict(re.findall(r'(\w+)="([^"]*)"', labels or ""))
            found.pop("le", None)
            samples.setdefault(name, []).append(found)
    assert helps.keys() == types.keys()
    return {x: (types[x], helps[x], samples.get(x, [])) for x in types}


def compare(kind, text, wanted):
    found = read(text)
    expected = {name for name, x in wanted.items() if kind in x[2]}
    assert found.keys() == expected, f"{kind}: {sorted(found.keys() ^ expected)}"
    for name, (what, says, samples) in found.items():
        wanted_type, labels, _, wanted_help = wanted[name]
        assert (what, says) == (wanted_type, wanted_help), f"{kind}: {name} is {what}: {says}"
        for sample in samples:
            for label, value in sample.items():
                assert label in labels, f"{kind}: {name} has {label}"
                assert not labels[label] or value in labels[label], f"{kind}: {name} has {label}={value}"
    check = shutil.which("promtool")
    if check is None:
        return  # `main` says so.
    done = subprocess.run([check, "check", "metrics"], input=text, text=True, capture_output=True)
    assert done.returncode == 0, f"{kind}: promtool says {done.stdout}{done.stderr}"


def value(text, start):
    """The sum of all samples that begin so."""
    return sum(float(x.rsplit(" ", 1)[1]) for x in text.splitlines() if x.startswith(start))


class Process:
    def __init__(self, folder, name, *words):
        self.log = folder / f"{name}.err"
        with open(self.log, "wb") as err, open(folder / f"{name}.out", "wb") as out:
            self.process = subprocess.Popen([*words, "--http", "127.0.0.1:0"], stdout=out, stderr=err)

    def said(self, pattern):
        for _ in range(600):
            found = re.search(pattern, self.log.read_text(), re.MULTILINE)
            if found:
                return found[1]
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.1)
        raise AssertionError(f"{self.log} does not say {pattern}:\n{self.log.read_text()}")

    def metrics(self):
        with urllib.request.urlopen(self.said(r"^metrics at (http://\S+/metrics)$"), timeout=10) as page:
            return page.read().decode()

    def until(self, *wanted):
        """Its metrics when all that is wanted is above zero."""
        for _ in range(600):
            text = self.metrics()
            lacking = [x for x in wanted if value(text, x) <= 0]
            if not lacking:
                return text
            time.sleep(0.2)
        raise AssertionError(f"{self.log}: still zero: {lacking}")

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


COUNTED = ("troupe_versions_total", "troupe_expert_rows_total", "troupe_router_entropy_ratio_count",
           "troupe_experts_active", 'troupe_method_result{result="router_entropy"}',
           'troupe_visit_phase_seconds_count{phase="merge"}',
           'troupe_visit_phase_seconds_count{phase="buffer"}', 'troupe_storage_seconds_count{task="commit"}',
           "troupe_visit_round_trip_seconds_count", 'troupe_http_request_seconds_count{page="metrics"}',
           "process_start_time_seconds", "process_open_fds", "troupe_disk_size_bytes")
CROSSED = ('troupe_visit_phase_seconds_count{phase="download"}', 'troupe_visit_phase_seconds_count{phase="upload"}',
           "troupe_handshakes_total", 'troupe_socket_bytes_total{direction="up",kind="values"}')
REQUESTS = ("troupe_expert_first_places_total", "troupe_expert_requests_total")
TRAINED = ('troupe_visit_phase_seconds_count{phase="train"}', "process_cpu_seconds_total")


def has_requests(text):
    """The families that only a run with requests has samples of have one of each expert."""
    found = {name: samples for name, (_, _, samples) in read(text).items()}
    experts = [{"line": f"model.{i}"} for i in range(3)]
    for name in REQUESTS:
        assert found[name] == experts, f"{name} is of {found[name]}"
    assert found["troupe_routing_alarm"] == [{**x, "what": y} for x in experts for y in ("crowded", "deserted")], found["troupe_routing_alarm"]


def main():
    troupe = str(pathlib.Path(sys.argv[1]).resolve())
    wanted = table()
    assert len(wanted) > 50, f"{PAGE} has {len(wanted)} metrics"
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        config = folder / "run.toml"
        config.write_text(RUN.format(folder=folder / "runs"))
        asking = folder / "asked.toml"
        asking.write_text(ASKED.format(folder=folder / "runs"))
        all_of_it = []
        try:
            run = Process(folder, "run", troupe, "run", str(config))
            all_of_it.append(run)
            compare("run", run.until(*COUNTED, *TRAINED), wanted)
            run.end()
            asked = Process(folder, "asked", troupe, "run", str(asking))
            all_of_it.append(asked)
            text = asked.until(*REQUESTS)
            compare("run", text, wanted)
            has_requests(text)
            asked.end()
            serve = Process(folder, "serve", troupe, "serve", str(config), "--insecure", "--listen", "tcp://127.0.0.1:0",
                            "--format", "json")
            all_of_it.append(serve)
            address = serve.said(r"^(tcp://\S+)")
            join = Process(folder, "join", troupe, "join", address, "--insecure", "--virtual", "12",
                           "--store", str(folder / "clients"))
            all_of_it.append(join)
            compare("serve", serve.until(*COUNTED, *CROSSED, 'troupe_leases{kind="number"}'), wanted)
            compare("join", join.until(*TRAINED, *CROSSED, "troupe_connected", "troupe_store_bytes",
                                       'troupe_method_result{result="router_entropy"}',
                                       'troupe_storage_seconds_count{task="client"}'), wanted)
        finally:
            for x in all_of_it:
                x.end()
    print(f"{len(wanted)} metrics are as {PAGE.name} has them")
    if not shutil.which("promtool"):
        print("skipped: promtool check metrics; there is no promtool (./dev setup --watching)")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
