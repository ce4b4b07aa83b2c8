"""How heavy is a message, a set of tools, a whole prompt?

Nothing here fails: whatever stands in a message, it weighs something, because a prompt that cannot be weighed cannot
be kept inside its window.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any

from clew.tokens.factors import factor
from clew.tokens.images import part_tokens
from clew.tokens.scale import Scale, default

Piece = str | int
"""A text to be counted, or tokens that no text stands for."""

Image = Callable[[Mapping[str, object]], int]
"""What an image costs, given the content part that holds it."""

MESSAGE = 4  # tokens around every message: its role and the marks where it begins and ends
CALL = 4  # tokens around every tool call, result and schema: its type, and the marks around its name and arguments

OPAQUE = frozenset({"signature", "thought_signature", "thoughtSignature", "encrypted_content"})
"""Fields that only the provider can read: thoughts, encrypted, or a proof that they are its own."""

OPAQUE_LENGTH = 12
"""Characters to a token in them: what is billed is the thought inside; encryption and base64 make it far longer."""

FILE_LENGTH = 64
"""Characters to a token in a file in base64: a page of a PDF is about 2,000 tokens and 100 KB."""

TEXTS = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text", "reasoning.text"})
IMAGES = frozenset({"image", "image_url", "input_image"})
FILES = frozenset({"document", "file", "input_file", "input_audio", "audio", "video"})
PLAIN = frozenset({"role", "content", "name", "tool_call_id", "tool_calls"})
PLAIN_CALL = frozenset({"id", "type", "function"})
ENCRYPTED = frozenset({"redacted_thinking", "reasoning.encrypted"})


def estimate_tokens(
    messages: Iterable[Mapping[str, object]],
    system: str | Sequence[object] | None = None,
    tools: Sequence[Mapping[str, object]] | None = None,
    model: str | None = None,
) -> int:
    """About how many tokens a model will say this prompt had: OpenAI-format messages, system text, tool schemas.

    Every text is counted once and remembered, so a conversation that grows costs only what is new in it.

    >>> estimate_tokens([{"role": "user", "content": "How heavy is this?"}], system="Be brief.")
    16
    """
    scale, image = default(), _image(model or "")
    texts, tokens = 0, 0
    for message in messages:
        spoken, marks = _weighed(message, image)
        texts += sum(map(scale.count, spoken))
        tokens += marks
    if system:
        said = list(_content(system, image))
        texts += sum(scale.count(piece) for piece in said if isinstance(piece, str))
        tokens += MESSAGE + sum(piece for piece in said if isinstance(piece, int))
    texts += count_tools(tools or (), scale)
    # The factor is one of vocabularies: images and marks are the same in all of them.
    return ceil(texts * factor(model)) + tokens


def count_message(raw: Mapping[str, object], scale: Scale) -> int:
    """The tokens of one OpenAI-format message with all it carries."""
    texts, tokens = _weighed(raw, part_tokens)
    return tokens + sum(map(scale.count, texts))


def _weighed(raw: Mapping[str, object], image: Image) -> tuple[list[str], int]:
    """The texts of a message, and the tokens in it that no text stands for."""
    plain = _plain_texts(raw)
    if plain is not None:
        marks = MESSAGE + CALL * (len(plain) // 3 - 1)  # three texts of its own, then three for each call
        return [text for text in plain if text], marks
    pieces = list(_message(raw, image))
    return [piece for piece in pieces if isinstance(piece, str)], sum(
        piece for piece in pieces if isinstance(piece, int)
    )


def _plain_texts(raw: Mapping[str, Any]) -> list[str] | None:
    """The texts of a message that holds nothing unusual, as nearly all do; None where a closer look is needed."""
    if type(raw) is not dict or not raw.keys() <= PLAIN:
        return None
    found = ["" if (said := raw.get(key)) is None else said for key in ("content", "name", "tool_call_id")]
    calls = raw.get("tool_calls", ())
    if calls is not None and type(calls) not in (list, tuple):
        return None
    try:
        for call in calls or ():
            if not call.keys() <= PLAIN_CALL:
                return None
            found += (call["id"], call["function"]["name"], call["function"]["arguments"])
    except (AttributeError, KeyError, TypeError):
        return None
    return found if all(type(text) is str for text in found) else None


def count_tools(tools: Sequence[Mapping[str, object]], scale: Scale) -> int:
    """The tokens of tool schemas: of their JSON, to which what providers make of them comes close."""
    return sum(CALL + scale.count(_json(tool)) for tool in tools)


# --- what a message carries ---


def _message(raw: Mapping[str, object], image: Image) -> Iterator[Piece]:
    if not isinstance(raw, Mapping):  # the type says it is one, the data may not
        yield from _text(raw)
        return
    yield MESSAGE
    yield from _content(raw.get("content"), image)
    yield from _reasoning(raw, image)
    for key in ("refusal", "name", "tool_call_id"):
        yield from _text(raw.get(key))
    for call in _items(raw.get("tool_calls")):
        yield from _call(call)
    if raw.get("function_call"):  # how a call was spelled in 2023
        yield from _call({"function": raw["function_call"]})
    yield from _sealed(raw)


def _content(content: object, image: Image) -> Iterator[Piece]:
    for part in _items(content):
        yield from _part(part, image)


def _part(part: object, image: Image) -> Iterator[Piece]:
    if not isinstance(part, Mapping):
        yield from _text(part)
        return
    kind = part.get("type")
    if not isinstance(kind, str):
        kind = ""
    if kind in TEXTS and isinstance(part.get("text"), str):
        yield from _text(part["text"])
        yield from _sealed(part)
    elif kind in IMAGES:
        yield image(part)
    elif kind in FILES:
        yield from _file(part)
    elif kind == "thinking":
        yield from _text(part.get("thinking"))
        yield from _sealed(part)
    elif kind in ENCRYPTED:
        yield _opaque(part.get("data"))
    elif kind == "tool_use":
        yield from _call({"id": part.get("id"), "function": {"name": part.get("name"), "arguments": part.get("input")}})
    elif kind == "tool_result":
        yield CALL
        yield from _text(part.get("tool_use_id"))
        for inner in _items(part.get("content")):
            # A result holds texts and images. One that holds a result is weighed as JSON, which ends the descent.
            nested = isinstance(inner, Mapping) and inner.get("type") == "tool_result"
            yield from _unknown(inner, image) if nested else _part(inner, image)
    else:
        yield from _unknown(part, image)


def _reasoning(raw: Mapping[str, object], image: Image) -> Iterator[Piece]:
    """The same thoughts may stand in three fields, as different servers spell them: they are counted once."""
    said = raw.get("reasoning") or raw.get("reasoning_content")
    yield from _text(said)
    for detail in _items(raw.get("reasoning_details")):
        if not said or not isinstance(detail, Mapping):
            yield from _part(detail, image)
        elif detail.get("type") == "reasoning.encrypted":
            yield _opaque(detail.get("data"))
        else:
            yield from _sealed(detail)


def _call(call: object) -> Iterator[Piece]:
    yield CALL
    if not isinstance(call, Mapping):
        yield from _text(call)
        return
    yield from _text(call.get("id"))
    function = call.get("function")
    if isinstance(function, Mapping):
        yield from _text(function.get("name"))
        yield from _text(function.get("arguments"))
    else:
        yield from _text(function)
    yield from _sealed(call)


def _file(part: Mapping[str, object]) -> Iterator[Piece]:
    """A document or a recording: what it holds stands in the part itself or one level below."""
    for held in (part, *(value for value in part.values() if isinstance(value, Mapping))):
        for key in ("title", "context", "filename", "text"):
            yield from _text(held.get(key))
        data = held.get("file_data") or held.get("data")
        if held.get("type") == "text":  # a plain-text document, not encoded
            yield from _text(data)
        elif isinstance(data, str):
            yield ceil(len(data) / FILE_LENGTH)


def _unknown(part: object, image: Image) -> Iterator[Piece]:
    """Weighed as the JSON it is sent as, but for the images and the sealed fields in it."""
    apart: list[int] = []
    yield from _text(_readable(part, image, apart, depth=8))
    yield from apart


def _readable(value: object, image: Image, apart: list[int], *, depth: int) -> object:
    """The value without what is not read as text; the tokens of that go to `apart`."""
    if isinstance(value, str) and value.startswith("data:") and ";base64," in value[:200]:
        apart.append(image({"image_url": value}) if value.startswith("data:image/") else len(value) // FILE_LENGTH)
        return None
    if not depth:
        return value
    if isinstance(value, Mapping):
        if value.get("type") == "image":  # base64 without "data:" in front
            apart.append(image(value))
            return None
        apart.extend(_sealed(value))
        return {k: _readable(v, image, apart, depth=depth - 1) for k, v in value.items() if k not in OPAQUE}
    if isinstance(value, (list, tuple)):
        return [_readable(item, image, apart, depth=depth - 1) for item in value]
    return value


def _sealed(part: Mapping[str, object]) -> Iterator[int]:
    for key in OPAQUE:
        if part.get(key):
            yield _opaque(part[key])


def _opaque(value: object) -> int:
    return len(value if isinstance(value, str) else _json(value)) // OPAQUE_LENGTH


def _text(value: object) -> Iterator[str]:
    """A text as it stands, any other value as the JSON it is sent as; nothing for nothing."""
    if value is not None and value != "":
        yield value if isinstance(value, str) else _json(value)


def _items(value: object) -> Sequence[object]:
    """A list as it stands; a single value, which some servers send where a list belongs, as a list of one."""
    if isinstance(value, (list, tuple)):
        return value
    return () if value is None else (value,)


def _json(value: object) -> str:
    """The value as it is sent; nothing for what cannot be sent."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError):  # a key that is no string, a circle, nested a thousand deep
        return ""


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _image(model: str) -> Image:
    name = model.lower()
    provider = "anthropic" if "claude" in name else "gemini" if "gemini" in name else "openai"
    return partial(part_tokens, provider=provider, model=model)
