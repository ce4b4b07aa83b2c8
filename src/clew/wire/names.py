"""By which names may a model be known, given the one that somebody wrote?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAKERS = {
    "amazon": "amazon", "anthropic": "anthropic", "openai": "openai", "google": "google", "gemini": "google",
    "deepseek": "deepseek", "deepseek-ai": "deepseek", "xai": "xai", "x-ai": "xai", "mistral": "mistral",
    "mistralai": "mistral", "moonshot": "moonshot", "moonshotai": "moonshot", "zai": "zai", "z-ai": "zai",
    "zai-org": "zai", "qwen": "alibaba", "alibaba": "alibaba", "dashscope": "alibaba", "meta": "meta",
    "meta-llama": "meta",
}  # fmt: skip
"""What stands before a model's name → who makes the model."""

# us.anthropic.claude-sonnet-4-5-20250929-v1:0, as Amazon Bedrock writes it.
_BEDROCK = re.compile(
    rf"(?:(us-gov|us|eu|apac|jp|au|ca|global)\.)?(?:{'|'.join(MAKERS)})\.(.+?)(?:-v\d+(?::\d+)?)?",
)
_DAY = r"(?:0[1-9]|[12]\d|3[01])"
_MONTH = r"(?:0[1-9]|1[0-2])"
# -20250929, -2025-12-11, -0613, -2411, -06-05, -09-2025, -001, -latest; an @ where Google Cloud serves it.
_VERSION = re.compile(
    rf"[-@](?:20\d\d-?{_MONTH}-?{_DAY}|{_MONTH}{_DAY}|2[3-9]{_MONTH}|{_MONTH}-(?:{_DAY}|20\d\d)|00\d|latest)$"
)
_VARIANT = re.compile(r"(?:\[1m\]|:thinking|:beta)$")
"""Ways to run the same model at the same price; `:free` and fine-tunes (`ft:…`) are others."""
_DOT = re.compile(r"(?<=\d)\.(?=\d)")


@dataclass(frozen=True, slots=True)
class Asked:
    """A name that somebody wrote, taken apart."""

    spellings: tuple[str, ...]
    """What to look for, the most exact first."""
    host: str
    """Who serves the model; empty when nobody said."""
    region: str = ""
    """The part of the world that Amazon was asked to stay in."""


def spelled(name: str) -> str:
    """A name as it is compared: `Claude-Opus-4.5` and `claude-opus-4-5` are one."""
    return _DOT.sub("-", name.strip().lower())


def take_apart(model: str, provider: str | None = None) -> Asked:
    """All that a name says: the model under its several spellings, its host, its region."""
    path = spelled(model).split("/")
    found = _BEDROCK.fullmatch(path[-1])
    region = (found[1] or "") if found else ""
    host = _host(path[:-1], provider) or ("bedrock" if found else "")
    ends = ["/".join(path[start:]) for start in range(len(path))]
    plain = [name for end in [*ends, *([found[2]] if found else [])] for name in _without_ending(end)]
    in_order = [*(f"{host}/{name}" for name in plain if host), *plain]
    return Asked(tuple(dict.fromkeys(in_order)), host, region)


def _host(before: list[str], provider: str | None) -> str:
    first = spelled(provider) if provider else before[0] if before else ""
    return MAKERS.get(first, first)


def _without_ending(name: str) -> Iterator[str]:
    """The name, then without what only tells a version or a way to run it."""
    yield name
    plain = _VARIANT.sub("", name)
    yield plain
    yield _VERSION.sub("", plain)
