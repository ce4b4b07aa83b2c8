"""The child process of `server.py`: serves one file of weights until whoever started it is gone."""

from __future__ import annotations

import json
import os
import signal
import sys

import xllamacpp  # type: ignore[import-untyped]

CACHE = 512
"""MiB for prompts that may come again: a conversation's, while its summary is being written."""


def serve(weights: str, context: int, threads: int, key: str, sampling: dict[str, float]) -> None:
    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.model_alias = [os.path.basename(weights).removesuffix(".gguf")]
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.cache_ram_mib = CACHE
    params.warmup = params.ui = False
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key] if key else []
    for name, value in sampling.items():
        setattr(params.sampling, name, value)
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    os.dup2(2, 1)  # whatever is printed from here on belongs to the log
    sys.stdin.read()  # ends with the parent, also where that was killed
    os._exit(0)  # a reply that no one waits for is not written to its end


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; it means a turn, not us
    serve(**json.loads(sys.stdin.readline()))
