"""How does a file come to be whole or not at all?"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from clew.cli.errors import Failed, why


def refuse_unwritable(path: Path) -> None:
    """Fail before the work is done, not after, where nothing could be written."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise Failed(f"{path} cannot be written: there is no folder {folder}. Create it or choose another place.")


def write_whole(path: Path, data: bytes) -> None:
    """Write beside the file, then rename over it: a reader sees the old text or the new one, never half of it."""
    target = path.resolve()  # through a symbolic link, which would otherwise be replaced by the file
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a device or a pipe: renaming over it would put a file in its place
        else:
            _replace(target, data)
    except OSError as error:
        raise Failed(f"{path} could not be written: {why(error)}. What stood there is untouched.") from None


def _replace(target: Path, data: bytes) -> None:
    beside = target.with_name(f".{target.name[:200]}.{os.getpid()}.part")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
