"""What holds for every dashboard, a function each: it takes a dashboard and what all of them are, and yields what is wrong.
Many are those of Grafana's own dashboard linter."""

import collections
import itertools
import json
import re

import labels
import promql

# What Grafana 10 knows, and what of it dashboards/view draws. More may be added to both.
KEYS = {
    "page": "uid title description tags schemaVersion editable graphTooltip refresh time timezone links annotations "
            "templating panels",
    "panel": "id type title description datasource gridPos targets fieldConfig options transformations links",
    "target": "refId expr legendFormat format instant range",
    "field": "unit min max decimals thresholds custom mappings",
    "variable": "name label type query datasource refresh sort multi includeAll allValue current",
    "annotation": "name datasource enable iconColor expr titleFormat textFormat",
}
TYPES = {"timeseries", "stat", "gauge", "bargauge", "table", "heatmap"}
# Not `short`, which makes 1.09 K of version 1090.
UNITS = {"none", "percentunit", "s", "bytes", "binBps", "ops", "reqps", "dateTimeAsIso"}
# Units of metrics that are no things which one counts.
MEASURES = {"", "seconds", "bytes", "ratio"}
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
COUNTERS = re.compile(r"_(total|count|sum|bucket)$")
BUILT_IN = {"__rate_interval", "__range"}
# What Prometheus says of alerts and targets itself.
OF_PROMETHEUS = {"ALERTS", "up"}

# What a selector of many lines says of families, which have in them what the lines that have names have as well.
FAMILIES, NO_FAMILIES, ANY_LINE = ("line", "=~", ".+/[*]"), ("line", "!~", ".+/[*]"), ("line", "=~", ".+")

# What docs/metrics.md says of a metric: its unit, the set of its labels, its type, {label: all that it can be}.
Known = collections.namedtuple("Known", "unit labels kind values", defaults=["", {}])


def known_keys(page, _):
    """A key that Grafana does not know is dropped by it without a word."""
    def unknown(what, keys, where):
        for key in sorted(set(keys) - set(KEYS[what].split())):
            yield f"{where}: Grafana knows no '{key}' here"
    yield from unknown("page", page, "the page")
    for panel in page["panels"]:
        where = f"'{panel.get('title')}'"
        yield from unknown("panel", panel, where)
        yield from unknown("field", panel.get("fieldConfig", {}).get("defaults", {}), where)
        for target in panel.get("targets", []):
            yield from unknown("target", target, f"{where} {target.get('refId')}")
    for one in page["templating"]["list"]:
        yield from unknown("variable", one, f"variable '{one.get('name')}'")
    for one in page["annotations"]["list"]:
        yield from unknown("annotation", one, f"annotation '{one.get('name')}'")


def unique_uids(page, pages):
    if not re.fullmatch(r"troupe-[a-z]+", page["uid"]):
        yield f"the uid '{page['uid']}' is not troupe- and one word"
    if sum(other["uid"] == page["uid"] for other in pages) != 1:
        yield f"another dashboard has the uid '{page['uid']}' too"


def not_editable(page, _):
    if page.get("editable") is not False:
        yield "it is editable in Grafana, where nothing would keep what is edited"


def variables(page, _):
    all_of = page["templating"]["list"]
    names = [x["name"] for x in all_of]
    if names[:3] != ["datasource", "job", "instance"] or set(names[3:]) - {"line"}:
        yield f"the variables are {', '.join(names)}; datasource, job, instance and then line would do"
    for at, one in enumerate(all_of):
        where = f"variable '{one['name']}'"
        if one["type"] == "datasource":
            if one.get("query") != "prometheus":
                yield f"{where} offers sources of '{one.get('query')}', and all is asked of prometheus"
            continue
        asked = promql.label_values(one)
        if asked is None:
            yield f"{where} asks {one.get('query')}, and not label_values(SERIES, LABEL)"
        elif asked[1] != one["name"]:
            yield f"{where} has the values of '{asked[1]}'"
        for name in promql.variables(json.dumps(one["query"])) - set(names[:at]):
            yield f"{where} asks for '${name}', which is no variable before it"
        if one.get("refresh") != 2:
            yield f"{where} is not asked again when the time changes: 'refresh' is 2 for that"
        if not (one.get("multi") and one.get("includeAll") and one.get("allValue") == ".+"):
            yield f"{where} takes no several values, or its 'allValue' is not .+"
        if one.get("datasource") != SOURCE:
            yield f"{where} asks another data source than ${{datasource}}"


def panels(page, pages):
    ids = [x.get("id") for x in page["panels"]]
    for panel in page["panels"]:
        where = f"'{panel.get('title')}'"
        field = panel.get("fieldConfig", {}).get("defaults", {})
        if not panel.get("title") or "?" not in panel.get("description", ""):
            yield f"{where} lacks a title, or a description that says which question it answers"
        if ids.count(panel.get("id")) != 1:
            yield f"{where} has the id of another panel, {panel.get('id')}"
        if panel.get("type") not in TYPES:
            yield f"{where} is a '{panel.get('type')}', which dashboards/view does not draw"
        if field.get("unit") not in UNITS:
            yield f"{where} has the unit '{field.get('unit')}', and dashboards/view knows {', '.join(sorted(UNITS))}"
        steps = [x.get("value") for x in field.get("thresholds", {}).get("steps", [])]
        if steps[:1] != [None] or steps[1:] != sorted(set(steps[1:])):
            yield f"{where} has no thresholds, or they do not rise from null"
        if panel.get("datasource") != SOURCE:
            yield f"{where} asks another data source than ${{datasource}}"
        if not panel.get("targets"):
            yield f"{where} asks nothing"
        yield from (f"{where} {x}" for x in links(panel, page, pages))


def links(panel, page, pages):
    if not panel.get("links"):
        yield "does not say where to look next"
    for one in panel.get("links", []):
        found = re.match(r"/d/([\w-]+)\?", one.get("url", ""))
        if not found or found[1] not in {x["uid"] for x in pages}:
            yield f"has a link to {one.get('url')}, where there is no dashboard"
        elif found[1] == page["uid"]:
            yield "has a link to the dashboard that it is in"
        elif not one.get("title") or not {"${__url_time_range}", "${__all_variables}"} <= set(re.split("[?&]", one["url"])):
            yield "has a link without words, or one that forgets the time and what was chosen"


def titles(page, _):
    names = [x.get("title") for x in page["panels"]]
    for name in sorted({x for x in names if names.count(x) > 1}, key=str):
        yield f"two panels are called '{name}'"


def grid(page, _):
    places = [(x.get("title"), x["gridPos"]) for x in page["panels"]]
    for name, at in places:
        if at["x"] < 0 or at["w"] < 1 or at["h"] < 1 or at["x"] + at["w"] > 24:
            yield f"'{name}' sticks out of the 24 columns"
    for (name, a), (other, b) in itertools.combinations(places, 2):
        if a["x"] < b["x"] + b["w"] and b["x"] < a["x"] + a["w"] and a["y"] < b["y"] + b["h"] and b["y"] < a["y"] + a["h"]:
            yield f"'{name}' lies over '{other}'"


def first_row(page, _):
    """It answers one question at a glance, which the dashboard's description asks."""
    first = [x for x in page["panels"] if x["gridPos"]["y"] == 0]
    if len(first) < 3 or any(x["type"] != "stat" for x in first):
        yield "the first row is no row of stat panels"
    if sum(x["gridPos"]["w"] for x in first) != 24 or len({x["gridPos"]["h"] for x in first}) != 1:
        yield "the first row does not fill its 24 columns evenly"
    if not re.fullmatch(r"[A-Z][^?]*\?", page.get("description", "")):
        yield f"the first row answers no one question: the description is '{page.get('description', '')}'"


def annotations(page, _):
    names = [x.get("name") for x in page["annotations"]["list"]]
    if names != ["Alerts", "Restarts"]:
        yield f"the annotations are {names}, and not Alerts and Restarts"
    for one in page["annotations"]["list"]:
        if one.get("datasource") != SOURCE:
            yield f"annotation '{one.get('name')}' asks another data source than ${{datasource}}"
    restarts = page["annotations"]["list"][-1].get("expr", "") if names == ["Alerts", "Restarts"] else ""
    # A process that was away for longer than a window has no change in it.
    for asked in ("changes(process_start_time_seconds{", " unless process_start_time_seconds{", "increase(troupe_restarts_total{") if restarts else ():
        if asked not in restarts:
            yield f"annotation 'Restarts' does not ask {asked.strip()}…}}: some restarts have no mark"


def selectors(page, _):
    names = {x["name"] for x in page["templating"]["list"]}
    for where, expression in promql.expressions(page):
        for name in sorted(promql.variables(expression) - names - BUILT_IN):
            yield f"{where} asks for '${name}', which is no variable"
        if where.startswith("variable"):
            continue
        for x in promql.selectors(expression):
            for label in ("job", "instance"):
                operator, value = x.matchers.get(label, ("", ""))
                empty = "|" if x.metric == "ALERTS" else ""  # An alert need not have it.
                if (operator, value) != ("=~", f"${label}{empty}"):
                    yield f'{where}: {x.metric} lacks {label}=~"${label}{empty}"'


def known(metric, metrics):
    """What docs/metrics.md says of it, or of the histogram that it is of; None where it says nothing."""
    return metrics.get(metric, metrics.get(re.sub(r"_(count|sum|bucket)$", "", metric)))


def lines(page, metrics):
    """Who can choose a line sees that line alone, or its share of what all lines have; and who is shown lines can choose."""
    can_choose = "line" in {x["name"] for x in page["templating"]["list"]}
    if not can_choose and (by_line := [x.get("title") for x in page["panels"] for y in x.get("targets", [])
                                       if re.search(r"by \([^)]*\bline\b", y.get("expr", "")) or "{{line}}" in y.get("legendFormat", "")]):
        yield f"'{by_line[0]}' shows lines, and there is no variable to choose one"
    for where, expression in promql.expressions(page) if can_choose else ():
        if where.startswith(("variable", "annotation")):
            continue
        asked = [x for x in promql.selectors(expression) if "line" in getattr(known(x.metric, metrics), "labels", ())]
        chosen = {x.metric for x in asked if x.matchers.get("line") in (("=~", "$line"), ("=~", "$line|"))}
        for x in asked:
            of_all = x.metric in chosen and (FAMILIES in x.all or ANY_LINE in x.all)
            if x.matchers.get("line") not in (("=~", "$line"), ("=~", "$line|")) and not of_all:
                yield f'{where}: {x.metric} lacks line=~"$line"'


def families(expression, metrics):
    """Who adds up lines takes families where they are, or leaves them out: else what a line has is there twice."""
    if not re.search(r"\b(sum|avg|count|topk|bottomk)\b(?! *by \([^)]*\bline\b)", expression):
        return
    asked = [x for x in promql.selectors(expression) if "line" in getattr(known(x.metric, metrics), "labels", ())]
    for name in sorted({x.metric for x in asked}):
        said = [set(x.all) for x in asked if x.metric == name]
        by_family = any(FAMILIES in x for x in said) and re.search(r"\bor\b", expression)
        if not by_family and any(not x & {FAMILIES, NO_FAMILIES} and not ("line", "=") in {y[:2] for y in x} for x in said):
            yield f"adds up {name} of lines and of their families: what of many lines is there twice"


def families_once(page, metrics):
    for panel in page["panels"]:
        stacked = panel["fieldConfig"]["defaults"].get("custom", {}).get("stacking", {}).get("mode") == "normal"
        for target in panel["targets"]:
            # Stacked lines are added up, too.
            text = f"sum({target.get('expr', '')})" if stacked else target.get("expr", "")
            yield from (f"'{panel['title']}' {target['refId']} {x}" for x in families(text, metrics))


def rates(page, _):
    for where, expression in promql.expressions(page):
        if where.startswith("variable"):
            continue
        for x in promql.selectors(expression):
            if x.function == "rate" and x.range != "$__rate_interval":
                yield f"{where}: a rate over [{x.range}], and not over [$__rate_interval]"
            if x.range and x.range not in ("$__rate_interval", "$__range"):
                yield f"{where}: [{x.range}] is no time that the dashboard shows"
        yield from (f"{where}: {x}" for x in counted(expression))


def windows(page, _):
    """Of one metric one panel has all that is shown and another what is now: each says which."""
    asked = [(x, promql.selectors(y.get("expr", ""))) for x in page["panels"] for y in x["targets"]]
    ranged = {x.metric for _, of in asked for x in of if x.range == "$__range"}
    for panel, of in asked:
        own = {x.range for x in of if x.metric in ranged}
        said = panel.get("description", "")
        if "$__range" in own and "shown" not in said:
            yield f"'{panel['title']}' does not say that it is of all that is shown"
        if panel["type"] == "stat" and "$__rate_interval" in own and "scrapes" not in said:
            yield f"'{panel['title']}' does not say that it is of the last scrapes, and another is of all that is shown"


def counted(expression):
    """Who begins anew counts from 0."""
    for x in promql.selectors(expression):
        if COUNTERS.search(x.metric) and x.function not in ("rate", "increase"):
            yield f"{x.metric} counts, and is in no rate or increase"
        if x.function in ("rate", "increase") and not COUNTERS.search(x.metric):
            yield f"{x.metric} is no counter, and has no rate"


def known_metrics(page, metrics):
    for where, expression in promql.expressions(page):
        yield from (f"{where}: {x}" for x in unknown(expression, metrics))


def unknown(expression, metrics):
    """What is asked for is in docs/metrics.md, with these labels and values of them."""
    for x in promql.selectors(expression):
        if x.metric in OF_PROMETHEUS:
            continue
        if not (of := known(x.metric, metrics)):
            yield f"docs/metrics.md has no {x.metric}"
            continue
        for label in sorted(set(x.matchers) - {"job", "instance", "le"} - of.labels):
            yield f"{x.metric} has no label '{label}'"
        for label, operator, value in x.all:
            for word in of_none(operator, value, of.values.get(label, ())):
                yield f"{x.metric} has no {label} '{word}': it is one of {', '.join(of.values[label])}"
    yield from labels.read(expression, labels_in(metrics))[1]


def labels_in(metrics):
    """Which labels series of a metric have; all, where others say that it is not known, and of alerts."""
    def of(metric):
        if metric == "ALERTS" or metric not in OF_PROMETHEUS and not known(metric, metrics):
            return labels.ANY
        return labels.OF_TARGETS | (known(metric, metrics) or Known("", set())).labels | ({"le"} if metric.endswith("_bucket") else set())
    return of


def legends(page, metrics):
    """A name that asks for a label which does not come out is that of every series."""
    named = [(f"'{x['title']}' {y['refId']}", y.get("expr", ""), y.get("legendFormat", "")) for x in page["panels"] for y in x["targets"]]
    named += [(f"annotation '{x['name']}'", x["expr"], f"{x.get('titleFormat', '')} {x.get('textFormat', '')}") for x in page["annotations"]["list"]]
    for where, expression, name in named:
        there, _ = labels.read(expression, labels_in(metrics))
        for label in sorted({x for x in re.findall(r"{{\s*(\w+)\s*}}", name) if x not in there}):
            yield f"{where} is named by '{label}', and no such label comes out, but {', '.join(sorted(there)) or 'none'}"


def of_none(operator, value, known):
    """What of it no known value can be: nothing is found by that, and an empty answer may look as if all were well."""
    words = [re.escape(value)] if "~" not in operator else [value] if "(" in value else value.split("|")
    return [x.replace("\\", "") for x in words if known and not any(re.fullmatch(x, y) for y in known)]


def counts(page, metrics):
    """What people count and compare, such as versions and clients, is shown as a whole number."""
    for panel in page["panels"]:
        field = panel["fieldConfig"]["defaults"]
        if all(is_count(x.get("expr", ""), metrics) for x in panel["targets"]) and (field.get("unit"), field.get("decimals")) != ("none", 0):
            yield f"'{panel['title']}' counts things: unit none with 0 decimals would do"


def is_count(expression, metrics):
    asked = promql.selectors(expression)
    units = {metrics[x.metric].unit for x in asked if x.metric in metrics} | {"alerts" for x in asked if x.metric == "ALERTS"}
    by_time = any(x.function == "rate" for x in asked) or "/" in re.sub(r'"[^"]*"', "", expression)
    things = units - MEASURES
    return bool(things) and units <= things | {""} and not by_time


OF_ALL = [known_keys, unique_uids, not_editable, variables, panels, titles, grid, first_row, annotations, selectors, rates, windows]
OF_METRICS = [lines, families_once, known_metrics, legends, counts]


def findings(page, pages, metrics):
    for rule in OF_ALL:
        yield from (f"{x} [{rule.__name__}]" for x in rule(page, pages))
    for rule in OF_METRICS:
        yield from (f"{x} [{rule.__name__}]" for x in rule(page, metrics))
