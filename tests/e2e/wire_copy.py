"""The folder of a served run comes back from a copy, older than what its clients remember.

Usage: wire_copy.py TROUPE

The run goes on from the copy and ends, no client has forgotten anything, no number is given again which a hello
remembers, and of versions that are lost nobody says that it has one, nor is anything merged that stands on one.
"""

import pathlib
import shutil
import sys
import tempfile
import time

import wire_laws
from served_run import Run, read
from wire_kills import CONFIG, FEDBUFF
from wire_record import Record
from witness import kill_now

NOT_SAID = 2**64 - 1


class RecordAfter(Record):
    """Of what goes by after the copy came: what was served and given before may be otherwise now."""

    def __init__(self, heads):
        super().__init__()
        self.heads = heads  # Line to its version in the copy.
        self.served = set()  # (line, version)
        self.held_of_lost = []
        self.on_lost = set()  # Visits that offered on versions which this server has not served them.
        self.remembered = {}  # Client to the newest visit of a hello.
        self.at_work = {}  # Visit to its ticket, as a hello brought it.
        self.given_again = []

    def on_hello(self, x):
        super().on_hello(x)
        if x.last is not None and x.last != NOT_SAID:
            self.remembered[x.client] = max(x.last, self.remembered.get(x.client, 0))
        self.at_work.update((ticket.visit, ticket) for ticket in x.open)

    def on_invited(self, x):
        super().on_invited(x)
        client, number = x.visit
        own = self.at_work.get(x.visit)
        is_own = own is not None and (own.index, own.seed) == (x.index, x.seed)
        if number <= self.remembered.get(client, 0) and not is_own:
            self.given_again.append(x.visit)


    def is_lost(self, line, version):
        return version > self.heads[line]

    def on_line_served(self, x):
        super().on_line_served(x)
        self.served.add((x.line, x.base))

    def on_fetch_requested(self, x):
        super().on_fetch_requested(x)
        for line, held, _, _ in x.wanted:
            if held != NOT_SAID and self.is_lost(line, held) and (line, held) not in self.served:
                self.held_of_lost.append((x.ticket.visit, line, held))

    def on_offer_made(self, x):
        super().on_offer_made(x)
        visit = x.ticket.visit
        if visit not in self.fetched and any(self.is_lost(self.block_lines[y.block], y.base) for y in x.blocks):
            self.on_lost.add(visit)


def until(run, head):
    """All have their places before: of who comes after a copy, the copy knows nothing."""
    deadline = time.monotonic() + 120
    joins = list(run.scratch.glob("*-join-*.log"))
    while not all("joined with" in x.read_text(encoding="utf-8") for x in joins) or min(run.heads().values(), default=0) < head:
        assert time.monotonic() < deadline and run.server.poll() is None, f"there is no version {head}"
        time.sleep(0.02)
    kill_now(run.server)
    run.server.wait()


def main():
    troupe = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        run = Run(troupe, name, CONFIG.format(method="fedavg", pace=FEDBUFF, clients="", length="versions = 40",
                                              dimension=100, hidden=1000, durability="version"))
        try:
            run.begin()
            until(run, 3)
            shutil.copytree(run.folder, run.scratch / "copy", ignore=shutil.ignore_patterns("control"))
            run.serve()
            until(run, 12)
            shutil.rmtree(run.folder)
            shutil.copytree(run.scratch / "copy", run.folder)
            before = run.witness.record
            record = RecordAfter(dict(read(run.folder / "ledger.sqlite", "SELECT line, head FROM lines")))
            record.block_lines.update(before.block_lines)
            run.witness.record = record
            run.serve()
            run.finish()
            merges = wire_laws.check_ledger(run.folder, 5)
            record.offers = {**before.offers, **record.offers}
            wire_laws.check_answers(record, merges)
            wire_laws.check_stores(run, merges)
        except BaseException:
            print(run.logs())
            raise
        finally:
            run.close()
        verdicts = sorted({verdict for answers in record.answers.values() for verdict in answers})
        print(f"{len(record.given_again)} numbers are given again, {len(record.declined)} visits declined; answers: {verdicts}; "
              f"{len(record.on_lost)} offers stand on versions that are lost")
        assert not record.given_again, f"given though it is remembered: {record.given_again[:5]}"
        assert record.remembered, "no hello remembered anything"
        assert not record.held_of_lost, f"a lost version is said to be here: {record.held_of_lost[:5]}"
        assert record.on_lost, "nobody offered anything on a version that is lost"
        otherwise = {part: dict(said) for part, said in record.answers.items() if part[0] in record.on_lost and set(said) != {"withdrawn"}}
        assert not otherwise, f"on a lost version: {list(otherwise.items())[:5]}"
        merged = {visit for versions in merges.values() for visits in versions.values() for visit in visits}
        assert not record.on_lost & merged, f"merged on a lost version: {sorted(record.on_lost & merged)[:5]}"


if __name__ == "__main__":
    main()
