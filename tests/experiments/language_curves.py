"""Perplexity over versions (or rounds) as a figure: a panel for each study, a line for each row, of its first seed."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
WIDE, HIGH, LEFT, LOW, TOP = 360, 260, 44, 30, 24


def panel(name, curves, at):
    last = max(v for curve in curves.values() for v, _ in curve)
    values = [y for curve in curves.values() for _, y in curve]
    least, most = min(values), max(values)
    x = lambda v: at + LEFT + (WIDE - LEFT - 10) * v / max(last, 1)
    y = lambda p: TOP + (HIGH - LOW - TOP) * (most - p) / max(most - least, 1e-9)
    out = [f'<text x="{at + LEFT}" y="14">{name}</text>']
    for p in (least, most):
        out.append(f'<text x="{at + LEFT - 4}" y="{y(p) + 4:.1f}" text-anchor="end">{p:.1f}</text>')
    for colour, (row, curve) in zip(COLOURS * len(curves), curves.items()):
        points = " ".join(f"{x(v):.1f},{y(p):.1f}" for v, p in curve)
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"><title>{row}</title></polyline>')
    for i, (colour, row) in enumerate(zip(COLOURS * len(curves), curves)):
        out.append(f'<text x="{at + LEFT}" y="{HIGH + 12 * i}" fill="{colour}">{row}</text>')
    return out


def draw(studies, path):
    """@param studies {study: {row: [(version or round, perplexity)]}}, none of them empty"""
    high = HIGH + 12 * max(len(x) for x in studies.values()) + 8
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE * len(studies)} {high}" font-family="sans-serif" '
           'font-size="11">', f'<rect width="{WIDE * len(studies)}" height="{high}" fill="#fff"/>']
    for i, (name, curves) in enumerate(studies.items()):
        out += panel(name, curves, i * WIDE)
    path.write_text("\n".join([*out, "</svg>"]) + "\n", encoding="utf-8")
