"""Engines that other people bring: which are there, and one of them loaded."""

from clew.runtime.plugins.finding import BUILT_IN, Plugin, found, named
from clew.runtime.plugins.host import Host
from clew.runtime.plugins.loading import Loaded, load
from clew.runtime.plugins.trouble import BadPlugin, UnknownPlugin

__all__ = [
    "BUILT_IN",
    "BadPlugin",
    "Host",
    "Loaded",
    "Plugin",
    "UnknownPlugin",
    "found",
    "load",
    "named",
]
