"""Compaction with a model of your own: any function that takes a prompt and returns text.

Run it as it is: the "model" below is a few lines of Python. Put a call to your provider in its place.
"""

from __future__ import annotations

import clew


def summarise(prompt: str) -> str:
    """A stand-in for a model: it answers with a goal and forgets everything else."""
    return f"## Goal\nPort the parser. (The turns had {prompt.count('[user]')} user messages.)"


def main() -> None:
    history = [{"role": "user", "content": "Port the parser to Rust. You must keep the error texts."}]
    for n in range(60):
        history.append({"role": "assistant", "content": f"Rule {n} is ported. " + "It went well. " * 60})
        history.append({"role": "user", "content": f"Good. Rule {n + 1} next."})

    done = clew.compact(history, context_length=16_000, summarise=summarise, focus="error texts")
    print(*done.report, sep="\n")
    print("\n" + done.summary[:600] + " …")
    assert "You must keep the error texts." in str(done.messages), "demands survive a forgetful model"


if __name__ == "__main__":
    main()
