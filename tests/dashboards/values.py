"""What some expressions of dashboards are, by series that one checks by hand: promtool computes them."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import promql

ALL = {"job": ".+", "instance": ".+", "line": ".+", "__rate_interval": "40s", "__range": "30m"}
MINUTES = {**ALL, "__rate_interval": "5m"}
S = 'job="j", instance="s"'
# A process that is away for two minutes, and one whose actors are made anew.
RESTARTED = {f"process_start_time_seconds{{{S}}}": "0x30 stale _x11 430x60", 'process_start_time_seconds{job="j", instance="c"}': "0x105",
             'troupe_restarts_total{job="j", instance="c"}': "0x30 1x75"}
# Of a thousand experts the first has three tenths, the last a sixth of an even share; two of another run have a half each.
MANY = {f'troupe_lines{{{S}, family="adapter"}}': "1000x60", f'troupe_experts_active{{{S}, family="adapter"}}': "1000x60",
        f'troupe_expert_visits_total{{{S}, line="adapter/*"}}': "0+1000x60", f'troupe_expert_visits_total{{{S}, line="adapter.0"}}': "0+300x60",
        f'troupe_expert_visits_total{{{S}, line="adapter.999"}}': "0+0.16x60"}
FEW = {f'troupe_expert_visits_total{{{S}, line="adapter.{i}"}}': f"0+{n}x60" for i, n in enumerate((10, 20, 70))}
# All lines are two versions behind on the mean, the one that has a name eight.
BEHIND = {f'troupe_offer_staleness_versions_sum{{{S}, line="adapter/*"}}': "0+200x60", f'troupe_offer_staleness_versions_count{{{S}, line="adapter/*"}}': "0+100x60",
          f'troupe_offer_staleness_versions_sum{{{S}, line="adapter.0"}}': "0+80x60", f'troupe_offer_staleness_versions_count{{{S}, line="adapter.0"}}': "0+10x60"}
FAILS = {f'troupe_line_failing{{{S}, line="adapter/*"}}': "1x60", f'troupe_line_failing{{{S}, line="adapter.0"}}': "1x60",
         f'troupe_line_failing{{{S}, line="model/*"}}': "0x60", f'troupe_line_failing{{{S}, line="model"}}': "0x60"}
# What each phase of a visit takes, at the server and at who trains: 2 s of training, 0.5 s of download.
PHASES = {f'troupe_visit_phase_seconds_{x}{{{y}, phase="{phase}"}}': f"0+{n}x60"
          for y in (S, 'job="j", instance="c"') for phase, total, count in (("train", 40, 20), ("download", 10, 20))
          for x, n in (("sum", total), ("count", count))}
PHASES[f"troupe_run_info{{{S}}}"] = "1x60"
# Perplexities, and of the same evaluation what is none.
SCORES = {f'troupe_evaluation_metric{{{S}, metric="{x}", split="{y}", scope="{z}"}}': f"{n}x60" for x, y, z, n in (
    ("perplexity", "test", "global", 16), ("perplexity", "own_test", "mean", 34), ("perplexity", "own_test", "worst", 64),
    ("loss", "test", "global", 2.5), ("accuracy", "own_test", "mean", 0.5))}
# Over 200 lines those whose clients ask: of all that ask for somebody a family has six a second, the two that have names one and three.
ASKED = {f'troupe_expert_{x}_total{{{S}, line="{y}"}}': f"0+{n}x60" for x in ("first_places", "requests")
         for y, n in (("model/*", 360), ("model.0", 60), ("model.7", 180))}
OTHER = 'job="j", instance="o"'
# Two runs: one goes on, one stands still since 100 s and has more to do.
RUNS = {f"troupe_run_info{{{S}}}": "1x60", f"troupe_run_info{{{OTHER}}}": "1x60",
        f"troupe_last_progress_timestamp_seconds{{{S}}}": "0+10x60", f"troupe_last_progress_timestamp_seconds{{{OTHER}}}": "100x60",
        f"troupe_progress_ratio{{{S}}}": "0.75x60", f"troupe_progress_ratio{{{OTHER}}}": "0.25x60"}
# What is full is so alone.
QUEUES = {kind: {f"troupe_{x}{{{S}}}": f"{200 if x == kind else 20}x60" for x in ("unsent_bytes", "unhandled_bytes", "unhandled_frames")} |
          {f"troupe_{x}_limit{{{S}}}": "200x60" for x in ("unsent_bytes", "unhandled_bytes", "unhandled_frames")}
          for kind in ("unsent_bytes", "unhandled_bytes", "unhandled_frames")}
DISKS = {f"troupe_disk_free_bytes{{{S}}}": "50x60", f"troupe_disk_size_bytes{{{S}}}": "100x60", f"troupe_storage_failing{{{S}}}": "1x60",
         f"troupe_disk_free_bytes{{{OTHER}}}": "20x60", f"troupe_disk_size_bytes{{{OTHER}}}": "200x60", f"troupe_storage_failing{{{OTHER}}}": "0x60"}
STATES = {f'troupe_clients{{{S}, state="{x}"}}': f"{n}x60" for x, n in (("at_work", 3), ("free", 1), ("waiting", 4), ("lost", 2), ("away", 6))}
# Of ten offers a second nine are on the head, and one is four versions behind at most.
LATE = {f'troupe_offer_staleness_versions_bucket{{{S}, line="model", le="{x}"}}': f"0+{n}x60" for x, n in (("0", 540), ("2", 540), ("4", 600), ("+Inf", 600))}
TASKS = {f"troupe_worker_task_seconds{{{S}}}": "2x60", f"troupe_worker_task_seconds{{{OTHER}}}": "30x60",
         f"process_start_time_seconds{{{S}}}": "0x60", f"process_start_time_seconds{{{OTHER}}}": "240x60"}
JOINED, THIRD = 'job="j", instance="c"', 'job="j", instance="t"'
# Of 100 offers in each ten seconds 80 are accepted or duplicates, 15 too stale and 5 no offers at all.
OFFERS = {f'troupe_offers_total{{{S}, verdict="{x}"}}': f"0+{n}x60" for x, n in (("accepted", 50), ("duplicate", 30), ("too_stale", 15), ("malformed", 5))}
READY = {f"troupe_node_ready{{{x}}}": f"{n}x60" for x, n in ((S, 0), (OTHER, 1), (THIRD, 0), (JOINED, 0))}
# One is half full and one nine tenths; the third has no bound.
BUFFERS = {f'troupe_buffered_offers{x}{{{S}, line="{y}"}}': f"{n}x60"
           for y, has, limit in (("a", 2, 4), ("b", 9, 10), ("c", 3, 0)) for x, n in (("", has), ("_limit", limit))}
TAKEN = {f"troupe_offer_bytes{x}{{{y}}}": f"{n}x60"
         for y, has, limit in ((S, 50, 100), (OTHER, 160, 200), (THIRD, 7, 0)) for x, n in (("", has), ("_limit", limit))}
# What is trained is said by the server and by who trains, what failed by the server.
TRAINED = {f"troupe_visits_failed_total{{{S}}}": "0+5x60", f"troupe_run_info{{{S}}}": "1x60",
           f"troupe_visits_total{{{S}}}": "0+95x60", f"troupe_visits_total{{{JOINED}}}": "0+95x60"}
# So is what crosses; who joined may know of fewer that were said again.
CROSSED = {f'troupe_socket_bytes_total{{{x}, direction="{y}", kind="{kind}"}}': f"0+{n if x == S else 100}x60" for x in (S, JOINED)
           for y, kind, n in (("up", "values", 500), ("down", "values", 300), ("up", "said_again", 60), ("down", "said_again", 40), ("up", "small", 100))}
CROSSED[f"troupe_run_info{{{S}}}"] = "1x60"
FIRING = {f'ALERTS{{alertname="{x}", alertstate="{y}", {z}}}': "1x60" for x, y, z in (
    ("TroupeNoProgress", "firing", S), ("TroupeLineFails", "pending", S), ("TroupeTargetDown", "firing", OTHER), ("TroupeNobodyAsked", "firing", 'severity="critical"'),
    ("OfOthers", "firing", S))}
# Two snapshots of half a minute took 3 s, and one more was not kept; another process has none.
SNAPSHOTS = {f"troupe_checkpoint_seconds_sum{{{S}}}": "0 3x59", f"troupe_checkpoint_seconds_count{{{S}}}": "0 2x59", f"troupe_checkpoints_failed_total{{{S}}}": "0 1x59",
             **{f"troupe_{x}{{{OTHER}}}": "0x60" for x in ("checkpoint_seconds_sum", "checkpoint_seconds_count", "checkpoints_failed_total")}}
# (dashboard, what it shows, values of variables, series, seconds between their values, when, [what comes out]).
VALUES = [
    ("overview", "annotation 'Restarts'", ALL, RESTARTED, 10, "290s", []),
    ("overview", "annotation 'Restarts'", ALL, RESTARTED, 10, "320s", [1]),
    ("overview", "annotation 'Restarts'", ALL, RESTARTED, 10, "400s", []),
    ("overview", "annotation 'Restarts'", ALL, RESTARTED, 10, "440s", [430]),
    ("overview", "annotation 'Restarts'", ALL, RESTARTED, 10, "520s", []),
    ("experts", "'Largest share of the load' A", MINUTES, MANY, 60, "30m", [0.3]),
    ("experts", "'Smallest, of an even share' A", MINUTES, MANY, 60, "30m", [0.16]),
    ("experts", "'Share of load' A", MINUTES, MANY, 60, "30m", [0.00016, 0.3]),
    ("experts", "'Largest share of the load' A", MINUTES, FEW, 60, "30m", [0.7]),
    ("experts", "'Largest share of the load' A", {**MINUTES, "line": ["adapter.0"]}, FEW, 60, "30m", [0.1]),
    ("experts", "'Smallest, of an even share' A", MINUTES, FEW, 60, "30m", [0.3]),
    ("asynchronous", "'Staleness in versions' A", MINUTES, BEHIND, 60, "30m", [2]),
    ("asynchronous", "'Staleness in versions' A", {**MINUTES, "line": ["adapter.0"]}, BEHIND, 60, "30m", [8]),
    ("asynchronous", "'Failing lines' A", MINUTES, FAILS, 60, "30m", [1]),
    ("overview", "'Perplexity' A", MINUTES, SCORES, 60, "30m", [16, 34, 64]),
    ("overview", "'Evaluation' A", MINUTES, SCORES, 60, "30m", [0.5, 2.5]),
    ("experts", "'First places by expert' A", MINUTES, ASKED, 60, "30m", [1, 3]),
    ("experts", "'Requests by expert' A", {**MINUTES, "line": ["model.7"]}, ASKED, 60, "30m", [3]),
    ("workers", "'Mean time of each phase' A", MINUTES, PHASES, 60, "30m", [2]),
    ("workers", "'Mean time of each phase' B", MINUTES, PHASES, 60, "30m", [0.5]),
    ("overview", "'Last progress' A", ALL, RUNS, 10, "300s", [200]),
    ("overview", "'Last progress' A", {**ALL, "instance": ["s"]}, RUNS, 10, "300s", [0]),
    ("overview", "'Progress' A", ALL, RUNS, 10, "300s", [0.25]),
    *(("transport", "'Fullest queue' A", ALL, x, 10, "300s", [1]) for x in QUEUES.values()),
    ("transport", "'Free disk' A", ALL, DISKS, 10, "300s", [0.1]),
    ("transport", "'Stores that wait' A", ALL, DISKS, 10, "300s", [1]),
    ("clients", "'Here' A", ALL, STATES, 10, "300s", [8]),
    ("clients", "'At work' A", ALL, STATES, 10, "300s", [0.375]),
    ("clients", "'Lost' A", ALL, STATES, 10, "300s", [0.125]),
    ("clients", "'Away' A", ALL, STATES, 10, "300s", [0.375]),
    ("asynchronous", "'Staleness in versions, p99' A", MINUTES, LATE, 60, "30m", [3.8]),
    ("workers", "'Longest task' A", ALL, TASKS, 10, "300s", [30]),
    ("workers", "'Youngest process' A", ALL, TASKS, 10, "300s", [60]),
    ("overview", "'Refused offers' A", ALL, OFFERS, 10, "300s", [0.2]),
    ("overview", "'Refused offers' A", ALL, {}, 10, "300s", [0]),
    ("overview", "'Not ready' A", {**ALL, "instance": ["s", "o", "t"]}, READY, 10, "300s", [2]),
    ("overview", "'Alerts' A", ALL, FIRING, 10, "300s", [3]),
    ("overview", "'Alerts' A", {**ALL, "instance": ["s"]}, FIRING, 10, "300s", [2]),
    ("asynchronous", "'Refused as too stale' A", ALL, OFFERS, 10, "300s", [0.15]),
    ("asynchronous", "'Fullest buffer' A", ALL, BUFFERS, 10, "300s", [0.9]),
    ("asynchronous", "'Fullest buffer' A", {**ALL, "line": ["a"]}, BUFFERS, 10, "300s", [0.5]),
    ("asynchronous", "'Memory of offers taken' A", ALL, TAKEN, 10, "300s", [0.8]),
    ("clients", "'Failed visits' A", ALL, TRAINED, 10, "300s", [0.05]),
    ("transport", "'Said again' A", ALL, CROSSED, 10, "300s", [0.1]),
    ("transport", "'Storage' B", ALL, SNAPSHOTS, 10, "30s", [1.5]),
    ("transport", "'Storage' B", ALL, SNAPSHOTS, 10, "300s", []),
    ("transport", "'Snapshots that were not kept' A", ALL, SNAPSHOTS, 10, "30s", [0, 1]),
]


def findings(pages):
    """Of {name: dashboard}. Several are asked at once; what comes out is rounded, sorted and compared as one text."""
    asked, tests = [dict(promql.expressions(page)) for page in pages.values()], []
    of = dict(zip(pages, asked))
    for name, where in sorted({(x, y) for x in of for y in of[x] if of[x][y].endswith("or vector(0)")} - {x[:2] for x in VALUES}):
        yield f"{name}: {where} is 0 where it finds nothing, and values.py knows no value of it [values]"
    for name, where, values, series, apart, at, wanted in VALUES:
        if where not in of.get(name, {}):
            yield f"{name} has no {where}, of which values.py knows a value [values]"
            continue
        # Without labels, and with a number each, so that all of them are looked at.
        text = f"count_values(\"is\", round(1000000 * ({promql.filled(of[name][where], values)})))"
        samples = [{"labels": f'{{is="{round(1000000 * x)}"}}', "value": 1} for x in wanted]
        tests.append({"name": f"{name}: {where} at {at}", "interval": f"{apart}s",
                      "input_series": [{"series": x, "values": y} for x, y in series.items()],
                      "promql_expr_test": [{"expr": text, "eval_time": at, "exp_samples": samples}]})
    if not shutil.which("promtool"):
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "values.yaml"
        path.write_text(json.dumps({"rule_files": [], "evaluation_interval": "10s", "tests": tests}), encoding="utf-8")
        done = subprocess.run(["promtool", "test", "rules", path], capture_output=True, text=True)
    said = done.stdout + done.stderr
    for expression, when, wanted, got in re.findall(r'expr: "(.*)", time: (\w+),\s+exp: *(.*)\s+got: *(.*)', said):
        text = json.loads(f'"{expression}"')
        names = [x["name"] for x in tests if x["promql_expr_test"][0]["expr"] == text]
        yield f"{' or '.join(names) or text}: {got} after {when}, and not {wanted} [values]"
    if done.returncode and "exp:" not in said:
        yield f"{said.strip()} [values]"
