"""Fills a disk of one's own, and empties it."""

import contextlib
import os
import threading


@contextlib.contextmanager
def filled(folder):
    """Its disk is full, if it is one of ours."""
    with open(folder / "filler", "wb", buffering=0) as out, contextlib.suppress(OSError):
        while True:
            out.write(bytes(1 << 16))
    yield
    os.remove(folder / "filler")


@contextlib.contextmanager
def filling(folder):
    """Its disk is on the way to be full, until one that has room has two fifths left."""
    ends = threading.Event()

    def fill():
        with open(folder / "filler", "wb", buffering=0) as out:
            while not ends.wait(0.1) and (room := os.statvfs(folder)).f_bavail > 0.4 * room.f_blocks:
                out.write(bytes(1 << 19))

    thread = threading.Thread(target=fill)
    thread.start()
    yield
    ends.set()
    thread.join()
    os.remove(folder / "filler")
