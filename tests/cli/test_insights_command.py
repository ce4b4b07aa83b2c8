"""`clew insights`: what was spent adds up, however it is cut."""

import json
import re
import time
from decimal import Decimal

import pytest

from clew import Usage, open_store
from clew.facts.usage import Cost
from clew.store.ledger import Call
from tests.cli.kept import ROUNDS, kept_family

DAY = 86_400.0


@pytest.fixture
def insights(run, family, monkeypatch):
    monkeypatch.setenv("CLEW_STORE_URL", family.url)
    return lambda *arguments, **given: run("insights", *arguments, **given)


def test_the_totals_come_first_and_tell_what_is_not_known(insights):
    result = insights()
    assert result.exit_code == 0
    head = result.stdout.split("day", 2)[0] + result.stdout.split("day", 2)[1]
    assert re.search(r"calls +33, 1 failed", head)
    assert re.search(r"output +3,031 \(210 of them reasoning\)", result.stdout)
    assert re.search(r"cache read +150,000", result.stdout)
    assert "at least $5.67" in result.stdout
    assert "no price is known for 2 calls" in result.stdout
    assert "the oldest is of 2026-05-01" in result.stdout
    assert all(len(line) <= 80 for line in result.stdout.splitlines())


@pytest.mark.parametrize("by", ["day", "model", "provider", "purpose", "session", "conversation"])
def test_the_parts_of_every_table_add_up_to_the_total(insights, by):
    document = json.loads(insights("--by", by, "--json").stdout)
    rows, total = document["by"][by], document["total"]
    for name in ("calls", "failed", "input", "output", "cache_read", "cache_write", "reasoning", "unpriced"):
        assert sum(row[name] for row in rows) == total[name], name
    assert sum(Decimal(row["cost_usd"] or 0) for row in rows) == Decimal(total["cost_usd"])
    shown = insights("--by", by).stdout
    parts = [Decimal(part) for part in re.findall(r"(?m)^ .*\$([\d.]+)", shown)]
    assert sum(parts) == Decimal(re.search(r"at least \$([\d.]+)", shown)[1])


def test_the_short_tables_add_up_too(insights, family):
    shown = insights().stdout
    days = shown.split(" day ")[1].split(" model ")[0]
    assert "5 earlier days" in days
    assert len(re.findall(r"\d{4}-\d\d-\d\d", days)) == 10
    assert sum(map(Decimal, re.findall(r"\$([\d.]+)", days))) == Decimal(re.search(r"at least \$([\d.]+)", shown)[1])


def test_a_day_has_a_bar_as_long_as_what_it_cost_or_took(run, tmp_path):
    with open_store(tmp_path / "days.db") as store:
        session = store.open_session()
        for days, tokens, usd in ((0, 100, "4"), (1, 400, "2")):
            price = Cost(Decimal(usd), "2026-01-01")
            store.record(session, Call(Usage(tokens), "priced", cost=price, at=time.time() - days * DAY))
            store.record(session, Call(Usage(tokens), "free", purpose="other", at=time.time() - (days + 40) * DAY))
    assert _bars(run("insights", "--by", "day", "--days", 20, "--store", tmp_path / "days.db")) == [6, 12]
    assert _bars(run("insights", "--by", "day", "--until", "30d", "--store", tmp_path / "days.db")) == [12, 3]


def test_a_conversation_has_what_it_delegated_in_its_row(insights, family):
    rows = {
        row["key"]: row for row in json.loads(insights("--by", "conversation", "--json").stdout)["by"]["conversation"]
    }
    assert rows.keys() == {family.parser, family.local}
    assert rows[family.parser]["calls"] == ROUNDS + 2
    assert rows[family.local]["cost_usd"] is None
    assert rows[family.local]["title"] == "Is the lamp lit, and by whom?"


def test_a_forgotten_conversation_keeps_its_cost(insights, run, family):
    run("sessions", "delete", family.parser, "--yes")
    document = json.loads(insights("--by", "conversation", "--json").stdout)
    assert {row["key"] for row in document["by"]["conversation"]} == {"(forgotten)", family.local}
    assert document["total"]["calls"] == ROUNDS + 3
    assert insights("--by", "session").exit_code == 0


def test_tools_are_counted_and_a_call_of_two_counts_for_both(insights):
    rows = {row["key"]: row["calls"] for row in json.loads(insights("--by", "tool", "--json").stdout)["by"]["tool"]}
    assert rows == {"read_file": 30, "run": 3, "(none)": 3}
    assert "two tools is in the rows of both" in insights("--by", "tool").stdout


def test_days_since_and_until_choose_the_time(insights, family):
    with open_store(family.url) as store:
        price = Cost(Decimal(1), "2026-01-01")
        store.record(family.local, Call(Usage(5, 5), "old", cost=price, at=time.time() - 100 * DAY))
    assert json.loads(insights("--json").stdout)["total"]["calls"] == 33
    assert json.loads(insights("--days", 200, "--json").stdout)["total"]["calls"] == 34
    assert json.loads(insights("--days", 1, "--json").stdout)["total"]["calls"] in (4, 5)
    assert json.loads(insights("--until", "50d", "--json").stdout)["total"]["calls"] == 1
    both = json.loads(insights("--since", "101d", "--until", "99d", "--json").stdout)
    assert (both["total"]["calls"], both["total"]["cost_usd"]) == (1, "1")
    assert insights("--days", 3, "--since", "2d").exit_code == 2
    assert insights("--since", "soon").exit_code == 2
    assert insights("--days", 0).exit_code == 2


def test_a_time_without_calls_says_that_there_are_others(insights):
    result = insights("--since", "3020-01-01")
    assert result.exit_code == 0
    assert "No call in this time; 33 calls outside it" in result.stdout


def test_an_empty_ledger_says_how_calls_get_recorded(run, talk):
    run("import", talk)
    result = run("insights")
    assert result.exit_code == 0
    assert "No call of a provider was recorded yet" in result.stdout
    assert "store.record" in result.stdout
    assert re.search(r"messages +184 *\n", result.stdout)
    assert json.loads(run("insights", "--json").stdout)["calls_ever"] == 0


def test_the_store_is_counted(insights):
    facts = json.loads(insights("--json").stdout)["store"]
    assert (facts["conversations"], facts["sessions"], facts["blobs"], facts["calls"]) == (5, 7, 1, 33)
    assert facts["messages"] == 4 * ROUNDS + 1 + 2 + 4
    assert facts["blob_bytes"] == 133_890
    assert facts["log_bytes"] > 10_000
    assert facts["index_bytes"] > 0


def test_amounts_below_a_cent_are_shown(run, tmp_path):
    with open_store(tmp_path / "small.db") as store:
        session = store.open_session()
        for model, usd in (("one", "0.0000031"), ("two", "0.0000042")):
            store.record(session, Call(Usage(1, 1), model, cost=Cost(Decimal(usd), "2026-01-01")))
    shown = run("insights", "--by", "model", "--store", tmp_path / "small.db").stdout
    assert "$0.0000073" in shown
    assert "$0.0000031" in shown
    assert "$0.0000042" in shown


def test_both_databases_add_up_the_same(run, store_url):
    kept_family(store_url)
    total = json.loads(run("insights", "--store", store_url, "--json").stdout)["total"]
    assert (total["calls"], total["cost_usd"]) == (33, "5.67074")


def _bars(result):
    return [len(bar) for bar in re.findall(r"(?m)^ \d{4}-\d\d-\d\d .*?(█*)\s*$", result.stdout)]
