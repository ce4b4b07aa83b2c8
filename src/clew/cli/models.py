"""`clew models`: what is known about models, what a person corrects, what a server says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from clew.cli.errors import Failed, why
from clew.cli.options import ListByDefault, json_option

if TYPE_CHECKING:
    from clew.wire.catalog import Catalog, ModelFacts


@click.group(cls=ListByDefault, short_help="Windows, prices and cache rules of models.")
def models() -> None:
    """What is known about models: windows, prices, cache rules, each with its source and its date.
    Without a command: the list.

    Prices are US dollars for a million tokens. What you set stands in models.json in $CLEW_HOME or ~/.clew.
    """


@models.command("list", short_help="All that are known.")
@click.option("--provider", metavar="NAME", help="Only those of one provider.")
@json_option
def list_(*, provider: str | None, as_json: bool) -> None:
    """List the models that are known, by provider."""
    from clew.cli import rates, screen

    known = _catalog()
    listed = [facts for facts in known.models if provider in (None, facts.provider)]
    if not listed:
        there = ", ".join(sorted({facts.provider for facts in known.models if facts.provider}))
        raise Failed(f"no model of {provider} is known. There are models of {there}.")
    if as_json:
        screen.put(screen.as_json({"models": [rates.document(facts) for facts in listed], "own_file": _own_file()}))
    else:
        rates.show_list(screen.console(), listed, _own_file())


@models.command(short_help="Everything about one.")
@click.argument("name")
@click.option("--provider", metavar="NAME", help="Who serves it, where that makes a difference.")
@json_option
def show(*, name: str, provider: str | None, as_json: bool) -> None:
    """Show all that is known about a model, by whatever name a provider gives it."""
    facts = _found(_catalog(), name, provider)
    _tell(facts, as_json)


@models.command("set", short_help="Correct a value, or add a model.")
@click.argument("name")
@click.argument("values", metavar="FIELD=VALUE...", nargs=-1, required=True)
@json_option
def set_(*, name: str, values: tuple[str, ...], as_json: bool) -> None:
    """Set values of your own for a model; one that is not known is added.

    Fields: window, max_input, max_output, cache_minimum (tokens); input, output, cache_read, cache_write_5m,
    cache_write_1h (US dollars for a million tokens); caching (explicit, automatic, breakpoints, none).
    """
    from clew.runtime.models import set_override
    from clew.wire.rows import BadFacts, read_fields

    given = dict(_taken_apart(value) for value in values)
    try:
        read_fields(given, name)
    except BadFacts as wrong:
        raise click.UsageError(str(wrong)) from None
    try:
        facts = set_override(name, given)
    except BadFacts as wrong:
        raise Failed(f"{wrong}. Nothing was written.") from None
    except OSError as error:
        raise Failed(f"{_own_file()} could not be written: {why(error)}. What stood there is untouched.") from None
    _tell(facts, as_json)


@models.command(short_help="Forget what you set.")
@click.argument("name")
@json_option
def unset(*, name: str, as_json: bool) -> None:
    """Forget the values you set for a model."""
    from clew.cli import screen
    from clew.runtime.models import unset_override
    from clew.wire.rows import BadFacts

    try:
        there = unset_override(name)
    except BadFacts as wrong:
        raise Failed(str(wrong)) from None
    except OSError as error:
        raise Failed(f"{_own_file()} could not be written: {why(error)}. What stood there is untouched.") from None
    if not there:
        raise Failed(f"nothing was set for {name}. 'clew models list' marks what was.")
    if as_json:
        screen.put(screen.as_json({"unset": name}))
    else:
        click.echo(f"What you had set for {name} is forgotten.")


@models.command(short_help="Ask a server what it serves.")
@click.argument("url")
@json_option
def ask(*, url: str, as_json: bool) -> None:
    """Ask a server for its models and the windows it really serves: llama.cpp, Ollama, LM Studio, vLLM, SGLang,
    Text Generation Inference, OpenRouter. URL is its address, with or without /v1."""
    import asyncio

    from clew.cli import rates, screen
    from clew.runtime import asking

    address = url if "://" in url else f"http://{url}"
    if not address.startswith(("http://", "https://")):
        raise click.BadParameter(f"{url} is no address of a server; write http://127.0.0.1:8080", param_hint="URL")
    try:
        served = asyncio.run(asking.ask(address, asking.plain_get, asking.plain_post))
    except (OSError, ValueError) as error:
        told = why(error) if isinstance(error, OSError) else str(error)
        raise Failed(f"nobody answers at {address}: {told}. Is the server running, and is this its port?") from None
    if not served:
        raise Failed(f"{address} tells nothing about models. Set the window by hand: clew models set NAME window=N.")
    if as_json:
        screen.put(screen.as_json({"url": address, "models": [rates.served_document(one) for one in served]}))
    else:
        rates.show_served(screen.console(), served)


def _catalog() -> Catalog:
    from clew.runtime.models import catalog
    from clew.wire.rows import BadFacts

    try:
        return catalog()
    except BadFacts as wrong:
        raise Failed(str(wrong)) from None
    except OSError as error:
        raise Failed(f"{_own_file()} could not be read: {why(error)}.") from None


def _own_file() -> str:
    from clew.runtime.models import path

    return str(path())


def _found(known: Catalog, name: str, provider: str | None) -> ModelFacts:
    facts = known.find(name, provider)
    if facts is None:
        near = known.near(name)
        meant = f"Did you mean {', '.join(near)}?" if near else "'clew models list' shows all that are."
        raise Failed(f"{name} is not known. {meant} 'clew models set {name} window=N' adds it.")
    return facts


def _tell(facts: ModelFacts, as_json: bool) -> None:
    from clew.cli import rates, screen

    if as_json:
        screen.put(screen.as_json(rates.document(facts)))
    else:
        rates.show_one(screen.console(), facts)


def _taken_apart(value: str) -> tuple[str, str]:
    field, sign, text = value.partition("=")
    if not sign or not field.strip() or not text.strip():
        raise click.UsageError(f"{value} sets nothing; write FIELD=VALUE, such as window=32768 or input=1.25")
    return field.strip(), text.strip()
