"""A plug-in in the place of the core's own engine: what it returns is made legal, and where it fails clew steps in."""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from clew.core.effects import Consult, Silent, ask
from clew.core.pairs import repair
from clew.core.ports import Asking, Deciding, Engine, Scale
from clew.core.speaker import PINNED_OPENING
from clew.engines.handoff import pinned_block
from clew.engines.plugin import ContextEngine
from clew.facts.budget import Budget
from clew.facts.messages import BadMessages, Message, message, read_message
from clew.facts.session import Compaction, Outlook, Session

DECIDING = 10.0
"""Seconds to say whether room is wanted."""
COMPACTING = 300.0
"""Seconds to make it: a plug-in may ask a model of its own."""

LEAST = 0.05
"""A share of the tokens: what frees less is not worth a new session, nor the cache that it would break."""


@dataclass(frozen=True, slots=True)
class Hosted:
    """A `ContextEngine` as an `Engine`."""

    name: str
    plugin: ContextEngine
    scale: Scale
    instead: Engine
    """Makes room where the plug-in does not."""

    def is_due(self, session: Session, weight: int, budget: Budget) -> Deciding:
        """As the plug-in says. It sees every turn's messages here, which is where many of them take notes."""
        question = partial(wants_room, self.plugin, spelled(session.messages), weight, session.measured is not None)
        answer = yield from ask(Consult(self.name, question, DECIDING))
        return weight >= budget.trigger if isinstance(answer, Silent) else bool(answer)

    def outlook(self, messages: tuple[Message, ...], budget: Budget) -> Outlook | None:  # noqa: ARG002
        return None

    def make_room(
        self, messages: tuple[Message, ...], budget: Budget, *, focus: str | None = None, pinned: tuple[str, ...] = ()
    ) -> Asking:
        """What the plug-in returns, made legal, with what is pinned in it. It is never taken when larger."""
        messages = tuple(said for said in messages if not said.text.startswith(PINNED_OPENING))
        before = self.scale.messages(messages)
        asked = Wanted(before + budget.fixed, budget.soft, focus, pinned)
        question = partial(compress_with, self.plugin, copy.deepcopy(spelled(messages)), asked)
        answer = yield from ask(Consult(self.name, question, COMPACTING))
        made, trouble = taken(answer, messages)
        done = self._compaction(messages, with_pins(made, pinned), before)
        if trouble or (not done.progress and before + budget.fixed >= budget.hard):
            note = f"the engine {self.name} {trouble or 'freed nothing'}; clew's own takes over for this time"
            own = yield from self.instead.make_room(messages, budget, focus=focus, pinned=pinned)
            return replace(own, notes=(note, *own.notes))
        return done

    def _compaction(self, messages: tuple[Message, ...], made: tuple[Message, ...], before: int) -> Compaction:
        after = self.scale.messages(made)
        if after > before * (1 - LEAST):
            everything = tuple(range(len(messages)))
            return Compaction(messages, tokens_before=before, tokens_after=before, kept=everything, declined=True)
        staying = {id(said) for said in made}
        kept = tuple(place for place, said in enumerate(messages) if id(said) in staying)
        dropped = tuple(sorted(set(range(len(messages))) - set(kept)))
        return Compaction(made, tokens_before=before, tokens_after=after, kept=kept, dropped=dropped)


def wants_room(plugin: ContextEngine, messages: list[dict[str, Any]], weight: int, observed: bool) -> bool:
    """Both questions of the interface, in the order that plug-ins know them."""
    preflight = plugin.should_compress_preflight(messages)
    defers = of_its_own(plugin, "should_defer_preflight_to_real_usage")
    if not observed and defers is not None and defers(weight):
        return False
    told = of_its_own(plugin, "should_compress_info")
    due = told(weight)[0] if told else plugin.should_compress(weight)
    return bool(due or preflight)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a plug-in is asked for."""

    tokens: int
    """Those the prompt has."""
    enough: int
    """Those at which nothing more has to be done."""
    focus: str | None
    pinned: tuple[str, ...]


def compress_with(plugin: ContextEngine, messages: list[dict[str, Any]], wanted: Wanted) -> Any:
    """What the plug-in makes of it: its way without a model first, where it has one and that is enough."""
    if not plugin.has_content_to_compress(messages):
        return messages
    prune = of_its_own(plugin, "prune_tool_results_only")
    if prune is not None and wanted.focus is None:
        pruned, freed = fitting(prune)(copy.deepcopy(messages), current_tokens=wanted.tokens)
        if wanted.tokens - freed < wanted.enough:
            return pruned
    return fitting(plugin.compress)(
        messages,
        current_tokens=wanted.tokens,
        focus_topic=wanted.focus,
        force=wanted.focus is not None,
        memory_context="",
        pinned=wanted.pinned,
    )


def of_its_own(plugin: ContextEngine, name: str) -> Callable[..., Any] | None:
    """An optional method that the plug-in wrote itself; None where it has none but clew's default."""
    written = getattr(getattr(type(plugin), name, None), "__module__", "")
    method = getattr(plugin, name, None)
    return method if callable(method) and not written.startswith("clew.") else None


def spelled(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """As plug-ins expect them: content is never null, and results carry their tool's name under both names in use."""
    named = ({"name": said.name, "tool_name": said.name} if said.is_result and said.name else {} for said in messages)
    return [
        {**said.raw, "content": "" if said.raw.get("content") is None else said.raw["content"], **names}
        for said, names in zip(messages, named, strict=True)
    ]


def fitting(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, called with those of the named arguments that it knows: interfaces grow, plug-ins stay."""
    try:
        known = inspect.signature(method).parameters.values()
    except (TypeError, ValueError):
        return lambda *args, **named: method(*args, current_tokens=named.get("current_tokens"))
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in known):
        return method
    names = {each.name for each in known}
    return lambda *args, **named: method(*args, **{name: named[name] for name in named if name in names})


def taken(answer: Any, messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], str]:
    """The plug-in's list as messages, those it kept being the very ones it was handed; or what is wrong with it."""
    if isinstance(answer, Silent):
        return messages, f"failed ({answer.why})"
    if not isinstance(answer, list) or not answer or not all(isinstance(each, Mapping) for each in answer):
        return messages, f"returned no list of messages but {type(answer).__name__}"
    ours = {_key(raw): said for raw, said in zip(spelled(messages), messages, strict=True)}
    try:
        return repair([ours.get(_key(raw)) or read_message(raw, place) for place, raw in enumerate(answer)]), ""
    except BadMessages as wrong:
        return messages, f"returned a message that is none ({wrong})"


def with_pins(made: tuple[Message, ...], pinned: tuple[str, ...]) -> tuple[Message, ...]:
    gone = [text for text in pinned if not any(text in said.text for said in made)]
    return (message("user", pinned_block(gone)), *made) if gone else made


def _key(raw: Mapping[str, Any]) -> str:
    return json.dumps(raw, sort_keys=True, default=str)
