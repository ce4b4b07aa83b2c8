"""Who really said it: a person, the host around the agent, the model, or a tool. The role alone does not tell."""

from __future__ import annotations

import re
from enum import StrEnum

from clew.facts.messages import Message, other_parts

HANDOFF_OPENING = "[CONTEXT COMPACTION"
"""How every compaction summary begins, ours and those of agents that share the format."""
HANDOFF_READ = "[Handoff read; continuing with the user's latest message.]"
"""Stands between a summary and a user message where strict chat templates want the roles to alternate."""
PINNED_OPENING = "[PINNED BY THE USER"
"""Opens what a person wants in the window for good."""
HISTORY_STARTS_LATER = "[The beginning of this conversation is not part of it any more.]"
"""Opens a history that would otherwise begin with the assistant, which providers refuse."""

# How agent hosts mark what they put into the user's mouth, read off recorded sessions of Claude Code, Codex, opencode
# and Hermes: reminders, hook output, command echoes, notifications, rules files, interruptions.
_HOST = re.compile(
    r"""\s*(?:
        <(?:system-reminder|task-notification|local-command-[a-z]+|command-(?:name|message|args)|bash-(?:input|std[a-z]+)
           |environment_context|user_instructions|permissions|turn_aborted|subagent_notification|user-prompt-submit-hook
           |session-start-hook|hook|skill|ide_[a-z_]+|budget|persisted-output)\b
      | \[(?:CONTEXT\ COMPACTION|PINNED\ BY\ THE\ USER|Request\ interrupted|SYSTEM|System\ note|Handoff\ read
           |The\ beginning\ of\ this|Your\ active\ task\ list)
      | \#\ AGENTS\.md\ instructions
      | Caveat:\ The\ messages\ below\ were\ generated
      | This\ session\ is\ being\ continued\ from\ a\ previous
      | Base\ directory\ for\ this\ skill:
      | Stop\ hook\ feedback
      )""",
    re.VERBOSE,
)


class Speaker(StrEnum):
    PERSON = "person"
    HOST = "host"
    MODEL = "model"
    TOOL = "tool"


def speaker(message: Message) -> Speaker:
    """Whose words a message carries."""
    if message.role == "assistant":
        return Speaker.HOST if is_clews_own(message) else Speaker.MODEL
    if message.role == "user":
        return Speaker.HOST if _HOST.match(message.text) or _is_marked(message) else Speaker.PERSON
    return Speaker.TOOL if message.is_result else Speaker.HOST


def _is_marked(message: Message) -> bool:
    """Whether the host said itself that it wrote this in the user's place."""
    return len(message.raw) > 2 and bool(message.raw.get("is_meta") or message.raw.get("is_compact_summary"))


def is_handoff(message: Message) -> bool:
    """Whether a message is the summary that an earlier compaction left."""
    return message.text.startswith(HANDOFF_OPENING) and not message.is_result


def is_clews_own(message: Message) -> bool:
    """Whether clew wrote the message: such rows are made anew at each compaction and never pile up."""
    return message.text[:1] == "[" and (
        is_handoff(message)
        or message.text in (HANDOFF_READ, HISTORY_STARTS_LATER)
        or (message.text.startswith(PINNED_OPENING) and not message.is_result)
    )


def newest_said_by_person(messages: tuple[Message, ...]) -> int | None:
    """The place of the newest message of a person that says anything."""
    for place in range(len(messages) - 1, -1, -1):
        said = messages[place]
        if said.role == "user" and speaker(said) is Speaker.PERSON and (said.text.strip() or other_parts(said)):
            return place
    return None
