"""How is a Claude Code session read? (JSONL: one line for each block of a reply, linked by parentUuid)

The lines come in the order they were written, which is the conversation unless the user went back and asked again.
Left out: side chains (work of sub-agents), branches the user left, API error notices, and lines no model ever saw.
Text the program wrote in the user's place is kept and marked: is_meta, is_compact_summary.
"""

from collections.abc import Sequence
from typing import Any

from clew.wire.transcripts.blocks import from_assistant, from_user
from clew.wire.transcripts.openai import read_message
from clew.wire.transcripts.pairing import place_results
from clew.wire.transcripts.values import Format, Message, Problem, Row, Source, Transcript, word


def knows(source: Source) -> bool:
    return any(
        word(row.value, "type") in ("user", "assistant") and isinstance(row.value.get("message"), dict)
        for row in source.rows
    )


def read(source: Source) -> Transcript:
    own, problems = _own_lines(source.rows)
    messages: list[Message] = []
    for row in _join_replies(_without_left_branches(own)):
        said, wrong = _messages_of(row)
        messages += said
        problems += wrong
    return Transcript(
        messages=tuple(place_results(messages)),
        format=FORMAT.name,
        problems=tuple(problems),
        title=_title(source.rows),
        model=_model(own),
    )


def _own_lines(rows: Sequence[Row]) -> tuple[list[Row], list[Problem]]:
    """The lines of the main conversation, each once."""
    own: list[Row] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    for row in rows:
        if not isinstance(row.value, dict):
            problems.append(Problem(row.line, "not a line of a session (no object)"))
            continue
        uuid = word(row.value, "uuid")
        if uuid in seen or row.value.get("isSidechain") is True or word(row.value, "parent_tool_use_id"):
            continue
        if uuid:
            seen.add(uuid)
        own.append(row)
    return own, problems


def _without_left_branches(rows: list[Row]) -> list[Row]:
    """The lines without those of a branch the user left; all of them where a link on the way back is missing."""
    chain = _chain_to_last(rows)
    if chain is None:
        return rows
    parents = _parents(rows)
    by_uuid = {word(row.value, "uuid"): row.value for row in rows}
    replies = {_reply_id(by_uuid[uuid]) for uuid in chain} - {""}
    left: dict[str, bool] = {}
    for row in rows:  # a parent stands before its children, so its answer is known
        uuid = word(row.value, "uuid")
        if not uuid or uuid in chain:
            continue
        # Parallel calls fork the links too: their results hang beside the chain, but begin nothing new.
        begins_anew = _is_prompt(row.value) or (_is_reply(row.value) and _reply_id(row.value) not in replies)
        left[uuid] = begins_anew or left.get(parents[uuid], False)
    return [row for row in rows if not left.get(word(row.value, "uuid"), False)]


def _chain_to_last(rows: list[Row]) -> set[str] | None:
    """The uuids from the last message back to the first; None when the links do not lead there."""
    parents = _parents(rows)
    if any(_is_reply(row.value) and not parents.get(word(row.value, "uuid")) for row in rows):
        return None  # a reply always follows something: this file was written without links
    last = next(
        (word(row.value, "uuid") for row in reversed(rows) if _is_prompt(row.value) or _is_reply(row.value)), ""
    )
    if not last:
        return None
    chain: set[str] = set()
    at = last
    while at:
        if at in chain or at not in parents:
            return None
        chain.add(at)
        at = parents[at]
    return chain


def _parents(rows: list[Row]) -> dict[str, str]:
    """uuid → the uuid it follows, "" at a beginning. Past a compaction the link goes by another name or is missing."""
    parents: dict[str, str] = {}
    before, session = "", ""
    for row in rows:
        uuid = word(row.value, "uuid")
        if not uuid:
            continue
        parent = word(row.value, "parentUuid") or word(row.value, "logicalParentUuid")
        compacted = word(row.value, "subtype") == "compact_boundary" or row.value.get("isCompactSummary") is True
        joined = word(row.value, "sessionId") != session  # two sessions in one file follow one another
        if not parent and (compacted or joined):
            parent = before
        parents[uuid] = parent
        before, session = uuid, word(row.value, "sessionId")
    return parents


def _is_prompt(line: dict[str, Any]) -> bool:
    """Whether the user typed this: no tool result, and nothing the program wrote in the user's place."""
    if word(line, "type") != "user" or line.get("isMeta") is True or line.get("isCompactSummary") is True:
        return False
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return not (isinstance(content, list) and any(word(block, "type") == "tool_result" for block in content))


def _is_reply(line: dict[str, Any]) -> bool:
    return word(line, "type") == "assistant"


def _reply_id(line: dict[str, Any]) -> str:
    """The API's id of the reply a line belongs to; each block of a reply has a line of its own."""
    if not _is_reply(line):
        return ""
    return word(line.get("message"), "id") or word(line, "requestId") or word(line, "uuid")


def _join_replies(rows: list[Row]) -> list[Row]:
    """The lines of one reply as one line, at the place of the first; results logged between them come after."""
    groups: list[list[Row]] = []
    reply: str = ""
    open_group: list[Row] = []
    for row in rows:
        current = _reply_id(row.value)
        if current and current == reply:
            open_group.append(row)
            continue
        groups.append([row])
        if current:
            reply, open_group = current, groups[-1]
        elif _is_prompt(row.value):
            reply = ""  # the id of a reply from before a prompt is not its continuation
    return [_joined(group) for group in groups]


def _joined(group: list[Row]) -> Row:
    first = group[0]
    if len(group) == 1:
        return first
    blocks = [block for row in group for block in _blocks(row.value.get("message"))]
    return Row(first.line, {**first.value, "message": {"content": blocks}})


def _blocks(message: Any) -> list[Any]:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def _messages_of(row: Row) -> tuple[list[Message], list[Problem]]:
    line = row.value
    if word(line, "type") == "attachment":
        return _queued_prompt(line.get("attachment")), []
    if word(line, "type") not in ("user", "assistant") or line.get("isApiErrorMessage") is True:
        return [], []
    if not isinstance(line.get("message"), dict):
        return [], [Problem(row.line, "a line without a message was left out")]
    message, problems = read_message(Row(row.line, {"role": line["type"], "content": line["message"].get("content")}))
    if message is None or not message["content"]:
        return [], problems
    blocks = _blocks(message)
    messages = from_assistant(blocks) if line["type"] == "assistant" else from_user(blocks)
    return [_marked(message, line) for message in messages], problems


def _queued_prompt(attachment: Any) -> list[Message]:
    """What the user typed while the agent worked; it reaches the model as an attachment."""
    if word(attachment, "type") != "queued_command":
        return []
    blocks = _blocks({"content": attachment.get("prompt")})
    return from_user(blocks)


def _marked(message: Message, line: dict[str, Any]) -> Message:
    if message["role"] != "user":
        return message
    marks = {"is_meta": line.get("isMeta"), "is_compact_summary": line.get("isCompactSummary")}
    return {**message, **{name: True for name, mark in marks.items() if mark is True}}


def _title(rows: Sequence[Row]) -> str | None:
    """What the user called it, else what the program did; the latest of each."""
    for kind, key in (("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("summary", "summary")):
        for row in reversed(rows):
            if word(row.value, "type") == kind and word(row.value, key):
                return word(row.value, key)
    return None


def _model(rows: Sequence[Row]) -> str | None:
    for row in reversed(rows):
        model = word(row.value.get("message"), "model")
        if model and model != "<synthetic>":  # notices of the program itself
            return model
    return None


FORMAT = Format("claude-code", "Claude Code session (JSONL)", knows, read)
