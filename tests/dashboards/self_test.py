"""Plants faults in the dashboards of the tree, one at a time, and asks for the rule that sees each: self_test.py [ROOT [METRICS]]."""

import contextlib
import copy
import io
import json
import pathlib
import shutil
import sys

import check
import picture_sums
import plain
import promql
import provisioning
import rules
import values

NAME = "overview.json"


def panel(page):
    return next(x for x in page["panels"] if x["type"] == "timeseries")


def target(page):
    return panel(page)["targets"][0]


def asks(expression):
    def plant(page):
        target(page)["expr"] = expression
    return plant


def changes(*path, to):
    def plant(page):
        for key in path[:-1]:
            page = page[key]
        page[path[-1]] = to
    return plant


def names(legend, expression):
    def plant(page):
        asks(expression)(page)
        target(page)["legendFormat"] = legend
    return plant


def stacks(expression):
    def plant(page):
        asks(expression)(page)
        panel(page)["fieldConfig"]["defaults"]["custom"]["stacking"] = {"mode": "normal", "group": "A"}
    return plant


def restarts(old, new):
    def plant(page):
        one = page["annotations"]["list"][1]
        one["expr"] = one["expr"].replace(old, new)
    return plant


def has_two_windows(page):
    asks(RATE.replace("rate(", "increase(") % "$__range")(page)
    panel(page)["description"] = "How many, in what is shown?"
    page["panels"][0]["targets"][0]["expr"] = RATE % "$__rate_interval"


def lacks(key):
    return lambda page: panel(page).pop(key)


S = 'job=~"$job", instance=~"$instance"'
RATE = f'sum(rate(troupe_visits_total{{{S}}}[%s]))'
OFFERS, REFUSALS = (f"rate({x}{{{S}}}[$__rate_interval])" for x in ("troupe_offers_total", "troupe_refusals_total"))

# (rule, what is planted in one dashboard, words of what is said).
PLANTED = [
    ("known_keys", changes("panels", 0, "colour", to="red"), "knows no 'colour'"),
    ("known_keys", changes("panels", 0, "targets", 0, "expression", to="up"), "knows no 'expression'"),
    ("known_keys", changes("title_", to="x"), "knows no 'title_'"),
    ("unique_uids", changes("uid", to="troupe-workers"), "another dashboard"),
    ("unique_uids", changes("uid", to="Overview 1"), "'Overview 1'"),
    ("not_editable", changes("editable", to=True), "editable"),
    ("variables", changes("templating", "list", 2, "query", "query", to="label_values(up{job=~\"$jobs\"}, instance)"), "'$jobs'"),
    ("variables", changes("templating", "list", 2, "query", "query", to="instances()"), "instances()"),
    ("variables", changes("templating", "list", 1, "refresh", to=1), "when the time changes"),
    ("variables", changes("templating", "list", 1, "multi", to=False), "no several values"),
    ("variables", lambda page: page["templating"]["list"].pop(2), "the variables are"),
    ("variables", changes("templating", "list", 0, "query", to="loki"), "offers sources of 'loki'"),
    ("variables", lambda page: page["templating"]["list"][0].pop("query"), "offers sources of 'None'"),
    ("panels", changes("panels", 1, "id", to=1), "has the id of another panel"),
    ("panels", changes("panels", 1, "type", to="piechart"), "'piechart'"),
    ("panels", changes("panels", 1, "fieldConfig", "defaults", "unit", to="furlongs"), "'furlongs'"),
    ("panels", changes("panels", 1, "fieldConfig", "defaults", "unit", to="short"), "'short'"),
    ("panels", changes("panels", 1, "description", to="Alerts."), "which question"),
    ("panels", changes("panels", 1, "datasource", "uid", to="prometheus"), "another data source"),
    ("panels", changes("panels", 1, "targets", to=[]), "asks nothing"),
    ("panels", changes("panels", 1, "links", 0, "url", to="/d/troupe-nowhere?x"), "troupe-nowhere"),
    ("panels", changes("panels", 1, "links", 0, "url", to="/d/troupe-overview?${__url_time_range}&${__all_variables}"), "that it is in"),
    ("panels", changes("panels", 1, "links", 0, "url", to="/d/troupe-clients?${__url_time_range}"), "what was chosen"),
    ("panels", lacks("links"), "where to look next"),
    ("panels", changes("panels", 1, "fieldConfig", "defaults", "thresholds", "steps", to=[]), "thresholds"),
    ("titles", changes("panels", 1, "title", to="Last progress"), "two panels"),
    ("grid", changes("panels", 1, "gridPos", "x", to=1), "lies over"),
    ("grid", changes("panels", 0, "gridPos", "w", to=25), "sticks out"),
    ("first_row", changes("panels", 0, "type", to="timeseries"), "no row of stat panels"),
    ("first_row", changes("panels", 0, "gridPos", "w", to=3), "evenly"),
    ("first_row", changes("description", to="What there is."), "no one question"),
    ("first_row", lambda page: page.pop("description"), "no one question"),
    ("annotations", lambda page: page["annotations"]["list"].pop(), "annotations"),
    ("annotations", restarts("process_start_time_seconds", "process_start"), "does not ask changes(process_start_time_seconds"),
    ("annotations", restarts("unless", "and"), "does not ask unless process_start_time_seconds"),
    ("annotations", restarts("troupe_restarts_total", "troupe_joins_total"), "does not ask increase(troupe_restarts_total"),
    ("selectors", asks(RATE.replace("$job", "$jobs") % "$__rate_interval"), "'$jobs', which is no variable"),
    ("selectors", asks('sum(troupe_clients{job=~"$job"})'), "lacks instance"),
    ("selectors", asks('sum(troupe_clients{instance=~"$instance", job="$job"})'), "lacks job"),
    ("lines", asks(f"troupe_line_failing{{{S}}}"), 'lacks line=~"$line"'),
    ("lines", asks(f'sum(troupe_line_failing{{{S}, line=~".+/[*]"}})'), 'lacks line=~"$line"'),
    ("lines", lambda page: page["templating"]["list"].pop(3), "no variable to choose one"),
    ("families_once", asks(f'sum(troupe_line_failing{{{S}, line=~"$line"}})'), "of many lines is there twice"),
    ("families_once", asks(f'sum by (job) (troupe_line_failing{{{S}, line=~"$line"}})'), "of many lines is there twice"),
    ("families_once", stacks(f'sum by (line) (troupe_line_failing{{{S}, line=~"$line"}})'), "of many lines is there twice"),
    ("plain", changes("panels", 0, "fieldConfig", "defaults", "thresholds", "steps", to=[{"color": "green", "value": None}]), "one colour for all values"),
    ("plain", changes("panels", 3, "fieldConfig", "defaults", "thresholds", "steps", to=[{"color": "green", "value": None}, {"color": "red", "value": 9}]),
     "a row of 'Visits'"),
    ("plain", changes("panels", 3, "title", to="Visits a second"), "a row of 'Visits'"),
    ("colours", changes("panels", 0, "title", to="Progress, the last"), "a row of no panel: | Overview | Last progress"),
    ("rates", asks(RATE % "5m"), "a rate over [5m]"),
    ("rates", asks(f"sum(troupe_visits_total{{{S}}})"), "in no rate"),
    ("rates", asks(f"sum(rate(troupe_clients{{{S}}}[$__rate_interval]))"), "is no counter"),
    ("rates", asks(f"max_over_time(troupe_clients{{{S}}}[30d])"), "no time that the dashboard shows"),
    ("windows", asks(RATE.replace("rate(", "increase(") % "$__range"), "of all that is shown"),
    ("windows", has_two_windows, "of the last scrapes"),
    ("colours", changes("panels", 0, "fieldConfig", "defaults", "thresholds", "steps", 1, "value", to=121), "has no row"),
    ("counts", changes("panels", 5, "fieldConfig", "defaults", "decimals", to=1), "'Clients' counts things"),
    ("counts", asks(f"max by (block) (troupe_head_version{{{S}}})"), "counts things"),
    ("counts", asks(f"sum(increase(troupe_visits_total{{{S}}}[$__range]))"), "counts things"),
    ("known_metrics", asks(f"troupe_clientele{{{S}}}"), "has no troupe_clientele"),
    ("known_metrics", asks(f'troupe_clients{{{S}, mood="good"}}'), "no label 'mood'"),
    ("known_metrics", asks(f'troupe_clients{{{S}, state="asleep"}}'), "troupe_clients has no state 'asleep': it is one of at_work, lost"),
    ("known_metrics", asks(f'troupe_clients{{{S}, state!="los"}}'), "no state 'los'"),
    ("known_metrics", asks(f'sum(rate(troupe_offers_total{{{S}, verdict=~"too_stale|too_old"}}[$__rate_interval])) or vector(0)'), "no verdict 'too_old'"),
    ("known_metrics", asks(f'sum(rate(troupe_offers_total{{{S}, verdict!~"accept"}}[$__rate_interval]))'), "no verdict 'accept'"),
    ("known_metrics", asks(f'sum(rate(troupe_visit_phase_seconds_count{{{S}, phase=~"trained"}}[$__rate_interval]))'), "no phase 'trained'"),
    *(("known_metrics", asks(x), "nothing below it has a label 'reason'") for x in (
        f"sum by (reason) ({OFFERS})", f"sum({OFFERS}) by (reason)", f"sum by (reason) (sum by (verdict) ({OFFERS}))", f"1 - max by (reason) ({OFFERS} / 2)",
        f"sum by (reason) ({OFFERS} or {REFUSALS})", f"topk by (reason) (3, {OFFERS})", f"sum by (reason) ({OFFERS} and on (job) {REFUSALS})",
        f"sum by (reason) ({REFUSALS} / on (job) {OFFERS})", f"sum by (reason) ({REFUSALS} / ignoring (reason) {OFFERS})",
        f'sum by (reason) (label_replace({OFFERS}, "cause", "$1", "verdict", "(.*)"))')),
    ("known_metrics", asks(f"sum by (le) (histogram_quantile(0.5, rate(troupe_visit_round_trip_seconds_bucket{{{S}}}[$__rate_interval])))"), "a label 'le'"),
    *(("legends", names("{{verdikt}} a second", x), "named by 'verdikt'") for x in (f"sum by (verdict) ({OFFERS})", OFFERS, f"sum({OFFERS}) or vector(0)")),
    ("legends", names("{{instance}}", f"sum by (verdict) ({OFFERS})"), "named by 'instance', and no such label comes out, but verdict"),
    ("legends", names("{{verdict}}", f"sum without (verdict) ({OFFERS})"), "named by 'verdict'"),
    ("legends", lambda page: page["annotations"]["list"][1].update(titleFormat="{{line}} began"), "annotation 'Restarts' is named by 'line'"),
]
# What is as it is to be: no word of these.
SOUND = [
    ("{{verdict}} {{instance}}", OFFERS), ("{{reason}}", f'sum by (reason) (label_replace({OFFERS}, "reason", "$1", "verdict", "(.*)"))'),
    ("{{instance}} {{job}}", f"topk(3, sum by (job, instance) ({OFFERS}))"), ("{{name}}", f"({OFFERS}) * on (job, instance) group_left (name) troupe_run_info{{{S}}}"),
    ("{{name}}", f"troupe_run_info{{{S}}} * on (job, instance) group_right (name) {OFFERS}"), ("{{is}}", f'count_values("is", {OFFERS})'),
    ("{{verdict}}", f"{OFFERS} / ignoring (reason) group_left () sum({OFFERS}) > bool 0.5e3"), ("{{instance}}", f"- (time() - max by (instance) ({OFFERS} offset 5m)) ^ 2"),
    ("{{verdict}}", f"sum without (job, instance) ({OFFERS}) unless {REFUSALS}"), ("", f"max_over_time(({OFFERS})[5m:1m])"),
]
# (metrics, docs/operations.md, what is said).
OTHERWISE = [
    (lambda x: {**x, "troupe_sofas_limit": rules.Known("sofas", set())}, str, "no dashboard asks for troupe_sofas_limit"),
    (lambda x: {**x, "troupe_hats_bytes": rules.Known("bytes", set(), "gauge")}, str, "troupe_hats_bytes has no troupe_hats_bytes_limit beside it"),
    (lambda x: {k: v for k, v in x.items() if k != "troupe_unsent_bytes_limit"}, str, "troupe_unsent_bytes has no troupe_unsent_bytes_limit beside it"),
    (lambda x: {k: v for k, v in x.items() if k != "troupe_store_bytes"}, str, "a row of troupe_store_bytes"),
    (dict, lambda x: x.replace("| any is worth a look |", "| |"), "does not say what its colours mean"),
    (dict, lambda x: x.replace("| any is worth a look |", "| - |"), "does not say what its colours mean"),
    (dict, lambda x: x.replace("\n| Overview | Alerts |", "\n| Overview | Sofas | none | green, red from 1 | many |\n| Overview | Alerts |"), "a row of no panel: | Overview | Sofas"),
]
# (what provisions, what is replaced, by what, what is said).
PROVISIONED = [
    ("dashboards", "allowUiUpdates", "allowUIUpdates", "knows no 'providers.allowUIUpdates'"),
    ("dashboards", "      path:", "      paths:", "'providers.options.path' is missing"),
    ("datasources", "timeInterval: 10s", "timeInterval: 15s", "Prometheus scrapes every 10s"),
    ("datasources", "    access: proxy\n", "", "'datasources.access' is missing"),
    ("datasources", "apiVersion: 1", "apiVersion: 2", "is '2'"),
]
# (dashboard, what is replaced in its text, by what, what is seen of another value).
VALUED = [
    ("overview", " unless process_start_time_seconds", " and process_start_time_seconds", "annotation 'Restarts' at 440s"),
    ("overview", " or increase(troupe_restarts_total", " or increase(troupe_joins_total", "annotation 'Restarts' at 320s"),
    ("experts", "line=~\\\".+/[*]\\\"", "line=~\\\"none\\\"", "'Largest share of the load' A at 30m"),
    ("experts", "line=~\\\".+\\\"", "line=~\\\"$line\\\"", "'Largest share of the load' A at 30m"),
    ("asynchronous", "line=~\\\".+/[*]\\\"", "line=~\\\"none\\\"", "'Staleness in versions' A at 30m"),
    ("overview", "metric=\\\"perplexity\\\"", "metric=\\\"loss\\\"", "'Perplexity' A at 30m"),
    ("overview", "metric!=\\\"perplexity\\\"", "metric!=\\\"loss\\\"", "'Evaluation' A at 30m"),
    ("workers", "phase!~", "phase=~", "'Mean time of each phase' A at 30m"),
    ("workers", "Mean time of each phase", "Time of phases", "has no 'Mean time of each phase' A"),
    ("overview", 'verdict!~\\"accepted|duplicate\\"', 'verdict=~\\"malformed\\"', "'Refused offers' A at 300s"),
    ("overview", '} == 0) or vector(0)', '} == 1) or vector(0)', "'Not ready' A at 300s"),
    ("overview", 'ALERTS{alertstate=\\"firing\\"', 'ALERTS{alertstate=\\"pending\\"', "'Alerts' A at 300s"),
    ("overview", 'instance=~\\"$instance|\\"}) or vector(0)', 'instance=~\\"$instance\\"}) or vector(0)', "'Alerts' A at 300s"),
    ("overview", 'state=~\\"at_work|free|waiting\\"})', 'state=~\\"at_work|free|waiting\\"}) or vector(0)', "'Clients' A is 0 where it finds nothing"),
    ("asynchronous", 'verdict=\\"too_stale\\"', 'verdict=\\"withdrawn\\"', "'Refused as too stale' A at 300s"),
    ("asynchronous", "max(troupe_buffered_offers{", "min(troupe_buffered_offers{", "'Fullest buffer' A at 300s"),
    ("asynchronous", "max(troupe_offer_bytes{", "min(troupe_offer_bytes{", "'Memory of offers taken' A at 300s"),
    ("clients", ' and on (job, instance) troupe_run_info{job=~\\"$job\\", instance=~\\"$instance\\"}) > 0) or', ") > 0) or", "'Failed visits' A at 300s"),
    ("transport", 'kind=\\"said_again\\"', 'kind=\\"unheard\\"', "'Said again' A at 300s"),
    ("transport", 'kind=\\"said_again\\"}[$__rate_interval]) and on', 'kind=\\"said_again\\"}[$__rate_interval]) or on', "'Said again' A at 300s"),
    ("transport", "sum(rate(troupe_checkpoint_seconds_sum{", "sum(rate(troupe_checkpoint_seconds_count{", "'Storage' B at 30s"),
    ("transport", "sum by (instance) (increase(troupe_checkpoints_failed_total{", "sum by (instance) (0 * increase(troupe_checkpoints_failed_total{", "not kept' A at 30s"),
]
UNPARSED = [asks(f"sum(troupe_clients{{{S}}}"), asks(f"troupe_clients{{{S}}} by (state)"), asks("")]


def seen(texts, metrics, said, rule, words):
    with contextlib.redirect_stdout(io.StringIO()):
        return any(x.endswith(f"[{rule}]") and words in x for x in check.findings(texts, metrics, said))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/../../..").resolve()
    page = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else root / "docs/metrics.md"
    metrics = check.known_metrics(page.read_text(encoding="utf-8"))
    said = (root / "docs/operations.md").read_text(encoding="utf-8")
    alerts_text = (root / "dashboards/alerts.yaml").read_text(encoding="utf-8")
    texts = {x.name: x.read_text(encoding="utf-8") for x in (root / "dashboards").glob("*.json")}
    sound = json.loads(texts[NAME])
    parsed = [("parsed", x, "") for x in UNPARSED] if shutil.which("promtool") else []
    parse, check.unparsed = check.unparsed, lambda _: []  # For those that need no promtool: it is slow.
    missed = 0
    for rule, plant, words in [*PLANTED, *parsed]:
        check.unparsed = parse if rule == "parsed" else lambda _: []
        broken = copy.deepcopy(sound)
        plant(broken)
        if not seen({**texts, NAME: json.dumps(broken)}, metrics, said, rule, words):
            print(f"not seen: {rule}: {words or list(promql.expressions(broken))[0]}")
            missed += 1
    for legend, expression in SOUND:
        page = copy.deepcopy(sound)
        names(legend, expression)(page)
        for line in (*rules.known_metrics(page, metrics), *rules.legends(page, metrics)):
            print(f"seen, and sound: {expression}: {line}")
            missed += 1
    for text, words in (("{", "no JSON"), ('{"uid": 1, "uid": 2}', "stands there twice"), ('{"panels": 3}', "lacks what every")):
        if not any(words in x for x in check.findings({**texts, NAME: text}, metrics, said)):
            print(f"not seen: {words}")
            missed += 1
    for changed, page, words in OTHERWISE:
        if not any(words in x for x in check.findings(texts, changed(metrics), page(said))):
            print(f"not seen: {words}")
            missed += 1
    prometheus = (root / "deploy/prometheus/prometheus.yml").read_text(encoding="utf-8")
    for kind, old, new, words in PROVISIONED:
        (path,) = (root / "deploy/grafana/provisioning" / kind).glob("*.yaml")
        if not any(words in x for x in provisioning.findings(kind, path.read_text(encoding="utf-8").replace(old, new), prometheus)):
            print(f"not seen: {words}")
            missed += 1
    for line in picture_sums.not_seen():
        print(line)
        missed += 1
    for alerts, words in ((alerts_text.replace("troupe_unsent_bytes_limit", ""), "asks for troupe_unsent_bytes_limit"),
                          (alerts_text + "troupe_leases_limit", "a row of troupe_leases_limit")):
        if [*plain.limits(metrics, alerts_text)] or not any(words in x for x in plain.limits(metrics, alerts)):
            print(f"not seen: {words}")
            missed += 1
    valued = VALUED if shutil.which("promtool") else []
    for name, old, new, words in valued:
        broken = {x.removesuffix(".json"): json.loads(y.replace(old, new) if x == f"{name}.json" else y) for x, y in texts.items()}
        if not any(words in x for x in values.findings(broken)) or old not in texts[f"{name}.json"]:
            print(f"not seen: {name}: {new.strip()}")
            missed += 1
    print(f"{len(PLANTED) + len(valued) + len(parsed) + len(PROVISIONED) + len(OTHERWISE) + len(picture_sums.PLANTED) + 5} faults, {missed} not seen")
    if not missed and not parsed:
        print("skipped: what does not parse is not planted, since there is no promtool (./dev setup --watching)")
        return 77
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
