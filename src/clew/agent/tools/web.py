"""web_extract: what a page on the web says."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from clew.agent.tools.fetching import Page, fetch
from clew.agent.tools.page_text import page_text
from clew.agent.tools.tool import Arguments, Risk, Tool, function, number, text
from clew.agent.workspace import ToolError, Workspace
from clew.core.results import readable_size

MOST = 40_000
"""Characters in one answer: about 10,000 tokens."""
REDIRECTS = 5
_TEXT = re.compile(r"text/|application/(?:[\w.+-]*\+)?(?:json|xml|javascript|x-yaml|yaml)\b")


def web_extract(arguments: Arguments, at: Workspace) -> str:
    url, offset = arguments["url"], arguments["offset"]
    page = _followed(url, at)
    if not 200 <= page.status < 300:
        raise ToolError(f"{page.url} answered with status {page.status}.")
    if not _TEXT.match(page.kind):
        raise ToolError(f"{page.url} is {page.kind or 'of no stated type'}, {readable_size(len(page.body))}; not text.")
    said = page.body.decode(page.charset, "replace")
    words = page_text(said) if "html" in page.kind else said
    shown = words[offset : offset + MOST]
    if not shown:
        return f"[{page.url} says nothing from character {offset}; it has {len(words):,}]"
    rest = len(words) - offset - len(shown)
    notes = [f"[{rest:,} more characters; read them with offset={offset + MOST}]"] if rest else []
    notes += ["[the page was longer than is read; its end is missing]"] if page.cut else []
    return "\n".join([page.url, shown, *notes])


def _followed(url: str, at: Workspace) -> Page:
    """Each step of a redirect is checked as the first was: a public page may point to a private one."""
    for _ in range(REDIRECTS + 1):
        page = fetch(url, private=at.private_web)
        if not (300 <= page.status < 400 and page.location):
            return page
        url = urljoin(url, page.location)
    raise ToolError(f"more than {REDIRECTS} redirects, the last to {url}.")


WEB_EXTRACT = Tool(
    function(
        "web_extract",
        "Read the text of one public https page.",
        url=text("The address, beginning with https://"),
        offset=number("How many characters of the text to skip.", default=0, least=0),
    ),
    Risk.FETCHES,
    web_extract,
)
