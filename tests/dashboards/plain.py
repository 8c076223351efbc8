"""What has no threshold, or no bound, and why: who adds a panel or a gauge gives it one, or a row here. Rows of what is gone are found."""

import re

PACE = "how fast is good depends on the method, the model and the machine"
BOTH = "many may be right, and few"
BESIDE = "its share has thresholds in another panel of the page"

# {dashboard: {panel: why no value of it is bad in itself}}.
PANELS = {
    "Overview": {
        "Visits": PACE,
        "Progress": "it goes from 0 to 1",
        "Versions": PACE,
        "Evaluation": "of some metrics more is good, of others less, and how much depends on the task",
        "Perplexity": "the less the better, and how little depends on the task",
        "Clients by state": "how many there are to be is the run's; Clients says whether anybody is here",
        "Visits and failures": "the share of failed visits has thresholds in Clients and churn",
        "Offers by verdict": "Refused offers has the thresholds, of their share",
        "Bytes": PACE,
        "Runs": "it has words",
        "Firing alerts": "each row is one; Alerts has the threshold",
    },
    "Asynchronous health": {
        "Merged offers by staleness": "a heat map has colours for how many; Staleness has the thresholds",
        "Refusals": "Refused as too stale, and Refused offers of Overview, have the thresholds, of the share",
        "Offers that wait": "what makes a version is in it, and its bound is in Fullest buffer",
        "Memory of offers": "its bound is in it; Memory of offers taken has the thresholds",
        "Rounds, 0 where there are none": "how many a round wants is in it",
    },
    "Clients and churn": {
        "At work": BOTH,
        "Clients by state": "Lost and Away have the thresholds, of their share",
        "Came and went": BOTH,
        "Visits by process": PACE,
        "Clients by process": "how many a process brings is its own matter",
        "Went, by how": "who said so and who did not are in one panel; Lost has the thresholds",
        "Sessions and places": "How full of Transport and storage has the thresholds, of places",
    },
    "Experts and routers": {
        "Router entropy, of the most": "clients that choose may be right, and clients that do not",
        "Load by expert": "Largest share of the load and Smallest, of an even share have the thresholds",
        "Rows by expert": "as Load by expert",
        "First places by expert": "Routing alarms says when one has too many",
        "Requests by expert": "Routing alarms says when nobody asks for one",
        "Entropy of routers, of the most": "as Router entropy, of the most",
        "Figures of the method": "each has a scale of its own",
        "Versions by line": PACE,
        "Heads": "versions are no measure of good and bad",
        "Merged bytes by line": PACE,
    },
    "Workers and devices": {
        "Workers at work": BOTH,
        "Workers by device": BOTH,
        "Jobs that wait, by process": "how many are many depends on the workers; Jobs that wait has the thresholds, for each worker",
        "Duration of training": "a heat map has colours for how many; Training has the thresholds",
        "Mean time of each phase": "phases are of one visit and of whole batches; Training, and Merges and commits, have the thresholds",
        "Processors": BOTH,
        "Memory": "what is much depends on the machine; Memory of devices has the thresholds",
    },
    "Transport and storage": {
        "Bytes by kind": "Said again has the thresholds, of the share of what was lost",
        "Large messages": "those that arrive and those without room are in one panel, and the latter wait in order",
        "Connections": "who is connected and who is behind are in one panel; Connected processes has the threshold",
        "What waits at sockets": "Fullest queue has the thresholds, of what may wait",
        "Kept on disk": "Free disk has the thresholds, of the disk",
    },
}

# {gauge of something that one may have too many of: why it has no `…_limit` beside it}.
GAUGES = {
    "troupe_buffer_capacity_offers": "it is itself what makes a version",
    "troupe_offer_bytes_max": "it is a limit by its old name",
    "troupe_round_offers": "troupe_round_wanted_offers is beside it",
    "troupe_round_wanted_offers": "it is itself what closes a round",
    "troupe_clients": "a run may have as many as come; those of processes are bounded by troupe_leases_limit",
    "troupe_clients_left_alone": "they are some of troupe_clients",
    "troupe_clients_here": "they are some of troupe_leases",
    "troupe_sessions": "they are some of troupe_clients",
    "troupe_worker_queue_jobs": "one for each client at most",
    "troupe_mailbox_messages": "nothing is refused for its length (docs/metrics.md)",
    "troupe_ledger_bytes": "the disk is its bound: troupe_disk_size_bytes",
    "troupe_arrivals_bytes": "the disk is its bound, and troupe_offer_bytes_limit",
    "troupe_store_bytes": "the disk is its bound",
    "troupe_disk_free_bytes": "it is what is left",
    "troupe_disk_size_bytes": "it is itself a bound",
    "troupe_connections_behind": "they are some of troupe_connections",
    "troupe_transfers": "troupe_unhandled_bytes_limit and troupe_unsent_bytes_limit are their bounds",
    "process_resident_memory_bytes": "troupe_device_memory_bytes_limit is what the machine has",
    "troupe_process_resident_memory_bytes": "as process_resident_memory_bytes",
    "process_open_fds": "process_max_fds is its bound, by the name that stock panels know",
    "process_max_fds": "it is itself a bound",
}
# {bound: why no alert says that what it bounds is full}.
UNWARNED = {
    "troupe_leases_limit": "all places given is what was wanted; who asks for more hears so (docs/operations.md), and is in troupe_refusals_total",
    "troupe_http_connections_limit": "who scrapes and finds no place is down for Prometheus: TroupeTargetDown",
    "troupe_device_memory_bytes_limit": "of the CPU it is the machine's memory, which others use as well: whoever watches the machine has an alert for it",
}
# Units of what fills something or waits.
FILLS = {"bytes", "offers", "clients", "jobs", "messages", "connections", "processes", "files"}


def panels(pages):
    """Each of them has a threshold or a row, and no row is of what is gone or has one."""
    known = {}
    for page in pages:
        title = page["title"].removeprefix("troupe: ")
        for panel in page["panels"]:
            bare = len(panel["fieldConfig"]["defaults"]["thresholds"]["steps"]) == 1
            known.setdefault(title, {})[panel["title"]] = bare
            if bare and panel["title"] not in PANELS.get(title, {}):
                yield f"'{panel['title']}' of {title} has one colour for all values: what of it is bad, or why is nothing? [plain]"
    for title, rows in PANELS.items():
        for panel in rows:
            if not known.get(title, {}).get(panel):
                yield f"plain.py has a row of '{panel}' of {title}, which has thresholds or is not there [plain]"


def limits(metrics, alerts):
    """What is full is in the words of an alert, or a row says why not."""
    asked = {x for x in metrics if x.endswith("_limit") and re.search(rf"\b{x}\b", alerts)}
    bounds = {x for x in metrics if x.endswith("_limit")}
    for name in sorted(bounds - asked - UNWARNED.keys()):
        yield f"no alert asks for {name}: who hears that it is reached? [plain]"
    for name in sorted(UNWARNED.keys() - (bounds - asked)):
        yield f"plain.py has a row of {name}, of which there is an alert, or which is not there [plain]"


def gauges(metrics):
    """What one may have too many of has its bound beside it, or a row says why not."""
    of_some = {x for x, known in metrics.items() if known.kind == "gauge" and known.unit in FILLS and not x.endswith("_limit")}
    for name in sorted(of_some):
        if f"{name}_limit" not in metrics and name not in GAUGES:
            yield f"{name} has no {name}_limit beside it: how much of it is too much? [plain]"
    for name in sorted(set(GAUGES) - of_some | {x for x in GAUGES if f"{x}_limit" in metrics}):
        yield f"plain.py has a row of {name}, which has a limit or is not there [plain]"
