"""The page `clew replay --report` writes: self-contained, escaped, accessible."""

import json
from html.parser import HTMLParser

import pytest

from tests.cli.talks import SECRET, long_talk, written

VOID = {"meta", "path", "line"}


class Page(HTMLParser):
    """A page as its elements, with a check that each is closed by its own end."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.texts, self._open = [], [], []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def reported(run, talk, tmp_path):
    out = tmp_path / "report.html"
    result = run("replay", talk, "--report", out, "--json", "--context-length", 32_000)
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["report"] == str(out)
    return out.read_text("utf-8"), document["conversations"][0]


def test_the_page_asks_for_nothing_from_outside(reported):
    html, _ = reported
    page = Page(html)
    for _, attributes in page.elements:
        for name in ("src", "href", "action", "data", "poster", "srcset", "xlink:href"):
            assert attributes.get(name) is None or attributes[name].startswith("#")
    assert "url(" not in html
    assert "@import" not in html
    assert page.all("link") == []
    assert "http://" not in html
    assert "https://" not in html
    policy = next(meta["content"] for meta in page.all("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none'")


def test_every_element_of_the_page_is_closed(reported):
    Page(reported[0])


def test_what_a_conversation_says_cannot_become_markup(run, tmp_path):
    messages = long_talk()
    for message in messages:
        if message["role"] == "user":
            message["content"] += " You must keep </script><img src=x onerror=alert(1)> & \"quotes\" 'so'."
    out = tmp_path / "report.html"
    talk = written(tmp_path / "<b>talk.jsonl", messages)
    assert run("replay", talk, "--report", out, "--context-length", 32_000).exit_code == 0
    html = out.read_text("utf-8")
    page = Page(html)
    assert page.all("img") == []
    assert page.all("b")  # the page's own figures
    assert len(page.all("script")) == 2
    assert "&lt;/script&gt;&lt;img src=x" in html
    assert "<b>talk" not in html


def test_the_page_holds_no_credential(reported):
    assert SECRET not in reported[0]
    assert "\x1b" not in reported[0]


def test_each_compaction_has_its_row_its_marker_and_its_digest(reported):
    html, conversation = reported
    page = Page(html)
    events = conversation["compactions"]
    assert events
    markers = [button["aria-label"] for button in page.all("button")]
    assert len(markers) == len(events)
    for event, label in zip(events, markers, strict=True):
        assert f"{event['before']:,} → {event['after']:,} tokens" in label
    assert len([row for row in page.all("tr") if row.get("class") == "event"]) == len(events)
    digests = [text for text in page.texts if text.startswith("Digest (")]
    assert digests == [f"Digest ({event['summary_tokens']:,} tokens)" for event in events]
    assert page.texts.count("Active Task") == len(events)


def test_every_drawing_is_described_in_words_and_every_table_has_headers(reported):
    page = Page(reported[0])
    known = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    for svg in page.all("svg"):
        assert svg["role"] == "img"
        assert set(svg["aria-labelledby"].split()) <= known
    assert len(page.all("svg")) == 2
    assert len(page.all("table")) == len(page.all("caption"))
    assert all("scope" in header for header in page.all("th"))


def test_the_numbers_behind_the_drawing_are_those_of_the_replay(reported):
    html, conversation = reported
    data = html.split('id="points">')[1].split("</script>")[0]
    assert json.loads(data) == [[[p["message"], p["prompt"], p["whole"]] for p in conversation["points"]]]


def test_several_conversations_share_a_page_with_contents(run, talk, tmp_path):
    other = written(tmp_path / "other.jsonl", long_talk(3))
    out = tmp_path / "report.html"
    assert run("replay", talk, other, "--report", out).exit_code == 0
    page = Page(out.read_text("utf-8"))
    targets = [link["href"] for link in page.all("a")]
    assert targets == [f"#{article['id']}" for article in page.all("article")]
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_a_conversation_without_calls_still_has_a_page(run, tmp_path):
    silent = written(tmp_path / "one.jsonl", [{"role": "user", "content": "Anyone there?"}])
    once = written(
        tmp_path / "two.jsonl", [{"role": "user", "content": "Hm?"}, {"role": "assistant", "content": "Yes."}]
    )
    out = tmp_path / "report.html"
    assert run("replay", silent, once, "--report", out).exit_code == 0
    html = out.read_text("utf-8")
    Page(html)
    assert "No model call was recorded" in html
    assert "nan" not in html


def test_nothing_is_written_when_nothing_could_be_replayed(run, tmp_path):
    result = run("replay", tmp_path / "missing.json", "--report", tmp_path / "report.html", "--json")
    assert json.loads(result.stdout)["report"] is None
    assert list(tmp_path.iterdir()) == []
