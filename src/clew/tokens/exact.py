"""How many tokens is this text, exactly, in OpenAI's o200k_base vocabulary?"""

import threading
from typing import Protocol


class Tokenizer(Protocol):
    """The two calls used of splintr's tokenizer."""

    def encode_ordinary(self, text: str) -> list[int]: ...
    def encode_flat(self, text: str) -> bytes: ...


_lock = threading.Lock()
_tokenizer: Tokenizer | None = None
_absent = False  # splintr was looked for and is not installed


def available() -> bool:
    """Whether exact counts can be had: the optional package splintr is installed."""
    return _load() is not None


def count_exact(text: str) -> int:
    """The tokens of `text`; a special token spelled out in it, such as <|endoftext|>, counts as ordinary text."""
    tokenizer = _load()
    if tokenizer is None:
        raise ModuleNotFoundError("exact token counts need the package splintr-rs; clew.tokens.estimate does without")
    try:
        return _count(tokenizer, text)
    except UnicodeEncodeError:  # a lone surrogate, as found in logs of broken terminals
        return _count(tokenizer, text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _count(tokenizer: Tokenizer, text: str) -> int:
    if "<|" in text:
        return len(tokenizer.encode_ordinary(text))
    # Four bytes for each token instead of a list of ints: twice as fast. It would take <|endoftext|> for the special
    # token it spells, and every special token of this vocabulary begins with "<|".
    return len(tokenizer.encode_flat(text)) // 4


def _load() -> Tokenizer | None:
    """The tokenizer, made once (about 0.1 s) and only when it is first asked for."""
    global _tokenizer, _absent
    if _tokenizer is None and not _absent:
        with _lock:
            if _tokenizer is None and not _absent:
                try:
                    from splintr import Tokenizer as Splintr
                except ImportError:
                    _absent = True
                else:
                    _tokenizer = Splintr.from_pretrained("o200k_base")
    return _tokenizer
