"""Whatever is said and asked, the index finds what reading every message one by one would find."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.recall.search import search
from tests.recall.log import Log, Opened

SIGNS = "压缩文中"
NAMES = ["get", "tip", "src", "py", "turn", "getTip", "HTTPServer", "v2", "Get", "été"]

texts = st.lists(
    st.tuples(
        st.sampled_from([*NAMES, *SIGNS, "压缩", "文中文"]), st.sampled_from([" ", "_", "/", ".", "\n", ", ", "", "。"])
    ),
    max_size=8,
).map(lambda parts: "".join(word + sign for word, sign in parts))

words = st.sampled_from(["get", "tip", "src", "py", "turn", "gettip", "http", "v2", "ete", "ge", *SIGNS])
asked = st.one_of(
    words,
    st.sampled_from(["g*", "get*", "t*", "压缩", "缩文", "文中文"]),
    st.lists(st.sampled_from(["get", "tip", "src", "py", "v2"]), min_size=2, max_size=3).map(
        lambda pieces: '"' + " ".join(pieces) + '"'
    ),
    st.tuples(st.sampled_from(["get", "src"]), st.sampled_from(["tip", "py", "turn"])).map("/".join),
    st.sampled_from(["压get", "get压", "py缩文"]),
)
questions = st.tuples(st.lists(asked, min_size=1, max_size=3), st.none() | asked)


@settings(max_examples=150)
@given(st.lists(texts, max_size=12), st.lists(questions, min_size=1, max_size=4), st.integers(1, 20))
def test_the_index_finds_what_a_scan_finds(
    said: list[str], questions: list[tuple[list[str], str | None]], step: int
) -> None:
    log = Log()
    for text in said:
        log.say(text)
    with tempfile.TemporaryDirectory() as folder, Opened(Path(folder), log) as index:
        while index.catch_up(step):
            pass
        for wanted, unwanted in questions:
            text = " ".join(wanted) + (f" -{unwanted}" if unwanted else "")
            found = search(index, text, limit=100)
            scanned = [
                seq
                for seq, said_ in enumerate(said, 1)
                if any(has(said_, one) for one in wanted) and not (unwanted and has(said_, unwanted))
            ]
            assert sorted(hit.seq for hit in found.hits) == scanned, (said, text)
            assert (found.total, found.exact, found.complete) == (len(scanned), True, True)


def has(text: str, asked: str) -> bool:
    """The slow and simple way, character by character."""
    asked = asked.strip('"')
    if asked.endswith("*"):
        return any(word.startswith(asked[:-1]) for word in pieces(text) + parts(text))
    wanted = pieces(asked)
    if len(wanted) == 1 and wanted[0] in parts(text):
        return True
    if all(sign in SIGNS for sign in asked):
        return asked in text
    joined = [re.search(rf"[{SIGNS}]{{2}}$", asked[: asked.rfind(piece) + 1]) for piece in wanted]
    spoken = pieces(text)
    return any(spoken[start : start + len(wanted)] == wanted for start in range(len(spoken) - len(wanted) + 1)) and (
        not any(joined) or "缩文" in text
    )


def pieces(text: str) -> list[str]:
    found: list[str] = []
    inside = False
    for sign in text.lower().replace("é", "e"):
        if sign in SIGNS:
            found.append(sign)
            inside = False
        elif sign.isalnum():
            found.append(sign) if not inside else found.append(found.pop() + sign)
            inside = True
        else:
            inside = False
    return found


def parts(text: str) -> list[str]:
    """The parts of the two camel-case names, wherever nothing else is glued to them."""
    found = []
    for word in re.findall(r"[A-Za-z0-9]+", text):
        found += (
            [part.lower() for part in re.findall(r"[A-Z]+(?![a-z0-9])|[A-Z]?[a-z0-9]+|[A-Z]+", word) if len(part) > 1]
            if re.search(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]", word)
            else []
        )
    return found
