"""What does a web page say, without its markup?"""

from __future__ import annotations

import re
from html.parser import HTMLParser

_HIDDEN = frozenset("script style noscript template svg canvas iframe object".split())
_BLOCKS = frozenset(
    "p div section article header footer main nav aside ul ol li table tr h1 h2 h3 h4 h5 h6 pre blockquote br hr dl dt "
    "dd form figure figcaption title option".split()
)
_BEFORE = {"li": "- ", "td": " | ", "th": " | ", **{f"h{level}": "#" * level + " " for level in range(1, 7)}}


def page_text(html: str) -> str:
    """The words of a page in their order: headings with #, items with -, cells with |, the rest as lines."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (re.sub(r"[ \t\r\f\v\xa0]+", " ", line).strip() for line in "".join(reader.said).splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.said: list[str] = []
        self._hidden: list[str] = []
        self._pre = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in _HIDDEN:
            self._hidden.append(tag)
        if tag == "pre":
            self._pre += 1
        if tag in _BLOCKS:
            self.said.append("\n")
        self.said.append(_BEFORE.get(tag, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden:  # an inner one that was never closed ends with it
            del self._hidden[self._hidden.index(tag) :]
        if tag == "pre":
            self._pre = max(0, self._pre - 1)
        if tag in _BLOCKS:
            self.said.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.said.append(data if self._pre else re.sub(r"\s+", " ", data))
