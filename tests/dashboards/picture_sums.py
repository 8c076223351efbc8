"""Which dashboards the pictures in docs/dashboards are of, and by which page they were drawn: DRAWN there, as sha256sum writes it, has
the sum of each of these files."""

import hashlib

DRAWN = "drawn.sha256"
COMMAND = "python3 -B tests/e2e/dashboards.py TROUPE --pictures docs/dashboards"


def line(name, text):
    """Of dashboards/`name`, which has these bytes."""
    return f"{hashlib.sha256(text).hexdigest()}  dashboards/{name}"


def of_view(dashboards):
    """What draws."""
    return {f"view/{x.name}": x.read_bytes() for x in sorted((dashboards / "view").iterdir())}


def findings(texts, kept, view=None):
    """Of {file: bytes} of dashboards/, and {file: bytes} of docs/dashboards: each has a picture, which is of what stands there now,
    and was drawn by what is in `view` now."""
    said = dict(x.split("  ", 1)[::-1] for x in kept.get(DRAWN, b"").decode().splitlines())
    again = f"draw it anew ({COMMAND}) [drawn]"
    for name, text in texts.items():
        if name.replace(".json", ".png") not in kept:
            yield f"docs/dashboards has no picture of {name}: {again}"
        elif (was := said.get(f"dashboards/{name}")) is None:
            yield f"docs/dashboards/{DRAWN} does not say what the picture of {name} is of: {again}"
        elif f"{was}  dashboards/{name}" != line(name, text):
            yield f"the picture of {name} is of another file: {again}"
    view = view or {}
    for name, text in view.items():
        if f"{said.get(f'dashboards/{name}')}  dashboards/{name}" != line(name, text):
            yield f"pictures were drawn by another {name}: {again}"
    wanted = {x.replace(".json", ".png") for x in texts}
    for name in sorted({x for x in kept if x.endswith(".png")} - wanted):
        yield f"docs/dashboards/{name} is of no dashboard [drawn]"
    for name in sorted(set(said) - {f"dashboards/{x}" for x in [*texts, *view]}):
        yield f"docs/dashboards/{DRAWN} has a row of {name}, which is no dashboard [drawn]"


def of_tree(root):
    read = {x.name: x.read_bytes() for x in sorted((root / "dashboards").glob("*.json"))}
    return findings(read, {x.name: x.read_bytes() for x in (root / "docs/dashboards").iterdir()}, of_view(root / "dashboards"))


# ({file: bytes} of pictures in the place of sound ones, what is said), where one dashboard is overview.json.
VIEW = {"view/draw.js": b"draw()"}
SOUND = {"overview.png": b"a picture", DRAWN: f"{line('overview.json', b'{}')}\n{line('view/draw.js', b'draw()')}\n".encode()}
PLANTED = [
    ({DRAWN: SOUND[DRAWN]}, "no picture of overview.json"), ({"overview.png": b"a picture"}, "does not say what the picture of overview.json is of"),
    ({**SOUND, DRAWN: line("overview.json", b"{ }").encode()}, "overview.json is of another file"),
    ({**SOUND, DRAWN: line("overview.json", b"{}").encode()}, "drawn by another view/draw.js"),
    ({**SOUND, DRAWN: line("view/draw.js", b"draw").encode()}, "drawn by another view/draw.js"),
    ({**SOUND, "sofas.png": b""}, "sofas.png is of no dashboard"), ({**SOUND, DRAWN: SOUND[DRAWN] + line("sofas.json", b"").encode()}, "a row of dashboards/sofas.json"),
]


def not_seen():
    """Which of these faults are not seen; and what is said of the sound ones, which is nothing."""
    texts = {"overview.json": b"{}"}
    yield from findings(texts, SOUND, VIEW)
    for kept, words in PLANTED:
        if not any(words in x for x in findings(texts, kept, VIEW)):
            yield f"not seen: {words}"
