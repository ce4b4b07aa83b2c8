"""How does a person type: one line or many, with history and with the commands completed?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from clew.agent.commands import BY_NAME


class Words(Completer):
    """Commands behind a slash at the beginning, paths everywhere else."""

    def __init__(self) -> None:
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        if text.startswith("/") and " " not in text:
            for name in sorted(BY_NAME):
                if name.startswith(text[1:]):
                    yield Completion(f"/{name}", -len(text), display_meta=BY_NAME[name].told)
            return
        word = text.rsplit(maxsplit=1)[-1] if text and not text[-1].isspace() else ""
        if "/" in word:
            yield from self._paths.get_completions(Document(word), event)


def typing(history: Path, status: Any) -> PromptSession[str]:
    """A line that Enter sends and Alt-Enter (or a trailing backslash) goes on with; `status` is shown below it."""
    history.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    history.touch(mode=0o600, exist_ok=True)
    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _newline(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("enter")
    def _send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.text.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    return PromptSession(
        "› ",
        multiline=True,
        history=FileHistory(str(history)),
        completer=Words(),
        complete_while_typing=False,
        key_bindings=keys,
        bottom_toolbar=status,
        enable_open_in_editor=True,
    )
