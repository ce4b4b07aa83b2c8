"""Which pictures go along with what a person says."""

from __future__ import annotations

import base64
import stat
from pathlib import Path

import pytest

from clew.agent import pasting
from clew.agent.clipboard import picture_in_clipboard
from clew.agent.pasting import NoPicture, Pictures, kind_of, picture_of, pictures_in
from clew.facts.messages import Message

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 1_992
JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 96


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shot.png").write_bytes(PNG)
    (tmp_path / "two words.jpg").write_bytes(JPEG)
    (tmp_path / "notes.txt").write_text("words")
    (tmp_path / "liar.png").write_text("words")
    return tmp_path


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "png"),
        (JPEG, "jpeg"),
        (b"GIF89a...", "gif"),
        (b"GIF87a...", "gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "webp"),
        (b"RIFF\0\0\0\0WAVEfmt ", None),
        (b"%PDF-1.7", None),
        (b"", None),
    ],
)
def test_a_kind_is_read_from_the_content(data: bytes, kind: str | None) -> None:
    assert kind_of(data) == kind


@pytest.mark.parametrize(
    "spelled",
    [
        "{0}/shot.png",
        " {0}/shot.png \n",
        "'{0}/shot.png'",
        '"{0}/two words.jpg"',
        "{0}/two words.jpg",
        r"{0}/two\ words.jpg",
        "file://{0}/two%20words.jpg",
    ],
)
def test_a_pasted_path_is_a_picture_however_it_is_spelled(folder: Path, spelled: str) -> None:
    (found,) = pictures_in(spelled.format(folder))
    assert found.data in (PNG, JPEG)


@pytest.mark.parametrize("between", [" ", "\n"])
def test_several_paths_are_several_pictures(folder: Path, between: str) -> None:
    text = between.join([f"{folder}/shot.png", f"'{folder}/two words.jpg'"])
    if between == "\n":
        text = text.replace("'", "")
    assert [one.name for one in pictures_in(text)] == ["shot.png", "two words.jpg"]


@pytest.mark.parametrize(
    "text", ["look at {0}/shot.png", "{0}/notes.txt", "{0}/none.png", "", "it's", "\0.png", "x" * 30_000]
)
def test_anything_else_stays_what_it_is(folder: Path, text: str) -> None:
    assert pictures_in(text.format(folder)) == []
    assert Pictures().pasted(text.format(folder)) == text.format(folder)


def test_a_pasted_picture_stands_in_the_line_as_its_label_and_goes_along(folder: Path) -> None:
    pictures = Pictures()
    label = pictures.pasted(f"{folder}/shot.png")
    assert label == "[image shot.png 2.0 KB]"
    said = pictures.said(f"What is {label}?")
    assert isinstance(said, Message)
    coded = base64.b64encode(PNG).decode()
    assert said.to_dict() == {
        "role": "user",
        "content": [
            {"type": "text", "text": "What is [image shot.png 2.0 KB]?"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{coded}"}},
        ],
    }
    assert pictures.said(f"And {label}?") == f"And {label}?", "it went along once"


def test_a_label_that_was_deleted_takes_its_picture_with_it(folder: Path) -> None:
    pictures = Pictures()
    pictures.pasted(f"{folder}/shot.png")
    assert pictures.said("Never mind.") == "Never mind."


def test_two_pictures_of_one_name_and_size_are_two(folder: Path) -> None:
    pictures = Pictures()
    first = pictures.hold(picture_of("clipboard", PNG))
    second = pictures.hold(picture_of("clipboard", PNG[:-1] + b"\1"))
    assert first != second
    said = pictures.said(f"{first} {second}")
    assert isinstance(said, Message)
    assert len(said.to_dict()["content"]) == 3


@pytest.mark.parametrize(
    "spelled", ["See @{0}/shot.png.", "@{0}/shot.png", r"@{0}/two\ words.jpg", '@"{0}/two words.jpg"']
)
def test_a_path_behind_an_at_sign_goes_along(folder: Path, spelled: str) -> None:
    line = spelled.format(folder)
    said = Pictures().said(line)
    assert isinstance(said, Message)
    assert said.text == line


def test_an_address_and_another_file_behind_an_at_sign_are_words(folder: Path) -> None:
    for line in (f"see @{folder}/notes.txt", "mail me@example.png", "@someone look"):
        assert Pictures().said(line) == line


def test_a_dragged_path_that_was_typed_by_the_terminal_goes_along(folder: Path) -> None:
    said = Pictures().said(f"{folder}/shot.png")
    assert isinstance(said, Message)
    assert said.text == "[image shot.png 2.0 KB]"


def test_what_cannot_go_says_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoPicture, match=r"liar\.png is no picture that a model takes: png, jpeg, gif or webp"):
        Pictures().said(f"@{folder}/liar.png")
    with pytest.raises(NoPicture, match="no such file"):
        Pictures().said(f"@{folder}/none.png")
    monkeypatch.setattr(pasting, "MOST", 1_000)
    with pytest.raises(NoPicture, match=r"shot\.png has 2\.0 KB; a picture may have 1\.0 KB"):
        Pictures().said(f"@{folder}/shot.png")


def test_the_clipboard_is_read_by_a_program_of_the_desktop_or_the_person_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoPicture, match="no program to read the clipboard"):
        picture_in_clipboard({"DISPLAY": ":0"})
    program(tmp_path / "xclip", "exit 1")
    with pytest.raises(NoPicture, match="there is no picture in the clipboard"):
        picture_in_clipboard({"DISPLAY": ":0"})
    program(tmp_path / "xclip", r"printf '\211PNG\r\n\032\n'")
    assert picture_in_clipboard({"DISPLAY": ":0"}).kind == "png"
    with pytest.raises(NoPicture, match="no program"):
        picture_in_clipboard({})
    program(tmp_path / "osascript", "printf '%s' '«data PNGf89504E470D0A1A0A»'")
    assert picture_in_clipboard({}).data == PNG[:8]


def program(path: Path, does: str) -> None:
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
