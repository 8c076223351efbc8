"""What the record of a run that was killed lacks for a replay: record_gaps.py FOLDER"""

import collections
import json
import pathlib
import sys

from served_run import read


def gaps(folder):
    """Counts by what is missing, and an example of each."""
    found, examples = collections.Counter(), {}

    def lacks(what, number, example):
        found[what] += 1
        examples.setdefault(what, f"line {number}: {example}")

    stored = {(line, version, client, number)
              for line, version, client, number in read(folder / "ledger.sqlite", "SELECT * FROM merges")}
    invited, fetched, offered, heads = set(), set(), collections.Counter(), collections.Counter()
    open_visits, recorded, begun = {}, set(), 0
    for number, text in enumerate((folder / "events.jsonl").read_text().splitlines(), 1):
        x = json.loads(text)
        visit = (x.get("client"), x.get("visit"))
        event = x["event"]
        if event == "began":
            begun += 1
        elif event == "invited":
            if visit in invited:
                lacks("invited twice", number, visit)
            before = open_visits.get(visit[0])
            if before is not None and before != visit[1]:
                lacks("invited while an earlier visit has no end", number, (visit, before))
            invited.add(visit)
            open_visits[visit[0]] = visit[1]
        elif event == "fetched":
            if visit not in invited:
                lacks("fetched, not invited", number, visit)
            fetched.add(visit)
        elif event == "offered":
            if visit not in invited:
                lacks("offered, not invited", number, visit)
            elif visit not in fetched:
                lacks("offered, not fetched", number, visit)
            offered[visit] += 1
            if open_visits.get(visit[0]) == visit[1]:
                del open_visits[visit[0]]
        elif event in ("withdrawn", "visit_failed"):
            if open_visits.get(visit[0]) == visit[1]:
                del open_visits[visit[0]]
        elif event == "version":
            line, version = x["line"], x["version"]
            if version != heads[line] + 1:
                lacks("a version that cannot come here", number, (line, version, heads[line]))
            heads[line] = version
            for client, k in x.get("merged", []):
                recorded.add((line, version, client, k))
                if (client, k) not in offered:
                    lacks("merged, not offered", number, (client, k))
                if (line, version, client, k) not in stored:
                    lacks("a version that the ledger has otherwise", number, (line, version, client, k))
    for one in sorted(stored - recorded):
        lacks("merged, in no version of the record", 0, one)
    return begun, found, examples


if __name__ == "__main__":
    begun, found, examples = gaps(pathlib.Path(sys.argv[1]))
    print(f"{begun} processes")
    for what, n in found.most_common():
        print(f"{n:6} {what}, as {examples[what]}")
