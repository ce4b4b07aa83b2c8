"""With which system prompt does a conversation go on after a compaction? Today's, with the skills it had read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from clew.engines.handoff import SYSTEM_NOTE
from clew.facts.messages import Message
from clew.facts.session import Session

_READ = "Skills you have read in this conversation"
_NAMED = re.compile(rf"{_READ}: (.*?)\. Their text")


def renewed(session: Session, fresh: str) -> str:
    """`fresh` is the snapshot as it would be taken now: what was written to memory meanwhile stands in it."""
    before = _NAMED.search(session.system)
    skills = dict.fromkeys([*(before[1].split(", ") if before else ()), *skills_read(session.messages)])
    named = (
        f"\n{_READ}: {', '.join(skills)}. Their text may have left the window: read one again before you use it.\n"
        if skills
        else ""
    )
    return fresh + named + (SYSTEM_NOTE if SYSTEM_NOTE in session.system else "")


def skills_read(messages: Iterable[Message]) -> list[str]:
    """The names of the skills that were called for, in order."""
    found = []
    for said in messages:
        for call in said.calls:
            if call.name == "skill":
                try:
                    name = json.loads(call.arguments).get("name")
                except (ValueError, AttributeError):
                    continue
                if isinstance(name, str) and name:
                    found.append(name)
    return found
