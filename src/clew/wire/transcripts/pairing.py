"""Which call does a tool result answer?"""

from collections.abc import Sequence

from clew.wire.transcripts.values import Message, word


def call_ids(message: Message) -> tuple[str, ...]:
    """The ids of the calls this message makes, in order."""
    calls = message.get("tool_calls")
    return tuple(word(call, "id") for call in calls if word(call, "id")) if isinstance(calls, list) else ()


def place_results(messages: Sequence[Message]) -> list[Message]:
    """Every result right after the message that made its call; a result without a call stays where it was.

    Agents log results as they finish, between the lines of a reply that is still being written.
    """
    owner_of = _owners(messages)
    answers: dict[int, list[Message]] = {}
    for place, owner in owner_of.items():
        answers.setdefault(owner, []).append(messages[place])
    placed: list[Message] = []
    for place, message in enumerate(messages):
        if place not in owner_of:
            placed.append(message)
        placed.extend(answers.get(place, ()))
    return placed


def name_results(messages: Sequence[Message]) -> list[Message]:
    """Every tool message with the name of the tool, as far as its call says it."""
    owners = _owners(messages)
    named = []
    for place, message in enumerate(messages):
        if place in owners and not word(message, "name"):
            name = _called_name(messages[owners[place]], word(message, "tool_call_id"))
            message = {**message, "name": name} if name else message
        named.append(message)
    return named


def _owners(messages: Sequence[Message]) -> dict[int, int]:
    """Place of a result → place of its call: the latest before it (ids are reused), else the first after it."""
    first: dict[str, int] = {}
    for place, message in enumerate(messages):
        for call_id in call_ids(message):
            first.setdefault(call_id, place)
    latest: dict[str, int] = {}
    owners: dict[int, int] = {}
    for place, message in enumerate(messages):
        for call_id in call_ids(message):
            latest[call_id] = place
        if message.get("role") == "tool":
            call_id = word(message, "tool_call_id")
            owner = latest.get(call_id, first.get(call_id))
            if owner is not None:
                owners[place] = owner
    return owners


def _called_name(message: Message, call_id: str) -> str:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if word(call, "id") == call_id:
            return word(call.get("function"), "name")
    return ""
