"""Which engine is meant by a name on the command line? Here there is no model to ask: rules write its summaries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from clew.core.ports import Engine, Scale
from clew.engines.compressor import Compressor
from clew.engines.hosted import Hosted
from clew.facts.model import Policy

OWN = "compressor"


def named_engine(name: str, policy: Policy, scale: Scale, *, window: int) -> Engine:
    """The engine of that name for a window of so many tokens, or a usage error that lists what there is."""
    own = Compressor(policy, scale)
    if name == OWN:
        return own
    from clew.runtime import config
    from clew.runtime.home import home
    from clew.runtime.plugins import BadPlugin, Host, load
    from clew.runtime.settings import KEYS, BadSettings

    try:
        settings = config.read()
        project = Path.cwd() if settings["plugins.project"] else None
        loaded = load(name, Host(home(), _nobody, {key: settings[key] for key in KEYS}, project=project))
    except (BadPlugin, BadSettings) as why:
        raise click.BadParameter(str(why), param_hint="--engine") from None
    loaded.engine.update_model("", window)
    return Hosted(name, loaded.engine, scale, own)


def _nobody(messages: list[dict[str, Any]]) -> str:  # noqa: ARG001
    raise RuntimeError("no model is asked here")
