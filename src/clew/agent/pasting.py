"""Which pictures go along with what a person says: pasted, dragged, written as @path, or from the clipboard?"""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from clew.facts.messages import Message, read_message
from clew.screen.amounts import size
from clew.screen.shown import shown

MOST = 5_242_880 * 3 // 4
"""Bytes of a picture: providers take 5 MiB of it in base64, which is a third longer."""
_SIGNS = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF87a", "gif"), (b"GIF89a", "gif"))
_NAMED = re.compile(r'(?<!\S)@("[^"\n]+"|(?:\\.|[^\s\\])+)')
_PUNCTUATION = ".,;:!?)"
_LOOKS = re.compile(r"\.(?:png|jpe?g|gif|webp)$", re.IGNORECASE)


class NoPicture(ValueError):
    """A file that cannot go along; the text says why."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One that can."""

    name: str
    kind: str
    """As in image/png."""
    data: bytes

    @property
    def label(self) -> str:
        return f"[image {shown(self.name)} {size(len(self.data))}]"

    @property
    def part(self) -> dict[str, object]:
        """As a part of a message."""
        coded = base64.b64encode(self.data).decode()
        return {"type": "image_url", "image_url": {"url": f"data:image/{self.kind};base64,{coded}"}}


class Pictures:
    """Those that stand in the line being typed, each as its label."""

    def __init__(self) -> None:
        self._held: dict[str, Picture] = {}

    def hold(self, picture: Picture) -> str:
        """What to write in its place."""
        label, number = picture.label, 1
        while self._held.get(label, picture) != picture:
            number += 1
            label = f"{picture.label[:-1]} #{number}]"
        self._held[label] = picture
        return label

    def pasted(self, text: str) -> str:
        """What a paste comes to: labels where it is nothing but paths of pictures, else the text itself."""
        found = pictures_in(text)
        return " ".join(map(self.hold, found)) if found else text

    def said(self, line: str) -> str | Message:
        """The line with its pictures. NoPicture for one that was named and cannot go; the line is lost then."""
        if not line.startswith("[image "):
            line = self.pasted(line)  # some terminals type what is dragged into them
        found = [picture for label, picture in self._held.items() if label in line]
        found += [picture for path in named_in(line) if (picture := read_picture(path))]
        self._held = {}
        if not found:
            return line
        parts = [{"type": "text", "text": line}, *(picture.part for picture in found)]
        return read_message({"role": "user", "content": parts})


def pictures_in(text: str) -> list[Picture]:
    """The pictures of a text that is made of paths to them; none where anything else stands in it."""
    for paths in _readings(text.strip()):
        if paths and all(_LOOKS.search(path.name) and _is_file(path) for path in paths):
            return [picture for path in paths if (picture := read_picture(path))]
    return []


def named_in(line: str) -> Iterator[Path]:
    """What is written as @path and looks like a picture."""
    for found in _NAMED.finditer(line):
        quoted = found[1].startswith('"')
        path = _path(found[1][1:-1] if quoted else re.sub(r"\\(.)", r"\1", found[1].rstrip(_PUNCTUATION)))
        if _LOOKS.search(path.name):
            yield path


def read_picture(path: Path) -> Picture:
    """NoPicture says why not."""
    try:
        length = path.stat().st_size
        if length > MOST:
            raise NoPicture(f"{path.name} has {size(length)}; a picture may have {size(MOST)}. Make it smaller.")
        data = path.read_bytes()
    except OSError as error:
        raise NoPicture(f"{path}: {(error.strerror or str(error)).lower()}") from None
    return picture_of(path.name, data)


def picture_of(name: str, data: bytes) -> Picture:
    kind = kind_of(data)
    if kind is None:
        raise NoPicture(f"{name} is no picture that a model takes: png, jpeg, gif or webp")
    if len(data) > MOST:
        raise NoPicture(f"{name} has {size(len(data))}; a picture may have {size(MOST)}. Make it smaller.")
    return Picture(name, kind, data)


def kind_of(data: bytes) -> str | None:
    """By what it holds, whatever it is called."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return next((kind for sign, kind in _SIGNS if data.startswith(sign)), None)


def _readings(text: str) -> Iterator[Sequence[Path]]:
    """One path with blanks in it, one on each line, or several as a shell writes them."""
    if not text or len(text) > 20_000:
        return
    yield [_path(text)]
    yield [_path(line.strip()) for line in text.splitlines() if line.strip()]
    try:
        yield [_path(word) for word in shlex.split(text)]
    except ValueError:
        return


def _path(text: str) -> Path:
    address = urlsplit(text) if text.startswith("file://") else None
    return Path(unquote(address.path) if address else text).expanduser()


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
