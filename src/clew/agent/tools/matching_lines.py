"""Which lines of these files match? A program of its own, because a regular expression can only be stopped with it.

Its input, with zero bytes between: the pattern, then how many matches, then the files. Its output: file, line number
and text of each match, with zero bytes between and after.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

AROUND = 200
"""Characters shown before a match in a long line, and after its beginning."""


def main() -> None:
    pattern, most, *files = sys.stdin.buffer.read().split(b"\0")
    wanted, left = re.compile(pattern.decode()), int(most)
    for file in files:
        for number, line in _matches(file, wanted):
            sys.stdout.buffer.write(b"%s\0%d\0%s\0" % (file, number, line.encode()))
            sys.stdout.buffer.flush()  # what was found before the end of patience counts
            left -= 1
            if left == 0:
                return


def _matches(file: bytes, wanted: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    try:
        with open(file, "rb") as lines:
            if b"\0" in lines.read(8_192):
                return
            lines.seek(0)
            for number, line in enumerate(lines, 1):
                text = line.decode("utf-8", "replace").rstrip("\r\n")
                if found := wanted.search(text):
                    yield number, _shown(text, found.start())
    except OSError:  # gone since it was listed, or not ours to read
        return


def _shown(text: str, start: int) -> str:
    text = text.replace("\0", "\ufffd")
    if len(text) <= 2 * AROUND:
        return text
    first = max(0, start - AROUND)
    return ("…" if first else "") + text[first : start + AROUND] + ("…" if start + AROUND < len(text) else "")


if __name__ == "__main__":
    main()
