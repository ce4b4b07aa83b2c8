"""A chat at a terminal or behind a pipe, from its first line to what it came to."""

from __future__ import annotations

import asyncio
import signal
import sys

from clew.agent.chat import Chat, Terms
from clew.agent.commands import Quit, told_spent
from clew.agent.filling import status
from clew.agent.line import typing
from clew.agent.starting import terms_of
from clew.agent.watching import Events, Plain
from clew.core.cache import caching_line
from clew.runtime import config
from clew.runtime.home import home
from clew.runtime.providers import Who
from clew.runtime.transport import Transport
from clew.store.store import Store


async def talk(
    store: Store,
    *,
    said: str | None,
    resume: str | None,
    model: str | None,
    yes: bool,
    events: bool,
    local: Who | None = None,
) -> str:
    """Run a chat to its end: one turn when `said` is given, else until the person leaves. What failed, if anything."""
    settings = config.read()
    async with Transport() as transport:
        terms = terms_of(store, transport, settings, model=model, local=local, ask=_ask, yes=yes, note=_note)
        chat = Chat(terms, Events(_line) if events else Plain(_say, _note))
        await chat.open(resume)
        try:
            if said is not None:
                return await _once(chat, said, events=events)
            await _at_length(chat, terms)
            return ""
        finally:
            await chat.close()


async def _once(chat: Chat, said: str, *, events: bool) -> str:
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, chat.interrupt)
    failed = await chat.say(said)
    if events:
        Events(_line).event("end", session=chat.conversation.session.id, failed=failed)
    else:
        _say("\n")
    return failed


async def _at_length(chat: Chat, terms: Terms) -> None:
    who = terms.who
    if terms.works.cache_ttl and (line := caching_line(who.model, who.endpoint.provider, terms.works.cache_ttl)):
        _note(line)
    _note(f"{who.model} at {who.endpoint.host} · {terms.seat.name} · /help lists the commands")
    typed = typing(home() / "history", lambda: status(chat.conversation))
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, chat.interrupt)
    while True:
        try:
            line = (await typed.prompt_async(handle_sigint=False)).strip()
            if line and (told := await chat.obey(line)):
                _note(told)
            elif line:
                _say("\n")
        except (EOFError, KeyboardInterrupt, Quit):  # Ctrl-D, or Ctrl-C where no turn runs
            break
    here = chat.store.conversation(chat.conversation.session.id)
    spent = chat.store.spent(conversation=here.id, family=True)
    _note(f"{told_spent(spent[0] if spent else None)}\ngo on with: clew chat --resume {here.id}")


def _ask(question: str) -> str:
    """The person's word; whoever cannot be asked has said no."""
    if not sys.stdin.isatty():
        return "no"
    answer = input(f"{question} [y]es once, [a]lways, [N]o: ").strip().lower()
    return {"y": "once", "a": "always"}.get(answer[:1], "no")


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _line(text: str) -> None:
    _say(text + "\n")


def _note(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
