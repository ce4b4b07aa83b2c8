"""Everything a chat needs, put together: settings, model, engine, tools, memory."""

from __future__ import annotations

import platform
from collections.abc import Callable
from datetime import date
from pathlib import Path
from threading import Event

from clew.agent.chat import Terms
from clew.agent.memory import MEMORY_TOOL, Memory
from clew.agent.permissions import Permissions
from clew.agent.recalling import recall_tool
from clew.agent.renewing import renewed
from clew.agent.skills import SKILL_TOOL, Skills, skill_folders
from clew.agent.snapshot import snapshot
from clew.agent.tools import EXTRA_TOOLS, TOOLS, Risk, Tool, run_call
from clew.agent.workspace import Workspace
from clew.runtime.engines import seated
from clew.runtime.home import home
from clew.runtime.local import LocalModel
from clew.runtime.models import catalog
from clew.runtime.providers import main_model, summariser
from clew.runtime.recalling import Recall
from clew.runtime.settings import Settings
from clew.runtime.transport import Transport
from clew.runtime.works import Works
from clew.store.store import Store


async def terms_of(
    store: Store,
    transport: Transport,
    settings: Settings,
    *,
    model: str | None,
    local: LocalModel | None = None,
    ask: Callable[[str], str],
    yes: bool,
    note: Callable[[str], None],
) -> Terms:
    """`local` is a model served here, in place of the one the settings name; `ask` is how a person is asked for leave;
    `note` is where they read what is not part of an answer."""
    who, project = local.who if local else main_model(settings, model=model), Path.cwd()
    writer = who if local else summariser(settings, who)
    works = Works(
        store,
        transport,
        catalog(),
        policy=settings.policy,
        limits=settings.limits,
        cache_ttl=settings["prompt_caching.cache_ttl"] if settings["prompt_caching.enabled"] else None,
        recall=Recall(settings["recall.mode"], settings["recall.budget"]),
    )
    writes_in = local.window if local else settings["auxiliary.compression.context_length"]
    seat = await seated(settings, works, [writer, who], window=writes_in, cwd=project, note=note)
    taught = [skill.path for skill in seat.skills.values()]
    stopped, memory, skills = Event(), Memory(), Skills(skill_folders(project), taught)
    at = Workspace(
        project,
        cancelled=stopped.is_set,
        read_blob=lambda name, offset, limit: store.read_lines(name, offset=offset, limit=limit),
    )
    tools = tools_of(store, memory, skills, web=settings["tools.web"])
    permitted = Permissions(home() / "permissions.json", ask, yes=yes)

    def system() -> str:
        taken = snapshot(project, memory=memory, skills=skills, platform=platform.system(), now=date.today())
        for left_out in taken.notes:
            note(f"· {left_out}")
        return taken.text

    return Terms(
        works,
        who,
        writer,
        seat,
        system=system,
        renew=lambda session: renewed(session, system()),
        tools=[] if local and not local.takes_tools else [tool.schema for tool in tools],
        run_call=lambda call: run_call(call, tools, at, permitted),
        memory=memory,
        stopped=stopped,
        cwd=str(project),
        context_length=local.window if local else settings["model.context_length"],
    )


def tools_of(store: Store, memory: Memory, skills: Skills, *, web: bool) -> tuple[Tool, ...]:
    own = (
        Tool(MEMORY_TOOL, Risk.READS, lambda arguments, _: memory.run(arguments)),  # its own file, within its limits
        Tool(SKILL_TOOL, Risk.READS, lambda arguments, _: skills.run(arguments)),
        recall_tool(store),
    )
    return (*TOOLS, *(EXTRA_TOOLS if web else ()), *own)
