"""Nobody to talk to yet: which ways are there?"""

from __future__ import annotations

import os
from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from clew.runtime.providers import PROVIDERS
from clew.runtime.settings import Settings
from clew.screen.layout import drawn, facts, say

NOBODY = "no model to talk to yet"


def is_nobody_there(settings: Settings, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether neither the settings nor the environment name anyone."""
    named = settings["model.provider"] or settings["model.base_url"]
    return not named and not any(environment.get(one.variable) for one in PROVIDERS if one.variable)


def ways() -> str:
    """A page for the first start."""
    keys = ", ".join(one.variable for one in PROVIDERS[:3])
    rows: list[tuple[str, str | Text]] = [
        ("a key", Text.assemble(("export ANTHROPIC_API_KEY=…", "bold"), f"\nor any of {keys} …")),
        (
            "your server",
            Text.assemble(
                ("clew config set model.base_url http://127.0.0.1:8080/v1", "bold"),
                "\nllama.cpp, vLLM, Ollama, LM Studio: whatever speaks the OpenAI or Anthropic way",
            ),
        ),
        ("no server", Text.assemble(("clew chat --local", "bold"), "\na small model in this process, offline")),
    ]

    def draw(page: Console) -> None:
        say(page, "There is no model to talk to yet. Three ways:\n")
        page.print(facts(rows))

    return drawn(draw)
