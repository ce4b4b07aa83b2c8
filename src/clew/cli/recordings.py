"""Which recordings did the user name, and what was said in them?"""

from __future__ import annotations

import glob
import gzip
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from clew.cli.errors import Failed, why
from clew.screen.shown import shown
from clew.wire.transcripts import Transcript, UnreadableTranscript, read_transcript

STDIN = "-"
SAMPLE = "--sample"
SAMPLE_ORIGIN = "recorded session of the public repository entireio/cli (MIT), Claude Code"
ENDINGS = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
"""What is looked for in a folder. A file named by itself may have any name: content decides."""
PROBLEMS_SHOWN = 5

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Recording:
    """A transcript with the name it goes by in tables."""

    name: str
    transcript: Transcript
    origin: str = ""
    """Where it comes from, for the recording that ships with clew."""


def named_sources(names: Sequence[str]) -> Iterator[str]:
    """Every file behind the names: folders and patterns are looked into, anything else is taken at its word."""
    for name in names:
        if os.path.isdir(name):  # Path.is_dir raises for a name too long
            yield from _in_folder(Path(name)) or [name]
        elif name != STDIN and glob.has_magic(name) and not os.path.exists(name):
            yield from sorted(found for found in glob.glob(name, recursive=True) if os.path.isfile(found)) or [name]
        else:
            yield name


def load(source: str) -> Recording:
    """Read one recording; a mistake of the user's becomes a sentence."""
    if source == SAMPLE:
        sample = files("clew") / "samples" / "session-concurrency.jsonl.gz"
        return Recording("sample", read_transcript(gzip.decompress(sample.read_bytes())), SAMPLE_ORIGIN)
    name, data = contents(source)
    return recording_of(name, data)


def contents(source: str) -> tuple[str, bytes]:
    """What a source is called, and its bytes, unpacked."""
    name = "stdin" if source == STDIN else shown(source)
    data = _bytes_of(source, name)
    try:
        return name, gzip.decompress(data) if data.startswith(_GZIP) else data
    except (OSError, EOFError, zlib.error) as wrong:
        raise Failed(f"{name}: the gzip file is damaged ({wrong}). Unpack what is left of it and try that.") from None


def recording_of(name: str, data: bytes) -> Recording:
    """The transcript in these bytes."""
    try:
        return Recording(name, read_transcript(data))
    except UnreadableTranscript as wrong:
        raise Failed(f"{name}: {shown(str(wrong))}") from None


def problem_lines(recording: Recording) -> list[str]:
    """What was damaged in it: the first few places and how many there are."""
    problems = recording.transcript.problems
    told = [f"{recording.name}: {shown(str(problem))}" for problem in problems[:PROBLEMS_SHOWN]]
    if problems:
        count = "one problem" if len(problems) == 1 else f"{len(problems):,} problems"
        told.append(f"{recording.name}: {count} in the file; the rest is used")
    return told


def _in_folder(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*") if path.name.endswith(ENDINGS) and os.path.isfile(path))


def _bytes_of(source: str, name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if source == STDIN else Path(source).read_bytes()
    except FileNotFoundError:
        raise Failed(f"{name}: there is no such file. Check the path; '-' reads standard input.") from None
    except IsADirectoryError:
        looked_for = ", ".join(ENDINGS)
        raise Failed(
            f"{name}: that is a folder. Name a file; 'replay' and 'import' look into folders for {looked_for}."
        ) from None
    except OSError as error:
        raise Failed(f"{name}: could not be read: {why(error)}.") from None
