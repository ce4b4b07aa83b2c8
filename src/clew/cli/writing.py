"""Can a command write its result where it was told to?"""

from __future__ import annotations

from pathlib import Path

from clew.cli.errors import Failed, why
from clew.runtime.files import replace_file


def refuse_unwritable(path: Path) -> None:
    """Fail before the work is done, not after, where nothing could be written."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise Failed(f"{path} cannot be written: there is no folder {folder}. Create it or choose another place.")


def write_whole(path: Path, data: bytes) -> None:
    """All of it or nothing, with a sentence when it cannot be."""
    target = path.resolve()  # through a symbolic link, which would otherwise be replaced by the file
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a device or a pipe: renaming over it would put a file in its place
        else:
            replace_file(target, data)
    except OSError as error:
        raise Failed(f"{path} could not be written: {why(error)}. What stood there is untouched.") from None
