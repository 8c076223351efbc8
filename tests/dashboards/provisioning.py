"""Holds deploy/grafana: what Grafana's page on provisioning does not name is dropped by it without a word."""

import re

# By the path of keys; lists are passed through.
KEYS = {
    "dashboards": {
        "": "apiVersion providers",
        "providers": "name orgId folder folderUid type disableDeletion updateIntervalSeconds allowUiUpdates options",
        "providers.options": "path foldersFromFilesStructure",
    },
    "datasources": {
        "": "apiVersion datasources deleteDatasources prune",
        "datasources": "name type access orgId uid url user database basicAuth basicAuthUser withCredentials isDefault jsonData secureJsonData "
                       "version editable",
        "datasources.jsonData": "timeInterval httpMethod queryTimeout manageAlerts prometheusType prometheusVersion cacheLevel "
                                "disableRecordingRules incrementalQuerying incrementalQueryOverlapWindow disableMetricsLookup "
                                "customQueryParameters exemplarTraceIdDestinations",
    },
}
NEEDED = {"dashboards": {"apiVersion", "providers.name", "providers.type", "providers.options.path"},
          "datasources": {"apiVersion", "datasources.name", "datasources.type", "datasources.access", "datasources.url"}}


def read(text):
    """{path of keys: value} of YAML as these files are written, and as much of it as a person needs."""
    out, above = {}, []
    for line in text.split("\n"):
        found = re.match(r"((?: |- )*)(\w+):\s*([^#]*)", line)
        if not found or line.lstrip().startswith("#"):
            continue
        deep = len(found[1])
        above = [x for x in above if x[0] < deep] + [(deep, found[2])]
        out[".".join(x for _, x in above)] = found[3].strip()
    return out


def findings(kind, text, prometheus):
    """Of a file in deploy/grafana/provisioning/KIND; `prometheus` is deploy/prometheus/prometheus.yml."""
    said = read(text)
    for path in said:
        above, _, key = path.rpartition(".")
        if key not in KEYS[kind].get(above, "").split():
            yield f"Grafana knows no '{path}' in what provisions {kind}"
    for path in sorted(NEEDED[kind] - set(said)):
        yield f"'{path}' is missing in what provisions {kind}"
    if said.get("apiVersion") != "1":
        yield f"apiVersion of what provisions {kind} is '{said.get('apiVersion')}'"
    interval, scraped = said.get("datasources.jsonData.timeInterval"), read(prometheus)["global.scrape_interval"]
    if kind == "datasources" and interval != scraped:
        yield f"timeInterval is {interval} and Prometheus scrapes every {scraped}: $__rate_interval would be too short, or too long"


def of_tree(root):
    prometheus = (root / "deploy/prometheus/prometheus.yml").read_text(encoding="utf-8")
    for kind in KEYS:
        files = sorted((root / "deploy/grafana/provisioning" / kind).glob("*.yaml"))
        if not files:
            yield f"nothing provisions {kind}"
        for path in files:
            yield from (f"{path.name}: {x}" for x in findings(kind, path.read_text(encoding="utf-8"), prometheus))
