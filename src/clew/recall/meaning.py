"""What does a text mean, in 256 bits? Read from word vectors that lie in a package on this machine; nothing is fetched.

The package is `wordllama`; of it only two files are read, for its own code would configure this process's log.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from clew.recall.words import CJK

BITS = 256
WIDTH = BITS // 8
"""Bytes of one meaning as it is kept."""

MISSING = "searching by meaning needs an extra that is not installed: pip install 'clew[semantic]'"

_CJK_LETTER = re.compile(f"[{CJK}]")
_LETTER = re.compile(r"[^\W\d_]")


class Encoder(Protocol):
    """Turns texts into meanings."""

    name: str
    """Which weights, used in which way: meanings of two names cannot be compared."""

    def bits(self, texts: Sequence[str]) -> list[bytes]:
        """Each text's meaning as it is kept: `WIDTH` bytes."""

    def vector(self, text: str) -> Any:
        """A question's meaning as it is compared: `BITS` numbers."""

    def reads(self, text: str) -> bool:
        """Whether the weights know the language of a text."""


@cache
def encoder() -> Encoder | None:
    """The encoder of this machine; None where the extra is not installed."""
    try:
        return WordVectors()
    except ImportError:
        return None


class WordVectors:
    """The mean of a text's word vectors. Kept is only on which side of zero each of its 256 numbers lies."""

    name = "wordllama l2_supercat 256, signs of the mean, 1"

    def __init__(self) -> None:
        package = find_spec("wordllama")
        if package is None or not package.submodule_search_locations:
            raise ImportError(MISSING)
        self._np = import_module("numpy")
        folder = Path(package.submodule_search_locations[0])
        described = str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json")
        self._tokenizer = import_module("tokenizers").Tokenizer.from_file(described)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._words = _weights(self._np, folder / "weights" / "l2_supercat_256.safetensors")

    def bits(self, texts: Sequence[str]) -> list[bytes]:
        return [self._np.packbits(self._mean(ids) > 0).tobytes() for ids in self._ids(texts)]

    def vector(self, text: str) -> Any:
        mean = self._mean(self._ids([text])[0])
        return mean / (float(self._np.linalg.norm(mean)) or 1.0)

    def reads(self, text: str) -> bool:
        """The vocabulary has a few hundred Chinese characters and spells the rest in bytes, which mean nothing."""
        return 2 * len(_CJK_LETTER.findall(text)) < len(_LETTER.findall(text))

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        # A lone surrogate cannot be handed to the tokenizer.
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        return [found.ids for found in self._tokenizer.encode_batch_fast(clean, add_special_tokens=False)]

    def _mean(self, ids: list[int]) -> Any:
        if not ids:
            return self._np.zeros(BITS, dtype=self._np.float32)
        return self._words[ids].mean(axis=0, dtype=self._np.float32)


def _weights(np: Any, path: Path) -> Any:
    """The one table of a safetensors file: eight bytes of length, a JSON head of that length, then the numbers."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    (table,) = (told for name, told in json.loads(data[8:start]).items() if name != "__metadata__")
    first, last = table["data_offsets"]
    kind = {"F16": np.float16, "F32": np.float32}[table["dtype"]]
    return np.frombuffer(data[start + first : start + last], dtype=kind).reshape(table["shape"])
