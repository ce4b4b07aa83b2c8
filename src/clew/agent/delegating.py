"""Work handed to another agent: a conversation of its own, whose cost counts into this one and whose words do not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from clew.agent.deeds import deed
from clew.agent.tools.call import failed
from clew.agent.tools.tool import function, text
from clew.agent.watching import short
from clew.core.state import ContextExhausted
from clew.facts.messages import Message, ToolCall, tool_result
from clew.facts.pieces import Piece
from clew.runtime.conversation import Conversation, RunTool, Watch
from clew.runtime.providers import Who

DELEGATE = function(
    "delegate",
    "Hand a piece of work to a helper with the same tools and a window of its own; its last words come back. Good for "
    "what needs much reading and little telling. It knows only what you write here.",
    task=text("What to do, what to know, and what to report, in full sentences."),
)
TITLE = 60
"""Characters of a task that name its conversation."""


async def delegated(
    call: ToolCall,
    parent: Conversation,
    watch: Watch,
    tools: Sequence[Mapping[str, Any]],
    run_tool: RunTool,
    summariser: Who,
    context_length: int | None,
) -> Message:
    """What came of the work. A helper has no helpers."""
    task = _task(call)
    if not task:
        return failed(call, "delegate needs a task: say what to do, what to know and what to report")
    store = parent.works.store
    session = store.delegate(
        parent.session.id, title=short(task, TITLE), system=parent.session.system, model=parent.who.model
    )
    child = Conversation(
        parent.works,
        session,
        parent.who,
        _From(watch),
        tools=tools,
        run_tool=run_tool,
        summariser=summariser,
        context_length=context_length,
    )
    try:
        done = await child.say(task)
    except ContextExhausted as end:
        return failed(call, f"the helper could not go on: {end}")
    finally:
        child.close()
    return tool_result(call, done.session.messages[-1].text or "(it ended without a word)")


class _From:
    """What a person sees of a helper's work: its calls, set in, and not its words, which come as its result."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def piece(self, piece: Piece) -> None: ...

    def calling(self, call: ToolCall) -> None:
        self._watch.told(f"  ↳ {deed(call)}")

    def called(self, call: ToolCall, result: Message, seconds: float) -> None: ...

    def told(self, text: str) -> None:
        self._watch.told(f"  ↳ {text}")


def _task(call: ToolCall) -> str:
    try:
        read = json.loads(call.arguments)
    except ValueError:
        return ""
    task = read.get("task") if isinstance(read, dict) else None
    return task.strip() if isinstance(task, str) else ""
