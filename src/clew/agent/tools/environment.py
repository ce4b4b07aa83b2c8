"""Which variables may a command see? All but those that hold credentials, and none that make it wait for a person."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clew.core.redact import redact

_SECRET = re.compile(
    r"(?:^|_)(?:API_?KEY|APIKEY|ACCESS_KEY|PRIVATE_KEY|SECRET_KEY|TOKEN|PAT|SECRET|PASSWORD|PASSWD|PASS|PASSPHRASE"
    r"|CREDENTIALS?)(?:_|$)",
    re.IGNORECASE,
)
_UNATTENDED = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "TERM": "dumb", "NO_COLOR": "1"}


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """What a command is given; DATABASE_URL=postgres://me:secret@… has a harmless name and goes all the same."""
    kept = {name: value for name, value in environment.items() if not _is_secret(name, value)}
    return kept | _UNATTENDED


def _is_secret(name: str, value: str) -> bool:
    said = f"{name}={value}"
    return bool(_SECRET.search(name)) or redact(said) != said
