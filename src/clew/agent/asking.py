"""How is a person asked whether a call may be made? What it would do, and one key."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from prompt_toolkit import Application
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl

from clew.agent.below import is_dumb, painted
from clew.agent.shading import DIM

KEYS = {"y": "once", "a": "always", "n": "no", "v": "never"}
TOLD = {"once": "yes, this once", "always": "yes, always here", "no": "no", "never": "no, never here"}
_CHOICES = "y once · a always · n no · v never"


class Asker:
    """Asks on behalf of a tool, which runs in a thread of its own, while the loop goes on."""

    def __init__(
        self,
        put: Callable[[str], None],
        *,
        aside: Callable[[], AbstractContextManager[None]] = nullcontext,
        stop: Callable[[], object] = lambda: None,
    ) -> None:
        """Made inside the loop. `put` writes a line, `aside` holds what moves on the screen, `stop` ends the turn."""
        self._loop = asyncio.get_running_loop()
        self._put = put
        self._aside = aside
        self._stop = stop
        self._app: Application[str] | None = None

    def __call__(self, question: str) -> str:
        """The person's word; whoever cannot be asked has said no."""
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return "no"
        if is_dumb():
            return KEYS.get(input(f"{question}\n{_CHOICES}: ").strip().lower()[:1], "no")
        return asyncio.run_coroutine_threadsafe(self._asked(question), self._loop).result()

    def leave(self) -> None:
        """Nobody waits for the answer any more."""
        if self._app is not None and self._app.is_running:
            self._app.exit(result="no")

    async def _asked(self, question: str) -> str:
        with self._aside():
            self._put("\n".join(map(_coloured, question.split("\n"))))
            self._app = _keys_of(self._stop)
            try:
                answer = await self._app.run_async(handle_sigint=False)
            finally:
                self._app = None
            self._put(painted(f"→ {TOLD[answer]}", DIM))
        return answer


def _keys_of(stop: Callable[[], object]) -> Application[str]:
    keys = KeyBindings()

    def answers(key: str, answer: str) -> None:
        @keys.add(key, eager=True)
        def _(event: KeyPressEvent) -> None:
            event.app.exit(result=answer)

    for key, answer in KEYS.items():
        answers(key, answer)
    for key in ("enter", "escape", "c-d"):
        answers(key, "no")

    @keys.add("c-c")
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result="no")
        stop()

    told: StyleAndTextTuples = [("bold", _CHOICES)]
    window = Window(
        FormattedTextControl(told, focusable=True, show_cursor=False), dont_extend_height=True, wrap_lines=True
    )
    return Application(Layout(window), key_bindings=keys, erase_when_done=True)


def _coloured(line: str) -> str:
    """A diff's lines as people know them."""
    style = {"+": "32", "-": "31", "@": "36", "(": DIM}.get(line[:1], "")
    return painted(line, style)
