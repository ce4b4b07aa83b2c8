"""Which provider, at which address, with which key: from the settings, or from the keys in the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from clew.runtime.endpoints import Endpoint, Secret
from clew.runtime.settings import BadSettings, Settings


@dataclass(frozen=True, slots=True)
class Provider:
    """How one provider is reached."""

    name: str
    base_url: str
    dialect: str
    variable: str
    """Where its key stands in the environment; empty: it takes none."""
    model: str = ""
    """The one to talk to when the person names none."""


PROVIDERS = (
    Provider("anthropic", "https://api.anthropic.com", "anthropic", "ANTHROPIC_API_KEY", "claude-sonnet-4-5"),
    Provider("openai", "https://api.openai.com/v1", "responses", "OPENAI_API_KEY", "gpt-5"),
    Provider("openrouter", "https://openrouter.ai/api/v1", "chat", "OPENROUTER_API_KEY", "anthropic/claude-sonnet-4.5"),
    Provider("deepseek", "https://api.deepseek.com/v1", "chat", "DEEPSEEK_API_KEY", "deepseek-chat"),
    Provider("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "chat", "GEMINI_API_KEY"),
    Provider("groq", "https://api.groq.com/openai/v1", "chat", "GROQ_API_KEY"),
    Provider("mistral", "https://api.mistral.ai/v1", "chat", "MISTRAL_API_KEY"),
    Provider("moonshot", "https://api.moonshot.ai/v1", "chat", "MOONSHOT_API_KEY"),
    Provider("xai", "https://api.x.ai/v1", "chat", "XAI_API_KEY"),
    Provider("local", "http://127.0.0.1:8080/v1", "chat", "LOCAL_API_KEY"),
)  # fmt: skip
BY_NAME = {provider.name: provider for provider in PROVIDERS}


@dataclass(frozen=True, slots=True)
class Who:
    """The model to talk to, and where."""

    model: str
    endpoint: Endpoint


def main_model(settings: Settings, environment: Mapping[str, str] = os.environ, *, model: str | None = None) -> Who:
    """Whom to talk to; `model` is the person's word for this time. BadSettings says what is missing."""
    return _chosen(settings, "model", model or settings["model.default"], environment)


def summariser(settings: Settings, main: Who, environment: Mapping[str, str] = os.environ) -> Who:
    """Who writes summaries: as set, or the main model."""
    if not (settings["auxiliary.compression.model"] or settings["auxiliary.compression.base_url"]):
        return main
    return _chosen(settings, "auxiliary.compression", settings["auxiliary.compression.model"], environment)


def _chosen(settings: Settings, section: str, model: str | None, environment: Mapping[str, str]) -> Who:
    name, base_url = settings[f"{section}.provider"], settings[f"{section}.base_url"]
    provider = _provider(name, base_url, environment)
    model = model or provider.model
    if not model:
        raise BadSettings(
            f"{section}: no model is named for {provider.name}; set it with 'clew config set model.default'"
        )
    key = environment.get(provider.variable, "") if provider.variable else ""
    return Who(
        model,
        Endpoint(
            provider.name,
            base_url or provider.base_url,
            dialect=provider.dialect,
            provider=provider.name,
            key=Secret(key) if key else None,
        ),
    )


def _provider(name: str | None, base_url: str | None, environment: Mapping[str, str]) -> Provider:
    if name:
        if name not in BY_NAME:
            raise BadSettings(f"there is no provider {name!r}; choose one of {', '.join(BY_NAME)}, or set a base_url")
        return BY_NAME[name]
    if base_url:
        host = urlsplit(base_url).hostname or ""
        known = (provider for provider in PROVIDERS if urlsplit(provider.base_url).hostname == host)
        return next(known, Provider("local", base_url, "chat", "OPENAI_API_KEY"))
    with_key = (provider for provider in PROVIDERS if provider.variable and environment.get(provider.variable))
    found = next(with_key, None)
    if found is None:
        variables = ", ".join(provider.variable for provider in PROVIDERS[:3])
        raise BadSettings(
            f"no model to talk to: none of {variables} … is set. Set one, or name a server of your own with "
            "'clew config set model.base_url http://127.0.0.1:8080/v1'"
        )
    return found
