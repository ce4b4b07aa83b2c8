"""Conversations that the command line's tests run on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def written(path: Path, messages: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(message) + "\n" for message in messages), encoding="utf-8")
    return path


def long_talk(rounds: int = 60) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You look after a lighthouse."},
        {"role": "user", "content": f"Never open the lamp by day. The key is {SECRET} [bold]\x1b[31m</script><b>"},
    ]
    for number in range(rounds):
        call = {"id": f"c{number}", "type": "function"}
        name = "read_log" if number % 2 else "look"
        call["function"] = {"name": name, "arguments": json.dumps({"page": number})}  # type: ignore[assignment]
        text = f"Page {number}: " + " ".join(f"ship-{number}-{ship} passed at {ship}:00" for ship in range(60))
        messages += [
            {"role": "assistant", "content": f"Reading page {number}.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": text},
            {"role": "user", "content": f"Note page {number}."},
        ]
    messages.append({"role": "assistant", "content": f"Noted with {SECRET}."})
    messages.append({"role": "user", "content": "Now light the lamp."})
    return messages
