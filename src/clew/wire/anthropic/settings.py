"""Which of Anthropic's knobs have other dialects too, and by which name?

Those move into the settings of a prompt when reading and come from there when spelling. The rest is left as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PLAIN = ("temperature", "top_p")
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}
_CHOICES_BACK = {chat: own for own, chat in _CHOICES.items()}
_EFFORTS = frozenset({"low", "medium", "high", "xhigh"})
"""Those by which both mean the same; Anthropic's `max` has no counterpart."""
_WARMEST = 1.0
"""Chat's temperature goes to 2, Anthropic's to 1."""


def read_settings(body: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings, and what of the body is no setting."""
    rest = dict(body)
    settings = {key: rest.pop(key) for key in _PLAIN if key in rest}
    if isinstance(rest.get("stop_sequences"), list):
        settings["stop"] = rest.pop("stop_sequences")
    choice = _read_choice(rest.get("tool_choice"))
    if choice and _choice(choice) == rest["tool_choice"]:
        settings |= choice
        del rest["tool_choice"]
    settings |= _moved(rest, "metadata", _read_metadata)
    settings |= _moved(rest, "output_config", _read_output)
    return settings, rest


def _moved(rest: dict[str, Any], key: str, read: Any) -> dict[str, Any]:
    """What `read` finds in an object of the body, taken out of it; an object that was nothing else goes with it."""
    holder = rest.get(key)
    if not isinstance(holder, Mapping):
        return {}
    found: dict[str, tuple[str, Any]] = read(holder)
    if found:
        left = {inner: value for inner, value in holder.items() if inner not in found}
        rest.pop(key)
        if left:
            rest[key] = left
    return dict(found.values())


def _read_metadata(metadata: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    user = metadata.get("user_id")
    return {"user_id": ("user", user)} if isinstance(user, str) else {}


def _read_output(config: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    found: dict[str, tuple[str, Any]] = {}
    if str(config.get("effort")) in _EFFORTS:
        found["effort"] = ("reasoning_effort", config["effort"])
    match config.get("format"):
        case {"type": "json_schema", "schema": schema, **rest} if not rest:
            told = {"name": "reply", "schema": schema, "strict": True}  # chat wants a name, Anthropic has none
            found["format"] = ("response_format", {"type": "json_schema", "json_schema": told})
    return found


def _read_choice(choice: Any) -> dict[str, Any]:
    match choice:
        case {"type": "tool", "name": name}:
            settings: dict[str, Any] = {"tool_choice": {"type": "function", "function": {"name": name}}}
        case {"type": str(kind)} if kind in _CHOICES:
            settings = {"tool_choice": _CHOICES[kind]}
        case _:
            return {}
    if "disable_parallel_tool_use" in choice:
        settings["parallel_tool_calls"] = not choice["disable_parallel_tool_use"]
    return settings


def spell_settings(settings: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in Anthropic's words; objects that hold more than settings are filled up from `own`."""
    made = {key: settings[key] for key in _PLAIN if key in settings}
    warmth = made.get("temperature")
    if isinstance(warmth, int | float) and warmth > _WARMEST:
        made["temperature"] = _WARMEST
    stops = settings.get("stop")
    if isinstance(stops, list) and (legal := _legal_stops(stops)) is not None:
        made["stop_sequences"] = legal
    if choice := _choice(settings):
        made["tool_choice"] = choice
    if isinstance(settings.get("user"), str):
        made["metadata"] = {**_held(own, "metadata"), "user_id": settings["user"]}
    if output := _output(settings):
        made["output_config"] = {**_held(own, "output_config"), **output}
    return made


def _legal_stops(stops: list[Any]) -> list[Any] | None:
    """None: all of them are blank, which the API refuses."""
    legal = [stop for stop in stops if not isinstance(stop, str) or stop.strip()]
    return legal if legal or not stops else None


def _choice(settings: Mapping[str, Any]) -> dict[str, Any] | None:
    parallel = settings.get("parallel_tool_calls")
    match settings.get("tool_choice"):
        case None if parallel is False:
            made: dict[str, Any] = {"type": "auto"}
        case str(word) if word in _CHOICES_BACK:
            made = {"type": _CHOICES_BACK[word]}
        case {"type": "function", "function": {"name": name}}:
            made = {"type": "tool", "name": name}
        case _:
            return None
    if isinstance(parallel, bool) and made["type"] != "none":
        made["disable_parallel_tool_use"] = not parallel
    return made


def _output(settings: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if str(settings.get("reasoning_effort")) in _EFFORTS:
        made["effort"] = settings["reasoning_effort"]
    match settings.get("response_format"):
        case {"type": "json_schema", "json_schema": {"schema": schema}}:
            made["format"] = {"type": "json_schema", "schema": schema}
    return made


def _held(own: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    held = own.get(key)
    return held if isinstance(held, Mapping) else {}
