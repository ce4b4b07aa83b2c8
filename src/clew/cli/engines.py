"""Which engines can be chosen by name?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import click

from clew.core.ports import Engine, Scale
from clew.engines.compressor import Compressor
from clew.facts.model import Policy

ENGINES: Mapping[str, Callable[[Policy, Scale], Engine]] = {"compressor": Compressor}


def named_engine(name: str, policy: Policy, scale: Scale) -> Engine:
    """The engine of that name, or a usage error that lists what there is."""
    if name not in ENGINES:
        raise click.BadParameter(f"there is no engine {name!r}; there is: {', '.join(ENGINES)}", param_hint="--engine")
    return ENGINES[name](policy, scale)
