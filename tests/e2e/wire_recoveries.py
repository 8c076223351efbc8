"""For how long wire_kills.py says that a process waited for a server: until the first welcome of that server itself, or until it was gone.

Usage: wire_recoveries.py
"""

import contextlib
import io
import tempfile
import types

from served_run import Run
from wire_record import Record


def recoveries(*welcomes, died=None, timeline=()):
    """(What processes 0 and 1 waited for a server that begins at 10 and is seen to listen at 12, what is said of it)."""
    with tempfile.TemporaryDirectory() as name:
        run = Run("", name, "", processes=2)
    run.stalls.ended.set()
    record = Record()
    record.servers = {"old": 1.0, "new": 11.0}
    record.welcomes += welcomes
    record.timeline += timeline
    run.witness = types.SimpleNamespace(record=record)
    run.joined = [0.0, 0.0]
    run.life = types.SimpleNamespace(began=10.0, listened=12.0, died=died)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        run.note_recovery()
    return [waited for waited, _ in run.recoveries], said.getvalue()


def main():
    before = (5.0, 0, "old")
    assert recoveries(before, (13.0, 0, "new"), died=20.0) == ([1.0], "")
    # The thread that sees that it listens may be late.
    assert recoveries(before, (11.5, 0, "new"), (19.0, 0, "new"), died=20.0) == ([0.0], "")
    # A word of the one before is read late.
    assert recoveries(before, (12.1, 0, "old"), (13.0, 0, "new"), died=20.0)[0] == [1.0]
    assert recoveries((13.0, 0, "new"), died=20.0)[0] == [], "it had just begun"
    # It waits for nobody who is gone.
    assert recoveries(before, died=12.1) == ([], "")
    asked = [(11.0, "hello", "up", 1, 7), *((at, "terms_asked", "up", 0, 0) for at in (12.5, 13.5, 14.5))]
    waited, said = recoveries(before, died=15.0, timeline=asked)
    assert waited == [3.0]
    assert "process 0 is not welcome 3.0 s after" in said
    assert "2.50 terms_asked up 0 (3 until 4.50); in all {\"terms_asked\": 3}" in said, said
    assert "hello" not in said, "that is another process"


if __name__ == "__main__":
    main()
