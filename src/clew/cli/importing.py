"""`clew import`: recorded conversations taken into the store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import click

from clew.cli.errors import INTERRUPTED, Failed
from clew.cli.options import json_option, store_option

if TYPE_CHECKING:
    from clew.store.store import Store


@click.command("import", short_help="Take recorded conversations into the store.")
@click.argument("names", metavar="FILE...", nargs=-1, required=True)
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Tag what is imported; may be said several times.")
@store_option
@json_option
def import_(names: tuple[str, ...], *, tags: tuple[str, ...], store_url: str | None, as_json: bool) -> None:
    """Store the conversations in FILEs, folders or patterns ('-' for standard input), and index them for search.

    Reads OpenAI, Anthropic, Claude Code, Codex and Hermes transcripts and what 'clew sessions export' wrote, told
    apart by content. Each conversation is stored once, however often its file is imported: a longer version adds its
    end. Interrupted, it goes on where it stopped when it is run again.
    """
    from clew.cli import recordings, screen, stores

    sources = list(recordings.named_sources(names))
    with stores.opened(store_url, make=True) as store:
        work = _import_all(store, sources, tags, lambda brought: None if as_json else _tell(brought))
        _index(store, work)
    if as_json:
        screen.put(screen.as_json(_document(work)))
    else:
        _tell_all(work)
    _end(work, len(sources))


@dataclass(frozen=True, slots=True)
class Brought:
    """What one conversation of one file came to."""

    source: str
    conversation: str
    format: str
    messages: int
    added: int


@dataclass(slots=True)
class _Work:
    """What was done so far. Ctrl-C ends it early."""

    brought: list[Brought] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    interrupted: bool = False
    indexed: int = 0


def _import_all(store: Store, sources: Sequence[str], tags: Sequence[str], show: Callable[[Brought], None]) -> _Work:
    """One after the other; a failing one is reported and the others go on."""
    from clew.cli import screen
    from clew.facts.messages import BadMessages
    from clew.screen.shown import shown
    from clew.store.trouble import StoreError

    work = _Work()
    for source in sources:
        try:
            for brought in _import_one(store, source, tags):
                work.brought.append(brought)
                show(brought)
        except KeyboardInterrupt:
            work.interrupted = True
            break
        except Failed as failed:
            work.failures.append((source, failed.message))
        except (BadMessages, StoreError, ValueError) as wrong:
            work.failures.append((source, f"{shown(source)}: {shown(str(wrong))}"))
        else:
            continue
        screen.warn([f"Error: {work.failures[-1][1]}"])
    return work


def _import_one(store: Store, source: str, tags: Sequence[str]) -> Iterator[Brought]:
    from clew.cli import exports, recordings

    name, data = recordings.contents(source)
    imported = (
        exports.restored(store, name, data) if exports.is_export(data) else _transcript(store, source, name, data)
    )
    for brought in imported:
        if tags:
            known = store.conversation(brought.conversation).tags
            store.describe(brought.conversation, tags=[*dict.fromkeys([*known, *tags])])
        yield brought


def _transcript(store: Store, source: str, name: str, data: bytes) -> Iterator[Brought]:
    from clew.cli import recordings, screen
    from clew.runtime.importing import import_transcript

    recording = recordings.recording_of(name, data)
    screen.warn(recordings.problem_lines(recording))
    transcript = recording.transcript
    with screen.progress(name, len(transcript.messages)) as progress:
        done = import_transcript(store, transcript, source=_full(source), progress=progress)
    yield Brought(name, done.conversation, transcript.format, done.messages, done.added)


def _full(source: str) -> str:
    """A file by its full path: it means the same wherever one stands."""
    return "stdin" if source == "-" else os.path.abspath(source)


def _index(store: Store, work: _Work) -> None:
    """Make what is new searchable; what could not be indexed now is indexed by the next search."""
    from clew.cli import screen
    from clew.runtime.recall import index_of
    from clew.screen.shown import shown
    from clew.store.trouble import StoreError

    if work.interrupted:
        return
    try:
        index = index_of(store)
        with screen.progress("indexing", index.behind()) as progress:
            work.indexed = index.catch_up(progress=progress)
    except KeyboardInterrupt:
        work.interrupted = True
    except StoreError as wrong:
        screen.warn([f"Not indexed yet, the next search will do it: {shown(str(wrong))}"])


def _tell(brought: Brought) -> None:
    from clew.cli import screen
    from clew.screen import layout
    from clew.screen.amounts import count

    new = (
        "already there"
        if not brought.added
        else "all new"
        if brought.added == brought.messages
        else (f"{brought.added:,} new")
    )
    layout.say(
        screen.console(),
        f"{brought.conversation}  {count(brought.messages, 'message')}, {new}  ({brought.source}, {brought.format})",
    )


def _tell_all(work: _Work) -> None:
    from clew.cli import screen
    from clew.screen import layout
    from clew.screen.amounts import count

    conversations = len({brought.conversation for brought in work.brought})
    added = sum(brought.added for brought in work.brought)
    if not work.brought:
        return
    indexed = f"; {work.indexed:,} indexed" if work.indexed else ""
    layout.say(screen.console(), f"{count(conversations, 'conversation')}, {count(added, 'new message')}{indexed}.")


def _document(work: _Work) -> dict[str, Any]:
    from clew.screen.shown import shown

    return {
        "imported": [asdict(brought) for brought in work.brought],
        "failed": [{"source": shown(source), "error": error} for source, error in work.failures],
        "added": sum(brought.added for brought in work.brought),
        "indexed": work.indexed,
        "interrupted": work.interrupted,
    }


def _end(work: _Work, sources: int) -> None:
    """The exit code, with a line that says how far it came."""
    from clew.cli.screen import warn

    if work.interrupted:
        warn(["clew: interrupted. What was told above is stored; run it again to go on where it stopped."])
        raise click.exceptions.Exit(INTERRUPTED)
    if work.failures and sources > 1:
        warn([f"clew: {len(work.failures)} of {sources} files could not be imported."])
    if work.failures:
        raise click.exceptions.Exit(1)
