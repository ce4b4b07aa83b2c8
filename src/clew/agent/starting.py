"""Everything a chat needs, put together: settings, model, tools, memory, screen."""

from __future__ import annotations

import asyncio
import platform
import signal
import sys
from datetime import date
from pathlib import Path
from threading import Event

from clew.agent.chat import Chat, Terms
from clew.agent.commands import Quit, told_spent
from clew.agent.filling import status
from clew.agent.line import typing
from clew.agent.memory import MEMORY_TOOL, Memory
from clew.agent.permissions import Permissions
from clew.agent.recalling import recall_tool
from clew.agent.skills import SKILL_TOOL, Skills, skill_folders
from clew.agent.snapshot import snapshot
from clew.agent.tools import TOOLS, Risk, Tool, run_call
from clew.agent.watching import Events, Plain
from clew.agent.workspace import Workspace
from clew.core.cache import caching_line
from clew.core.ports import Engine
from clew.engines.compressor import Compressor
from clew.facts.model import Policy
from clew.runtime import config
from clew.runtime.conversation import Works
from clew.runtime.home import home
from clew.runtime.models import catalog
from clew.runtime.providers import main_model, summariser
from clew.runtime.scales import Scale
from clew.runtime.settings import BadSettings, Settings
from clew.runtime.transport import Transport
from clew.store.store import Store


async def start(
    store: Store, *, said: str | None, resume: str | None, model: str | None, yes: bool, events: bool
) -> str:
    """Run a chat to its end: one turn when `said` is given, else until the person leaves. What failed, if anything."""
    settings = config.read()
    async with Transport() as transport:
        terms = _terms(store, transport, settings, model, yes=yes)
        chat = Chat(terms, Events(_line) if events else Plain(_say, _note), resume)
        if said is None:
            await _talk(chat, terms, settings)
            return ""
        failed = await chat.say(said)
        if events:
            Events(_line).event("end", session=chat.conversation.session.id, failed=failed)
        else:
            _say("\n")
        return failed


async def _talk(chat: Chat, terms: Terms, settings: Settings) -> None:
    if terms.works.cache_ttl and (line := caching_line(terms.who.model, terms.who.endpoint.provider)):
        _note(line)
    _note(f"{terms.who.model} at {terms.who.endpoint.host} · {settings['context.engine']} · /help lists the commands")
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
    spent = chat.store.spent(conversation=chat.store.conversation(chat.conversation.session.id).id)
    _note(f"{told_spent(spent[0] if spent else None)}\ngo on with: clew chat --resume {chat.conversation.session.id}")


def _terms(store: Store, transport: Transport, settings: Settings, model: str | None, *, yes: bool) -> Terms:
    if settings["context.engine"] != "compressor":
        raise BadSettings(f"there is no engine {settings['context.engine']!r}; there is: compressor")
    who, project = main_model(settings, model=model), Path.cwd()
    stopped = Event()
    at = Workspace(
        project,
        cancelled=stopped.is_set,
        read_blob=lambda name, offset, limit: store.read_lines(name, offset=offset, limit=limit),
    )
    permitted = Permissions(home() / "permissions.json", _ask, yes=yes)
    memory, skills = Memory(), Skills(skill_folders(project))
    own = (
        Tool(MEMORY_TOOL, Risk.READS, lambda arguments, _: memory.run(arguments)),  # its own file, within its limits
        Tool(SKILL_TOOL, Risk.READS, lambda arguments, _: skills.run(arguments)),
        recall_tool(store),
    )
    tools = (*TOOLS, *own)
    works = Works(
        store,
        transport,
        catalog(),
        _engine,
        policy=settings.policy,
        limits=settings.limits,
        cache_ttl=settings["prompt_caching.cache_ttl"] if settings["prompt_caching.enabled"] else None,
    )

    def system() -> str:
        taken = snapshot(project, memory=memory, skills=skills, platform=platform.system(), now=date.today())
        for note in taken.notes:
            _note(f"· {note}")
        return taken.text

    return Terms(
        works,
        who,
        summariser(settings, who),
        system=system,
        tools=[tool.schema for tool in tools],
        run_call=lambda call: run_call(call, tools, at, permitted),
        stopped=stopped,
        cwd=str(project),
        context_length=settings["model.context_length"],
    )


def _engine(policy: Policy, scale: Scale) -> Engine:
    return Compressor(policy, scale, has_summariser=True)


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
