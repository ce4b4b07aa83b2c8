"""What holds for this gateway now: where requests lead, who may ask, how long anyone waits. Read anew on SIGHUP."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from clew.gateway.keys import LOCAL, Key, Keyring
from clew.gateway.refusals import Refusal
from clew.gateway.silence import Patience
from clew.runtime.endpoints import Secret
from clew.runtime.providers import BY_NAME, PROVIDERS
from clew.runtime.settings import BadSettings, Settings

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Place:
    """A provider, as the gateway reaches it."""

    base: str
    """Without the /v1 that every path brings along."""
    provider: str
    key: Secret | None
    """Sent in place of the client's credentials. None: theirs are passed on."""


@dataclass(frozen=True, slots=True)
class Rules:
    """One reading of all of it; requests under way keep the one they began with."""

    anthropic: Place
    openai: Place
    keyring: Keyring = field(default_factory=Keyring)
    patience: Patience = field(default_factory=Patience)
    most_body: int = 32 * MEGABYTE
    slowest_body: float = 30.0
    """Seconds in which some more of a body has to come."""

    def place_of(self, *, is_anthropic: bool) -> Place:
        return self.anthropic if is_anthropic else self.openai

    def key_of(self, shown: str) -> Key:
        """Who asks. Refusal when keys are wanted and this is none."""
        if not self.keyring:
            return LOCAL
        if not shown:
            raise Refusal(401, "no API key was sent; this gateway wants one of its own", is_final=True)
        found = self.keyring.find(shown)
        if found is None:
            raise Refusal(401, "this API key is not known here", is_final=True)
        return found


def rules_of(
    settings: Settings, keyring: Keyring, *, upstream: str | None = None, environment: Mapping[str, str] = os.environ
) -> Rules:
    """What the settings come to; `upstream` is the person's word for this time. BadSettings says what cannot be."""
    every = upstream or settings["gateway.upstream"]
    own = {name: None if upstream else settings[f"gateway.upstream_{name}"] for name in ("anthropic", "openai")}
    places = {
        name: _place(own[name] or every or BY_NAME[name].base_url, name, bool(keyring), environment) for name in own
    }
    return Rules(
        anthropic=places["anthropic"],
        openai=places["openai"],
        keyring=keyring,
        patience=Patience(settings["gateway.keepalive"], settings["gateway.first_byte"], settings["gateway.idle"]),
        most_body=settings["gateway.body_limit"] * MEGABYTE,
    )


def refuse_open_door(host: str, keyring: Keyring) -> None:
    """Only this machine may ask without a key."""
    if not keyring and not _is_loopback(host):
        raise BadSettings(
            f"{host} can be reached from other machines, and no keys are set up: anyone there could ask in your name. "
            "Make one with 'clew serve keys add NAME', or bind to 127.0.0.1."
        )


def _place(url: str, dialect: str, has_keys: bool, environment: Mapping[str, str]) -> Place:
    address = urlsplit(url)
    if address.scheme not in ("http", "https") or not address.hostname or address.query or address.fragment:
        raise BadSettings(f"gateway.upstream: {url!r} is no address; write https://host or https://host/v1")
    if address.username is not None:
        raise BadSettings("gateway.upstream: an address holds no password; give the key in the environment")
    hosts = {urlsplit(provider.base_url).hostname: provider for provider in PROVIDERS if provider.name != "local"}
    known = hosts.get(address.hostname, BY_NAME[dialect])
    name = known.name if address.hostname in hosts else address.hostname
    base = f"{address.scheme}://{address.netloc}{address.path.rstrip('/').removesuffix('/v1')}"
    return Place(base, name, Secret(environment.get(known.variable, "")) if has_keys else None)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
