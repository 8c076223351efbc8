#!/usr/bin/env python3
"""Holds every rule of rules.py against every dashboard, has promtool parse all expressions, and looks at what brings them to Grafana:
check.py [ROOT [METRICS]]."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import picture_sums
import plain
import promql
import provisioning
import rules
import values
import view as view_test

ANY = {"job": ".+", "instance": ".+", "line": ".+", "__rate_interval": "1m", "__range": "30m"}


def known_metrics(page):
    """{metric: rules.Known} of the table in docs/metrics.md."""
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([^|]*)\|([^|]*)\|", page, re.M)
    out = {}
    for name, kind, unit, labels in rows:
        said = [re.findall(r"`(\w+)`", x) for x in labels.split(";")]
        values = {x[0]: x[1:] for x in said if x}
        out[name] = rules.Known(unit.strip(), set(values), kind, {x: y for x, y in values.items() if y})
    return out


def doubled(pairs):
    keys = [x for x, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"'{key}' stands there twice")
    return dict(pairs)


def unparsed(expressions):
    """What promtool says of those that are none."""
    promtool = shutil.which("promtool")
    if not promtool:
        return []  # `main` says so.
    with tempfile.TemporaryDirectory() as scratch:
        asked = pathlib.Path(scratch) / "rules.json"
        asked.write_text(json.dumps({"groups": [{"name": "all", "rules": [
            {"record": f"x{i}", "expr": promql.filled(x, ANY)} for i, (_, x) in enumerate(expressions)]}]}))
        done = subprocess.run([promtool, "check", "rules", asked], capture_output=True, text=True)
    said = re.findall(r'"x(\d+)": (.*)|"x(\d+)", (.*)', done.stdout + done.stderr)
    wrong = [f"{expressions[int(a or b)][0]}: {x or y} [parsed]" for a, x, b, y in said]
    return wrong if done.returncode == 0 or wrong else [f"{(done.stderr + done.stdout).strip()} [parsed]"]


def coloured(page):
    """How the table of docs/operations.md says each panel's thresholds, without what they mean."""
    for panel in page["panels"]:
        first, *steps = panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
        words = ", ".join([first["color"], *(f"{x['color']} from {x['value']:g}" for x in steps)])
        if steps:
            yield panel["title"], f"{page['title'].removeprefix('troupe: ')} | {panel['title']} | {panel['fieldConfig']['defaults']['unit']} | {words}"


def colours(pages, said):
    """What thresholds mean stands in docs/operations.md, with their values and with nothing that is no more."""
    table = re.findall(r"^\| ((?:[^|\n]*\|){4})([^|\n]*)\|$", said.partition("\n## Colours\n")[2].partition("\n## ")[0], re.M)
    rows = {x.strip().removesuffix("|").strip(): meaning.strip() for x, meaning in table[2:]}
    wanted = {row: (name, title) for name, page in pages.items() for title, row in coloured(page)}
    for row, (name, title) in wanted.items():
        if row not in rows:
            yield f"{name}: '{title}': docs/operations.md has no row | {row} | [colours]"
        elif not re.search(r"\w{2}", rows[row]):
            yield f"{name}: '{title}': docs/operations.md does not say what its colours mean [colours]"
    for row in rows:
        if row not in wanted:
            yield f"docs/operations.md has a row of no panel: | {row} | [colours]"


def unwatched(asked, metrics):
    """What can be full has a panel that says how full it is."""
    for name in sorted(x for x in metrics if x.endswith("_limit")):
        if not any(re.search(rf"\b{name}\b", x) for _, x in asked):
            yield f"no dashboard asks for {name}: how full is that? [unwatched]"


def findings(texts, metrics, said):
    """Of {file: text}; `said` is docs/operations.md."""
    pages, whole, wrong, asked = {}, {}, [], []
    for name, text in texts.items():
        try:
            pages[name] = json.loads(text, object_pairs_hook=doubled)
        except ValueError as e:
            wrong.append(f"{name}: no JSON: {e}")
    for name, page in pages.items():
        try:
            wrong += [f"{name}: {x}" for x in rules.findings(page, list(pages.values()), metrics)]
            list(coloured(page))
            asked += [(f"{name}: {where}", x) for where, x in promql.expressions(page)
                      if promql.variables(x) <= set(ANY)]
            whole[name] = page
        except (KeyError, TypeError, AttributeError, ValueError) as e:
            wrong.append(f"{name}: lacks what every dashboard has: {type(e).__name__} {e}")
    of_all = [*colours(whole, said), *plain.panels(whole.values())] if len(whole) == len(texts) else []
    return [*wrong, *of_all, *plain.gauges(metrics), *unwatched(asked, metrics), *unparsed(asked)]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/../../..").resolve()
    metrics = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else root / "docs/metrics.md"
    texts = {x.name: x.read_text(encoding="utf-8") for x in sorted((root / "dashboards").glob("*.json"))}
    said = (root / "docs/operations.md").read_text(encoding="utf-8")
    known = known_metrics(metrics.read_text(encoding="utf-8"))
    wrong = findings(texts, known, said)
    wrong += plain.limits(known, (root / "dashboards/alerts.yaml").read_text(encoding="utf-8"))
    view = (root / "dashboards/view/view.js").read_text(encoding="utf-8")
    listed = set(re.findall(r'"(\w+)"', re.search(r"^const files = \[(.*)\];", view, re.M)[1]))
    wrong += [f"{x}: dashboards/view/view.js and the folder do not both have it" for x in
              sorted(listed ^ {x.removesuffix(".json") for x in texts})]
    units = (root / "dashboards/view/units.js").read_text(encoding="utf-8").partition("export const units = {")[2].partition("\n};")[0]
    wrong += [f"{x}: dashboards/view/units.js and rules.py do not both have this unit" for x in
              sorted(set(re.findall(r"^  (\w+):", units, re.M)) ^ rules.UNITS)]
    wrong += [f"{x}: tests/dashboards/view.py says of no value what it is in this unit" for x in
              sorted(rules.UNITS - {x for _, x, _, _ in view_test.SHOWN})]
    wrong += provisioning.of_tree(root)
    wrong += values.findings({x.removesuffix(".json"): json.loads(y) for x, y in texts.items()}) if not wrong else []
    wrong += picture_sums.of_tree(root)
    for line in wrong:
        print(line)
    print(f"{len(texts)} dashboards, {len(wrong)} findings")
    if wrong or not texts:
        return 1
    if not shutil.which("promtool"):
        print("skipped: expressions are not parsed, since there is no promtool (./dev setup --watching)")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
