"""Looks at the page of dashboards in headless Chromium: every panel is drawn, but those that may say why not."""

import functools
import html
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request

import picture_sums

# What has nothing to show in a run whose clients ask for nobody.
ROUTED = {"First places by expert", "Requests by expert", "Routing alarms"}
# What may have nothing to show in the run that is looked at while all is well; nor are its scores of tokens.
QUIET = {"Firing alerts", *ROUTED, "Perplexity"}
SIZES = {"wide": "1500,1320", "narrow": "600,1200"}
TREE = pathlib.Path(__file__).resolve().parents[2] / "dashboards"
# A unit, values along an axis of it, and what its ticks say.
TICKS = [("none", [0.915, 0.92, 0.925], ["0.915", "0.920", "0.925"]), ("none", [0.9, 0.905], ["0.900", "0.905"]),
         ("none", [0, 1, 2], ["0", "1", "2"]), ("none", [100, 100.5], ["100.0", "100.5"]), ("percentunit", [0.9, 0.905], ["90 %", "90.5 %"]),
         ("percentunit", [0.9, 0.9025], ["90.00 %", "90.25 %"]), ("s", [0, 20, 40, 60], ["0 s", "20 s", "40 s", "1 min"]), ("none", [5], ["5"])]
# A value, its unit and decimals, and what is said of it.
SHOWN = [(0, "none", None, "0"), (12.34, "none", None, "12.3"), (0.5, "none", None, "0.50"), (0.0004, "none", None, "0.00040"), (1090, "none", 0, "1090"),
         (0.5, "percentunit", None, "50 %"), (0.268, "percentunit", None, "26.8 %"), (0, "s", None, "0 s"), (2e-5, "s", None, "20.0 µs"), (0.25, "s", None, "250 ms"),
         (59, "s", None, "59 s"), (60, "s", None, "1 min"), (5400, "s", None, "1.50 h"), (172800, "s", None, "2 d"), (1023, "bytes", None, "1023 B"),
         (1024, "bytes", None, "1 KiB"), (3 << 30, "bytes", None, "3 GiB"), (1536, "binBps", None, "1.50 KiB/s"), (1500, "ops", None, "1.50 K/s"),
         (2, "reqps", None, "2/s"), (0, "dateTimeAsIso", None, "1970-01-01 00:00:00"), (None, "s", None, "–")]
# A value, thresholds, and its colour.
STEPS = [("green", None), ("orange", 0.5), ("red", 0.9)]
COLOURS = [(0, STEPS, "green"), (0.49, STEPS, "green"), (0.5, STEPS, "orange"), (0.89, STEPS, "orange"), (0.9, STEPS, "red"), (7, STEPS, "red"),
           (-1, STEPS, "green"), (0, [("red", None), ("green", 1)], "red"), (1, [("red", None), ("green", 1)], "green")]


def browse(browser, scratch, *arguments):
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={scratch}/browser",
         "--virtual-time-budget=15000", *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def panels_of(dom):
    """{title: (how it is drawn, why it is not, its words)}."""
    found = re.findall(r'<section[^>]*data-panel="([^"]*)"[^>]*data-drawn="(\w+)"[^>]*>(.*?)</section>', dom, re.S)
    out = {}
    for title, drawn, inside in found:
        why = re.search(r'class="why">([^<]*)', inside)
        words = html.unescape(re.sub(r"<[^>]*>", "\n", inside)).split("\n")
        out[html.unescape(title)] = (drawn, html.unescape(why[1]) if why else "", [x.strip() for x in words if x.strip()])
    return out


def says(browser, at, uid, panel, wanted, scratch, choices=""):
    """Whether a panel has a word, or several beside each other, that are this regular expression."""
    dom = browse(browser, scratch, "--dump-dom", f"{at}/user/view/#{uid}&span=60&every=0{choices}")
    return any(re.fullmatch(wanted, x) for x in panels_of(dom)[panel][2])


def looked_at(browser, at, pages, pictures, scratch):
    """What is wrong while all is well. `pictures`: a folder for them, or None."""
    return [*drawn_at(browser, at, pages, scratch, QUIET, SIZES.values(), pictures), *ticks(browser, scratch), *faults(browser, at, scratch)]


def drawn_at(browser, at, pages, scratch, may_be_empty, sizes=(SIZES["wide"],), pictures=None):
    """What is not drawn."""
    wrong, of = [], []
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
        (pictures / picture_sums.DRAWN).unlink(missing_ok=True)
    for name, page in pages.items():
        address = f"{at}/user/view/#{page['uid']}&span=60&every=0"
        for size in sizes:
            dom = browse(browser, scratch, f"--window-size={size}", "--dump-dom", address)
            shown = panels_of(dom)
            if html.escape(page["description"], quote=False) not in dom:
                wrong.append(f"{name}: the page does not ask '{page['description']}'")
            if missing := {x["title"] for x in page["panels"]} - set(shown):
                wrong.append(f"{name}: the page has no panel {sorted(missing)}")
            wrong += [f"{name}: '{x}' is not drawn: {y}, {why}" for x, (y, why, _) in shown.items() if y != "yes" and
                      not (y == "empty" and x in may_be_empty)]
            # Cells of heat maps begin where the words of their rows end.
            wrong += [f"{name}: a cell at {x} lies over the words beside it" for x in re.findall(r'<rect x="([-\d.]+)"', dom) if float(x) < 58]
            if name == "transport" and size == SIZES["wide"] and not any(re.fullmatch(r"and \d+ more", x) for x in shown.get("Bytes by kind", ("", "", []))[2]):
                wrong.append(f"{name}: 'Bytes by kind' does not say how many names its legend hides")
            wrong += [f"{name}: '{x}' says {word}: how many is that?" for x, (_, _, said) in shown.items() for word in said
                      if re.fullmatch(r"[\d.]+ [KMG]", word)]
        if pictures:
            high = 30 + 38 * max(x["gridPos"]["y"] + x["gridPos"]["h"] for x in page["panels"]) + 84
            browse(browser, scratch, f"--window-size=1500,{high}", f"--screenshot={pictures / name}.png", address)
            of.append(picture_sums.line(f"{name}.json", (TREE / f"{name}.json").read_bytes()))
    if pictures:
        of += [picture_sums.line(x, y) for x, y in picture_sums.of_view(TREE).items()]
        (pictures / picture_sums.DRAWN).write_text("".join(f"{x}\n" for x in of), encoding="utf-8")
    return wrong


def words_and_colours():
    """[(what is asked of units.js, what it is to say)]."""
    for unit, at, said in TICKS:
        yield f"u.ticksShown({json.dumps(at)}, {{ unit: '{unit}' }})", said
    for value, unit, decimals, said in SHOWN:
        field = {"unit": unit, **({} if decimals is None else {"decimals": decimals})}
        yield f"u.shown({json.dumps(value)}, {json.dumps(field)})", said
    for value, steps, said in COLOURS:
        field = {"thresholds": {"steps": [{"color": x, "value": y} for x, y in steps]}}
        yield f"u.colour({json.dumps(value)}, {json.dumps(field)})", f"var(--{said})"


def ticks(browser, scratch):
    """What ticks, values and colours are that is not what they are to be."""
    asked = [*words_and_colours()]
    served = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    shutil.copy(TREE / "view/units.js", served)
    (served / "index.html").write_text(f"""<meta charset="utf-8"><p id="words"></p><script type="module">import * as u from "./units.js";
document.getElementById("words").textContent = JSON.stringify([{", ".join(x for x, _ in asked)}]);</script>""", encoding="utf-8")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(of_faults("nothing"), directory=served)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        dom = browse(browser, scratch, "--dump-dom", f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()
    found = re.search(r'id="words">([^<]+)', dom)
    said = json.loads(html.unescape(found[1])) if found else [None] * len(asked)
    return [f"{question} says {x}, and not {wanted}" for (question, wanted), x in zip(asked, said) if x != wanted]


def of_faults(at):
    """Serves a folder, and the Prometheus at `at` under the same address, or what `at` says in its place."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            if at == "nothing" and self.path.startswith("/api/"):
                self.close_connection = True
            elif at.startswith("http:") and self.path.startswith("/api/"):
                try:
                    with urllib.request.urlopen(at + self.path, timeout=30) as answer:
                        code, said = 200, answer.read()
                except urllib.error.HTTPError as e:
                    code, said = e.code, e.read()
                self.send_response(code)
                self.end_headers()
                self.wfile.write(said)
            else:
                super().do_GET()

        def log_message(self, *_):
            pass

    return Handler


def faults(browser, at, scratch):
    """What the page says where it cannot show what is wanted: each has clear words, in place of empty panels."""
    def seen(where, old, new, asked, words):
        served = pathlib.Path(tempfile.mkdtemp(dir=scratch))
        shutil.copytree(TREE, served / "user")
        text = (TREE / "overview.json").read_text(encoding="utf-8")
        assert old in text, old
        (served / "user/overview.json").write_text(text.replace(old, new, 1), encoding="utf-8")
        handler = functools.partial(of_faults(asked), directory=served)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            dom = browse(browser, scratch, "--dump-dom", f"http://127.0.0.1:{server.server_port}/user/view/#troupe-overview&every=0")
            server.shutdown()
        found = re.search(where, dom)
        if not found or words not in html.unescape(found[1]):
            yield f"'{words}' is not what the page says: {found and found[1]}"

    said = r'id="words"[^>]*>([^<]*)'
    yield from seen(said, "", "", "something else", "is no Prometheus (404)")
    yield from seen(said, "", "", "nothing", "no Prometheus answers at")
    yield from seen(said, "{", "", at, "overview.json cannot be read: ")
    yield from seen(said, '"uid": "troupe-overview"', '"uid": "troupe-workers"', at, "workers.json has the uid of another dashboard, troupe-workers")
    yield from seen(said, 'label_values(troupe_build_info{job=~\\"$job\\"}', 'label_values(troupe_build_info{job=~\\"$jobs\\"}', at,
                    "there is no variable 'jobs'")
    yield from seen(r'data-panel="Clients"[^>]*data-drawn="error".*?class="why">([^<]*)', '"expr": "sum(troupe_clients', '"expr": "sum troupe_clients', at,
                    "parse error")
