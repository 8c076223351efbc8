"""Runs beside the one that is watched, each with one fault, by which its own alert fires and no other does."""

import pathlib
import re
import signal
import subprocess
import time
import urllib.request

import scripted_module
import watched

# Which alert each has.
ALERTS = {"starved": "TroupeExpertStarved", "dominated": "TroupeExpertDominates", "rising": "TroupeStalenessRising",
          "hangs": "TroupeWorkerHangs", "lost": "TroupeClientsLost", "collapsed": "TroupeRoutingCollapsed", "deserted": "TroupeRoutingCollapsed"}
# By which of its causes, where an alert has several.
CAUSES = {"collapsed": "crowded", "deserted": "deserted"}
# What else fires of it, and why.
ALSO = {"deserted": {"TroupeExpertStarved": "whom nobody asks for is trained by nobody"}}
LATE = "TroupeStalenessRising"
# What panels of Experts and routers say of those whose clients ask for experts.
SHOWN = {"First places by expert": r"model\.0 [1-9].*/s", "Requests by expert": r"model\.1 [1-9].*/s", "Routing alarms": r"model\.2 deserted 1"}
# What may fire beside an alert by its cause, and why it may: nothing else.
BESIDE = {
    "a straggler": {LATE: "its offers are from before it stood still, and with these times that is a rise",
                    "TroupeTargetDown": "it answers nobody while it stands still"},
    "a process that is restarted twice": {LATE: "its clients offer what they trained before",
                                          "TroupeTargetDown": "it does not answer until it is there again"},
    "a full disk": {LATE: "all stood still, and offer what they trained before",
                    "TroupeNoProgress": "nothing is done until there is room",
                    "TroupeDiskFullSoon": "it goes on as it went when it filled"},
    "a process that is killed": {LATE: "when it is back its clients offer what they trained before",
                                 "TroupeNoProgress": "its clients may have all the slots until they count as lost"},
    "nobody who trains": {LATE: "who comes back offers what was trained before"},
}

COMMON = """
name = "{name}"
clock = "wall"
seed = {seed}
time_budget = 3600
evaluate_every = 0
events = false
ledger = "memory"
"""
# Client k trains model k mod `components`, and no other.
TIED = """
method = "ensemble_optimal"
data = {{kind = "clusters", task = "linear", clusters = 2}}
clients = {{clients = {clients}}}
model = {{kind = "regression"}}
training = {{batch_size = 8, learning_rate = 0.01, local_steps = 10}}
options = {{components = {components}}}
"""
WINDOWS = """
pace = {mode = "semisync", window_seconds = 0.5}
"""
QUADRATIC = """
method = "fedavg"
data = {kind = "quadratic", dimension = 10}
model = {kind = "quadratic"}
training = {local_steps = 5, batch_size = 0, learning_rate = 0.1}
"""
# One client, whose gate stands still: it has two experts each time, the same ones and the same one first.
ASKED = """
method = "ddome"
workers = 1
data = {{kind = "synthetic"}}
clients = {{clients = 1}}
model = {{kind = "softmax"}}
pace = {{mode = "fedbuff", concurrency = 1, buffer_size = 1}}
training = {{local_steps = 2, batch_size = 10, learning_rate = 0.0001}}
options = {{experts = {experts}, chosen = 2, anchors = 0, gate_rate = 0}}
"""
SCRIPTED = """
method = "fedavg"
workers = 2
data = {{kind = "synthetic", synthetic_beta = 100.0}}
clients = {{clients = 2}}
model = {{kind = "torchscript", path = "{module}"}}
training = {{local_steps = 2, batch_size = 10, learning_rate = 0.0001}}
"""
# A model of one's own that hangs where examples are above zero on the mean: those of one of two clients, with this seed.
HANGS = scripted_module.CODE.replace("""    w = self.w
""", """    w = self.w
    hangs = bool(torch.gt(torch.mean(x), 0.))
    while hangs:
      hangs = bool(torch.gt(torch.mean(x), 0.))
""")


def scenes(*of):
    return "".join(f"[[scene]]\nat = {at}\n{what} = {list(whom)}\n" for at, what, whom in of)


def told(name, address):
    """What is asked for its own alert, in the last ten minutes."""
    what = f', what="{CAUSES[name]}"' if name in CAUSES else ""
    return f'count_over_time(ALERTS{{alertstate="firing", alertname="{ALERTS[name]}", instance="{address}"{what}}}[600s])'


class Planted:
    def __init__(self, troupe, folder):
        self.troupe, self.folder = str(troupe), pathlib.Path(folder)
        self.folder.mkdir()
        self.processes, self.http = {}, {}
        self.left = None

    def write(self, name, text, scenario="", seed=1):
        """Its file."""
        path = self.folder / f"{name}.toml"
        head = COMMON.format(name=name, seed=seed)
        if scenario:
            path.with_suffix(".scenes").write_text(scenario, encoding="utf-8")
            head += f'scenario = "{path.with_suffix(".scenes")}"\n'
        path.write_text(head + text, encoding="utf-8")
        return path

    def run(self, name, *written, **more):
        path, log = self.write(name, *written, **more), self.folder / f"{name}.log"
        with open(log, "w", encoding="utf-8") as out:
            # It trains without a pause, beside other tests.
            command = ["nice", "-n", "10", self.troupe, "run", path, "--http", "127.0.0.1:0", "--folder", self.folder / "runs"]
            self.processes[name] = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while not (said := re.search(r"^metrics at http://(\S+)/metrics$", log.read_text(encoding="utf-8"), re.M)):
            assert self.processes[name].poll() is None and time.monotonic() < deadline, f"{name} does not begin: {log.read_text(encoding='utf-8')}"
            time.sleep(0.05)
        self.http[name] = said[1]

    def loses(self):
        """Of two processes one dies without a word. Its clients are lost after a minute and a half, so this begins early."""
        text = QUADRATIC + 'clients = {clients = 20}\npace = {mode = "semisync", window_seconds = 0.5, concurrency = 20}\n'
        self.left = watched.Watched(self.troupe, self.folder / "lost", 1, config=self.write("lost", text))
        self.left.folder.mkdir()
        self.left.serve()
        self.left.join("stays", 10)
        self.left.join("dies", 10)
        time.sleep(1)
        self.left.end("dies", signal.SIGKILL)
        self.http["lost"] = self.left.http["server"]

    def begin(self):
        # Two clients, and the third model is nobody's.
        self.run("starved", TIED.format(clients=2, components=3) + WINDOWS)
        # Six clients of the first model, and of the second one only the last.
        self.run("dominated", TIED.format(clients=12, components=2) + WINDOWS, scenes(*((1, "leave", (x, x)) for x in range(2, 12, 2))))
        # Two clients, and forty when that has been seen for some seconds.
        self.run("rising", QUADRATIC + 'clients = {clients = 40}\npace = {mode = "fedbuff", concurrency = 40, buffer_size = 1}\nworkers = 1\n',
                 scenes((14, "join", (3, 40))))
        self.run("collapsed", ASKED.format(experts=2))
        self.run("deserted", ASKED.format(experts=3))
        scripted_module.main(self.folder / "hangs.pt", 1, HANGS)
        self.run("hangs", SCRIPTED.format(module=self.folder / "hangs.pt") + WINDOWS, seed=2)
        for name in self.processes:
            self.until_visits(name)

    def until_visits(self, name):
        """Before them a run has made no progress, which is a fault as well."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with urllib.request.urlopen(f"http://{self.http[name]}/metrics", timeout=10) as page:
                if re.search(rb"^troupe_visits_total [1-9]", page.read(), re.M):
                    return
            time.sleep(0.2)
        raise AssertionError(f"the run '{name}' trains nothing")

    def said_otherwise(self):
        """What is wrong with what they told who started them: what stands is told when it begins, and not at each look."""
        times = (self.folder / "collapsed.log").read_text(encoding="utf-8").count("first places")
        return [] if times == 1 else [f"the run 'collapsed' has said {times} times, and not once, that one expert has nearly all first places"]

    def end(self, name):
        """At once: nobody goes on with them, and one hangs."""
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def close(self):
        for name in list(self.processes):
            self.end(name)
        if self.left:
            self.left.close()
