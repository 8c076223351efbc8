"""Holds dashboards/alerts.yaml: each alert says what it must and its paragraph is there, promtool takes all files and its tests of
them pass. alerts.py [ROOT [METRICS]]."""

import pathlib
import re
import shutil
import subprocess
import sys

import check
import promql
import rules

SEVERITIES = {"warning", "critical"}
# Counters of which it is asked, too, whether they are there.
PRESENT = {"troupe_expert_visits_total"}


def rules_of(text):
    """{name: {key: value}} of what is recorded and of the alerts, as this file is written; what is doubled has a number."""
    out, current = {}, None
    lines = iter(text.split("\n"))
    for line in lines:
        if found := re.match(r"      - (alert|record): (\S+)", line):
            name = found[2] if found[2] not in out else f"{found[2]} {len(out)}"
            current = out[name] = {"kind": found[1]}
        elif current is not None and (found := re.match(r" {8,10}(\w+):(?: +(.*)|$)", line)):
            current[found[1]] = (found[2] or "").strip('"')
        elif current is not None and line.startswith(" " * 10):
            current["expr"] = f"{current['expr'].strip('|')} {line.strip()}".strip()
    return out


def findings(text, page, metrics):
    known = rules_of(text)
    records = {x.split()[0] for x, of in known.items() if of["kind"] == "record"}
    paragraphs = {x.lower() for x in re.findall(r"^### (\w+)$", page, re.M)}
    alerts = {x: of for x, of in known.items() if of["kind"] == "alert"}
    for name, of in alerts.items():
        for key in ("expr", "for", "labels", "summary", "runbook_url"):
            if not of.get(key):
                yield f"{name} has no '{key}'"
        if not set(re.findall(r"severity: (\w+)", of.get("labels", ""))) & SEVERITIES:
            yield f"{name} has a severity that is none of {', '.join(sorted(SEVERITIES))}"
        if of.get("runbook_url") != f"docs/operations.md#{name.lower()}" or name.lower() not in paragraphs:
            yield f"{name} names {of.get('runbook_url')}, and docs/operations.md has no such paragraph"
    for name in sorted(paragraphs - {x.lower() for x in alerts}):
        if name.startswith("troupe"):
            yield f"docs/operations.md has a paragraph of {name}, which is no alert"
    for name, of in known.items():
        yield from (f"{name}: {x}" for x in wrong_expression(of.get("expr", ""), records, metrics))
    said = dict(re.findall(r"^\| \[(\w+)\]\(#\w+\) \| ([^|]*) \|", page, re.M))
    for name, of in alerts.items():
        wanted = f"{of.get('for')}, {of.get('labels', '').removeprefix('{severity: ').rstrip('}')}"
        if said.get(name) != wanted:
            yield f"docs/operations.md says of {name} '{said.get(name)}', and it is '{wanted}'"


def wrong_expression(text, records, metrics):
    """What rules.py says of any expression, and that who is meant can be told."""
    yield from rules.unknown(text, {**metrics, **dict.fromkeys(records, rules.Known("", {"line", "of"}))})
    yield from rules.families(text, metrics)
    yield from (x for x in rules.counted(text) if x.split()[0] not in PRESENT or "counts" not in x)
    for labels in re.findall(r"\b(?:sum|max|min|avg|count) by \(([^)]*)\)", text):
        if not {"job", "instance"} <= set(re.split(r", *", labels)):
            yield f"by ({labels}) forgets which process it is of"
    if re.search(r"\b(?:sum|max|min|avg|count)\b *\(", text):
        yield "adds up processes: by (job, instance) says which it is of"


def promtool(root):
    """What it does not take."""
    tool = shutil.which("promtool")
    for command in (("check", "config", "deploy/prometheus/prometheus.yml"), ("check", "rules", "dashboards/alerts.yaml"),
                    ("test", "rules", "tests/dashboards/alerts_test.yaml")) if tool else ():
        done = subprocess.run([tool, *command], cwd=root, capture_output=True, text=True)
        if done.returncode:
            yield f"promtool {' '.join(command)}:\n{done.stdout}{done.stderr}"


# (what is replaced, by what, what is said).
PLANTED = [
    ("for: 2m", "", "has no 'for'"), ("severity: critical", "severity: awful", "none of critical, warning"),
    ("#troupenoprogress", "#progress", "no such paragraph"), ("troupe_line_failing{", "troupe_line_failed{", "no troupe_line_failed"),
    ("increase(troupe_restarts_total[30m])", "max_over_time(troupe_restarts_total[30m])", "troupe_restarts_total counts"),
    ("increase(troupe_restarts_total[30m])", "increase(troupe_node_ready[30m])", "troupe_node_ready is no counter"),
    ('reason="lost"', 'cause="lost"', "troupe_leaves_total has no label 'cause'"),
    ('reason="lost"', 'reason="gone"', "troupe_leaves_total has no reason 'gone'"), ('state="lost"', 'state="gone"', "troupe_clients has no state 'gone'"),
    ("sum by (job, instance, reason) (", "sum by (instance, reason) (", "by (instance, reason) forgets which process"),
    ("sum by (job, instance, reason) (", "sum(", "adds up processes"),
    ('(increase(troupe_expert_visits_total{line=~".+/[*]"}[30m]))', "(increase(troupe_expert_visits_total[30m]))", "of many lines is there twice"),
    ('{line=~".+/[*]"}[10m]', "[10m]", "of many lines is there twice"),
    ("sum by (job, instance, reason) (increase(troupe_refusals_total", "sum by (job, instance, reasons) (increase(troupe_refusals_total", "has a label 'reasons'"),
    ("alert: TroupeStoreWaits", "alert: TroupeStoreIsSlow", "troupestorewaits, which is no alert"), ("for: 10m", "for: 11m", "and it is '11m"),
]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/../../..").resolve()
    table = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else root / "docs/metrics.md"
    text, page = ((root / x).read_text(encoding="utf-8") for x in ("dashboards/alerts.yaml", "docs/operations.md"))
    metrics = check.known_metrics(table.read_text(encoding="utf-8"))
    wrong = [*findings(text, page, metrics), *promtool(root)]
    for old, new, words in PLANTED:
        if not any(words in x for x in findings(text.replace(old, new, 1), page, metrics)):
            wrong.append(f"not seen: '{new}' in the place of '{old}'")
    for line in wrong:
        print(line)
    print(f"{text.count('- alert:')} alerts, {len(wrong)} findings")
    if not wrong and not shutil.which("promtool"):
        print("skipped: there is no promtool (apt-get install prometheus)")
        return 77
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
