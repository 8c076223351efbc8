"""Opens a page in headless Chromium: report_page.py BROWSER PAGE FOLDER. Pictures go to FOLDER."""

import json
import pathlib
import re
import struct
import subprocess
import sys
import zlib

# Asked of the page once it is laid out; the answer stands in its title.
QUESTION = """<script>
const crossing = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 &&
                           a.top < b.bottom - 1 && b.top < a.bottom - 1;
const wrong = [];
for (const svg of document.querySelectorAll("figure > svg")) {
  const frame = svg.getBoundingClientRect();
  const words = [...svg.querySelectorAll("text")];
  for (const [i, a] of words.entries()) {
    const box = a.getBoundingClientRect();
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1)
      wrong.push("sticks out: " + a.textContent);
    for (const b of words.slice(i + 1))
      if (crossing(box, b.getBoundingClientRect()))
        wrong.push(a.textContent + " over " + b.textContent);
  }
}
const wide = document.documentElement.scrollWidth > window.innerWidth;
document.title = JSON.stringify({
  wrong, wide, drawings: document.querySelectorAll("figure > svg").length,
  paper: getComputedStyle(document.body).backgroundColor,
  fetched: performance.getEntriesByType("resource").length});
</script></body>"""

MODES = {"light": [], "dark": ["--force-dark-mode"], "narrow": []}


def browse(browser, *arguments):
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND", *arguments],
        capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def colours(png):
    """How many different bytes a picture holds: a blank one has next to none."""
    data = png.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{png} is no PNG"
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    return len(set(zlib.decompress(packed)))


def main():
    browser, page, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    asking = folder / "asking.html"
    asking.write_text(page.read_text().replace("</body>", QUESTION))
    papers = set()
    for mode, more in MODES.items():
        size = f"--window-size={'500,3600' if mode == 'narrow' else '1180,2150'}"
        dom = browse(browser, *more, size, "--dump-dom", asking.resolve().as_uri())
        answer = json.loads(re.search(r"<title>(.*?)</title>", dom, re.S).group(1)
                            .replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
        print(mode, answer)
        assert answer["drawings"] == 8, "all figures are drawn"
        assert not answer["wrong"], "words stand apart and inside"
        assert not answer["wide"], "nothing is wider than the window"
        assert answer["fetched"] == 0, "nothing is fetched"
        papers.add(answer["paper"])
        picture = folder / f"report-{mode}.png"
        browse(browser, *more, size, f"--screenshot={picture}", page.resolve().as_uri())
        assert colours(picture) > 100, "the picture shows something"
    assert len(papers) == 2, f"dark is not light: {papers}"


main()
