"""Which program wrote this transcript? Content decides, never the name of the file."""

from clew.wire.transcripts import anthropic, claude_code, codex, hermes, openai
from clew.wire.transcripts.pairing import name_results
from clew.wire.transcripts.source import take_apart
from clew.wire.transcripts.values import Format, Source, Transcript, UnreadableTranscript, word

FORMATS: tuple[Format, ...] = (
    claude_code.FORMAT,
    codex.FORMAT,
    hermes.FORMAT,
    anthropic.FORMAT,
    openai.FORMAT,
)
"""Asked in this order, the most particular first. A new format is one module with a FORMAT and one row here."""


def read_transcript(data: bytes) -> Transcript:
    """The conversation in these bytes, in OpenAI's format; what was damaged is reported and the rest is used."""
    source = take_apart(data)
    for format_ in FORMATS:
        if not format_.knows(source):
            continue
        found = format_.read(source)
        if not found.messages:
            break
        return Transcript(
            messages=tuple(name_results(found.messages)),
            format=found.format,
            problems=tuple(sorted((*source.problems, *found.problems), key=lambda problem: problem.line)),
            title=found.title,
            model=found.model,
        )
    accepted = "; ".join(format_.title for format_ in FORMATS)
    raise UnreadableTranscript(f"no transcript: saw {_what_was_seen(data, source)}. Accepted: {accepted}")


def _what_was_seen(data: bytes, source: Source) -> str:
    if not data.strip():
        return "an empty file"
    damage = f" ({source.problems[0]})" if source.problems else ""
    if source.rows:
        return f"JSON ({_count(len(source.rows))}, the first {_kind(source.rows[0].value)}) and no message{damage}"
    if source.around:
        return f"a JSON object with {', '.join(sorted(source.around)[:6])} and no messages{damage}"
    return f"{len(data):,} bytes that begin {data[:40]!r}{damage}"


def _count(rows: int) -> str:
    return "one value" if rows == 1 else f"{rows:,} values"


def _kind(value: object) -> str:
    if isinstance(value, dict):
        kind = word(value, "type")
        return f"of type {kind[:40]!r}" if kind else f"with the keys {', '.join(sorted(value)[:6])}"
    return openai.kind_of(value)
