"""Would this write put a redaction placeholder where a credential was?"""

from __future__ import annotations

from clew.agent.workspace import ToolError
from clew.core.redact import PLACEHOLDER


def refuse_placeholder(content: str, before: str, path: str) -> None:
    """A model that saw a redacted text may write the placeholder back; a file that had it already may keep it."""
    if PLACEHOLDER in content and PLACEHOLDER not in before:
        raise ToolError(
            f"{path} was not written: the new text holds {PLACEHOLDER}, which stands for a credential that was taken "
            "out of this conversation. Writing it would destroy the real value. Change the other lines with patch, "
            "or read the value from the environment."
        )
