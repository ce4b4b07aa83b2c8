"""`clew chat`: talk to a model whose conversation never ends."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import click

from clew.cli.errors import Failed
from clew.cli.options import store_option

if TYPE_CHECKING:
    from clew.runtime.local import LocalModel


@click.command()
@click.option("-p", "--print", "words", metavar="TEXT", help="Say this, print the answer, leave. Reads stdin too.")
@click.option("--resume", metavar="ID", is_flag=False, flag_value="last", help="Go on with a conversation.  [last]")
@click.option("--model", metavar="NAME", help="Talk to this model.")
@click.option("--local", is_flag=True, help="Talk to a model on this machine: no network, no key.")
@click.option("--yes", is_flag=True, help="Let tools write and run without asking.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="With -p: print events, one JSON object a line.")
def chat(
    words: str | None,
    resume: str | None,
    model: str | None,
    local: bool,
    yes: bool,
    store_url: str | None,
    as_json: bool,
) -> None:
    """Talk to a model with tools in this folder. Everything is kept; /help lists the commands.

    The model is the one of the settings, or that of the first key in the environment: ANTHROPIC_API_KEY,
    OPENAI_API_KEY, OPENROUTER_API_KEY … A server of your own: clew config set model.base_url http://127.0.0.1:8080/v1
    """
    import asyncio
    from contextlib import nullcontext

    from clew.agent.talking import talk
    from clew.cli.stores import opened
    from clew.facts.model import Unsatisfiable
    from clew.runtime.endpoints import BadEndpoint
    from clew.runtime.local.trouble import NoLocalModel
    from clew.runtime.settings import BadSettings
    from clew.wire.rows import BadFacts

    if as_json and words is None:
        raise click.UsageError("--json needs -p: events are for programs")
    with opened(store_url, make=True) as store:
        said, session = _said(words), _session(store, resume)
        try:
            with _served() if local else nullcontext() as served:
                done = asyncio.run(
                    talk(store, said=said, resume=session, model=model, local=served, yes=yes, events=as_json)
                )
        except (BadSettings, BadEndpoint, BadFacts, NoLocalModel, Unsatisfiable) as wrong:
            raise Failed(str(wrong)) from None
    if done:
        raise Failed(done)


def _served() -> AbstractContextManager[LocalModel]:
    """The model of the settings, or the small one."""
    from pathlib import Path

    from clew.runtime import config
    from clew.runtime.local import serving

    settings = config.read()
    weights = Path(settings["local.model"]) if settings["local.model"] else None
    return serving(weights, context=settings["model.context_length"], tell=lambda text: click.echo(text, err=True))


def _said(words: str | None) -> str | None:
    """What was asked on the command line, with what came through a pipe behind it."""
    piped = "" if sys.stdin.isatty() else sys.stdin.read().strip()
    if words is None:
        return piped or None
    return f"{words}\n\n{piped}" if piped else words


def _session(store: Any, resume: str | None) -> str | None:
    if resume is None:
        return None
    from clew.screen.naming import resolve

    return str(store.conversation(resolve(store, resume)).tip)
