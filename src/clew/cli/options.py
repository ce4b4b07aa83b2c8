"""Which options do several commands share?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from clew.cli.errors import JSON
from clew.screen.moments import read_when

if TYPE_CHECKING:
    from clew.facts.budget import Budget
    from clew.facts.model import Policy

Command = TypeVar("Command", bound=Callable[..., Any])


class ListByDefault(click.Group):
    """A group that lists when no command is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_help = bool(args) and args[0] in ctx.help_option_names
        plain = not args or (args[0].startswith("-") and not is_help)
        return super().parse_args(ctx, ["list", *args] if plain else args)


def json_option(command: Command) -> Command:
    """`--json`, noted in the context so that a failure is told in the same form."""

    def note(context: click.Context, _: click.Parameter, value: bool) -> bool:
        context.meta[JSON] = value
        return value

    option = click.option("--json", "as_json", is_flag=True, callback=note, help="Print one JSON document.")
    return option(command)


def store_option(command: Command) -> Command:
    option = click.option(
        "--store",
        "store_url",
        metavar="URL",
        envvar="CLEW_STORE_URL",
        show_envvar=True,
        help="Where conversations are kept: a file or postgresql://…  [default: store.db in $CLEW_HOME or ~/.clew]",
    )
    return option(command)


def engine_option(command: Command) -> Command:
    option = click.option("--engine", metavar="NAME", default="compressor", show_default=True, help="Who makes room.")
    return option(command)


def context_length_option(default: int) -> Callable[[Command], Command]:
    return click.option(
        "--context-length", metavar="N", type=int, default=default, show_default=True, help="The window, in tokens."
    )


def when_option(context: click.Context, option: click.Parameter, value: str | None) -> float | None:
    """An option's value as a moment, or a usage error that shows how one is written."""
    try:
        return None if value is None else read_when(value)
    except ValueError as wrong:
        raise click.BadParameter(str(wrong), context, option) from None


def budget_of(context_length: int, policy: Policy) -> Budget:
    """How a window of that size is shared out, or a usage error that says which size would do."""
    from clew.facts.budget import share_out
    from clew.facts.model import Unsatisfiable, Window

    try:
        return share_out(Window(context_length), policy)
    except Unsatisfiable as wrong:
        raise click.BadParameter(str(wrong), param_hint="--context-length") from None
