"""Where does clew keep what is the person's?"""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """`$CLEW_HOME`, or `~/.clew`."""
    return Path(os.environ.get("CLEW_HOME") or "~/.clew").expanduser()
