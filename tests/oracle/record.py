"""What a run left in its folder: events.jsonl, and the versions that its ledger still has."""

import json
import pathlib
import sqlite3

import numpy as np


class Record:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        with open(self.folder / "events.jsonl", encoding="utf-8") as lines:
            self.events = [json.loads(x) for x in lines]
        with open(self.folder / "summary.json", encoding="utf-8") as file:
            self.summary = json.load(file)
        # Values by (line, version, place of the block in its line).
        self.values = {}
        ledger = sqlite3.connect(f"file:{self.folder / 'ledger.sqlite'}?mode=ro", uri=True)
        first = {}
        for line, version, block, content, data in ledger.execute(
                "SELECT line, version, block, content, bytes FROM contents "
                "WHERE what = 'values' ORDER BY line, version, block"):
            first.setdefault(line, block)
            if data is None:
                data = (self.folder / "versions" / content).read_bytes()
            self.values[line, version, block - first[line]] = (
                np.frombuffer(data, dtype="<f4").astype(np.float64))
        ledger.close()
