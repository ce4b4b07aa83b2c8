"""What can the agent do? Its tools, and how a call of one is run."""

from clew.agent.tools.call import Permitted, run_call
from clew.agent.tools.listing import LIST_FILES
from clew.agent.tools.patching import PATCH
from clew.agent.tools.reading import READ_FILE
from clew.agent.tools.searching import SEARCH_FILES
from clew.agent.tools.terminal import TERMINAL
from clew.agent.tools.tool import Arguments, Risk, Tool
from clew.agent.tools.web import WEB_EXTRACT
from clew.agent.tools.writing import WRITE_FILE
from clew.agent.workspace import ToolError

TOOLS: tuple[Tool, ...] = (READ_FILE, WRITE_FILE, PATCH, SEARCH_FILES, LIST_FILES, TERMINAL)
EXTRA_TOOLS: tuple[Tool, ...] = (WEB_EXTRACT,)
"""Off unless the person wants them: they let the model reach other machines."""

__all__ = ["EXTRA_TOOLS", "TOOLS", "Arguments", "Permitted", "Risk", "Tool", "ToolError", "run_call"]
