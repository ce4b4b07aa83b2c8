"""The summariser, asked the way Hermes' auxiliary client is asked."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from clew.engines.hosted import fitting
from clew.runtime.plugins.host import Host


def call_llm(host: Host) -> Callable[..., Any]:
    """`agent.auxiliary_client.call_llm` of one host. Which model answers is the person's choice, not the `task`'s."""

    def call(task: str | None = None, *, messages: list[dict[str, Any]], **wishes: Any) -> Any:  # noqa: ARG001
        said = fitting(host.call_llm)(messages, **{name: wish for name, wish in wishes.items() if wish is not None})
        message = SimpleNamespace(role="assistant", content=said, tool_calls=None)
        choice = SimpleNamespace(index=0, message=message, finish_reason="stop")
        return SimpleNamespace(choices=[choice], model=wishes.get("model") or "", usage=None)

    return call


def async_call_llm(host: Host) -> Callable[..., Any]:
    """The same for a plug-in with an event loop."""
    import asyncio

    async def call(task: str | None = None, **said: Any) -> Any:
        return await asyncio.to_thread(call_llm(host), task, **said)

    return call
