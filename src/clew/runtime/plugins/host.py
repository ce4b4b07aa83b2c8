"""What of clew may a plug-in use?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from clew.store.store import Store


class CallModel(Protocol):
    """Asks the summariser and waits. Wishes it does not take (max_tokens, temperature, model, timeout) are not sent."""

    def __call__(self, messages: list[dict[str, Any]], /, **wishes: Any) -> str: ...


@dataclass(frozen=True, slots=True)
class Host:
    """clew, as a plug-in sees it."""

    home: Path
    """Where a plug-in may keep its data."""
    call_llm: CallModel | Callable[..., str]
    config: Mapping[str, Any] = field(default_factory=dict)
    """Settings by their full key: `compression.threshold`."""
    note: Callable[[str], None] = lambda text: None
    """Where a plug-in's warnings go once it is loaded; called from any thread."""
    project: Path | None = None
    """The folder whose own plug-ins count too; None: they do not."""
    store: Store | None = None
    """Where the conversations are kept; None: nowhere."""
