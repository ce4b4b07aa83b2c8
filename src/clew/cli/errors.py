"""How does a command say that it could not do its work?"""

from __future__ import annotations

import click

JSON = "clew.json"
"""Where a command's context notes that the caller reads JSON, so that a failure is a document too."""

INTERRUPTED = 130
"""The exit code that shells expect after Ctrl-C."""


class Failed(click.ClickException):
    """The work failed, exit code 1: what happened, what was tried, what to do now."""

    exit_code = 1


def why(error: OSError) -> str:
    """What the system said, in its own words, without the number and the path."""
    return (error.strerror or str(error)).lower()
