"""How many tokens does an image cost?

By the providers' published rules, as of November 2026:
OpenAI     platform.openai.com/docs/guides/images-vision#calculating-costs
Anthropic  platform.claude.com/docs/en/build-with-claude/vision
Gemini     ai.google.dev/gemini-api/docs/tokens
"""

import base64
import binascii
from collections.abc import Mapping
from math import ceil, sqrt

UNKNOWN = (1024, 1024)
"""The size taken for an image behind a link. Larger than most, so that a prompt is rather thought too full."""

# Tokens per image and per tile of 512 px, by the beginning of the model's name.
OPENAI_TILES = (
    ("gpt-4o-mini", 2833, 5667),
    ("gpt-5", 70, 140),
    ("o1", 75, 150),
    ("o3", 75, 150),
    ("computer-use", 65, 129),
    ("", 85, 170),  # the 4o family and whoever imitates it
)
# Tokens per patch of 32 px, by a part of the model's name.
OPENAI_PATCHES = (("o4-mini", 1.72), ("-nano", 2.46), ("-mini", 1.62))
PATCHES = 1536  # at most

# Models that see images of up to 2576 px; the others see 1568.
CLAUDE_SHARP = ("opus-4-7", "opus-4-8", "opus-5", "sonnet-5", "fable-5", "mythos-5")


def image_tokens(
    width: int | None,
    height: int | None,
    *,
    provider: str = "openai",
    detail: str = "auto",
    model: str = "",
) -> int:
    """The tokens of one image of this size in pixels; None when it is not known."""
    if not width or not height or width < 0 or height < 0:
        width, height = UNKNOWN
    name = model.lower().replace(".", "-").rpartition("/")[2]
    match provider.lower():
        case "anthropic":
            return _anthropic(width, height, sharp=any(part in name for part in CLAUDE_SHARP))
        case "gemini" | "google":
            return _gemini(width, height)
    return _openai(width, height, detail=detail, model=name)


def part_tokens(part: Mapping[str, object], provider: str = "openai", *, model: str = "") -> int:
    """The tokens of a content part that holds an image, in the spelling of OpenAI Chat, Responses or Anthropic.

    Of an image in base64 only the first bytes are read; its length says nothing about its tokens.
    """
    source, detail = _source(part)
    width, height = _size_of_base64(source) or (None, None)
    return image_tokens(width, height, provider=provider, detail=detail, model=model)


def size_of(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels from the beginning of a PNG, JPEG, GIF or WebP file; None when it does not say."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        return _big(data[16:20]), _big(data[20:24])
    if data.startswith((b"GIF87a", b"GIF89a")) and len(data) >= 10:
        return _little(data[6:8]), _little(data[8:10])
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp(data)
    if data.startswith(b"\xff\xd8"):
        return _jpeg(data)
    return None


# --- the rules ---


def _openai(width: int, height: int, *, detail: str, model: str) -> int:
    if "4o-mini" not in model:
        for part, multiplier in OPENAI_PATCHES:
            if part in model:
                return ceil(_patches(width, height) * multiplier)
    base, tile = next((base, tile) for start, base, tile in OPENAI_TILES if model.startswith(start))
    if detail == "low":
        return base
    wide, high = _shrink(width, height, min(1.0, 2048 / max(width, height)))
    wide, high = _shrink(wide, high, min(1.0, 768 / min(wide, high)))
    return base + tile * _cover(wide, 512) * _cover(high, 512)


def _patches(width: int, height: int) -> int:
    if _cover(width, 32) * _cover(height, 32) <= PATCHES:
        return _cover(width, 32) * _cover(height, 32)
    # Shrunk to the area of 1536 patches, then a little more until one side is a whole number of them.
    ratio = sqrt(32 * 32 * PATCHES / (width * height))
    across, down = width * ratio / 32, height * ratio / 32
    ratio *= min(max(1, int(across)) / across, max(1, int(down)) / down)
    return min(PATCHES, _cover(width * ratio, 32) * _cover(height * ratio, 32))


def _anthropic(width: int, height: int, *, sharp: bool) -> int:
    edge, most = (2576, 4784) if sharp else (1568, 1600)
    wide, high = _shrink(width, height, min(1.0, edge / max(width, height)))
    return min(most, ceil(wide * high / 750))


def _gemini(width: int, height: int) -> int:
    if width <= 384 and height <= 384:
        return 258
    return 258 * _cover(width, 768) * _cover(height, 768)


def _shrink(width: float, height: float, ratio: float) -> tuple[float, float]:
    return width * ratio, height * ratio


def _cover(length: float, unit: int) -> int:
    """How many units cover a length; a rounding error of floats is not worth another unit."""
    return max(1, ceil(length / unit - 1e-6))


# --- reading parts and files ---


def _source(part: Mapping[str, object]) -> tuple[str, str]:
    """The image of a part, as base64 or a link, and the detail asked for."""
    detail = part.get("detail")
    for key in ("image_url", "source", "data"):  # OpenAI's, Anthropic's, and that of the Model Context Protocol
        held = part.get(key)
        if isinstance(held, Mapping):
            detail = held.get("detail") or detail
            held = held.get("url") or held.get("data")
        if isinstance(held, str):
            return held, detail if isinstance(detail, str) else "auto"
    return "", "auto"


def _size_of_base64(source: str) -> tuple[int, int] | None:
    start = 0
    if source.startswith("data:"):
        start = source.find(",", 0, 200) + 1
        if not start:
            return None
    # A photograph may carry a preview and its camera's notes in front of its size.
    for length in (1024, 16 * 1024, 256 * 1024):
        try:
            data = base64.b64decode(source[start : start + length])
        except (binascii.Error, ValueError):  # a link, or cut off
            return None
        size = size_of(data)
        if size or not data.startswith(b"\xff\xd8") or start + length >= len(source):
            return size
    return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Walks from segment to segment until one begins a frame: it holds the size."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        kind = data[at + 1]
        if kind == 0xFF:  # padding
            at += 1
        elif 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):  # those three are tables
            return _big(data[at + 7 : at + 9]), _big(data[at + 5 : at + 7])
        else:
            at += 2 + _big(data[at + 2 : at + 4])
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8 ":
            return _little(data[26:28]) & 0x3FFF, _little(data[28:30]) & 0x3FFF
        case b"VP8L":
            bits = _little(data[21:25])
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return _little(data[24:27]) + 1, _little(data[27:30]) + 1
    return None


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
