"""A digest holds what is vital within its budget, and can be read back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.engines.actions import Touch
from clew.engines.digest import read_digest, write_digest
from clew.engines.handoff import CLOSING, SECTIONS, sections_of, unwrap, wrap
from clew.engines.importance import Kind, Seen
from clew.engines.ledger import Ledger
from clew.engines.talk import Talk
from clew.tokens import count_exact

LEDGER = Ledger(
    requests=("Build the parser.", "Now make it fast."),
    constraints=("Never touch prod.py.", "必须 保持 兼容"),
    actions=("READ a.py — 12 lines [tool: read_file]", "RUN make — exit 1 [tool: terminal]"),
    done=41,
    files={"src/a.py": Touch.READ, "src/b.py": Touch.CHANGED, "src/c.py": Touch.CREATED},
    errors={"RUN make": "ld: symbol(s) not found"},
    state={"branch": "main", "tests": "`pytest` — 3 failed"},
    plan={"write docs": "open", "ship": "completed"},
)
TALK = Talk(
    ("We use a table because it is faster.",), ("why? → because",), ("when is it done?",), "Looking at b.py now."
)
STRINGS = {"parse_rune": Seen(Kind.NAME, 9, model=2), "v1.2.3": Seen(Kind.VALUE, 5), "deadbeef1": Seen(Kind.HASH, 7)}


def digest(ledger=LEDGER, strings=STRINGS, budget=4_000, focus=None, task="Now make it fast."):
    return write_digest(ledger, TALK, task, strings, budget=budget, count=count_exact, focus=focus)


def test_it_has_the_thirteen_sections_in_their_order():
    assert list(sections_of(digest())) == list(SECTIONS)


def test_the_task_stands_there_verbatim():
    assert sections_of(digest(task="first line\nsecond line"))["Active Task"] == "> first line\n> second line"


def test_actions_go_on_with_their_numbers():
    assert sections_of(digest())["Completed Actions"].splitlines() == [
        "40. READ a.py — 12 lines [tool: read_file]",
        "41. RUN make — exit 1 [tool: terminal]",
    ]


def test_reading_it_back_gives_the_ledger_that_was_written():
    carried = read_digest(digest())
    assert carried.ledger == Ledger(
        requests=LEDGER.requests,
        constraints=LEDGER.constraints,
        actions=LEDGER.actions,
        done=41,
        files=LEDGER.files,
        errors=LEDGER.errors,
        state=LEDGER.state,
        plan={"write docs": "open"},
    )
    assert carried.talk == TALK
    assert dict(carried.strings) == {"parse_rune": Kind.NAME, "v1.2.3": Kind.VALUE, "deadbeef1": Kind.HASH}


def test_the_wrapping_comes_off_again():
    assert unwrap(wrap(digest())) == digest()
    assert wrap(digest()).endswith(CLOSING)


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=300)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(words, max_size=40), st.lists(words, max_size=60), st.dictionaries(words, words, max_size=10),
    st.integers(300, 6_000), words,
)  # fmt: skip
def test_it_never_outgrows_its_budget(constraints, paths, errors, budget, task):
    ledger = Ledger(constraints=tuple(constraints), files=dict.fromkeys(paths, Touch.CHANGED), errors=errors)
    strings = {f"name_{n}": Seen(Kind.NAME, n, model=1) for n in range(2_000)}
    assert count_exact(digest(ledger, strings, budget, task=task * 20)) <= budget


def test_room_that_is_left_goes_to_exact_strings_best_first():
    strings = {f"name_{n}": Seen(Kind.NAME, n, model=n % 7) for n in range(3_000)}
    text = digest(strings=strings, budget=1_000)
    kept = [string for string in strings if f" {string} " in text]
    lost = [string for string in strings if string not in text]
    assert len(kept) > 50
    assert sum(strings[s].model for s in kept) / len(kept) > sum(strings[s].model for s in lost) / len(lost)


def test_a_focus_takes_the_larger_part():
    did = tuple(f"READ {'db' if n % 2 else 'ui'}_{n}.py — ok [tool: read_file]" for n in range(60))
    about, plain = (digest(Ledger(actions=did, done=60), {}, 900, focus=focus) for focus in ("db", None))
    of_db, of_ui = (sections_of(about)["Completed Actions"].count(f"READ {what}_") for what in ("db", "ui"))
    assert of_db > 2 * of_ui
    assert of_db > plain.count("READ db_")


@pytest.mark.parametrize(
    "summary", ["", "no headings", "## Goal", "## Unknown\nx", "## Blocked\n- `x` failed", "\n\n## \n"]
)
def test_any_text_can_be_read_back(summary):
    assert read_digest(summary).ledger.done == 0
