"""What can a person ask of the conversation itself? The slash commands."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from clew.agent.filling import drawn, filling
from clew.core.state import Turn
from clew.facts.usage import Usage
from clew.runtime.conversation import Conversation
from clew.runtime.recall import search
from clew.store.ledger import Spent
from clew.store.store import Store


class Chat(Protocol):
    """What a command works on."""

    conversation: Conversation

    @property
    def store(self) -> Store: ...

    def open(self, session: str | None) -> None:
        """Go on in that session; None begins a new conversation."""
        ...

    def talk_to(self, model: str) -> None:
        """Go on with another model."""
        ...


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    told: str
    """What it does, in one line."""
    run: Callable[[Chat, str], Awaitable[str]]


class Quit(Exception):
    """The person is done."""


async def new(chat: Chat, _: str) -> str:
    chat.open(None)
    return "a new conversation; the old one stays in /sessions"


async def compress(chat: Chat, focus: str) -> str:
    before = chat.conversation.session
    now = await chat.conversation.compress(focus or None)
    return compacted(before.counted, now)


async def undo(chat: Chat, turns: str) -> str:
    count = int(turns) if turns.isdigit() else 1
    session, taken = chat.store.undo(chat.conversation.session.id, turns=count)
    chat.open(session)
    return f"took back {len(taken)} messages; they stay in the store"


async def branch(chat: Chat, title: str) -> str:
    chat.open(chat.store.branch(chat.conversation.session.id, title=title))
    return f"a branch of it: {chat.conversation.session.id}; the other goes on as it was"


async def model(chat: Chat, name: str) -> str:
    if name:
        chat.talk_to(name)
    setup = chat.conversation.setup
    return f"{setup.model.name} with a window of {setup.model.window.size:,} tokens"


async def tools(chat: Chat, _: str) -> str:
    told = [tool["function"] for tool in chat.conversation.setup.tools]
    return "\n".join(f"{each['name']:<14} {each['description'].splitlines()[0]}" for each in told)


async def context(chat: Chat, _: str) -> str:
    conversation = chat.conversation
    return drawn(filling(conversation.session, conversation.setup, conversation.factor))


async def cache(chat: Chat, _: str) -> str:
    spent = _spent(chat)
    prompt = spent.usage.prompt if spent else 0
    if not spent or not prompt:
        return "nothing was sent yet"
    read = spent.usage.cache_read
    return f"{read:,} of {prompt:,} prompt tokens were read from the provider's cache ({read / prompt:.0%})"


async def insights(chat: Chat, days: str) -> str:
    after = time.time() - 86_400 * (int(days) if days.isdigit() else 30)
    rows = chat.store.spent("model", after=after)
    return "\n".join(f"{row.key:<32} {told_spent(row)}" for row in rows) or "nothing yet"


async def usage(chat: Chat, _: str) -> str:
    return told_spent(_spent(chat))


def _spent(chat: Chat) -> Spent | None:
    conversation = chat.store.conversation(chat.conversation.session.id).id
    return next(iter(chat.store.spent(conversation=conversation)), None)


async def sessions(chat: Chat, _: str) -> str:
    rows = chat.store.conversations(limit=15)
    return "\n".join(f"{row.id}  {row.messages:,} messages  {row.title}" for row in rows) or "none yet"


async def resume(chat: Chat, words: str) -> str:
    named = words or next((row.id for row in chat.store.conversations(limit=1)), "")
    found = chat.store.find(named) if named else []
    if len(found) != 1:
        return f"{len(found) or 'no'} conversations begin with {named!r}; /sessions lists them"
    chat.open(chat.store.get_compression_tip(found[0]))
    return f"going on with {found[0]}: {len(chat.conversation.session.entries):,} messages in the window"


async def find(chat: Chat, words: str) -> str:
    found = search(chat.store, words, limit=5)
    hits = [f"{hit.conversation} {hit.place}: {hit.snippet}" for hit in found.hits]
    return "\n".join([*hits, f"{found.total:,} of {found.searched:,} messages"])


async def quit_(_chat: Chat, _: str) -> str:
    raise Quit


async def help_(_chat: Chat, _: str) -> str:
    return "\n".join(f"/{command.name:<10} {command.told}" for command in COMMANDS)


COMMANDS = (
    Command("new", "begin a new conversation", new),
    Command("compress", "make room now; what you write behind it is kept in detail", compress),
    Command("undo", "take back your last turn, or the last N", undo),
    Command("branch", "try something else from here; the other goes on as it was", branch),
    Command("context", "what fills the window", context),
    Command("model", "the model, or another one from now on", model),
    Command("tools", "what the model can do", tools),
    Command("usage", "what this conversation took", usage),
    Command("cache", "how much of it the provider had cached", cache),
    Command("insights", "what all of them took, by model, in the last N days", insights),
    Command("sessions", "your conversations", sessions),
    Command("resume", "go on with one, by the beginning of its id", resume),
    Command("search", "find it again", find),
    Command("help", "this list", help_),
    Command("quit", "leave; everything is kept", quit_),
)
ALSO = {"reset": "new", "exit": "quit", "cost": "usage"}
BY_NAME = {command.name: command for command in COMMANDS}
BY_NAME |= {other: BY_NAME[name] for other, name in ALSO.items()}


def compacted(before: int, now: Turn) -> str:
    after = now.session.counted
    return f"{before:,} → {after:,} tokens" if after < before else "nothing to compact: everything there is protected"


def told_spent(spent: Spent | None) -> str:
    if spent is None or not spent.calls:
        return "nothing yet"
    used: Usage = spent.usage
    money = f"${spent.cost:.4f}" if spent.unpriced < spent.calls else "at an unknown cost"
    if 0 < spent.unpriced < spent.calls:
        money += f" and {spent.unpriced:,} calls at an unknown one"
    return (
        f"{spent.calls:,} calls ({spent.failed:,} failed) · prompt {used.prompt:,} = {used.input:,} fresh + "
        f"{used.cache_read:,} cached + {used.cache_write:,} written · output {used.output:,} · {money}"
    )
