"""Which dialects can be spoken, by name?"""

from __future__ import annotations

from clew.wire.anthropic import ANTHROPIC
from clew.wire.chat import CHAT
from clew.wire.dialect import Dialect
from clew.wire.responses import RESPONSES

DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (ANTHROPIC, CHAT, RESPONSES)}
