"""Terms of a server that name a path for each kind of data and of models, common ones too, and wherever else a configuration
may have one: who joins opens none of them. Each file there is a FIFO, so that whoever opened one would wait, and the system
says who did not.
"""

import ctypes
import os
import re
import select

from misfits import MISFIT, Misfit, joined

DATA, REFUSED = 6, 5
FILES = ("train.csv", "test.csv", "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
         "t10k-labels-idx1-ubyte", "data_batch_1.bin", "test_batch.bin", "train.bin", "test.bin", "model.pt")
ACCESS, OPEN = 0x1, 0x20  # Of inotify.
ANOTHER_RUN = "that is another run"
NO_DATA = "a process that joins has as well"
LIBC = ctypes.CDLL(None, use_errno=True)


class Trap:
    """A folder that sees what is opened in it."""

    def __init__(self, folder):
        folder.mkdir()
        self.folder = folder
        for name in FILES:
            os.mkfifo(folder / name)
        self.seen = LIBC.inotify_init()
        assert self.seen >= 0 and LIBC.inotify_add_watch(self.seen, os.fsencode(folder), ACCESS | OPEN) >= 0, \
            os.strerror(ctypes.get_errno())

    def was_opened(self):
        if select.select([self.seen], [], [], 0)[0]:
            return os.read(self.seen, 4096)
        return None


def section(lines, name, body):
    """The configuration with these lines in the place of those of a section."""
    out, inside = [], False
    for line in lines:
        if line.startswith("["):
            inside = line == f"[{name}]" or line.startswith(f"[{name}.")
        if not inside:
            out.append(line)
    return [*out, f"[{name}]", *body]


def none_is_opened(troupe, scratch, terms):
    trap = Trap(scratch / "trap")
    with open(trap.folder / "seen", "wb"):
        pass
    assert trap.was_opened(), "the trap sees nothing"
    lines, own = [str(x) for x in terms["lines"]], scratch / "own.csv"
    features = terms["inputs"][0]
    own.write_text(",".join(f"f{i}" for i in range(features)) + ",label\n"
                   + "".join(f"{','.join([str(k)] * features)},{k % 2}\n" for k in range(9)), encoding="utf-8")

    def ends(what, code, says, *options, client=1):
        server = Misfit({**terms, "lines": what}, client=client)
        done = joined(troupe, server, *options)
        assert done.returncode == code and says in done.stderr, (what, done.returncode, done.stderr)
        assert not trap.was_opened(), f"of a server's terms somebody opens a path: {what}"

    def named(name, path, kind):
        out = section(lines, name, [f'kind = "{kind}"', f'path = "{path}"'])
        return section(out, "partition", ['kind = "iid"']) if name == "data" else out

    for kind, path in (("csv", "train.csv"), ("idx", ""), ("cifar10", ""), ("cifar100", "")):
        ends(named("data", trap.folder / path, kind), DATA, NO_DATA)
    for kind in ("csv", "idx"):  # Whoever brings its own reads that.
        ends(named("data", trap.folder, kind), REFUSED, ANOTHER_RUN, "--id", "ward", "--data", own, "--store", scratch / "own",
             client=5)
    ends(named("model", trap.folder / "model.pt", "torchscript"), MISFIT, "has a scripted model")
    texts = section(lines, "data", ['kind = "language"', f'path = "{trap.folder}"', f'cache = "{trap.folder}"',
                                    f'tokenizer = "{trap.folder / "model.pt"}"'])
    texts = section(section(texts, "model", ['kind = "language"', f'path = "{trap.folder / "model.pt"}"']), "partition",
                    ['kind = "natural"'])
    ends(texts, MISFIT, "adapts a language model of a file")
    gated = [y for x in lines for y in (('method = "ddome"', f'common = "{trap.folder / "model.pt"}"') if x.startswith("method = ") else (x,))]
    scripted = ['kind = "torchscript"', f'path = "{trap.folder / "model.pt"}"']
    ends(section(gated, "common_model", scripted), MISFIT, "has a scripted common model")
    ends(section(gated, "common_model", ['kind = "softmax"']), MISFIT, "other blocks than the run's")
    others = [re.sub('^(init|scenario|folder) = .*', rf'\1 = "{trap.folder / "model.pt"}"', x) for x in lines]
    for name in ("devices.speed", "availability"):
        others = section(others, name, ['kind = "trace"', f'path = "{trap.folder / "test.csv"}"'])
    assert sum("/trap/" in x for x in others) == 5, others
    ends(others, REFUSED, ANOTHER_RUN)
