"""What kind of file is this, judged by how it begins?"""

from __future__ import annotations

import codecs

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"BM", "a picture (BMP)"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or an office document)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
)
_MARKS = (  # UTF-32 begins as UTF-16 does, so it comes first
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def kind_of(start: bytes) -> str | None:
    """What a file that is not text is, from its first bytes; None for text."""
    if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
        return "a picture (WebP)"
    for beginning, kind in _BEGINNINGS:
        if start.startswith(beginning) and _cannot_be_text(start):
            return kind
    return "a binary file" if b"\0" in start and encoding_of(start) == "utf-8" else None


def encoding_of(start: bytes) -> str:
    """The encoding its byte order mark says; without one, UTF-8."""
    return next((name for mark, name in _MARKS if start.startswith(mark)), "utf-8")


def _cannot_be_text(start: bytes) -> bool:
    """A text may begin with BM or GIF8, too."""
    try:
        start[:-4].decode()  # the last character may be cut in two
    except UnicodeDecodeError:
        return True
    return b"\0" in start or start.startswith(b"%PDF-")
