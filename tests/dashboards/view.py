"""Looks at the page of dashboards in headless Chromium: every panel is drawn, but those that may say why not."""

import functools
import html
import http.server
import pathlib
import re
import subprocess
import threading

# What may have nothing to show while all is well; a served run of the method that is looked at has no figures of its own.
QUIET = {"Firing alerts", "Figures of the method"}
SIZES = {"wide": "1500,1320", "narrow": "600,1200"}


def browse(browser, scratch, *arguments):
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={scratch}/browser",
         "--virtual-time-budget=15000", *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def looked_at(browser, at, pages, pictures, scratch):
    """What is wrong. `pictures`: a folder for them, or None."""
    wrong = []
    for name, page in pages.items():
        address = f"{at}/user/view/#{page['uid']}&span=60&every=0"
        for size in SIZES.values():
            dom = browse(browser, scratch, f"--window-size={size}", "--dump-dom", address)
            shown = {html.unescape(x): (y, html.unescape(why)) for x, y, why in
                     re.findall(r'data-panel="([^"]*)"[^>]*data-drawn="(\w+)"[^>]*>(?:(?!</section>).)*?(?:class="why">([^<]*).*?)?</section>', dom, re.S)}
            if missing := {x["title"] for x in page["panels"]} - set(shown):
                wrong.append(f"{name}: the page has no panel {sorted(missing)}")
            wrong += [f"{name}: '{x}' is not drawn: {y}, {why}" for x, (y, why) in shown.items() if y != "yes" and
                      not (y == "empty" and x in QUIET)]
        if pictures:
            pictures.mkdir(parents=True, exist_ok=True)
            high = 30 + 38 * max(x["gridPos"]["y"] + x["gridPos"]["h"] for x in page["panels"]) + 84
            browse(browser, scratch, f"--window-size=1500,{high}", f"--screenshot={pictures / name}.png", address)
    return wrong + without_prometheus(browser, scratch)


def without_prometheus(browser, scratch):
    """Where something else serves the page it says so, in place of empty panels."""
    served = pathlib.Path(scratch) / "served"
    served.mkdir(exist_ok=True)
    if not (served / "user").exists():
        (served / "user").symlink_to(pathlib.Path(__file__).resolve().parents[2] / "dashboards")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=served)
    handler.func.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        dom = browse(browser, scratch, "--dump-dom", f"http://127.0.0.1:{server.server_port}/user/view/#troupe-overview&every=0")
        server.shutdown()
    said = re.search(r'id="words"[^>]*>([^<]*)', dom)
    return [] if said and "is no Prometheus (404)" in said[1] else [f"without Prometheus the page says {said and said[1]}"]
