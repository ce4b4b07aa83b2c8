"""How does a file come to be whole or not at all?"""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def replace_file(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Write beside the file, then rename over it: a reader, or a crash, finds the old text or the new one.

    `mode` is for a file of the person's own, whose folder is made too; without it the file keeps the one it has.
    """
    target = path.resolve()  # through a symbolic link, which would otherwise be replaced by the file
    if mode is not None:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name[:200]}.{os.getpid()}.part")
    beside.unlink(missing_ok=True)  # of a process with the same number that was killed here
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode or 0o666), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is None and target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
