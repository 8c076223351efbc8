"""Which labels come out of an expression of Prometheus, and which `by (…)` asks for labels that nothing below has."""

import re

import promql

AGGREGATIONS = set("sum min max avg group stddev stdvar count count_values bottomk topk limitk quantile".split())
SAME_SERIES = {"topk", "bottomk", "limitk"}
# The loosest first; what stands in one row binds alike.
BINARY = [{"or"}, {"and", "unless"}, {"==", "!=", ">=", "<=", ">", "<"}, {"+", "-"}, {"*", "/", "%"}, {"^"}]
NUMBER = re.compile(r"\d[\w.]*|\.\d\w*")
TOKEN = re.compile(rf"{NUMBER.pattern}|[=!<>]=|{promql.TOKEN.pattern}")
OF_TARGETS = {"job", "instance"}


class Any(frozenset):
    """The labels of what is not known."""

    def __contains__(self, _):
        return True

    def __and__(self, other):
        return other

    def __or__(self, _):
        return self

    __rand__, __ror__, __sub__ = __and__, __or__, __or__


ANY = Any()
NONE = frozenset()


class Reader:
    """Reads an expression from left to right. Each `read_…` says which labels every series of what it has read can have; None where it
    is a number, which has no series."""

    def __init__(self, text, labels_of):
        self.tokens, self.at = TOKEN.findall(text), 0
        self.labels_of, self.wrong = labels_of, []

    def next(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *wanted):
        token = self.next()
        if not token or wanted and token not in wanted:
            raise ValueError(f"{token or 'its end'} where {' or '.join(wanted) or 'something'} must be")
        self.at += 1
        return token

    def read(self):
        labels = self.read_binary(0)
        if self.next():
            raise ValueError(f"{self.next()} behind its end")
        return labels

    def read_binary(self, level):
        if level == len(BINARY):
            return self.read_one()
        left = self.read_binary(level + 1)
        while self.next() in BINARY[level]:
            operator = self.take()
            if self.next() == "bool":
                self.take()
            matching = {x: set(self.read_list()) for x in iter(self.next_list, "")}
            left = joined(operator, left, self.read_binary(level + 1), matching)
        return left

    def next_list(self):
        """Takes the word before a list of how series are matched; empty where there is none."""
        return self.take() if self.next() in promql.LISTS - {"by", "without"} else ""

    def read_list(self):
        if self.next() != "(":
            return []
        self.take()
        names = []
        while self.next() != ")":
            names += [self.take()] if self.next() != "," else []
            if self.next() == ",":
                self.take()
        self.take()
        return names

    def read_one(self):
        if self.next() in ("-", "+"):
            self.take()
            return self.read_one()
        token = self.take()
        if token == "(":
            labels = self.read_binary(0)
            self.take(")")
        elif token in AGGREGATIONS and self.next() in ("(", "by", "without"):
            labels = self.read_aggregation(token)
        elif NUMBER.fullmatch(token) or token[0] == "$" or token.lower() in ("inf", "nan"):
            labels = None
        elif token[0] in "\"'":
            labels = None
        elif self.next() == "(":
            labels = of_function(token, *self.read_arguments())
        else:
            labels = self.read_selector(token)
        while self.next().startswith("[") or self.next() in ("offset", "@"):
            if not self.take().startswith("["):
                self.take()
        return labels

    def read_selector(self, token):
        if token != "{" and not re.match(r"[a-zA-Z_:]", token):
            raise ValueError(f"{token} is no selector")
        if token == "{" or self.next() == "{":
            while self.take() != "}":
                pass
        return ANY if token == "{" else self.labels_of(token)

    def read_arguments(self):
        """[labels of each], [what is written of each]."""
        self.take("(")
        labels, written = [], []
        while self.next() != ")":
            began = self.at
            labels.append(self.read_binary(0))
            written.append("".join(self.tokens[began:self.at]))
            if self.next() != ")":
                self.take(",")
        self.take(")")
        return labels, written

    def read_aggregation(self, name):
        grouped = (self.take(), self.read_list()) if self.next() != "(" else None
        labels, written = self.read_arguments()
        if self.next() in ("by", "without"):
            grouped = (self.take(), self.read_list())
        below = labels[-1] if labels and labels[-1] is not None else NONE
        kind, names = grouped or ("by", [])
        for x in names if kind == "by" else ():
            if x not in below:
                self.wrong.append(f"by ({', '.join(names)}): nothing below it has a label '{x}', of {', '.join(sorted(below)) or 'none'}")
        if name in SAME_SERIES:
            return below
        made = {written[0].strip("\"'")} if name == "count_values" and written else set()
        return frozenset(names) | made if kind == "by" else below - set(names) | made


def of_function(name, labels, written):
    below = next((x for x in labels if x is not None), None)
    if name in ("time", "scalar", "pi"):
        return None
    if name == "vector" or below is None:
        return NONE
    if name in ("label_replace", "label_join") and len(written) > 1:
        return below | {written[1].strip("\"'")}
    return below - {"le"} if name == "histogram_quantile" else below


def joined(operator, left, right, matching):
    """Of two sides. What one of them alone may have some series lack."""
    if operator == "or":
        return left & right if left is not None and right is not None else NONE
    if left is None or right is None:
        return right if left is None else left
    if operator in ("and", "unless"):
        return left
    if "group_right" in matching:
        return right | matching["group_right"]
    if "group_left" in matching:
        return left | matching["group_left"]
    return left & matching["on"] if "on" in matching else left - matching.get("ignoring", set())


def read(text, labels_of):
    """(labels that every series of it can have, what is wrong of its `by (…)`). `labels_of` says which labels a metric has."""
    reader = Reader(text, labels_of)
    try:
        labels = reader.read()
    except ValueError as e:
        return ANY, [f"labels.py cannot read it: {e}"]
    return NONE if labels is None else labels, reader.wrong
