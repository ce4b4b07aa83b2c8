"""An engine of your own in twenty lines, held to the contract that clew's own engines keep."""

from __future__ import annotations

from typing import Any

from clew import ContextEngine, plan
from clew.testing import check_engine


class ForgetfulEngine(ContextEngine):
    """Keeps what the default plan keeps and says in one line what it dropped."""

    @property
    def name(self) -> str:
        return "forgetful"

    def update_from_response(self, usage: dict[str, Any]) -> None:
        self.last_prompt_tokens = usage.get("prompt_tokens", 0)

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        return (prompt_tokens if prompt_tokens is not None else self.last_prompt_tokens) >= self.threshold_tokens

    def compress(
        self,
        messages: list[dict[str, Any]],
        current_tokens: int | None = None,  # noqa: ARG002
        focus_topic: str | None = None,  # noqa: ARG002
    ) -> list[dict[str, Any]]:
        where = plan(messages, context_length=self.context_length or 200_000)
        if not where.middle:
            return list(messages)
        self.compression_count += 1
        asked = [where.newest_request] if where.newest_request is not None else []
        note = {"role": "user", "content": f"[{len(where.middle)} earlier messages are left out here.]"}
        kept = [messages[place] for place in (*where.system, *where.head)]
        return [*kept, note, *(messages[place] for place in (*asked, *where.tail))]


if __name__ == "__main__":
    check_engine(lambda: ForgetfulEngine(context_length=32_000))
    print("the engine keeps the contract")
