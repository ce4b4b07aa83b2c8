"""A model's summary keeps what has a source and gets back what is vital."""

from __future__ import annotations

from clew.engines.handoff import sections_of
from clew.engines.verify import verify

SOURCES = ("please add retries to src/net/client.py and never log the body", "done, see https://example.org/run/7")
ESSENTIAL = {
    "Active Task": "> add retries",
    "Constraints & Preferences": "- never log the body",
    "Relevant Files": "- changed: src/net/client.py",
    "Completed Actions": "1. EDIT client.py — done [tool: edit]",
}


def checked(summary):
    return sections_of(verify(summary, sources=lambda: SOURCES, essential=ESSENTIAL))


def test_vital_lines_that_were_lost_are_put_back_and_others_not_doubled():
    made = checked("## Constraints & Preferences\n- be quick\n\n## Relevant Files\nsrc/net/client.py got retries")
    assert made["Constraints & Preferences"] == "- be quick\n- never log the body"
    assert made["Relevant Files"] == "src/net/client.py got retries"


def test_the_active_task_is_always_the_users_own_words():
    assert checked("## Active Task\nrewrite everything in Rust")["Active Task"] == "> add retries"


def test_sections_that_were_cut_off_are_filled_from_the_rules():
    assert checked("## Goal\nretries")["Completed Actions"] == "1. EDIT client.py — done [tool: edit]"


def test_an_invented_request_is_left_out():
    invented = '## Goal\nThe user said "please also delete the database"\nretries are wanted'
    assert checked(invented)["Goal"] == "retries are wanted"


def test_a_real_quote_stays():
    assert "never log the body" in checked('## Goal\nThe user said "never log the body"')["Goal"]


def test_an_address_or_path_with_no_source_is_left_out():
    made = checked(
        "## Critical Context\nsee https://example.org/run/7\nsee https://evil.example/x\nsrc/net/other/thing.py broke"
    )
    assert made["Critical Context"] == "see https://example.org/run/7"


def test_a_summary_without_headings_is_not_thrown_away():
    assert checked("It went well.")["Critical Context"] == "It went well."
