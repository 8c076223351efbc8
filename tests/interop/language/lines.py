#!/usr/bin/env python3
"""Lines at which tokenizers are compared: lines.py FOLDER (of ./dev data language) writes
FOLDER/token_lines.bin, 10,000 of them, each with its length before it (four bytes, the lowest
first). The awkward ones come first, then as many of each of seven languages, drawn. Needs Python
alone, so that who has texts and models can compare without the reference."""

import pathlib
import random
import struct
import sys

LINES = 10_000

SAMPLE = """The daemon reads its configuration when it starts, and again when it gets SIGHUP.
Der Dienst liest seine Einstellungen, wenn er beginnt; Größe und Maß sind in Bytes.
Le démon lit sa configuration au démarrage, et l'utilisateur n'a rien à faire.
Il demone legge la configurazione all'avvio, perché così è più semplice.
De dienst leest zijn instellingen bij het starten, één keer per dag.
El servicio lee su configuración al arrancar: ¿qué más? ¡Nada!
Usługa czyta ustawienia przy uruchomieniu, źródła są w katalogu głównym.
There are 10 files in 2 folders, 1234567 bytes; it's what you've asked for, isn't it?
"""


def awkward():
    """Lines at which tokenizers differ, as bytes."""
    lines = [bytes([x]) for x in range(256)]
    lines += [bytes(range(256)), bytes(range(255, -1, -1))]
    lines += [b" " * n + b"x" + b" " * n for n in (1, 2, 3, 7, 64)]
    lines += [b"", b" ", b"\t", b"\t\t x", b"a\r", b"\r\n\r\n", b"a \n b", b"\n\n\na", b"a  b   c"]
    texts = [
        "it's we've I'm you'll he'd don't they're 's 'S IT'S", "''s'", "1 12 123 1234567890 3.14 1,000",
        "a1b2c3", "１２３ ½ ²³ Ⅳ ٣٤٥", "日本語のテキスト 中文 한국어", "naïve café Café ÅÅÅ", "ﬁﬂ ǅ ß ẞ İ ı ſ",
        "ΑΣ ΟΔΟΣ ςσ", "👍🏽 👨‍👩‍👧‍👦 🇩🇪 ☕️ 😀😀", "a\u0301\u0323 q\u0307\u0323 \u0301x", "\u200b\u200d\ufeff\u00ad\u2060x",
        "\u00a0nbsp\u2003em\u3000wide\u0085next\u2028line", "<|endoftext|> <|im_start|> [CLS] [SEP] [MASK] <s> </s> <unk>",
        "▁under ▁ ##hash ## #", "http://a.b/c?d=e&f=%20#g", "int main(void) { return 0; }", "!!!???...---___",
        "x" * 101, "ab" * 60, "ñandú" * 30, "\u0000\u0001\u0002\u001f\u007f\u0080\u009f", "\ufffd\ufffe\uffff",
        "ไทยภาษา עברית العربية हिन्दी", "Ǆ Ω K Å ﷺ ㍿", "$€£¥ ±×÷ ©®™ §¶", "“quoted” ‘single’ «guillemets» – —",
    ]
    lines += [x.encode() for x in texts]
    lines += [b"\xff", b"a\xffb", b"\xc3", b"a\xc3", b"\xc3\xa9\xc3", b"\xe4\xb8", b"\xe4\xb8x", b"\xed\xa0\x80",
              b"\xf0\x9f\x98", b"\xc0\xaf", b"\xf4\x90\x80\x80", b" \xff ", b"it\xff's", b"\xfe\xfe\xfe\xfe", b"1\x8023"]
    return lines


def lines_of(folder):
    """The awkward lines, then as many of each user's texts."""
    lines = awkward()
    users = sorted(x for x in (folder / "languages").glob("*") if x.is_dir())
    if not users:
        sys.exit(f"{folder}/languages: nobody's texts are below it; ./dev data language brings some")
    each = -(-(LINES - len(lines)) // len(users))
    draw = random.Random(22)
    for user in users:
        texts = b"\n".join(x.read_bytes() for x in sorted(user.rglob("*.txt")))
        known = [x for x in texts.split(b"\n") if x]
        lines += draw.sample(known, min(each, len(known)))
    return lines[:LINES]


def write_lines(folder):
    """Returns what it wrote."""
    packed = b"".join(struct.pack("<I", len(x)) + x for x in lines_of(folder))
    (folder / "token_lines.bin").write_bytes(packed)
    return packed


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    packed = write_lines(pathlib.Path(sys.argv[1]))
    print(f"{len(packed)} bytes in {sys.argv[1]}/token_lines.bin")


if __name__ == "__main__":
    main()
