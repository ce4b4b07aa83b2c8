"""The command line's front door: `clew COMMAND`."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import click

from clew.cli.chat import chat
from clew.cli.compact import compact
from clew.cli.config import config
from clew.cli.doctor import doctor
from clew.cli.errors import INTERRUPTED, JSON, Failed
from clew.cli.importing import import_
from clew.cli.insights import insights
from clew.cli.models import models
from clew.cli.plugins import plugins
from clew.cli.replay import replay
from clew.cli.search import search
from clew.cli.serve import serve
from clew.cli.sessions import sessions
from clew.store.trouble import StoreError


class Doors(click.Group):
    """A group whose commands end in an exit code and a sentence, never in a traceback for a user's mistake."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("clew: interrupted; nothing more was done.", err=True)
            ctx.exit(INTERRUPTED)
        except StoreError as wrong:
            raise self._told(ctx, Failed(_shown(wrong))) from None
        except Failed as failed:
            raise self._told(ctx, failed) from None

    def _told(self, ctx: click.Context, failed: Failed) -> Failed:
        if ctx.meta.get(JSON):
            click.echo(json.dumps({"error": failed.message}))
        return failed


def _shown(wrong: StoreError) -> str:
    from clew.screen.shown import shown

    return shown(str(wrong))


@click.group(cls=Doors, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="clew", message="%(prog)s %(version)s")
def clew() -> None:
    """Keeps an LLM agent's long conversation inside its model's window and never loses the thread.

    Every command takes --json. Exit codes: 0 done, 1 the work failed, 2 wrong usage.
    """


for command in (chat, compact, config, doctor, import_, insights, models, plugins, replay, search, serve, sessions):
    clew.add_command(command)


def main() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an old terminal shows '?' for an arrow instead of a traceback
    clew(prog_name="clew")
