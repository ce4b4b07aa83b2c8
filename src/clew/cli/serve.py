"""`clew serve`: a gateway for programs, and the keys that open it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from clew.cli.errors import Failed, why
from clew.cli.options import json_option, store_option

if TYPE_CHECKING:
    from clew.gateway.keys import Key


@click.group(invoke_without_command=True, short_help="A gateway between programs and their provider.")
@click.option("--host", metavar="H", help="Where to listen.  [default: 127.0.0.1]")
@click.option("--port", metavar="P", type=click.IntRange(0, 65_535), help="On which port; 0: any.  [default: 8383]")
@click.option("--upstream", metavar="URL", help="The provider behind it, for all dialects.")
@store_option
@json_option
@click.pass_context
def serve(
    context: click.Context,
    host: str | None,
    port: int | None,
    upstream: str | None,
    store_url: str | None,
    as_json: bool,
) -> None:
    """Stand between programs and their provider, speak its dialect, pass everything on and keep what was said.

    Speaks OpenAI Chat Completions, OpenAI Responses and Anthropic Messages: set a client's base URL to
    http://127.0.0.1:8383/v1 (OpenAI's) or http://127.0.0.1:8383 (Anthropic's) and change nothing else. Without keys the
    client's own credentials are passed on; with keys (clew serve keys add) clients show those, and the provider's comes
    from the environment: OPENAI_API_KEY, ANTHROPIC_API_KEY. Other machines are let in only with keys.
    """
    if context.invoked_subcommand is None:
        with _told():
            _serve(host, port, upstream, store_url, as_json)


def _serve(host: str | None, port: int | None, upstream: str | None, store_url: str | None, as_json: bool) -> None:
    from clew.cli.stores import opened, place_of
    from clew.gateway.app import Gateway
    from clew.gateway.rules import MEGABYTE, refuse_open_door
    from clew.gateway.serving import listen, read_rules
    from clew.gateway.serving import serve as run
    from clew.runtime import config

    settings, rules = config.read(), read_rules(upstream)
    address = host or settings["gateway.host"]
    refuse_open_door(address, rules.keyring)
    try:
        listening = listen(address, settings["gateway.port"] if port is None else port)
    except OSError as wrong:
        raise Failed(f"{address}:{port or settings['gateway.port']} cannot be had: {why(wrong)}.") from None
    with opened(store_url, make=True) as store, listening:
        gateway = Gateway(
            rules,
            store,
            str(place_of(store_url) or store_url or settings["store.url"]),
            memory=settings["gateway.memory"] * MEGABYTE,
        )
        _announce(listening.getsockname(), rules, as_json)
        run(gateway, listening, drain=settings["gateway.drain"], reread=lambda: read_rules(upstream))


def _announce(place: tuple[Any, ...], rules: Any, as_json: bool) -> None:
    from clew.cli import screen

    url = f"http://{f'[{place[0]}]' if ':' in place[0] else place[0]}:{place[1]}"
    if as_json:
        told = {"url": url, "anthropic": rules.anthropic.base, "openai": rules.openai.base}
        screen.put(screen.as_json({**told, "keys": len(rules.keyring.keys)}))
        return
    asked = f"{len(rules.keyring.keys)} keys" if rules.keyring else "this machine, with its own credentials"
    click.echo(f"clew serves {url}  (OpenAI's clients: {url}/v1)\n  Anthropic's go to {rules.anthropic.base}")
    click.echo(f"  OpenAI's go to {rules.openai.base}\n  open to {asked}; /health /ready /metrics; Ctrl-C ends it.")


@serve.group(short_help="Keys that open the gateway.")
def keys() -> None:
    """Keys of the gateway's own: a client shows one in place of the provider's. Running gateways learn of changes by
    SIGHUP. Kept as hashes in gateway-keys.json in $CLEW_HOME or ~/.clew."""


@keys.command(short_help="Make a key; it is shown once.")
@click.argument("name")
@click.option(
    "--model", "models", metavar="PATTERN", multiple=True, help="A model it may use, as claude-*; repeatable."
)
@click.option(
    "--path", "paths", metavar="PATTERN", multiple=True, help="A path it may call, as /v1/chat/*; repeatable."
)
@click.option("--requests-per-minute", metavar="N", type=click.IntRange(1), help="How often it may ask.")
@click.option("--tokens-per-minute", metavar="N", type=click.IntRange(1), help="Tokens of prompts and replies.")
@click.option("--tokens-per-day", metavar="N", type=click.IntRange(1), help="The same for a day.")
@click.option("--usd-per-day", metavar="X", type=click.FloatRange(0), help="Dollars, of calls whose price is known.")
@json_option
def add(*, name: str, models: tuple[str, ...], paths: tuple[str, ...], as_json: bool, **limits: Any) -> None:
    """Make a key called NAME, and show it: it is not kept and cannot be shown again."""
    from clew.cli import screen
    from clew.gateway import keys as ring

    if not name.strip() or not name.isprintable() or len(name) > 80:
        raise click.UsageError("a key's name is 1 to 80 characters that can be read")
    with _told():
        shown = ring.add(ring.Key(name, models=models, paths=paths, **limits))
    screen.put(screen.as_json({"name": name, "key": shown})) if as_json else click.echo(shown)


@keys.command("list", short_help="All keys and what they may use.")
@json_option
def list_(*, as_json: bool) -> None:
    """List the keys: their names, when they were made, what they may use."""
    from clew.cli import screen
    from clew.gateway import keys as ring

    with _told():
        rows = [_row(key) for key in ring.read().keys]
    if as_json:
        screen.put(screen.as_json({"keys": rows}))
    for row in () if as_json else rows:
        limits = ", ".join(f"{name} {value}" for name, value in row.items() if name not in ("name", "created"))
        click.echo(f"{row['name']}  since {row['created']}  {limits or 'no limits'}")
    if not rows and not as_json:
        click.echo("no keys: only this machine may ask, with its own credentials.")


@keys.command(short_help="Let a key no longer open the door.")
@click.argument("name")
@json_option
def remove(*, name: str, as_json: bool) -> None:
    """Remove the key called NAME. Its conversations stay."""
    from clew.cli import screen
    from clew.gateway import keys as ring

    with _told():
        if not ring.remove(name):
            raise Failed(f"there is no key {name!r}; 'clew serve keys list' shows all.")
    screen.put(screen.as_json({"removed": name})) if as_json else click.echo(f"{name} no longer opens the gateway.")


def _row(key: Key) -> dict[str, Any]:
    made = time.strftime("%Y-%m-%d", time.localtime(key.created))
    told = {"name": key.name, "created": made, "models": list(key.models), "paths": list(key.paths)}
    numbers = ("requests_per_minute", "tokens_per_minute", "tokens_per_day", "usd_per_day")
    told |= {name: getattr(key, name) for name in numbers}
    return {name: value for name, value in told.items() if value}


@contextmanager
def _told() -> Iterator[None]:
    from clew.runtime.settings import BadSettings

    try:
        yield
    except (BadSettings, OSError) as wrong:
        raise Failed(str(wrong)) from None
