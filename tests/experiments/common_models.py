#!/usr/bin/env python3
"""The common models that deploy/examples/ddome names, where it names them: common_models.py EXECUTABLE FOLDER
makes what is not there yet of FOLDER/runs/common.safetensors, common_alike.safetensors and
common_of_labels.safetensors. With FOLDER = . the examples run as they are. Seconds each."""

import json
import pathlib
import subprocess
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "deploy/examples/ddome"
# As the head of common.toml says it.
CHANGES = {
    "common": [],
    "common_alike": ["model.hidden=[16]", "stop.target=0.6"],
    "common_of_labels": ["data.shift=none", "model.hidden=[32]", "stop.target=0.75"],
}


def run(command, **how):
    """Ends the program where a command fails, whose last words are seen."""
    done = subprocess.run([str(x) for x in command], stdout=subprocess.PIPE, text=True, check=False, **how)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def make(troupe, folder, name):
    """Returns the path of one, which is made if it is not there."""
    path = pathlib.Path(folder) / "runs" / f"{name}.safetensors"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [troupe, "run", EXAMPLES / "common.toml", "--format", "json", "--folder", path.parent]
    for x in [*CHANGES[name], f"name={name}"]:
        command += ["--set", x]
    said = json.loads(run(command))
    run([troupe, "export", said["folder"], "--block", "model", "--to", path])
    print(f"{path}: {said['rounds']} rounds, accuracy {said['accuracy']:.4f}", flush=True)
    return path


def main():
    troupe, folder = sys.argv[1:]
    for name in CHANGES:
        make(pathlib.Path(troupe).resolve(), folder, name)


if __name__ == "__main__":
    main()
