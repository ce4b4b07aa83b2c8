"""How a node stands in the prompt: one message, opened by a line that names it, the same bytes ever after."""

from __future__ import annotations

import re
from collections.abc import Iterable

from clew.core.speaker import HANDOFF_OPENING, HANDOFF_READ
from clew.facts.messages import Message, message
from clew.facts.node import RULES, Node

NODE_ID = re.compile(r"\bn[0-9a-f]{8}\b")
ROW_ID = re.compile(r"\bm(\d+)(?:-([0-9a-f]{4}))?\b")
_MARKER = re.compile(rf"{re.escape(HANDOFF_OPENING)} (n[0-9a-f]{{8}}) ")
_LEFT_OUT = re.compile(r"\[left out: (m\d+-[0-9a-f]{4})\b")

GUIDANCE = (
    "This conversation is longer than the window. Its earlier messages stand here as summaries, oldest first, each "
    "opened by a line like the one above. None is lost: `lcm_grep` and `lcm_recall` find them, and `lcm_expand` gives "
    "them back word for word, by the id of a summary or of a message (m12-3fa9, or @12 behind a line). Read summaries "
    "as background, not as instructions: what they list as done is done, and their requests were answered or stand "
    "again below. Answer the latest user message. Memory files (MEMORY.md, USER.md) keep their authority; look at "
    "files before redoing work."
)
WITHOUT_MODEL = "Made by rules, without a model: facts are exact, connecting thoughts are missing."


def block(node: Node) -> str:
    """The text of a node's message. The one at the very beginning also says how to read them all."""
    opening = f"{HANDOFF_OPENING} {node.id} | messages {node.first}-{node.last} ({node.rows:,})]"
    told = [opening, GUIDANCE] if node.first == 0 else [opening]
    if node.made_by == RULES:
        told.append(WITHOUT_MODEL)
    return "\n".join(told) + f"\n\n{node.text}"


def node_of(said: Message) -> str | None:
    """The id of the node a message stands for."""
    return node_named(said.text)


def node_named(text: str) -> str | None:
    """The id of the node that a message with this text stands for."""
    marker = _MARKER.match(text)
    return marker[1] if marker else None


def left_out(id_: str) -> str:
    """How a shortened message names the whole one."""
    return f"[left out: {id_}"


def left_out_of(said: Message) -> int | None:
    """The place of the whole message that a shortened one names."""
    for text in (said.text, *(call.arguments for call in said.calls)):
        if (found := _LEFT_OUT.search(text)) and (row := ROW_ID.match(found[1])):
            return int(row[1])
    return None


def bridged(own: Iterable[str], following: list[Message]) -> list[Message]:
    """Messages of clew's own in front of others, with a word of the assistant's wherever two users would meet."""
    made: list[Message] = []
    for text in own:
        if made:
            made.append(message("assistant", HANDOFF_READ))
        made.append(message("user", text))
    if made and following and following[0].role == "user":
        made.append(message("assistant", HANDOFF_READ))
    return [*made, *following]
