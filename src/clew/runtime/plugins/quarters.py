"""How does a plug-in's code run under names of its own, and see the modules it was written for?

`import` looks up `__import__` in the builtins of the module it stands in. A plug-in's modules have builtins of their
own, so that `agent`, which many projects call a package of theirs, means clew's for the plug-in and for nobody else.
"""

from __future__ import annotations

import builtins
import importlib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec, spec_from_file_location
from itertools import count, islice
from pathlib import Path
from types import ModuleType
from typing import Any

HERMES = frozenset({"agent", "hermes_cli", "hermes_constants", "hermes_state"})
"""Packages of the host that most plug-ins were written for."""
PLUGINS = ("plugins", "hermes_plugins")
"""What that host calls the folder of plug-ins."""
_WRITTEN_FOR_HERMES = re.compile(
    rb"^[ \t]*(?:from|import)[ \t]+"
    rb"(?:agent\.(?:context_|auxiliary_client|redact|model_metadata)|hermes_(?:cli|constants|state)\b)",
    re.MULTILINE,
)
MANY = 300
"""Files of a package that are looked at; one with more is no plug-in's."""


class Quarters:
    """The modules of one loaded plug-in: private names below `clew_plugin_<number>`, taken out again by `close`."""

    def __init__(self, offer: Callable[[], Mapping[str, ModuleType]]) -> None:
        self.name = f"clew_plugin_{next(_NUMBERS)}"
        self._offer = offer
        self._places: dict[str, Path | None] = {self.name: None}
        self._roots: dict[str, str | None] = {}
        self._builtins = {**vars(builtins), "__import__": self._import}
        _open(self)

    def move_in(self, folder: Path, within: Sequence[str]) -> str:
        """Give a plug-in's folder its place below `plugins`; the name of its package."""
        name = f"{self.name}.plugins"
        top = folder.parents[len(within)]
        self._places[name] = top
        for number, part in enumerate(within):
            name = f"{name}.{part}"
            self._places[name] = top.joinpath(*within[: number + 1])
        self._roots |= dict.fromkeys(PLUGINS, f"{self.name}.plugins")
        package = f"{name}.{_identifier(folder.name)}"
        self._places[package] = folder / "__init__.py"
        return package

    def module(self, name: str, package: str | None = None) -> ModuleType:
        """A module as the plug-in's own code would import it."""
        if name.startswith("."):
            return import_module(name, package)
        found: ModuleType = self._import(name, fromlist=("__name__",))
        return found

    def close(self) -> None:
        """Take the plug-in's modules out again. What it still runs goes on; it can import nothing more of its own."""
        _close(self)
        for name in [name for name in sys.modules if name == self.name or name.startswith(f"{self.name}.")]:
            del sys.modules[name]

    def spec(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        spec = self._placed(name, self._places[name]) if name in self._places else PathFinder.find_spec(name, path)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(name, spec.loader.path, self._builtins)
        return spec

    def _placed(self, name: str, place: Path | None) -> ModuleSpec | None:
        if place is not None and place.suffix == ".py":
            inside = [str(place.parent)] if place.name == "__init__.py" else None
            return spec_from_file_location(name, place, submodule_search_locations=inside)
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(place)] if place else []
        return spec

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002 the names that `import` gives them
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        root = name.partition(".")[0]
        if level == 0 and root in HERMES:
            return self._hermes(name if fromlist else root, name)
        private = self._private(root) if level == 0 else None
        if private is None:
            module = builtins.__import__(name, globals, locals, fromlist or (), level)
            return self._own_importlib() if module is importlib else module
        module = builtins.__import__(private + name[len(root) :], globals, locals, fromlist or (), 0)
        return module if fromlist else sys.modules[private]

    def _own_importlib(self) -> ModuleType:
        """importlib whose import_module finds what an `import` in the same place finds."""
        own = ModuleType("importlib")
        vars(own).update(vars(importlib))
        vars(own)["import_module"] = self.module
        return own

    def _hermes(self, wanted: str, asked: str) -> ModuleType:
        offered = self._offer()
        if asked not in offered:
            raise ModuleNotFoundError(f"clew has no module {asked}", name=asked)
        return offered[wanted]

    def _private(self, root: str) -> str | None:
        """The private name of a package that is the plug-in's own or written for Hermes too; None for any other."""
        if root not in self._roots:
            origin = None if root == "clew" or root in sys.stdlib_module_names else _origin(root)
            private = f"{self.name}.{root}" if origin and written_for_hermes(root) else None
            if private:
                self._places[private] = origin
            self._roots[root] = private
        return self._roots[root]


def written_for_hermes(root: str) -> bool:
    """Whether an installed package imports the modules of Hermes. Its files are read, not run."""
    origin = _origin(root)
    if origin is None:
        return False
    files = origin.parent.rglob("*.py") if origin.name == "__init__.py" else iter([origin])
    some = list(islice(files, MANY + 1))
    return len(some) <= MANY and any(_WRITTEN_FOR_HERMES.search(file.read_bytes()) for file in some)


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)


def run(name: str) -> ModuleType:
    """Run a module that moved in, once."""
    return import_module(name)


def _origin(root: str) -> Path | None:
    with suppress(ImportError, ValueError):
        spec = find_spec(root)
        if spec is not None and spec.origin and spec.origin.endswith(".py"):
            return Path(spec.origin)
    return None


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, names: dict[str, Any]) -> None:
        super().__init__(name, path)
        self._names = names

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = self._names
        super().exec_module(module)


class _Finder:
    """Stands among Python's own finders while any plug-in is loaded."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        quarters = _OPENED.get(name.partition(".")[0])
        return quarters.spec(name, path) if quarters else None


_NUMBERS = count(1)
_OPENED: dict[str, Quarters] = {}
_FINDER = _Finder()


def _open(quarters: Quarters) -> None:
    _OPENED[quarters.name] = quarters
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


def _close(quarters: Quarters) -> None:
    _OPENED.pop(quarters.name, None)
    if not _OPENED:
        with suppress(ValueError):
            sys.meta_path.remove(_FINDER)
