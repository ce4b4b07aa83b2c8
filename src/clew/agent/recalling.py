"""The tool with which a model finds again what left its window."""

from __future__ import annotations

from clew.agent.tools.tool import Arguments, Risk, Tool, function, number, text
from clew.agent.workspace import Workspace
from clew.runtime.recall import search
from clew.store.store import Store

RECALL = function(
    "search_history",
    'Search all that was ever said in your conversations, also what a summary stands for: words, "phrases", paths.',
    query=text("What to look for."),
    limit=number("How many hits.", default=8, least=1, most=30),
)


def recall_tool(store: Store) -> Tool:
    def run(arguments: Arguments, _: Workspace) -> str:
        found = search(store, arguments["query"], limit=arguments["limit"])
        hits = [f"{hit.conversation} #{hit.place} {hit.role}: {hit.snippet}" for hit in found.hits]
        total = f"{found.total:,} of {found.searched:,} messages have it"
        return "\n".join([*hits, total, *found.notes])

    return Tool(RECALL, Risk.READS, run)
