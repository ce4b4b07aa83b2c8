"""Which models are known here: the bundled facts, corrected by the person's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from clew.runtime.files import replace_file
from clew.runtime.home import home
from clew.wire.catalog import Catalog, ModelFacts
from clew.wire.names import spelled
from clew.wire.overrides import overlaid
from clew.wire.rows import BadFacts, read_fields, read_rows

FILE = "models.json"


def path() -> Path:
    """The person's own facts."""
    return home() / FILE


@cache
def bundled() -> Catalog:
    """The facts that came with clew."""
    folder = files("clew.wire").joinpath("data")
    documents = sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
    read = [read_rows(json.loads(file.read_bytes(), parse_float=Decimal), file.name) for file in documents]
    return Catalog(facts for rows in read for facts in rows)


def catalog(file: Path | None = None) -> Catalog:
    """The bundled facts with those that the person set. BadFacts names the file and the field that cannot be."""
    file = file or path()
    own = _read(file)
    return overlaid(bundled(), own, str(file)) if own else bundled()


def set_override(model: str, values: Mapping[str, Any], file: Path | None = None) -> ModelFacts:
    """Remember values of the person's own for a model, dated today. Nothing is written that could not be read back."""
    file = file or path()
    own = _read(file)
    name = _key(own, model)
    kept = read_fields(values, f"{file}: {name}")
    own[name] = {**own.get(name, {}), **kept, "dated": date.today().isoformat()}
    found = overlaid(bundled(), own, str(file)).named(name)
    assert found, f"{name} was just set"
    _write(file, own)
    return found


def unset_override(model: str, file: Path | None = None) -> bool:
    """Forget the person's values for a model; whether there were any."""
    file = file or path()
    own = _read(file)
    there = own.pop(_key(own, model), None) is not None
    if there:
        _write(file, own)
    return there


def _read(file: Path) -> dict[str, dict[str, Any]]:
    """Model → the person's values. One without a date was set, as far as anyone knows, when the file was written."""
    try:
        document = json.loads(file.read_bytes(), parse_float=Decimal)
        written = date.fromtimestamp(file.stat().st_mtime).isoformat()
    except FileNotFoundError:
        return {}
    except ValueError as wrong:
        raise BadFacts(f"{file} is no JSON: {wrong}; correct it or move it away") from None
    models = document.get("models") if isinstance(document, dict) else None
    if not isinstance(models, dict) or len(document) > 1 or not all(isinstance(row, dict) for row in models.values()):
        raise BadFacts(f'{file} has to look like {{"models": {{"NAME": {{"window": 32768}}}}}}')
    return {name: {"dated": written, **row} for name, row in models.items()}


def _key(own: Mapping[str, Any], model: str) -> str:
    """The name under which a model stands in the person's file, or will."""
    known = bundled().named(model)
    name = known.name if known else model.strip()
    return next(
        (key for key in own if spelled(key) == spelled(name) or (known and bundled().named(key) is known)), name
    )


def _write(file: Path, own: Mapping[str, Any]) -> None:
    text = json.dumps({"models": own}, ensure_ascii=False, indent=2, default=str) + "\n"
    replace_file(file, text.encode(), mode=0o600)
