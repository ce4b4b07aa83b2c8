"""What does a request say, and may it say that?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clew.facts.exchange import Prompt
from clew.facts.messages import BadMessages
from clew.testing.simulator.caches import as_billed
from clew.testing.simulator.providers import Provider, Refusal
from clew.testing.simulator.rules import Rules
from clew.testing.simulator.server import Request
from clew.wire.dialect import Dialect
from clew.wire.legal import validate_messages

SECRET_HEADERS = frozenset({"authorization", "x-api-key", "api-key", "x-goog-api-key", "proxy-authorization", "cookie"})
NOTHING = Prompt("", ())
"""What an unreadable request asks."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """A refusal, with what its holes are to be filled with."""

    refusal: Refusal
    holes: Mapping[str, Any] = field(default_factory=dict)
    retry_after: int | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """One request as the provider understands it; what could not be read is empty."""

    dialect: str
    provider: Provider
    key: str
    body: Mapping[str, Any] = field(default_factory=dict)
    prompt: Prompt = NOTHING
    billed: Mapping[str, Any] = field(default_factory=dict)
    """The body as it is weighed and cached."""
    complaint: Complaint | None = None
    """Why it is not even weighed."""


def hear(request: Request, dialect: Dialect, rules: Rules, kept: Mapping[str, list[Any]]) -> Heard:
    """Read a request; `kept` holds the items of earlier responses, which a new one may build on."""
    provider, key = rules.provider_for(dialect.name), key_of(request)

    def refuse(refusal: Refusal, **holes: Any) -> Heard:
        return Heard(dialect.name, provider, key, complaint=Complaint(refusal, holes))

    if rules.key is not None and key != rules.key:
        return refuse(provider.key, key=_masked(key))
    if len(request.body) > rules.limits.body_bytes:
        return refuse(provider.size)
    try:
        body = json.loads(request.body)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        return refuse(provider.illegal, problem="We could not parse the JSON body of your request.")
    earlier = body.get("previous_response_id")
    if earlier is not None:
        if earlier not in kept:
            return refuse(provider.illegal, problem=f"Previous response with id '{earlier}' not found.")
        body = {**body, "input": [*kept[earlier], *input_items(body)]}
    try:
        prompt = dialect.decode(body)
    except BadMessages as error:
        return refuse(provider.illegal, problem=str(error))
    complaint = _complaint(prompt, body, dialect.name, provider, rules)
    return Heard(dialect.name, provider, key, body, prompt, as_billed(prompt, body, dialect.name), complaint)


def _complaint(
    prompt: Prompt, body: Mapping[str, Any], dialect: str, provider: Provider, rules: Rules
) -> Complaint | None:
    if rules.models and prompt.model not in rules.models:
        return Complaint(provider.model, {"model": prompt.model})
    problems = _problems(body, dialect) if rules.strict else ()
    return Complaint(provider.illegal, {"problem": problems[0]}) if problems else None


def _problems(body: Mapping[str, Any], dialect: str) -> list[str]:
    missing = ["model: Field required"] if not body.get("model") else []
    if dialect == "anthropic":
        missing += ["max_tokens: Field required"] if "max_tokens" not in body else []
        return missing + validate_messages(body.get("messages", ()), "anthropic")
    if dialect == "chat":
        return missing + validate_messages(body.get("messages", ()), "openai")
    return missing + validate_messages(input_items(body), "responses")


def input_items(body: Mapping[str, Any]) -> list[Any]:
    """The items that a request to the Responses endpoint brings along; a text is what the user says."""
    said = body.get("input", ())
    return [{"role": "user", "content": said}] if isinstance(said, str) else list(said or ())


def key_of(request: Request) -> str:
    """The key that a request came with, however it carries it."""
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    return bearer or request.headers.get("x-api-key") or request.headers.get("api-key", "")


def _masked(key: str) -> str:
    return f"{key[:3]}{'*' * 8}{key[-4:]}" if len(key) > 8 else "*" * len(key)
