"""What draw.js makes of series that one checks by hand, in headless Chromium: drawings.py [--planted].
With --planted each kind of drawing is spoilt once, and that is seen."""

import functools
import html
import http.server
import json
import math
import pathlib
import re
import shutil
import sys
import tempfile
import threading

import view

STEPS = [{"color": "green", "value": None}, {"color": "orange", "value": 5}, {"color": "red", "value": 20}]
FIELD = {"unit": "none", "thresholds": {"steps": STEPS}}
SPAN = {"from": 0, "to": 40, "step": 10}
MARKS = [{"at": 20, "color": "red", "words": "a mark"}]


def series(name, values, labels=None):
    """A value each ten seconds; None where there is none."""
    return {"name": name, "labels": labels or {}, "points": [[10 * i, x] for i, x in enumerate(values) if x is not None]}


LINES = [series("a", [0, 5, None, None, 10]), series("b", [5, 5, 5, 5, 5])]
BUCKETS = [series(x, y, {"le": x}) for x, y in (("2", [0, 1, 1]), ("1", [0, 1, 0]), ("+Inf", [0, 1, 5]))]
# One more than are shown at once, and not in the order of their values.
GAUGES = [series(f"g{x}", [x]) for x in (3, 1, 7, 2, 6, 4, 5)]
MANY = [series(f"l{x}", [x] * 5) for x in (3, 1, 2, *range(4, 23))]
# A kind, what is asked and shown, fields of its own, what the panel has beside, and what is done to it then.
DRAWN = [
    ("timeseries", LINES, {"custom": {"thresholdsStyle": {"mode": "line"}, "fillOpacity": 10}}, {}),
    ("timeseries", LINES, {"custom": {"stacking": {"mode": "normal"}}}, {}),
    ("stat", LINES[:1], {}, {"options": {"graphMode": "area"}}),
    ("bargauge", [series("half", [5]), series("whole", [10])], {}, {}),
    ("gauge", [series("half", [15])], {"min": 0, "max": 30}, {}),
    ("heatmap", BUCKETS, {}, {}),
    ("table", [series("", [7], {"who": "s", "hidden": "x"})], {},
     {"transformations": [{"id": "organize", "options": {"excludeByName": {"hidden": True}, "renameByName": {"who": "Who"}}}]}),
    ("gauge", GAUGES, {"min": 0, "max": 30}, {}),
    ("gauge", GAUGES, {"min": 0, "max": 30}, {"done": "clicked"}),
    ("timeseries", MANY, {}, {"done": "pointed at"}),
]
# (what draw.js has, what stands there instead): a drawing each that lacks something.
PLANTED = [
    ('fill: "none", stroke: lineColour(i)', 'fill: "none", stroke: "none"'),
    ("if (!Number.isFinite(v) || (run.length && t - run.at(-1)[0] > 1.5 * step)) end();", ""),
    ("if (field.custom?.thresholdsStyle)", "if (false)"),
    ("step.value >= low && step.value <= high", "step.value < low"),
    ("for (const mark of marks) {", "for (const mark of []) {"),
    ('"fill-opacity": fill / 100', '"fill-opacity": 0'),
    ("below.set(t, top);", ""),
    ("stroke: colour(value, field), \"stroke-opacity\": 0.7", 'stroke: "none"'),
    ("style: `color:${colour(value, field)}` }, shown(value, field)", "}, shown(value, field)"),
    ("width:${100 * share}%", "width:0%"),
    ("sort((a, b) => last(b) - last(a))", "sort(() => 0)"),
    ("fullestFirst(series).map((one)", "series.map((one)"),
    ("fullestFirst(series).map((one)", "fullestFirst(series).slice(0, 6).map((one)"),
    ("more.textContent = n > 0 ? `and ${n} more` : \"\";\n  };\n  more.addEventListener(\"click\", () => show(true)", "};\n  more.addEventListener(\"click\", () => show(true)"),
    ('more.addEventListener("click", () => show(true));', ""),
    (".sort((a, b) => b[1] - a[1])", ""),
    (", ...(more > 0 ? [`and ${more} more`] : [])", ""),
    ("arc(0, share(last(one)), 38)", "arc(0, 1, 38)"),
    ("arc(from, to, 45)", "arc(0, 1, 45)"),
    ("svg.append(node(\"rect\"", "void (node(\"rect\""),
    ("v - (under.get(t) ?? 0)", "v"),
    ("fill: heat(v / most)", "fill: heat(1)"),
    ("names.map((x) => node(\"th\", {}, renameByName[x] ?? x))", "names.map((x) => node(\"th\", {}, x))"),
    (".filter((x) => !excludeByName[x])", ""),
]


def drawn_by(browser, scratch, old="", new=""):
    """The inside of each of DRAWN, by draw.js with that change."""
    served = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    shutil.copytree(view.TREE / "view", served / "view")
    code = (view.TREE / "view/draw.js").read_text(encoding="utf-8")
    assert old in code, f"draw.js has no {old}"
    (served / "view/draw.js").write_text(code.replace(old, new), encoding="utf-8")
    boxes = "".join('<section class="one"><div class="body" style="width:460px;height:216px"></div></section>' for _ in DRAWN)
    asked = [[kind, what, {**FIELD, **field}, panel] for kind, what, field, panel in DRAWN]
    (served / "index.html").write_text(f"""<meta charset="utf-8"><div id="tip"></div>{boxes}<script type="module">import {{ kinds }} from "./view/draw.js";
const places = document.querySelectorAll(".body");
const done = {{
  "clicked": (place) => place.querySelector("button").click(),
  "pointed at": (place) => {{
    const svg = place.querySelector("svg");
    const at = svg.getBoundingClientRect();
    svg.dispatchEvent(new MouseEvent("mousemove", {{ clientX: at.left + 257, clientY: at.top + 9 }}));
    place.append(document.getElementById("tip").textContent.replaceAll("\\n", "; "));
  }},
}};
{json.dumps(asked)}.forEach(([kind, series, field, panel], i) => {{
  kinds[kind](places[i], series, field, panel, {json.dumps(SPAN)}, {json.dumps(MARKS)});
  done[panel.done]?.(places[i]);
}});
</script>""", encoding="utf-8")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(view.of_faults("nothing"), directory=served)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        dom = view.browse(browser, scratch, "--dump-dom", f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()
    return re.findall(r'<section class="one">(.*?)</section>', dom, re.S)


def tags(text, name):
    """The attributes of each such element."""
    return [{k: html.unescape(v) for k, v in re.findall(r'([\w-]+)="([^"]*)"', x)} for x in re.findall(rf"<{name}\b([^>]*)>", text)]


def lines_of(text):
    """(colour, [points of each run]) of every line."""
    return [(x["stroke"], [[tuple(map(float, p.split(","))) for p in run.split("L")] for run in x["d"].replace("h1", "").split("M")[1:]])
            for x in tags(text, "path") if x.get("fill") == "none"]


def near(x, wanted):
    return abs(x - wanted) < 0.2


def wrong_lines(text):
    """A panel of 460 by its height, with 58 for the words of its axis."""
    found = lines_of(text)
    if [len(runs) for _, runs in found] != [2, 1] or len({colour for colour, _ in found}) != 2 or "none" in {colour for colour, _ in found}:
        yield f"two lines, one of them in two runs, are {found}"
        return
    (_, (first, second)), (_, (flat,)) = found
    if [len(first), len(second), len(flat)] != [2, 1, 5]:
        yield f"lines of 2, 1 and 5 points are {found}"
    across = [x for x, _ in flat]
    if not near(across[0], 58) or not near(across[-1], 456) or not near(across[2] - across[1], 99.5):
        yield f"forty seconds are at {across}"
    if len({y for _, y in flat}) != 1 or not near(first[1][1], flat[0][1]) or not second[0][1] < flat[0][1] < first[0][1]:
        yield f"0, 5 and 10 are at {first}, {second} beside {flat[0]}"
    bounds = [x for x in tags(text, "line") if x.get("stroke-dasharray") == "6 4"]
    if [(x["stroke"], near(float(x["y1"]), flat[0][1])) for x in bounds] != [("var(--orange)", True)]:
        yield f"the threshold of 5 is {bounds}, and 20 is not within the panel"
    if [x["stroke"] for x in tags(text, "line") if x.get("stroke-dasharray") == "3 3" and near(float(x["x1"]), across[2])] != ["var(--red)"]:
        yield "a mark after twenty seconds is not there"
    if [x["fill-opacity"] for x in tags(text, "path") if x.get("fill", "none") not in ("none", "var(--red)")] != ["0.1", "0.1"]:
        yield "what is below a line is not filled"
    if re.findall(r"</i>([^<]*)</span>", text) != ["a 10", "b 5"]:
        yield f"the legend says {re.findall(r'</i>([^<]*)</span>', text)}"


def wrong_stack(text):
    (_, low), (_, high) = lines_of(text)
    heights = [y for run in low for _, y in run], [y for run in high for _, y in run]
    # 5 upon 0, 5 upon 5, and where the first has nothing 5.
    if not (heights[1][1] < heights[1][0] and near(heights[1][0], heights[1][2]) and near(heights[0][1], heights[1][0])):
        yield f"what is stacked is at {heights}"


def wrong_stat(text):
    if re.findall(r'class="value" style="color: ?var\(--(\w+)\)[^>]*>([^<]*)', text) != [("orange", "10")]:
        yield f"a value of 10 is {text[-200:]}"
    if [(x, len(runs)) for x, runs in lines_of(text)] != [("var(--orange)", 2)]:
        yield f"its line is {lines_of(text)}"


def wrong_bars(text):
    found = re.findall(r'<b title="(\w+)">.*?width: ?([\d.]+)%; ?background: ?var\(--(\w+)\)', text)
    if found != [("whole", "100", "orange"), ("half", "50", "orange")]:
        yield f"bars of 10 and 5 are {found}"


def wrong_gauge(text):
    arcs = [x for x in tags(text, "path")]
    ends = [tuple(map(float, x["d"].split(" 0 0 1 ")[1].split())) for x in arcs]
    # Of a half circle about (50, 56): the whole, 15 of 30, and thresholds at 5 and 20 of 30.
    at = [(38, 1), (38, 0.5), (45, 5 / 30), (45, 20 / 30), (45, 1)]
    wanted = [(50 - r * math.cos(math.pi * share), 56 - r * math.sin(math.pi * share)) for r, share in at]
    if len(ends) != 5 or not all(near(a, c) and near(b, d) for (a, b), (c, d) in zip(ends, wanted)):
        yield f"arcs end at {ends}, and not {wanted}"
    if [x["stroke"] for x in arcs] != ["var(--rule)", *(f"var(--{x})" for x in ("orange", "green", "orange", "red"))]:
        yield f"arcs are {[x['stroke'] for x in arcs]}"


def wrong_cells(text):
    found = sorted((float(x["y"]), float(x["x"]), x["fill"]) for x in tags(text, "rect"))
    # At ten seconds one is at most 1; at twenty one is at most 2, and four are more: the highest row is of those.
    if len(found) != 3 or not found[0][0] < found[1][0] < found[2][0] or not near(found[0][1], found[1][1]) or found[2][1] >= found[1][1]:
        yield f"cells are {found}"
    elif len({x for _, _, x in found[1:]}) != 1 or found[0][2] == found[1][2]:
        yield f"four have the colour of one: {found}"


def wrong_table(text):
    found = re.findall(r"<th>(.*?)</th>", text), re.findall(r"<td>(.*?)</td>", text)
    if found != (["Who", "Value"], ["s", "7"]):
        yield f"a table is {found}"


def gauges_of(text):
    """The names of those that are shown, of those that are not, and what stands beside them."""
    found = re.findall(r'<figure( hidden="")?>.*?y="70"[^>]*>([^<]*)<', text)
    return [x for hidden, x in found if not hidden], [x for hidden, x in found if hidden], re.findall(r"<button[^>]*>([^<]*)<", text)


def wrong_gauges(text):
    if (found := gauges_of(text)) != (["g7", "g6", "g5", "g4", "g3", "g2"], ["g1"], ["and 1 more"]):
        yield f"seven gauges are {found}"


def wrong_whole(text):
    if (found := gauges_of(text)) != (["g7", "g6", "g5", "g4", "g3", "g2", "g1"], [], [""]):
        yield f"all seven gauges are {found}"


def wrong_tip(text):
    """Of 22 lines the two that have least are a number."""
    found = text.partition("</svg>")[2].partition("<")[0].split("; ")
    if found[1:] != ["▲ a mark", *(f"l{x}  {x}" for x in range(22, 2, -1)), "and 2 more"]:
        yield f"what is pointed at is {found}"


WRONG = [wrong_lines, wrong_stack, wrong_stat, wrong_bars, wrong_gauge, wrong_cells, wrong_table, wrong_gauges, wrong_whole, wrong_tip]


def findings(browser, scratch, old="", new=""):
    found = drawn_by(browser, scratch, old, new)
    if len(found) != len(DRAWN):
        yield f"{len(found)} of {len(DRAWN)} are there"
        return
    for (kind, *_), text, look in zip(DRAWN, found, WRONG):
        try:
            yield from (f"{kind}: {x}" for x in look(text))
        except (ValueError, KeyError, IndexError) as e:
            yield f"{kind}: {type(e).__name__} {e}: {text[:300]}"


def main():
    browser = shutil.which("chromium")
    if not browser:
        print("skipped: there is no chromium (./dev setup --watching)")
        return 77
    with tempfile.TemporaryDirectory() as name:
        wrong = [*findings(browser, name)]
        for old, new in PLANTED if "--planted" in sys.argv else []:
            if not [*findings(browser, name, old, new)]:
                wrong.append(f"not seen: {new or 'nothing'} in the place of {old}")
    print("\n".join(wrong or [f"{len(DRAWN)} drawings are as they are to be"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
