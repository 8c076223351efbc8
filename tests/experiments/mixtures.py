"""FLoRAL's claims about images, on Fashion-MNIST, one seed: which method is better where. Its
synthetic tasks are among the experiment_tests. Argument: the executable.

Shorter than the sweeps of deploy/examples/floral, whose tables are in docs/methods.md."""

import json
import subprocess
import sys
import tempfile

REDUCED = ["train_share=0.05", "router_rate=0.3", "rounds=600"]
ASYNCHRONOUS = [
    "mode=fedbuff", "buffer_size=10", "concurrency=30", "rounds=0", "updates=6000",
    "devices.seconds_per_step=0.1", "devices.speed.kind=half_normal", "devices.speed.sigma=10",
]


def accuracy(troupe, folder, task, method, settings):
    command = [troupe, "run", f"deploy/examples/floral/{task}.toml", "--format", "json"]
    said = ["rounds=200", "evaluate_every=200", "events=false", "ledger=memory", f"folder={folder}"]
    for x in [*said, *settings, f"method={method}"]:
        command += ["--set", x]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)["per_client"]["mean"]
    print(f"{task} {method} {' '.join(settings)}: {found:.4f}", flush=True)
    return found


def main():
    troupe = sys.argv[1]
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        def of(task, method, settings=()):
            return accuracy(troupe, folder, task, method, list(settings))

        def hold(what, true):
            print(("holds  " if true else "FAILS  ") + what, flush=True)
            wrong.extend([] if true else [what])

        for name, pace in (("in rounds", []), ("by FedBuff", ASYNCHRONOUS)):
            one = of("label_shift", "fedavg", pace)
            mixed = of("label_shift", "floral_optimal", pace)
            whole = of("label_shift", "ensemble_optimal", pace)
            hold(f"label shift {name}: one model knows about a quarter", 0.15 < one < 0.35)
            hold(f"label shift {name}: adapters within 5 points of whole models",
                 mixed > whole - 0.05)
            hold(f"rotation {name}: adapters above one model",
                 of("rotation", "floral_optimal", pace) > of("rotation", "fedavg", pace))
        for task in ("label_shift", "rotation"):
            hold(f"{task}, little data: shared adapters above private ones",
                 of(task, "floral_optimal", REDUCED) > of(task, "local_adaptor", REDUCED) + 0.05)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
