"""How does a person type: one line or many, with history, completion and pictures?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.styles import Style

from clew.agent.clipboard import picture_in_clipboard
from clew.agent.commands import BY_NAME
from clew.agent.pasting import NoPicture, Pictures
from clew.agent.picking import Row

Choices = Callable[[str], Sequence[Row]]
"""A command → what may stand behind it."""
AGAIN = "Ctrl-C again leaves"
MENU = 6
"""Rows kept free for completions."""


class Words(Completer):
    """Commands behind a slash at the beginning, what they take behind them, paths everywhere else."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        command, blank, rest = text[1:].partition(" ") if text.startswith("/") else ("", "", "")
        if text.startswith("/") and not blank and "/" not in command:
            for name in sorted(BY_NAME):
                if name.startswith(command):
                    yield Completion(f"/{name}", -len(text), display_meta=BY_NAME[name].told)
        elif blank and command in BY_NAME:
            for key, label, detail in self._choices(BY_NAME[command].name):
                if key.startswith(rest):
                    yield Completion(key, -len(rest), display=label, display_meta=detail)
        else:
            yield from self._in_paths(text, event)

    def _in_paths(self, text: str, event: CompleteEvent) -> Iterable[Completion]:
        word = text.rsplit(maxsplit=1)[-1] if text and not text[-1].isspace() else ""
        if word.startswith("@") or "/" in word:
            yield from self._paths.get_completions(Document(word.removeprefix("@")), event)


class Line:
    """The line a person types into. `status` stands below it; a notice stands there until the next key."""

    def __init__(self, history: Path, status: Callable[[int], str], choices: Choices) -> None:
        history.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        history.touch(mode=0o600, exist_ok=True)
        self.pictures = Pictures()
        self.notice = ""
        self._status = status
        self._session: PromptSession[str] = PromptSession(
            "› ",
            multiline=True,
            history=FileHistory(str(history)),
            completer=Words(choices),
            complete_while_typing=Condition(_is_command),
            key_bindings=self._keys(),
            bottom_toolbar=lambda: f" {self.notice}" if self.notice else self._below(),
            prompt_continuation="  ",
            reserve_space_for_menu=MENU,
            enable_open_in_editor=True,
            style=Style.from_dict({"bottom-toolbar": "noreverse fg:ansibrightblack"}),
        )
        self._session.default_buffer.on_text_changed += lambda _: self._notify("")

    async def read(self) -> str:
        """What was typed. EOFError when the person leaves."""
        self.notice = ""
        return (await self._session.prompt_async(handle_sigint=False)).strip()

    def _notify(self, text: str) -> None:
        self.notice = text

    def _below(self) -> str:
        return f" {self._status(get_app().output.get_size().columns - 2)}"

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("escape", "enter")
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.text.endswith("\\") and buffer.document.is_cursor_at_the_end:
                buffer.delete_before_cursor()
                buffer.insert_text("\n")
            else:
                buffer.validate_and_handle()

        @keys.add("c-c")
        def _(event: KeyPressEvent) -> None:
            if event.current_buffer.text:
                event.current_buffer.reset()
                self.notice = ""
            elif self.notice == AGAIN:
                event.app.exit(exception=EOFError)
            else:
                self.notice = AGAIN

        @keys.add(Keys.BracketedPaste)
        def _(event: KeyPressEvent) -> None:
            text = event.data.replace("\r\n", "\n").replace("\r", "\n")
            self._insert(event, lambda: self.pictures.pasted(text), otherwise=text)

        @keys.add("c-v")
        def _(event: KeyPressEvent) -> None:
            event.app.create_background_task(self._take_from_clipboard(event))

        return keys

    async def _take_from_clipboard(self, event: KeyPressEvent) -> None:
        try:
            picture = await asyncio.to_thread(picture_in_clipboard)
        except NoPicture as why:
            self.notice = str(why)
        else:
            event.current_buffer.insert_text(self.pictures.hold(picture))
        event.app.invalidate()

    def _insert(self, event: KeyPressEvent, made: Callable[[], str], otherwise: str) -> None:
        try:
            event.current_buffer.insert_text(made())
        except NoPicture as why:
            event.current_buffer.insert_text(otherwise)
            self.notice = str(why)


def _is_command() -> bool:
    return get_app().current_buffer.text.startswith("/")
