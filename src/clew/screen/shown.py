"""What of a conversation's text may reach a screen or a page?"""

from __future__ import annotations

import re

from clew.core.redact import redact

# Escape sequences would move the cursor or retitle the terminal; direction marks would show text in another order;
# half a surrogate pair cannot be written at all.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text: str) -> str:
    """The text without credentials and without characters that steer a terminal; lines and tabs stay."""
    return harmless(redact(text))


def harmless(text: str) -> str:
    """The text without characters that steer a terminal."""
    return _UNSEEN.sub("", text)


def opening(text: str, *, lines: int, characters: int) -> str:
    """How a text begins, ready to be shown; says how much was left out."""
    clean = shown(text)
    begins = "\n".join(clean[:characters].splitlines()[:lines])
    left = len(clean) - len(begins)
    return f"{begins}\n… {left:,} more characters" if left > 0 else begins
