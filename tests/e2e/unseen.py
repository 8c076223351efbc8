"""What is secret stands in nothing that people or programs are shown.

unseen.py macs STORE…                 prints the MACs of tickets that joining processes have open
unseen.py look TO TROUPE FOLDER… -- PAGES…   keeps in the folder TO what is shown of runs and stores, and their pages
unseen.py search SECRETS FOLDER…      fails where a file has one of the lines of SECRETS (NAME HEX), but those where they live
"""

import pathlib
import re
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request

MAC_AT = 68  # In a ticket.
# Where keys and tickets are at home.
PRIVATE = re.compile(r"ledger\.sqlite.*|clients\.sqlite.*|seal|pair|next|offer-.*|control|.*\.lock")


def macs(store):
    """As docs/client_store.md has it: `open` begins with a ticket."""
    for path in pathlib.Path(store).glob("run-*/clients.sqlite"):
        table = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            for ticket, in table.execute("SELECT open FROM clients WHERE open IS NOT NULL"):
                yield ticket[MAC_AT:MAC_AT + 16]
        except sqlite3.OperationalError:
            pass  # It is being written.
        finally:
            table.close()


def shown(troupe, folders, pages):
    """What can be asked for: (where, bytes)."""
    for base in pages:
        for path in "/metrics", "/why", "/healthz", "/readyz":
            for kind in "application/json", "text/plain":
                request = urllib.request.Request(base + path, headers={"Accept": kind})
                try:
                    with urllib.request.urlopen(request, timeout=10) as answer:
                        yield f"{path} as {kind}", answer.read()
                except urllib.error.HTTPError as refused:
                    yield f"{path} as {kind}", refused.read()
                except OSError:
                    pass  # It has just ended.
    for folder in folders:
        for how in "json", "text":
            done = subprocess.run([troupe, "why", folder, "--format", how], capture_output=True, check=False)
            yield f"why {folder} as {how}", done.stdout + done.stderr
        yield "status.json", (pathlib.Path(folder) / "status.json").read_bytes()


def files(folder):
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file() and not path.is_symlink() and not PRIVATE.fullmatch(path.name):
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                continue  # Who wrote it has put it in the place of another.
            yield str(path), data


def forms(secret):
    """Raw, in digits, or as JSON has a list of numbers."""
    return secret, secret.hex().encode(), secret.hex().upper().encode(), ",".join(map(str, secret)).encode()


def search(secrets, texts):
    """Returns how many texts there were."""
    count = 0
    for where, text in texts:
        count += 1
        for name, secret in secrets:
            for form in forms(secret):
                assert form not in text, f"{where} shows {name}"
    return count


def main():
    what, *rest = sys.argv[1:]
    if what == "macs":
        for store in rest:
            for mac in macs(store):
                print("a MAC", mac.hex())
    elif what == "look":
        to, troupe, *folders = rest[:rest.index("--")]
        pathlib.Path(to).mkdir(exist_ok=True)
        for where, text in shown(troupe, folders, rest[rest.index("--") + 1:]):
            name = re.sub(r"[^a-z]+", "_", where)
            with open(pathlib.Path(to) / name, "ab") as out:
                out.write(text)
    else:
        lines = pathlib.Path(rest[0]).read_text(encoding="utf-8").splitlines()
        secrets = [(name, bytes.fromhex(secret)) for name, _, secret in (x.rpartition(" ") for x in sorted(set(lines)))]
        count = search(secrets, (x for folder in rest[1:] for x in files(folder)))
        print(f"{len(secrets)} secrets are in none of {count} files")
        assert secrets and count


if __name__ == "__main__":
    main()
