"""A little of what `./dev data language` brings, made by rule: small_language.py FOLDER. Users have words of their own, which
follow each other with few choices, so that a model learns them in seconds."""

import json
import pathlib
import random
import sys

SYLLABLES = ("ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "wo", "zu")
WORDS = 24
DOCUMENTS = 100
ROWS = 600  # Of each group of sections.
SECTIONS = (("libs", "devel"), ("science", "math"), ("games", "sound"), ("admin", "net"))


class Tongue:
    """Words, and of each the two that may come next."""

    def __init__(self, name):
        self.draw = random.Random(name)
        self.words = ["".join(self.draw.choices(SYLLABLES, k=self.draw.choice((2, 3)))) for _ in range(WORDS)]
        self.next = {word: self.draw.sample(self.words, 2) for word in self.words}

    def said(self, count):
        out = [self.draw.choice(self.words)]
        while len(out) < count:
            out.append(self.draw.choice(self.next[out[-1]]))
        return " ".join(out)

    def document(self):
        return ".\n".join(self.said(9) for _ in range(6)) + ".\n"


def lines(path, documents):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(x) + "\n" for x in documents), encoding="utf-8")


def labelled(group):
    """Of two sections, each with words of its own: (section, its words, a name)."""
    for i in range(ROWS):
        section = SECTIONS[group - 1][i % 2]
        yield section, TONGUES[section], f"{section}{i}"


def main(to):
    for user in ("de", "en", "fr", "it", "nl"):
        tongue = Tongue(user)
        for i in range(DOCUMENTS):
            path = to / "languages" / user / f"{i}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(tongue.document(), encoding="utf-8")
    for user in ("bible", "descriptions", "fortunes", "kernel"):
        tongue = Tongue(user)
        lines(to / "kinds" / f"{user}.jsonl", [{"text": tongue.document()} for _ in range(DOCUMENTS)])
    for group in range(1, len(SECTIONS) + 1):
        about, asked, described = [], [], []
        for section, tongue, name in labelled(group):
            answer = tongue.said(2)
            text = f"name: {name}\nneeds: {answer}\nis: {tongue.said(3)}\n"
            about.append({"text": tongue.said(30) + "\n", "label": section, "source": name})
            asked.append({"text": text, "question": "What does it need?", "answer": answer, "label": section, "source": name})
            described.append({"before": f"name: {name} | needs: {answer}\n", "text": tongue.said(5) + "\n", "label": section,
                              "source": name})
        lines(to / "sections" / f"{group}.jsonl", about)
        lines(to / "fields" / f"{group}.jsonl", asked)
        lines(to / "describe" / f"{group}.jsonl", described)


TONGUES = {section: Tongue(section) for group in SECTIONS for section in group}

if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
