"""The providers' own examples, and the sizes of real file headers."""

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.tokens import image_tokens, part_tokens, size_of


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x06\0\0\0" + b"\0" * 50_000


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0" * 20


def jpeg(width: int, height: int, *, notes: int = 0) -> bytes:
    before = b"\xff\xe1" + struct.pack(">H", notes + 2) + b"\0" * notes if notes else b""
    tables = b"\xff\xdb" + struct.pack(">H", 67) + b"\1" * 65
    frame = b"\xff\xc2" + struct.pack(">HBHH", 17, 8, height, width) + b"\0" * 40
    return b"\xff\xd8" + before + tables + frame


def webp(kind: bytes, payload: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", 100) + b"WEBP" + kind + struct.pack("<I", len(payload)) + payload + b"\0" * 20


@pytest.mark.parametrize(
    ("width", "height", "detail", "tokens"),
    [
        (1024, 1024, "high", 765),
        (2048, 4096, "high", 1105),
        (4096, 8192, "low", 85),
        (512, 512, "auto", 255),
        (1600, 768, "high", 1445),  # no larger than it may be: not shrunk
    ],
)
def test_openai_counts_tiles(width: int, height: int, detail: str, tokens: int) -> None:
    assert image_tokens(width, height, detail=detail, model="gpt-4o") == tokens


@pytest.mark.parametrize(
    ("width", "height", "model", "tokens"),
    [
        (1024, 1024, "gpt-4.1-mini", 1659),  # 1024 patches * 1.62
        (1800, 2400, "gpt-4.1-mini", 2353),  # shrunk to 1452 patches
        (1800, 2400, "openai/o4-mini", 2498),
        (1024, 1024, "gpt-5-nano", 2520),
        (1024, 1024, "gpt-4o-mini", 25501),  # tiles, in spite of its name
        (1024, 1024, "gpt-5", 630),
    ],
)
def test_openai_counts_by_the_rule_of_the_model(width: int, height: int, model: str, tokens: int) -> None:
    assert image_tokens(width, height, model=model) == tokens


@pytest.mark.parametrize(("size", "tokens"), [((200, 200), 54), ((1000, 1000), 1334), ((1092, 1092), 1590)])
def test_anthropic_counts_pixels(size: tuple[int, int], tokens: int) -> None:
    assert image_tokens(*size, provider="anthropic") == tokens


def test_anthropic_shrinks_what_is_too_large_and_newer_models_shrink_less() -> None:
    assert image_tokens(1000, 15_680, provider="anthropic") == 210  # to 100 by 1568
    assert image_tokens(4000, 4000, provider="anthropic") == 1600
    assert image_tokens(4000, 4000, provider="anthropic", model="claude-opus-4.7") == 4784


@pytest.mark.parametrize(("size", "tokens"), [((384, 384), 258), ((768, 768), 258), ((1000, 700), 516)])
def test_gemini_counts_tiles(size: tuple[int, int], tokens: int) -> None:
    assert image_tokens(*size, provider="gemini") == tokens


def test_an_image_of_unknown_size_is_taken_for_a_large_one() -> None:
    assert image_tokens(None, None) == image_tokens(0, 7) == 765
    assert image_tokens(None, None, detail="low") == 85
    assert image_tokens(None, 100, provider="anthropic") == 1399


@given(st.integers(1, 20_000), st.integers(1, 20_000), st.sampled_from(["openai", "anthropic", "gemini", "else"]))
def test_every_size_has_a_price(width: int, height: int, provider: str) -> None:
    for model in ("", "gpt-5-mini", "claude-opus-5"):
        assert image_tokens(width, height, provider=provider, model=model) > 0


@pytest.mark.parametrize(
    "data",
    [
        png(640, 480),
        gif(640, 480),
        jpeg(640, 480),
        jpeg(640, 480, notes=60_000),
        webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 640, 480)),
        webp(b"VP8L", b"\x2f" + struct.pack("<I", 639 | 479 << 14)),
        webp(b"VP8X", b"\0\0\0\0" + (639).to_bytes(3, "little") + (479).to_bytes(3, "little")),
    ],
    ids=["png", "gif", "jpeg", "jpeg with notes", "webp lossy", "webp lossless", "webp extended"],
)
def test_the_size_stands_at_the_beginning_of_a_file(data: bytes) -> None:
    assert size_of(data) == (640, 480)


@given(st.binary(max_size=80))
def test_any_bytes_are_an_image_or_not(data: bytes) -> None:
    for start in (b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff", b"RIFF....WEBPVP8 "):
        size = size_of(start + data)
        assert size is None or (size[0] >= 0 and size[1] >= 0)


def uri(data: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def test_an_image_in_base64_costs_by_its_size_and_not_by_its_length() -> None:
    data = png(512, 512)
    assert part_tokens({"type": "image_url", "image_url": {"url": uri(data)}}) == 255
    assert part_tokens({"type": "input_image", "image_url": uri(data), "detail": "low"}) == 85
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(data).decode()}
    assert part_tokens({"type": "image", "source": source}, "anthropic") == 350


def test_the_detail_asked_for_is_heard() -> None:
    assert part_tokens({"type": "image_url", "image_url": {"url": uri(png(2048, 2048)), "detail": "low"}}) == 85


def test_a_photograph_with_notes_in_front_of_its_size_is_read() -> None:
    part = {"type": "image_url", "image_url": {"url": uri(jpeg(512, 512, notes=60_000), "jpeg")}}
    assert part_tokens(part) == 255


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/cat.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,????"}},
        {"type": "image_url", "image_url": 7},
        {"type": "image"},
    ],
)
def test_an_image_that_cannot_be_read_has_the_unknown_size(part: dict[str, object]) -> None:
    assert part_tokens(part) == 765
