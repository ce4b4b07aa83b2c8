"""A chat at a terminal or behind a pipe, from its first line to what it came to."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext

from clew.agent import accounts, choosing
from clew.agent.asking import Asker
from clew.agent.below import Below, is_dumb
from clew.agent.chat import Chat, Terms
from clew.agent.commands import Quit
from clew.agent.line import Line
from clew.agent.live import MODEL, SUMMARY, Live
from clew.agent.pasting import NoPicture
from clew.agent.picking import Row, picker
from clew.agent.standing import fitted, standing, words
from clew.agent.starting import terms_of
from clew.agent.typeahead import unseen_keys
from clew.agent.watching import Events, Plain
from clew.agent.welcome import NOBODY, is_nobody_there, ways
from clew.core.cache import caching_line
from clew.facts.messages import Message
from clew.runtime import config
from clew.runtime.conversation import Watch
from clew.runtime.home import home
from clew.runtime.local import LocalModel
from clew.runtime.transport import Transport
from clew.screen.layout import drawn
from clew.store.store import Store


async def talk(
    store: Store,
    *,
    said: str | None,
    resume: str | None,
    model: str | None,
    yes: bool,
    events: bool,
    local: LocalModel | None = None,
) -> str:
    """Run a chat to its end: one turn when `said` is given, else until the person leaves. What failed, if anything."""
    settings = config.read()
    if said is None and local is None and is_nobody_there(settings):
        _note(ways())
        return NOBODY
    chat: Chat
    screen = Below(_say) if said is None and _can_move() else None
    live = Live(screen, lambda: standing(chat.conversation)) if screen else None
    note = screen.line if screen else _note
    asker = Asker(note, aside=live.aside if live else nullcontext, stop=lambda: chat.interrupt())

    def stop() -> None:
        chat.interrupt()
        asker.leave()

    async with Transport() as transport:
        terms = await terms_of(store, transport, settings, model=model, local=local, ask=asker, yes=yes, note=note)
        watch: Watch = Events(_line) if events else live or Plain(_say, _note)
        chat = Chat(terms, watch)
        await chat.open(resume)
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop)
        try:
            if said is not None:
                return await _once(chat, said, events=events)
            with unseen_keys() if live else nullcontext():
                await _at_length(chat, terms, live, note)
            return ""
        finally:
            await chat.close()


async def _once(chat: Chat, said: str, *, events: bool) -> str:
    failed = await chat.say(said)
    if events:
        Events(_line).event("end", session=chat.conversation.session.id, failed=failed)
    else:
        _say("\n")
    return failed


async def _at_length(chat: Chat, terms: Terms, live: Live | None, note: Callable[[str], None]) -> None:
    chat.pick = _picked if live else None
    for told in _opening(chat, terms):
        note(told)
    stands = standing(chat.conversation)
    line = Line(
        home() / "history",
        lambda width: fitted(words(stands, time.time()), width),
        lambda command: choosing.behind(command, chat.conversation),
    )
    while True:
        try:
            typed = await line.read()
            if typed and (told := await _answered(chat, typed, line, live)):
                note(told)
        except NoPicture as why:
            note(str(why))
        except (EOFError, KeyboardInterrupt, Quit):
            break
        stands = standing(chat.conversation)
    account = accounts.account_of(chat.store, chat.conversation.session.id)
    compactions = chat.conversation.session.compactions
    note(drawn(lambda page: accounts.show_end(page, chat.store, account, compactions)))


def _opening(chat: Chat, terms: Terms) -> list[str]:
    who = terms.who
    ttl = terms.works.cache_ttl
    told = [line] if ttl and (line := caching_line(who.model, who.endpoint.provider, ttl)) else []
    told.append(f"{who.model} at {who.endpoint.host} · {terms.seat.name} · /help lists the commands")
    there = len(chat.conversation.session.entries)
    return [*told, *([f"going on: {there:,} messages in the window"] if there else [])]


async def _answered(chat: Chat, typed: str, line: Line, live: Live | None) -> str:
    """What there is to tell about what was typed; an answer is shown as it comes."""
    said = line.pictures.said(typed)
    is_command = _is_command(said)
    doing = chat.obey(typed) if is_command else chat.say(said)
    if live is None:
        told = await doing
        if not told and not is_command:
            _say("\n")
        return told
    if is_command and not typed.startswith("/compress"):
        return await doing
    async with live.turn(SUMMARY if is_command else MODEL):
        return await doing


def _is_command(said: str | Message) -> bool:
    """A slash begins a command, unless it begins a path."""
    return isinstance(said, str) and said.startswith("/") and "/" not in said[1:].partition(" ")[0]


async def _picked(title: str, rows: Sequence[Row], chosen: str | None) -> str | None:
    return await picker(title, rows, chosen).run_async(handle_sigint=False)


def _can_move() -> bool:
    """Whether lines can be drawn anew here."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not is_dumb()


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _line(text: str) -> None:
    _say(text + "\n")


def _note(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
