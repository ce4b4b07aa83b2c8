"""Which settings are there, what may each be, and what is it when no one says?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from clew.facts.model import Policy, ResultLimits

Value = str | bool | int | float | dict[str, Any] | None


class BadSettings(ValueError):
    """A setting that cannot be; the text names the place, the key, and what would do."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the file."""

    key: str
    default: Value
    told: str
    """What it is for, in one line."""
    kind: type[Any] = str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The environment variable that overrides it."""
        return "CLEW_" + self.key.upper().replace(".", "_")


_POLICY, _LIMITS = Policy(), ResultLimits()

SETTINGS = (
    Setting("model.default", None, "the model to talk to"),
    Setting("model.provider", None, "whose it is: anthropic, openai, openrouter …"),
    Setting("model.base_url", None, "where it is served, when not at the provider's own address"),
    Setting("model.context_length", None, "its window in tokens, when the catalog is wrong", int, 8_000, 100_000_000),
    Setting("local.model", None, "a GGUF file that 'clew chat --local' serves, instead of the small model"),
    Setting("context.engine", "compressor", "who makes room"),
    Setting("compression.enabled", True, "whether conversations are compacted at all", bool),
    Setting("compression.threshold", _POLICY.threshold, "share of the window that triggers it", float, 0.05, 0.95),
    Setting("compression.target_ratio", _POLICY.target_ratio, "share of that kept word for word", float, 0.05, 0.80),
    Setting("compression.protect_last_n", _POLICY.protect_last_n, "newest messages kept when they fit", int, 0, 10_000),
    Setting("compression.protect_first_n", _POLICY.protect_first_n, "opening messages kept at first", int, 0, 1_000),
    Setting("auxiliary.compression.model", None, "who writes summaries; else the main model does"),
    Setting("auxiliary.compression.provider", None, "whose that is"),
    Setting("auxiliary.compression.base_url", None, "where that is served"),
    Setting("auxiliary.compression.context_length", None, "its window in tokens", int, 8_000, 100_000_000),
    Setting("prompt_caching.enabled", True, "whether cache points are placed for providers that want them", bool),
    Setting("prompt_caching.cache_ttl", "5m", "how long a provider keeps what it cached", choices=("5m", "1h")),
    Setting("tool_results.default_result_size", _LIMITS.result, "characters one may fill", int, 1_000, 10_000_000),
    Setting("tool_results.turn_budget", _LIMITS.turn, "characters those of a turn may fill", int, 2_000, 50_000_000),
    Setting("tool_results.preview_size", _LIMITS.preview, "characters shown of one kept elsewhere", int, 100, 100_000),
    Setting("hooks.pre_compaction", None, "a command that is asked before a compaction; exit code 2 forbids it"),
    Setting("hooks.post_compaction", None, "a command that is told of each compaction"),
    Setting("tools.web", False, "whether the model may read web pages", bool),
    Setting("plugins.project", False, "whether a folder's own plug-ins, in its .clew/plugins, may be chosen", bool),
    Setting("plugins.entries", None, "settings of plug-ins, a section for each name", dict),
    Setting("recall.mode", "off", "whether what left the window is brought back when you speak of it",
            choices=("off", "suggest", "on")),
    Setting("recall.budget", 1_200, "tokens it may take in one request", int, 100, 20_000),
    Setting("gateway.host", "127.0.0.1", "where clew serve listens; anything but this machine needs keys"),
    Setting("gateway.port", 8383, "and on which port", int, 0, 65_535),
    Setting("gateway.upstream", None, "the provider behind it, for all dialects; else each dialect's own"),
    Setting("gateway.upstream_anthropic", None, "for clients that speak Anthropic Messages"),
    Setting("gateway.upstream_openai", None, "for clients that speak OpenAI's Chat Completions or Responses"),
    Setting("gateway.body_limit", 32, "megabytes that a request may have", int, 1, 1_024),
    Setting("gateway.keepalive", 15.0, "seconds of silence before a stream's client is sent a ping", float, 0.05, 600),
    Setting("gateway.first_byte", 600.0, "seconds that a provider has to begin its answer", float, 0.05, 86_400),
    Setting("gateway.idle", 300.0, "seconds that it may be silent in the middle of it", float, 0.05, 86_400),
    Setting("gateway.drain", 30.0, "seconds for answers under way when the gateway is told to stop", float, 0, 3_600),
    Setting("gateway.memory", 64, "megabytes of requests kept to know the next ones by", int, 1, 65_536),
    Setting("store.url", None, "where conversations are kept: a file or postgresql://…"),
)  # fmt: skip
KEYS = {setting.key: setting for setting in SETTINGS}
SECRET = ("api_key", "key", "token", "secret", "password")


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds here, and for each setting that is not the default, who says so."""

    values: Mapping[str, Value]
    sources: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Any:
        return self.values.get(key, KEYS[key].default)

    @property
    def policy(self) -> Policy:
        return Policy(
            threshold=self["compression.threshold"],
            target_ratio=self["compression.target_ratio"],
            protect_first_n=self["compression.protect_first_n"],
            protect_last_n=self["compression.protect_last_n"],
            enabled=self["compression.enabled"],
        )

    @property
    def limits(self) -> ResultLimits:
        return ResultLimits(
            self["tool_results.default_result_size"],
            self["tool_results.turn_budget"],
            self["tool_results.preview_size"],
        )


def known(key: str, place: str) -> Setting:
    """The setting of that name, or an error that names the nearest."""
    if key in KEYS:
        return KEYS[key]
    if key.rsplit(".", 1)[-1] in SECRET:
        raise BadSettings(
            f"{place}: {key} looks like a secret, and secrets are not kept here. "
            "Put it into the provider's environment variable, such as ANTHROPIC_API_KEY."
        )
    near = get_close_matches(key, KEYS, 1, 0.5) or [name for name in KEYS if name.endswith(key.rsplit(".", 1)[-1])]
    hint = f"did you mean {near[0]}?" if near else "'clew config show' lists what there is."
    raise BadSettings(f"{place}: there is no setting {key}; {hint}")


def checked(setting: Setting, value: Any, place: str) -> Value:
    """The value as its kind, or an error with what would do."""
    if value is None:
        return None
    if setting.kind is dict and isinstance(value, Mapping):
        return json.loads(json.dumps(value, default=str))  # type: ignore[no-any-return]  # plain all the way down
    # A reader of YAML may hand in kinds of its own, which remember how a number was written.
    plain: Any = next((kind(value) for kind in (bool, int, float, str) if isinstance(value, kind)), value)
    if setting.kind is float and type(plain) is int:
        plain = float(plain)
    if type(plain) is not setting.kind:
        raise BadSettings(f"{place}: {setting.key} is {value!r}; it has to be {_KINDS[setting.kind]}")
    if setting.choices and plain not in setting.choices:
        raise BadSettings(f"{place}: {setting.key} is {value!r}; it has to be one of {', '.join(setting.choices)}")
    if setting.least is not None and setting.most is not None and not setting.least <= plain <= setting.most:
        raise BadSettings(
            f"{place}: {setting.key} is {value}; it has to lie between {setting.least:,} and {setting.most:,}"
        )
    return plain  # type: ignore[no-any-return]


def from_text(setting: Setting, text: str, place: str) -> Value:
    """The value as someone typed it."""
    word = text.strip()
    if word.lower() in ("", "null", "none"):
        return None
    try:
        if setting.kind is bool:
            return _WORDS[word.lower()]
        if setting.kind is dict:
            return checked(setting, json.loads(word), place)
        return checked(setting, setting.kind(word.replace("_", "") if setting.kind is not str else word), place)
    except (KeyError, ValueError) as wrong:
        if isinstance(wrong, BadSettings):
            raise
        raise BadSettings(f"{place}: {setting.key} is {word!r}; it has to be {_KINDS[setting.kind]}") from None


_KINDS = {str: "text", dict: "a section", bool: "true or false", int: "a whole number", float: "a number"}
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
