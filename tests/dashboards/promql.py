"""Reads expressions of Prometheus well enough for rules about them, and puts variables in as Grafana does."""

import collections
import re

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\[[^\]]*\]|\$\{?\w+\}?|[a-zA-Z_:][\w:]*|[{}()]|[^\s\w]|[\d.]+\w*')
LISTS = {"by", "without", "on", "ignoring", "group_left", "group_right"}
WORDS = LISTS | {"and", "or", "unless", "bool", "offset", "inf", "nan"}
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*("(?:\\.|[^"\\])*")')
VARIABLE = re.compile(r"\$\{(\w+)(?::\w+)?\}|\$(\w+)")

# Of a selector: its metric, {label: (operator, value) of the first}, its range or None, the function right around it, all
# (label, operator, value).
Selector = collections.namedtuple("Selector", "metric matchers range function all")


def past(tokens, at, closing):
    """Behind the next token of this kind."""
    while at < len(tokens) and tokens[at] != closing:
        at += 1
    return at + 1


def selectors(expression):
    tokens = TOKEN.findall(expression)
    around, at, found = [], 0, []
    while at < len(tokens):
        token, following = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else ""
        at += 1
        if token == "(":
            around.append(None)
        elif token == ")":
            around = around[:-1]
        elif token.lower() in WORDS:
            if token in LISTS and following == "(":
                at = past(tokens, at, ")")
        elif following == "(":
            around.append(token)
            at += 1
        elif following in ("by", "without"):
            pass  # An aggregation that says its labels first.
        elif token == "{" or re.match(r"[a-zA-Z_:]", token):
            start = at - 1 if token == "{" else at
            matchers, interval, all_of = {}, None, []
            if start < len(tokens) and tokens[start] == "{":
                at = past(tokens, start, "}")
                for m in MATCHER.finditer("".join(tokens[start:at])):
                    matchers.setdefault(m[1], (m[2], m[3][1:-1]))
                    all_of.append((m[1], m[2], m[3][1:-1]))
            if at < len(tokens) and tokens[at].startswith("["):
                interval = tokens[at][1:-1]
                at += 1
            found.append(Selector("" if token == "{" else token, matchers, interval, around[-1] if around else None, all_of))
    return found


def variables(text):
    return {m[1] or m[2] for m in VARIABLE.finditer(text)}


def filled(text, values):
    """With `values` in place of variables: a list as Grafana puts in one of many values."""

    def value(found):
        x = values[found[1] or found[2]]
        if isinstance(x, str):
            return x
        escaped = [re.sub(r"([\\^$.|?*+()\[\]{}])", r"\\\\\1", one) for one in x]
        return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"

    return VARIABLE.sub(value, text)


def expressions(page):
    """(where, expression) of each that a dashboard asks."""
    for panel in page.get("panels", []):
        for target in panel.get("targets", []):
            yield f"'{panel.get('title')}' {target.get('refId')}", target.get("expr", "")
    for one in page.get("annotations", {}).get("list", []):
        yield f"annotation '{one.get('name')}'", one.get("expr", "")
    for one in page.get("templating", {}).get("list", []):
        if series := label_values(one):
            yield f"variable '{one.get('name')}'", series[0]


def label_values(variable):
    """(series, label) that a variable asks for; None where it does not ask that."""
    query = variable.get("query")
    text = query.get("query", "") if isinstance(query, dict) else ""
    found = re.fullmatch(r"label_values\((.*), (\w+)\)", text)
    return found and (found[1], found[2])
