"""Who else hears of a compaction, and may object to it: commands of the settings, functions of plug-ins."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clew.engines.hosted import fitting

BEFORE, AFTER = "pre_compaction", "post_compaction"
OBJECTS = 2
"""The exit code by which a command says no; what it prints is the reason."""
PATIENCE = 30.0
"""Seconds one command may take."""


class HookFailed(Exception):
    """A hook that neither agreed nor objected."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """By event: a command that is given the facts as JSON, and functions that are given them by name."""

    commands: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, Sequence[Callable[..., Any]]] = field(default_factory=dict)
    cwd: Path | None = None

    def hears(self, event: str) -> bool:
        return bool(self.commands.get(event) or self.functions.get(event))

    def objection(self, facts: Mapping[str, Any]) -> str:
        """Why the compaction should not be; empty when nobody minds."""
        return next((answer for answer in self._answers(BEFORE, facts) if answer and isinstance(answer, str)), "")

    def tell(self, event: str, facts: Mapping[str, Any]) -> list[Any]:
        """What each of them answers."""
        return list(self._answers(event, facts))

    def _answers(self, event: str, facts: Mapping[str, Any]) -> Iterator[Any]:
        for function in tuple(self.functions.get(event, ())):
            yield fitting(function)(**facts)
        if command := self.commands.get(event):
            yield self._run(command, {"event": event, **facts})

    def _run(self, command: str, facts: Mapping[str, Any]) -> str:
        try:
            ran = subprocess.run(
                command,
                shell=True,  # it is the person's own line, from their own file
                input=json.dumps(facts, default=str),
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                cwd=self.cwd,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as trouble:
            raise HookFailed(str(trouble)) from None
        said = (ran.stderr or ran.stdout).strip()
        if ran.returncode == OBJECTS:
            return said or "it gave no reason"
        if ran.returncode:
            raise HookFailed(f"{command!r} ended with {ran.returncode}: {said[:200]}")
        return ""
