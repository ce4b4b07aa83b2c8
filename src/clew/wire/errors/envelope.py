"""Where in an error's body do the provider's words stand?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

READ = 12_000
"""Characters read of a body: its beginning and its end. Errors are short; what is longer is a page, an echo of the
request, or a trace that has the error in its last line."""
HEARD = 4_000
"""Characters of the words themselves."""
NODES = 200
"""Fields visited of one body."""
NESTED = 4
"""How often bodies quote each other: a gateway's error holds the provider's, which holds the engine's."""

CODES = frozenset("code type status reason error_code errortype error_type __type name kind status_code".split())
"""Fields whose word is meant for programs."""
ECHOES = frozenset(
    "input messages prompt tools request request_body requestbody requestbodyvalues kwargs headers url @type".split()
)
"""What was sent and where: a user's words there are not the provider's."""
REPLIES = frozenset("finish_reason stop_reason native_finish_reason choices usage id object model created".split())
"""Fields of an answer, which say nothing about an error."""
AMOUNTS = re.compile(r"token|ctx|context|limit|max|length|prompt|input|output|used|requested|retry|reset|quota")
"""Names of fields that say what their number is: n_ctx, token_count, retryDelay."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a body says."""

    sentences: tuple[str, ...] = ()
    """As the provider spelled them."""
    codes: frozenset[str] = frozenset()
    """Words meant for programs, in lower case."""
    page: bool = False
    """Whether it is a web page of something on the way, not an answer of the provider."""
    without_body: bool = False
    """Whether an SDK says in its place that there was no body."""

    @property
    def text(self) -> str:
        return _ends(" ;\n".join(self.sentences), HEARD)


def unfold(body: Any) -> Told:
    """The words of a body: parsed or not, JSON within JSON, Python's or JavaScript's spelling of it, a page, prose."""
    text = _textual(body)
    if text is not None and _NO_BODY.fullmatch(text):
        return Told(without_body=True)
    if text is not None and _PAGE.match(text):
        return Told(tuple(dict.fromkeys(_lines_of_page(text))), page=True)
    sentences: dict[str, None] = {}
    codes: set[str] = set()
    for is_code, words in _pieces(body if text is None else text):
        if is_code:
            codes.add(words.lower())
        elif words.strip():
            sentences.setdefault(words.strip())
    return Told(tuple(sentences), frozenset(codes))


def _textual(body: Any) -> str | None:
    """None for a body that is parsed already."""
    if isinstance(body, (bytes, bytearray)):
        read = body if len(body) <= 4 * READ else body[: 2 * READ] + body[-2 * READ :]
        return _ends(bytes(read).decode("utf-8", "replace"))
    return _ends(body) if isinstance(body, str) else None


def _ends(text: str, length: int = READ) -> str:
    """A text that is too long without its middle."""
    return text if len(text) <= length else f"{text[: length * 2 // 3]}\n{text[-length // 3 :]}"


def _lines_of_page(text: str) -> Iterator[str]:
    """A page's title, and what else can be read of it."""
    for line in _MARKUP.sub("\n", text[:HEARD]).splitlines():
        if line.strip():
            yield line.strip()


def _pieces(body: Any) -> Iterator[tuple[bool, str]]:
    """Codes and sentences of a body in its order; one that holds another body is unfolded in its place."""
    waiting: list[tuple[str, Any, int]] = [("", body, 0)]
    for _ in range(NODES):
        if not waiting:
            return
        name, value, depth = waiting.pop()
        if isinstance(value, Mapping):
            fields = [(str(key).lower(), inner, depth) for key, inner in islice(value.items(), NODES)]
            waiting += reversed([field for field in fields if _is_told(field[0])])
        elif isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
            waiting += reversed([(name, inner, depth) for inner in islice(value, NODES)])
        elif isinstance(value, str):
            value = _ends(value)
            opened = _opened(value) if depth < NESTED else ()
            waiting += reversed([("", part, depth + 1) for part in opened if part])
            if not opened:
                yield from _spoken(name, value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and AMOUNTS.search(name):
            yield False, f"{name}: {value}"


def _is_told(name: str) -> bool:
    return name not in ECHOES and name not in REPLIES and not name.startswith("$")


def _opened(text: str) -> tuple[Any, ...]:
    """What stands before the JSON in a text, the JSON, and what stands after it; nothing when there is none."""
    for mark in islice(_OPENING.finditer(text), 3):
        try:
            found, end = _JSON.raw_decode(text, mark.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) or any(isinstance(each, (dict, list)) for each in found):  # not a range: [1, 8192]
            return text[: mark.start()], found, text[end:]
    return ()


def _spoken(name: str, text: str) -> Iterator[tuple[bool, str]]:
    """The words of one string."""
    word = text.strip()
    if " " not in word and word.isascii() and (name in CODES or "_" in word):
        yield True, word
        return
    if word[:1].isdigit() and len(word) < 20 and AMOUNTS.search(name):
        yield False, f"{name}: {word}"
        return
    plain = re.sub(r"\\[nrt]", " ", text).replace("\\", "")
    if "{" in plain:  # Python's or JavaScript's spelling, or JSON that was cut
        yield from ((True, value) for field, value in _FIELD.findall(plain) if field.lower() in CODES)
        for _, sentence in _SENTENCE.findall(plain)[-1:]:
            yield False, sentence
            plain = plain.replace(sentence, " ")  # heard once is enough
        plain = _NAME.sub(" ", plain)
    yield False, plain


_JSON = json.JSONDecoder(strict=False)
_OPENING = re.compile(r"[{\[]")
_NO_BODY = re.compile(r"\W*(?:(?:error|code|http|status)[\s:]*){0,4}\d{3}\W*(?:status code)?\W*\(no body\)\W*", re.I)
_PAGE = re.compile(r"\s*<(?:!doctype|html|head|body|\?xml|center|h1)\b", re.I)
_MARKUP = re.compile(r"<(?:script|style)\b[^<>]*>[^<]*|<[^<>]*>", re.I)
_FIELD = re.compile(r"""\b(\w{1,40})['"]?\s?[:=]\s?['"]([\w.\-]{3,60})['"]""")
_NAME = re.compile(r"""['"]?\bmessage['"]?\s?:""", re.I)
"""Of the field that holds the words: it does not speak of messages."""
_SENTENCE = re.compile(r"""\b(?:message|msg|detail)['"]?\s{0,9}[:=]\s{0,9}(['"])((?:(?!\1\s?[,}\]]).){1,2000})""", re.S)
