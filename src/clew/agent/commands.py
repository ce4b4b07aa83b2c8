"""What can a person ask of the conversation itself? The slash commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from rich.console import Console
from rich.text import Text

from clew.agent import accounts, cached, choosing, filling
from clew.agent.memory import FILES, Memory
from clew.agent.watching import short
from clew.core.ports import Setup
from clew.facts.budget import share_out
from clew.facts.messages import message
from clew.facts.session import Outlook, Session
from clew.runtime.conversation import Conversation
from clew.runtime.recall import search
from clew.screen import conversations, hits, spending
from clew.screen.layout import drawn, facts, say
from clew.screen.naming import LAST, resolve
from clew.store.store import Store

PREVIEW = "--preview"
LISTED, HITS = 15, 5
"""Conversations, and places that a search found, that are shown."""


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

    @property
    def pick(self) -> choosing.Pick | None:
        """Have the person pick one of several; None where they cannot."""
        ...


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    told: str
    """What it does, in one line."""
    run: Callable[[Chat, str], Awaitable[str]]
    topic: str = "this chat"


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


async def retry(chat: Chat, _: str) -> str:
    await chat.conversation.retry()
    return ""


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
    if not name and chat.pick:
        here = chat.conversation
        name = await chat.pick("Which model?", choosing.models(here), here.who.model) or ""
    if name:
        await chat.talk_to(name)
    setup = chat.conversation.setup
    return f"{setup.model.name} with a window of {setup.model.window.size:,} tokens"


async def tools(chat: Chat, _: str) -> str:
    told = [tool["function"] for tool in chat.conversation.setup.tools]
    rows = [(each["name"], each["description"].splitlines()[0]) for each in told]
    return drawn(lambda page: page.print(facts(rows)))


async def memory(chat: Chat, _: str) -> str:
    told = []
    for file in FILES:
        entries = [f"- {short(entry)}" for entry in chat.memory.entries(file)]
        told.append("\n".join([f"{file}: {len(entries)} entries", *entries]))
    return "\n".join([*told, f"they lie in {chat.memory.folder}; the model writes them, and so may you"])


async def context(chat: Chat, _: str) -> str:
    here = chat.conversation
    found = filling.filling(here.session, here.setup, here.factor)
    return drawn(lambda page: filling.show(page, found))


async def cache(chat: Chat, _: str) -> str:
    return drawn(lambda page: cached.show(page, chat.conversation))


async def insights(chat: Chat, days: str) -> str:
    period = spending.period(int(days) if days.isdigit() and int(days) else None, None, None)
    picture = spending.picture(chat.store, period, ("day", "model", "tool", "conversation"))
    return drawn(lambda page: spending.show(page, picture, whole=False))


async def usage(chat: Chat, _: str) -> str:
    account = accounts.account_of(chat.store, chat.conversation.session.id)
    return drawn(lambda page: accounts.show(page, account))


async def sessions(chat: Chat, _: str) -> str:
    rows, total = conversations.listed(chat.store, limit=LISTED), conversations.total(chat.store)
    here = chat.store.conversation(chat.conversation.session.id).id
    return drawn(lambda page: conversations.show_list(page, rows, total, here))


async def resume(chat: Chat, words: str) -> str:
    if not words and chat.pick:
        here = chat.store.conversation(chat.conversation.session.id).id
        words = await chat.pick("Which conversation?", choosing.conversations(chat.store), here) or ""
        if not words:
            return ""
    found = chat.store.conversation(resolve(chat.store, words or LAST))
    await chat.resume(found.tip)
    return f"going on with {found.id}: {len(chat.conversation.session.entries):,} messages in the window"


async def find(chat: Chat, words: str) -> str:
    if not words:
        return "/search takes what to look for"
    found = search(chat.store, words, limit=HITS)
    seen = [hits.seen(chat.store, hit, 0) for hit in found.hits]
    return drawn(lambda page: hits.show(page, words, found, hits.Chosen(), seen))


async def quit_(_chat: Chat, _: str) -> str:
    raise Quit


async def help_(_chat: Chat, _: str) -> str:
    def draw(page: Console) -> None:
        topics: dict[str, list[tuple[str, str]]] = {
            topic: [] for topic in (*(command.topic for command in COMMANDS), "keys")
        }
        for command in COMMANDS:
            topics[command.topic].append((f"/{command.name}", command.told))
        wide = max(len(name) for name, _ in [*KEYS, *(row for rows in topics.values() for row in rows)])
        for topic, rows in (topics | {"keys": KEYS}).items():
            say(page, Text(topic, style="bold"))
            page.print(facts((f"  {name:<{wide}}", told) for name, told in rows))

    return drawn(draw)


COMMANDS = (
    Command("new", "begin a new conversation", new, "conversations"),
    Command("resume", "go on with one: pick it, or write the beginning of its id", resume, "conversations"),
    Command("sessions", "your conversations", sessions, "conversations"),
    Command("search", "find again what was said in any of them", find, "conversations"),
    Command("branch", "try something else from here; the other goes on as it was", branch, "conversations"),
    Command("undo", "take back your last turn, or the last N", undo, "conversations"),
    Command("retry", "ask again about what was not answered", retry, "conversations"),
    Command("context", "what fills the window, and where its marks are", context, "the window"),
    Command(
        "compress",
        "make room now; words behind it stay in detail, --preview only looks",
        compress,
        "the window",
    ),
    Command("pin", "keep a text, or the newest answer, in the window for good", pin, "the window"),
    Command("pins", "what is pinned", pins, "the window"),
    Command("unpin", "let number N go", unpin, "the window"),
    Command("model", "pick another model, or write its name", model, "the model"),
    Command("tools", "what it can do", tools, "the model"),
    Command("memory", "what it wrote down to last", memory, "the model"),
    Command("usage", "what this conversation took, with all it delegated (also /cost)", usage, "what it takes"),
    Command("cache", "what the provider's cache did for it", cache, "what it takes"),
    Command("insights", "what all of them took in the last N days", insights, "what it takes"),
    Command("help", "this page", help_),
    Command("quit", "leave; everything is kept", quit_),
)
ALSO = {"reset": "new", "exit": "quit", "cost": "usage"}
BY_NAME = {command.name: command for command in COMMANDS}
BY_NAME |= {other: BY_NAME[name] for other, name in ALSO.items()}
KEYS = (
    ("Enter", "sends; Alt-Enter, or a \\ at the end, begins a new line"),
    ("Tab", "completes commands, what they take, and paths"),
    ("@path", "sends a picture along; so does one that is pasted or dragged here"),
    ("Ctrl-V", "takes a picture from the clipboard"),
    ("Ctrl-C", "stops the turn, clears the line, and leaves when pressed twice"),
    ("Ctrl-D", "leaves"),
)


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
