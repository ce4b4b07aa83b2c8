"""web_extract: what a page on the web says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from clew.agent.tools.fetching import MOST_BYTES
from clew.agent.tools.page_text import page_text
from clew.agent.tools.web import MOST
from clew.agent.workspace import Workspace
from tests.agent import did, refused


@pytest.fixture
def at(tmp_path: Path) -> Workspace:
    (tmp_path / "project").mkdir()
    return Workspace(tmp_path / "project")


HTML = "<html><head><title>T&amp;T</title><style>p{}</style></head><body><h2>Head</h2><p>One  <b>two</b>\nthree</p>"


class Pages(BaseHTTPRequestHandler):
    pages: ClassVar[dict[str, tuple[int, str, bytes]]] = {
        "/page": (200, "text/html; charset=utf-8", HTML.encode()),
        "/latin": (200, "text/plain; charset=latin-1", b"caf\xe9"),
        "/odd": (200, "text/plain; charset=nonsense", b"ok"),
        "/json": (200, "application/problem+json", b'{"a": 1}'),
        "/picture": (200, "image/png", b"\x89PNG"),
        "/missing": (404, "text/html", b"no"),
        "/moved": (302, "/page", b""),
        "/round": (302, "/round", b""),
        "/inside": (302, "ftp://127.0.0.1/x", b""),
        "/long": (200, "text/plain", b"0123456789" * (MOST // 10) + b"rest"),
        "/endless": (200, "text/plain", b"x" * (MOST_BYTES + 1)),
    }

    def do_GET(self) -> None:
        status, kind, body = self.pages[self.path]
        self.send_response(status)
        self.send_header("Location" if status == 302 else "Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def near(at: Workspace) -> Workspace:
    return replace(at, private_web=True)


def test_a_page_is_given_as_its_words(near: Workspace, site: str) -> None:
    assert did(near, "web_extract", url=f"{site}/page") == f"{site}/page\nT&T\n\n## Head\n\nOne two three"
    assert did(near, "web_extract", url=f"{site}/latin") == f"{site}/latin\ncafé"
    assert did(near, "web_extract", url=f"{site}/odd") == f"{site}/odd\nok"
    assert did(near, "web_extract", url=f"{site}/json") == f'{site}/json\n{{"a": 1}}'


def test_a_redirect_is_followed_and_each_step_is_checked(near: Workspace, site: str) -> None:
    assert did(near, "web_extract", url=f"{site}/moved").startswith(f"{site}/page\n")
    assert "5 redirects" in refused(near, "web_extract", url=f"{site}/round")
    assert "no https address" in refused(near, "web_extract", url=f"{site}/inside")


def test_what_is_no_text_or_not_there_is_told(near: Workspace, site: str) -> None:
    assert "image/png" in refused(near, "web_extract", url=f"{site}/picture")
    assert "404" in refused(near, "web_extract", url=f"{site}/missing")
    assert "could not be read" in refused(near, "web_extract", url="http://127.0.0.1:9/")


def test_a_long_page_is_read_in_parts(near: Workspace, site: str) -> None:
    assert f"[4 more characters; read them with offset={MOST}]" in did(near, "web_extract", url=f"{site}/long")
    assert did(near, "web_extract", url=f"{site}/long", offset=MOST) == f"{site}/long\nrest"
    assert "says nothing from" in did(near, "web_extract", url=f"{site}/long", offset=MOST * 2)
    assert "its end is missing" in did(near, "web_extract", url=f"{site}/endless", offset=MOST_BYTES - 5)
    assert "missing" not in did(near, "web_extract", url=f"{site}/long", offset=MOST)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "10.0.0.1", "169.254.169.254", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433"],
)
def test_private_addresses_are_not_fetched(at: Workspace, host: str) -> None:
    assert "private address" in refused(at, "web_extract", url=f"https://{host}/latest/meta-data")


@pytest.mark.parametrize(
    "url", ["http://example.com", "file:///etc/passwd", "example.com", "https://", "https://[::1", "https://a:b@c.d/",
            "https://example.com:99999/", "https://exa mple.com/", "https://1.1.1.1/a\nb"]
)  # fmt: skip
def test_only_plain_https_addresses_are_fetched(at: Workspace, url: str) -> None:
    assert any(word in refused(at, "web_extract", url=url) for word in ("no https", "password", "space"))


def test_what_is_not_shown_is_not_said() -> None:
    page = (
        "<p>a<script>if (1 < 2) { x('<p>no</p>') }</script>b</p><svg><title>no</title></svg><noscript>no</noscript>"
        "<ul><li>x<li>y</ul><table><tr><td>1<td>2</table><pre>k\n  v</pre>&lt;end&gt;<!-- no -->"
    )
    assert page_text(page).split("\n") == ["ab", "", "- x", "- y", "", "| 1 | 2", "", "k", "v", "<end>"]
