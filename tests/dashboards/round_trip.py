"""Reads and writes each dashboard with Grafana's own types: what comes back missing is a key that Grafana does not know.
round_trip.py [ROOT]. Another Python that has grafana-foundation-sdk is named by TROUPE_GRAFANA_PYTHON."""

# What .ci/long has pip install, of the oldest Grafana that these files are for.
# pip: grafana-foundation-sdk==1769699998!10.1.0

import copy
import json
import os
import pathlib
import sys

# Of an annotation these are Prometheus' own: its data source reads them, and the types of dashboards have no word of them.
OF_THE_SOURCE = {"titleFormat", "textFormat"}


def lost(before, after, where=""):
    """What `before` has and `after` has not, or has otherwise."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(set(before) - OF_THE_SOURCE):
            yield from lost(before[key], after[key], f"{where}.{key}") if key in after else [f"{where}.{key}"]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (x, y) in enumerate(zip(before, after)):
            yield from lost(x, y, f"{where}[{i}]")
    elif before != after:
        yield f"{where} comes back as {after}"


def main():
    try:
        from grafana_foundation_sdk.cog import encoder, plugins
        from grafana_foundation_sdk.models import dashboard
    except ImportError:
        if other := os.environ.pop("TROUPE_GRAFANA_PYTHON", None):
            os.execv(other, [other, "-B", *sys.argv])
        print("skipped: no grafana-foundation-sdk; pip install grafana-foundation-sdk in a virtual environment, "
              "and name its python in TROUPE_GRAFANA_PYTHON")
        return 77
    plugins.register_default_plugins()

    def back(page):
        return json.loads(encoder.JSONEncoder().encode(dashboard.Dashboard.from_json(copy.deepcopy(page))))

    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/../../..").resolve()
    wrong = []
    for path in sorted((root / "dashboards").glob("*.json")):
        page = json.loads(path.read_text(encoding="utf-8"))
        wrong += [f"{path.name}: {x}" for x in lost(page, back(page))]
        # What nobody knows is seen, wherever it stands.
        panel = page["panels"][0]
        for place in (page, panel, panel["gridPos"], panel["targets"][0], panel["fieldConfig"]["defaults"], panel["options"],
                      page["templating"]["list"][1], page["annotations"]["list"][0]):
            place["unheard_of"] = 1
            if not any(x.endswith(".unheard_of") for x in lost(page, back(page))):
                wrong.append(f"{path.name}: an unknown key is not seen beside {sorted(place)[:3]}")
            del place["unheard_of"]
    for line in wrong:
        print(line)
    print(f"{len(wrong)} keys that Grafana does not know")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
