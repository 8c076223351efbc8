"""Moves each time and each bound of dashboards/alerts.yaml a little, one at a time: promtool's tests are to see it. alerts_moved.py [ROOT [NAME…]].
Minutes with all of them, so it is one of .ci/long."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import alerts
import promql

# (alert, what is moved, to what): each bound both ways, and each window.
MOVED = [
    ("TroupeNoProgress", "> 600", "> 540"), ("TroupeNoProgress", "> 600", "> 660"),
    ("TroupeQueueAtBound", "ratio > 0.9", "ratio > 0.88"), ("TroupeQueueAtBound", "ratio > 0.9", "ratio > 0.92"),
    ("TroupeStalenessRising", "mean10m > 4", "mean10m > 3.8"), ("TroupeStalenessRising", "mean10m > 4", "mean10m > 4.3"),
    ("TroupeStalenessRising", "> 2 *", "> 1.9 *"), ("TroupeStalenessRising", "> 2 *", "> 2.2 *"),
    ("TroupeStalenessRising", "offset 30m)\n", "offset 29m)\n"), ("TroupeStalenessRising", "offset 30m)\n", "offset 31m)\n"),
    ("TroupeStalenessRising", "[10m]", "[8m]"), ("TroupeStalenessRising", "[10m]", "[12m]"),
    ("TroupeClientsLost", "> 0.1 * sum by (job, instance) (troupe_clients)\n            or", "> 0.09 * sum by (job, instance) (troupe_clients)\n            or"),
    ("TroupeClientsLost", "> 0.1 * sum by (job, instance) (troupe_clients)\n            or", "> 0.13 * sum by (job, instance) (troupe_clients)\n            or"),
    ("TroupeClientsLost", "> 0.1 * sum by (job, instance) (troupe_clients)\n        for", "> 0.09 * sum by (job, instance) (troupe_clients)\n        for"),
    ("TroupeClientsLost", "> 0.1 * sum by (job, instance) (troupe_clients)\n        for", "> 0.13 * sum by (job, instance) (troupe_clients)\n        for"),
    ("TroupeClientsLost", '"lost"}[10m]', '"lost"}[9m]'), ("TroupeClientsLost", '"lost"}[10m]', '"lost"}[11m]'),
    ("TroupeLineFails", "unless on (job, instance, family)", "unless on (job, instance)"),
    ("TroupeLineFails", "unless on (job, instance, family)", "or"), ("TroupeLineFails", "([.][0-9]+)?", ""),
    ("TroupeExpertStarved", "count < 0.05", "count < 0.045"), ("TroupeExpertStarved", "count < 0.05", "count < 0.055"),
        ("TroupeExpertDominates", "[30m]", "[28m]"), ("TroupeExpertDominates", "[30m]", "[32m]"),
    ("TroupeExpertDominates", "share30m > 0.8", "share30m > 0.77"), ("TroupeExpertDominates", "share30m > 0.8", "share30m > 0.83"),
    ("TroupeExpertDominates", "count > 1", "count > 0"), ("TroupeExpertDominates", "count > 1", "count > 2"),
    ("TroupeRoutingCollapsed", "unless on (job, instance, what)", "unless on (job, instance)"),
    ("TroupeRoutingCollapsed", 'unless on (job, instance, what) troupe_routing_alarm{line!~".+/[*]"} > 0', ""),
    ("TroupeRoutingCollapsed", 'or troupe_routing_alarm{line=~".+/[*]"} > 0', ""),
    ("TroupeDiskNearlyFull", "< 0.1\n", "< 0.095\n"), ("TroupeDiskNearlyFull", "< 0.1\n", "< 0.105\n"),
    ("TroupeDiskFullSoon", "4 * 3600", "3.5 * 3600"), ("TroupeDiskFullSoon", "4 * 3600", "4.5 * 3600"),
    ("TroupeDiskFullSoon", "[1h]", "[55m]"), ("TroupeDiskFullSoon", "[1h]", "[65m]"),
    ("TroupeDiskFullSoon", "< 0.5\n", "< 0.49\n"), ("TroupeDiskFullSoon", "< 0.5\n", "< 0.51\n"),
    ("TroupePeersRefused", "total[10m]", "total[9m]"), ("TroupePeersRefused", "total[10m]", "total[11m]"),
    ("TroupePeersRefused", "(increase(troupe_refusals_total[10m])) > 0", "(increase(troupe_refusals_total[10m])) > 1"),
    ("TroupeWorkerHangs", "> 900", "> 840"), ("TroupeWorkerHangs", "> 900", "> 960"),
    ("TroupeRestarts", "[30m]) > 1", "[29m]) > 1"), ("TroupeRestarts", "[30m]) > 1", "[31m]) > 1"),
    ("TroupeRestarts", "[30m]) > 1", "[30m]) > 0"), ("TroupeRestarts", "[30m]) > 1", "[30m]) > 2"),
    ("TroupeRestarts", "total[30m]) > 0", "total[29m]) > 0"), ("TroupeRestarts", "total[30m]) > 0", "total[31m]) > 0"),
]


def times(text):
    """The `for` of each alert, a minute less and a minute more."""
    for name, minutes in re.findall(r"- alert: (\w+)\n(?:(?!- alert).*\n)*?        for: (\d+)m\n", text):
        for other in (int(minutes) - 1, int(minutes) + 1):
            yield name, f"for: {minutes}m\n", f"for: {other}m\n"


def recorded_for(of, known):
    return [x for x in known if known[x]["kind"] == "record" and re.search(rf"\b{re.escape(x.split()[0])}\b", of["expr"])]


def moved(text, name, old, new):
    """Where the alert or what is recorded for it has that; None where neither has."""
    known = alerts.rules_of(text)
    starts = [f"- alert: {name}\n", *(f"- record: {x.split()[0]}\n" for x in recorded_for(known[name], known))]
    for start in starts:
        before, found, rest = text.partition(start)
        own, end, after = rest.partition("\n      - ") if "\n      - " in rest else (rest, "", "")
        if old in own + "\n":
            return before + found + (own + "\n").replace(old, new).removesuffix("\n") + end + after
    return None


def asked_of(name, text, tests):
    """The tests that have a series which this alert looks at; not the quiet hours, which have all and are slow."""
    known = alerts.rules_of(text)
    rules = [known[name], *(known[x] for x in recorded_for(known[name], known))]
    metrics = {x.metric for rule in rules for x in promql.selectors(rule["expr"])} - {"up"} or {"up"}
    return [x for x in tests if "quiet hours" not in x.split("\n")[0] and
            (any(re.search(rf"series: '{x_}\b", x) for x_ in metrics) if metrics != {"up"} else name in x)]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/../../..").resolve()
    text, tests = ((root / x).read_text(encoding="utf-8") for x in ("dashboards/alerts.yaml", "tests/dashboards/alerts_test.yaml"))
    if not shutil.which("promtool"):
        print("skipped: there is no promtool (apt-get install prometheus)")
        return 77
    head, *tests = re.split(r"\n(?=  - name: )", tests)
    missed, planted = 0, [x for x in [*times(text), *MOVED] if x[0] in (sys.argv[2:] or x)]
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for name, old, new in planted:
            other, chosen = moved(text, name, old, new), asked_of(name, text, tests)
            if other is None or not chosen:
                print(f"{name} has no '{old}', or no test")
                missed += 1
                continue
            (scratch / "alerts.yaml").write_text(other, encoding="utf-8")
            (scratch / "test.yaml").write_text("\n".join([re.sub(r"rule_files: .*", "rule_files: [alerts.yaml]", head), *chosen]), encoding="utf-8")
            done = subprocess.run(["promtool", "test", "rules", "test.yaml"], cwd=scratch, capture_output=True, text=True)
            if "exp:" not in done.stdout + done.stderr:
                print(f"not seen: {name}: '{new.strip()}' in the place of '{old.strip()}' {(done.stdout + done.stderr)[:200] if done.returncode else ''}")
                missed += 1
    print(f"{len(planted)} moved, {missed} not seen")
    return 1 if missed or not planted else 0


if __name__ == "__main__":
    sys.exit(main())
