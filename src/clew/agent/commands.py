"""What can a person ask of the conversation itself? The slash commands."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from clew.agent.filling import drawn, filling
from clew.agent.memory import FILES, Memory
from clew.agent.watching import short
from clew.core.ports import Setup
from clew.facts.budget import share_out
from clew.facts.messages import message
from clew.facts.session import Outlook, Session
from clew.facts.usage import Usage
from clew.runtime.conversation import Conversation
from clew.runtime.recall import search
from clew.store.ledger import Spent
from clew.store.store import Store

PREVIEW = "--preview"


class Chat(Protocol):
    """What a command works on."""

    conversation: Conversation

    @property
    def store(self) -> Store: ...

    @property
    def memory(self) -> Memory: ...

    async def renew(self) -> None:
        """A new conversation."""
        ...

    async def resume(self, session: str) -> None:
        """Go on with another conversation."""
        ...

    async def move(self, session: str, why: str) -> None:
        """Go on in a session that comes out of this one."""
        ...

    async def talk_to(self, model: str) -> None:
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
    await chat.renew()
    return "a new conversation; the old one stays in /sessions"


async def compress(chat: Chat, focus: str) -> str:
    if focus == PREVIEW:
        return previewed(chat.conversation.outlook(), chat.conversation.session)
    before = chat.conversation.session
    now = await chat.conversation.compress(focus or None)
    return "" if now.session.id != before.id else "nothing was compacted"


async def pin(chat: Chat, words: str) -> str:
    here = chat.conversation
    if words:
        newest = words
    else:
        said = next((each for each in reversed(here.session.messages) if each.role == "assistant" and each.text), None)
        newest = said.text if said else ""
    if not newest:
        return "nothing to pin yet; /pin TEXT pins a text, /pin alone the newest answer"
    most = pin_limit(here.setup)
    weight = sum(here.setup.count(message("user", text)) for text in (*here.session.pins, newest))
    if weight > most:
        return (
            f"pins may weigh {most:,} tokens in this window, and with this one they would weigh {weight:,}; /unpin one"
        )
    here.pin(*here.session.pins, newest)
    return f"pinned: it stays in the window, word for word ({len(here.session.pins)} by now; /pins lists them)"


async def pins(chat: Chat, _: str) -> str:
    pinned = chat.conversation.session.pins
    return "\n".join(f"{number}. {short(text)}" for number, text in enumerate(pinned, 1)) or "nothing is pinned"


async def unpin(chat: Chat, number: str) -> str:
    pinned = list(chat.conversation.session.pins)
    if not number.isdigit() or not 1 <= int(number) <= len(pinned):
        return f"/unpin takes a number from 1 to {len(pinned)}; /pins lists them" if pinned else "nothing is pinned"
    gone = pinned.pop(int(number) - 1)
    chat.conversation.pin(*pinned)
    return f"unpinned: {short(gone)}"


async def undo(chat: Chat, turns: str) -> str:
    count = int(turns) if turns.isdigit() else 1
    session, taken = chat.store.undo(chat.conversation.session.id, turns=count)
    await chat.move(session, "undo")
    return f"took back {len(taken)} messages; they stay in the store"


async def branch(chat: Chat, title: str) -> str:
    await chat.move(chat.store.branch(chat.conversation.session.id, title=title), "branch")
    return f"a branch of it: {chat.conversation.session.id}; the other goes on as it was"


async def model(chat: Chat, name: str) -> str:
    if name:
        await chat.talk_to(name)
    setup = chat.conversation.setup
    return f"{setup.model.name} with a window of {setup.model.window.size:,} tokens"


async def tools(chat: Chat, _: str) -> str:
    told = [tool["function"] for tool in chat.conversation.setup.tools]
    return "\n".join(f"{each['name']:<14} {each['description'].splitlines()[0]}" for each in told)


async def memory(chat: Chat, _: str) -> str:
    told = []
    for file in FILES:
        entries = [f"- {short(entry)}" for entry in chat.memory.entries(file)]
        told.append("\n".join([f"{file}: {len(entries)} entries", *entries]))
    return "\n".join([*told, f"they lie in {chat.memory.folder}; the model writes them, and so may you"])


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
    return next(iter(chat.store.spent(conversation=conversation, family=True)), None)


async def sessions(chat: Chat, _: str) -> str:
    rows = chat.store.conversations(limit=15)
    return "\n".join(f"{row.id}  {row.messages:,} messages  {row.title}" for row in rows) or "none yet"


async def resume(chat: Chat, words: str) -> str:
    named = words or next((row.id for row in chat.store.conversations(limit=1)), "")
    found = chat.store.find(named) if named else []
    if len(found) != 1:
        return f"{len(found) or 'no'} conversations begin with {named!r}; /sessions lists them"
    await chat.resume(chat.store.get_compression_tip(found[0]))
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
    Command("compress", "make room now, in detail for what you write behind it; --preview only looks", compress),
    Command("pin", "keep a text, or the newest answer, in the window for good", pin),
    Command("pins", "what is pinned", pins),
    Command("unpin", "let number N go", unpin),
    Command("undo", "take back your last turn, or the last N", undo),
    Command("branch", "try something else from here; the other goes on as it was", branch),
    Command("context", "what fills the window", context),
    Command("model", "the model, or another one from now on", model),
    Command("tools", "what the model can do", tools),
    Command("memory", "what the model wrote down to last", memory),
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


def previewed(would: Outlook | None, session: Session) -> str:
    """What would leave, and what that saves."""
    if would is None:
        return "this engine does not say beforehand what it would do"
    if not would.leaving:
        return "nothing would leave: all there is stands in the protected head and tail"
    gone = [session.messages[place] for place in would.leaving]
    kinds = Counter(
        "results" if said.is_result else "answers" if said.role == "assistant" else "yours" for said in gone
    )
    told = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
    newest = next((said for said in reversed(gone) if said.text.strip()), gone[-1])
    return (
        f"{len(gone):,} messages would leave ({told}), {would.kept:,} stay\n"
        f"{would.tokens_before:,} → at most {would.tokens_after:,} tokens\n"
        f"from: {short(gone[0].text)}\n  to: {short(newest.text)}"
    )


def pin_limit(setup: Setup) -> int:
    """Tokens that all pins together may weigh: a tenth of what a conversation may."""
    fixed = {"system": setup.system_tokens, "tools": setup.tools_tokens}
    return share_out(setup.model.window, setup.policy, **fixed).room // 10


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
