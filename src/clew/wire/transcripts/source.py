"""Which JSON values are in these bytes, and on which lines?

One path reads JSON documents, JSON Lines and both of them damaged: values are taken one by one from the front,
so a cut or a flipped bit costs the value it is in and not the file.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from clew.wire.transcripts.values import Problem, Row, Source, word

DEEPEST = 100
"""Levels of nesting read. Real files stay under 30; deeper ones exhaust the stack of whoever writes them out again."""

RESTARTS = 20
"""Failed attempts at finding the next message after damage inside a document; each may scan to the end of the file."""

CUT_OFF = "the document is cut off here; what came before is used"
ANOTHER = "another conversation begins here; only the first is read"
HALF_CHARACTER = "half a character (a lone surrogate) was replaced"

_BLANK = re.compile(r"[ \t\r\n]*")
_OBJECT = re.compile(r'\{[ \t\r\n]*"')
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# NaN and Infinity are not JSON but Python writes them; as text they can be written out again for any reader.
_DECODER = json.JSONDecoder(strict=False, parse_constant=str)

_BOMS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),  # before UTF-16, whose mark is this one's beginning
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


def take_apart(data: bytes) -> Source:
    """Bytes in, rows out; a document that holds several conversations gives its first and reports the others."""
    text, problems = decode(data)
    source = _read_document(text) if _is_document(text) else _read_lines(text)
    source = _open_first_conversation(source)
    return Source(source.rows, source.around, (*problems, *source.problems))


def decode(data: bytes) -> tuple[str, tuple[Problem, ...]]:
    """The text of the bytes, by byte-order mark or else UTF-8; what does not decode becomes U+FFFD and is reported."""
    mark, encoding = next(((mark, name) for mark, name in _BOMS if data.startswith(mark)), (b"", "utf-8"))
    body = data[len(mark) :]
    problems = []
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as wrong:
        text = body.decode(encoding, "replace")
        line = body[: wrong.start].decode(encoding, "replace").count("\n") + 1
        problems.append(Problem(line, f"not {encoding.upper()} ({wrong.reason}); unreadable bytes were replaced"))
    if "\0" in text:
        # A crash while writing leaves runs of NUL; JSON allows none anywhere.
        problems.append(Problem(text.count("\n", 0, text.index("\0")) + 1, "NUL bytes were taken out"))
        text = text.replace("\0", "")
    return text, tuple(problems)


def _is_document(text: str) -> bool:
    """One JSON value over the whole file, rather than one a line. Damage in the first line must not decide it."""
    at = _skip_blank(text, 0)
    start = text[at : at + 1]
    if start == "[":
        return True
    if start != "{":
        return False
    whole = broken = 0
    for _, line in _lines(text):
        if not line.startswith("{"):
            broken += 1
            continue
        try:
            value, end = _DECODER.raw_decode(line)
        except (ValueError, RecursionError):
            broken += 1
            continue
        if not whole and not broken and not line[end:].strip():
            return False
        # `{"role": …},` is an element of a document's list; a line of JSONL ends where its object does.
        whole += isinstance(value, dict) and not line[end:].strip()
        broken += bool(line[end:].strip())
    return whole < broken


def _lines(text: str) -> Iterator[tuple[int, str]]:
    # Not splitlines(): U+2028 and form feeds may stand inside JSON strings.
    for number, line in enumerate(text.split("\n"), start=1):
        if stripped := line.strip():
            yield number, stripped


def _read_lines(text: str) -> Source:
    rows: list[Row] = []
    problems: list[Problem] = []
    for number, line in _lines(text):
        at = 0
        while at < len(line):  # an interrupted writer leaves two objects on one line
            try:
                value, at = _next_value(line, at)
            except _Unusable as wrong:
                problems.append(Problem(number, str(wrong)))
                break
            value, mended = _without_lone_surrogates(value, line)
            if mended:
                problems.append(Problem(number, HALF_CHARACTER))
            rows.append(Row(number, value))
            at = _skip_blank(line, at)
    return Source(tuple(rows), problems=tuple(problems))


def _read_document(text: str) -> Source:
    return _Document(text).read()


class _Document:
    """A walk over one JSON document that gives up nothing it has already read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.rows: list[Row] = []
        self.around: dict[str, Any] = {}
        self.problems: list[Problem] = []
        self._counted_to = 0
        self._line = 1

    def read(self) -> Source:
        at: int | None = _skip_blank(self.text, 0)
        while at is not None and at < len(self.text):  # more than one value when documents were joined
            if self.text[at] not in "[{":
                self._report(at, "something stands after the end of the document and was left out")
                break
            at = self._read_list(at) if self.text[at] == "[" else self._read_object(at)
            at = None if at is None else _skip_blank(self.text, at)
        return Source(tuple(self.rows), self.around, tuple(self.problems))

    def _read_object(self, start: int) -> int | None:
        """An object with messages is a conversation, any other is a row. Where the next value is; None: cut off."""
        if self.around:
            self._report(start, ANOTHER)
            return None
        fields: dict[str, Any] = {}
        has_messages = False
        at = _skip_blank(self.text, start + 1)
        while self.text[at : at + 1] == '"':
            began = at
            try:
                key, at = _next_value(self.text, at)
                at = _skip_blank(self.text, at)
                if self.text[at : at + 1] != ":":
                    raise _Unusable("not JSON (Expecting ':' delimiter)")
                at = _skip_blank(self.text, at + 1)
                if key == "messages" and self.text[at : at + 1] == "[" and not self.rows:
                    self.around, has_messages = fields, True
                    after = self._read_list(at)
                    if after is None:
                        return None
                else:
                    value, after = _next_value(self.text, at)
                    fields[key] = self._mended(value, at, after)
            except _Unusable as wrong:
                self._report(at, str(wrong))
                self._start_again(began)
                return None
            at = _skip_blank(self.text, after)
            if self.text[at : at + 1] == ",":
                at = _skip_blank(self.text, at + 1)
        if not has_messages:
            self.rows.append(Row(self._line_of(start), fields))
        if self.text[at : at + 1] == "}":
            return at + 1
        self._report(at, CUT_OFF)
        return None

    def _read_list(self, at: int) -> int | None:
        at = _skip_blank(self.text, at + 1)
        while at < len(self.text) and self.text[at] != "]":
            try:
                value, end = _next_value(self.text, at)
            except _Unusable as wrong:
                self._report(at, str(wrong))
                self._start_again(at)
                return None
            self.rows.append(Row(self._line_of(at), self._mended(value, at, end)))
            at = _skip_blank(self.text, end)
            if self.text[at : at + 1] == ",":
                at = _skip_blank(self.text, at + 1)
        if at < len(self.text):
            return at + 1
        self._report(at, CUT_OFF)
        return None

    def _start_again(self, at: int) -> None:
        """After damage: every later object that is a message by itself is used."""
        found, failed = 0, 0
        while failed < RESTARTS and (start := _OBJECT.search(self.text, at + 1)):
            at = start.start()
            try:
                value, end = _next_value(self.text, at)
            except _Unusable:
                failed += 1
                continue
            if word(value, "role") or word(value, "type") in ("user", "assistant", "response_item"):
                self.rows.append(Row(self._line_of(at), self._mended(value, at, end)))
                found += 1
            at = end - 1
        if found:
            self.problems.append(
                Problem(self.problems[-1].line, f"messages after the damage that could be read: {found}")
            )

    def _mended(self, value: Any, at: int, end: int) -> Any:
        value, mended = _without_lone_surrogates(value, self.text[at:end])
        if mended:
            self._report(at, HALF_CHARACTER)
        return value

    def _report(self, at: int, what: str) -> None:
        self.problems.append(Problem(self._line_of(at), what))

    def _line_of(self, at: int) -> int:
        # Counted onward from the last answer, so that a long file is counted once.
        if at < self._counted_to:
            return self.text.count("\n", 0, at) + 1
        self._line += self.text.count("\n", self._counted_to, at)
        self._counted_to = at
        return self._line


class _Unusable(ValueError):
    """The text at this place is no JSON value that can be used."""


def _next_value(text: str, at: int) -> tuple[Any, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as wrong:
        raise _Unusable(f"not JSON ({wrong.msg})") from None
    except ValueError:  # Python reads no integer of more than 4,300 digits
        raise _Unusable("not JSON that can be used (a number is too long)") from None
    except RecursionError:
        raise _Unusable("not JSON that can be used (nested too deeply)") from None
    if _is_deep(value, text, at, end):
        raise _Unusable(f"not JSON that can be used (nested deeper than {DEEPEST} levels)")
    return value, end


def _is_deep(value: Any, text: str, at: int, end: int) -> bool:
    if text.count("[", at, end) + text.count("{", at, end) <= DEEPEST:
        return False
    level = [value]
    for _ in range(DEEPEST):
        below: list[Any] = []
        for holder in level:
            children = holder.values() if isinstance(holder, dict) else holder if isinstance(holder, list) else ()
            below.extend(child for child in children if isinstance(child, dict | list))
        if not below:
            return False
        level = below
    return True


def _without_lone_surrogates(value: Any, text: str) -> tuple[Any, bool]:
    """Half an emoji, cut by a length limit, cannot be encoded again by anyone: it becomes U+FFFD."""
    if not _SURROGATE_ESCAPE.search(text):
        return value, False
    mended = _mend(value)
    return mended, mended != value


def _mend(value: Any) -> Any:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_mend(child) for child in value]
    if isinstance(value, dict):
        return {_mend(key): _mend(child) for key, child in value.items()}
    return value


def _skip_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _open_first_conversation(source: Source) -> Source:
    """Rows that are conversations themselves (`{"messages": […]}`): the first is opened, the rest reported."""
    holders = [
        row for row in source.rows if isinstance(row.value, dict) and isinstance(row.value.get("messages"), list)
    ]
    if source.around or not holders:
        return source
    first, *others = holders
    rows = tuple(Row(first.line, message) for message in first.value["messages"])
    around = {key: value for key, value in first.value.items() if key != "messages"}
    left_out = tuple(Problem(row.line, ANOTHER) for row in others)
    return Source(rows, around, source.problems + left_out)
