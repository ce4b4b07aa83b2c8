"""What does the model get back for a call?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.agent.tools import EXTRA_TOOLS, TOOLS, Risk, Tool, run_call
from clew.agent.workspace import Workspace
from clew.facts.messages import ToolCall
from tests.agent import call, did, refused, result


@pytest.fixture
def at(tmp_path: Path) -> Workspace:
    (tmp_path / "project").mkdir()
    return Workspace(tmp_path / "project")


def test_these_are_the_tools_and_what_they_risk() -> None:
    assert {tool.name: tool.risk.value for tool in TOOLS} == {
        "read_file": "reads",
        "write_file": "writes",
        "patch": "writes",
        "search_files": "reads",
        "list_files": "reads",
        "terminal": "runs",
    }
    assert {tool.name: tool.risk.value for tool in EXTRA_TOOLS} == {"web_extract": "fetches"}


@pytest.mark.parametrize("tool", [*TOOLS, *EXTRA_TOOLS], ids=lambda tool: tool.name)
def test_a_schema_is_json_and_describes_every_field(tool: Tool) -> None:
    assert json.loads(json.dumps(tool.schema)) == tool.schema
    assert tool.schema["function"]["description"]
    assert tool.parameters["additionalProperties"] is False
    for name, field in tool.parameters["properties"].items():
        assert field["type"] in ("string", "integer")
        assert field["description"], name
        assert set(field) <= {"type", "description", "default", "minimum", "maximum"}


def test_the_fields_that_have_to_be_given() -> None:
    required = {tool.name: tool.parameters["required"] for tool in (*TOOLS, *EXTRA_TOOLS)}
    assert required == {
        "read_file": ["path"],
        "write_file": ["path", "content"],
        "patch": ["path", "old", "new"],
        "search_files": ["pattern"],
        "list_files": [],
        "terminal": ["command"],
        "web_extract": ["url"],
    }


def test_a_result_answers_its_call(at: Workspace) -> None:
    (at.root / "a.txt").write_text("one\n")
    assert result(at, "read_file", {"path": "a.txt"}).raw == {
        "role": "tool",
        "tool_call_id": "call_1",
        "name": "read_file",
        "content": "1\tone",
    }


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("read_fil", {"path": "a"}, ["'read_fil'", "did you mean read_file?"]),
        ("", {}, ["no tool ''", "terminal"]),
        ("read_file", '{"path": "a', ["read_file", "not JSON"]),
        ("read_file", "[1]", ["a list", "JSON object"]),
        ("read_file", "", ["needs the field 'path'"]),
        ("read_file", {"path": "a", "lines": 3}, ["no field 'lines'", "path, offset, limit"]),
        ("read_file", {"path": 7}, ["read_file: path", "string", "a number"]),
        ("read_file", {"path": None}, ["read_file: path", "null"]),
        ("read_file", {"path": "a", "offset": "1"}, ["read_file: offset", "whole number", "a string"]),
        ("read_file", {"path": "a", "offset": True}, ["read_file: offset", "true or false"]),
        ("read_file", {"path": "a", "offset": 1.5}, ["read_file: offset", "whole number"]),
        ("read_file", {"path": "a", "offset": 0}, ["offset is 0", "least is 1"]),
        ("read_file", {"path": "a", "limit": 10**9}, ["limit is 1000000000", "most is 10000"]),
        ("write_file", '{"path": "a", "content": "\\ud800"}', ["write_file: content", "surrogate"]),
        ("read_file", "[" * 100_000, ["not JSON"]),
    ],
)
def test_arguments_that_make_no_sense_are_told_by_the_field(
    at: Workspace, name: str, arguments: Any, words: list[str]
) -> None:
    message = result(at, name, arguments)
    assert message.raw.get("is_error") is True
    for word in words:
        assert word in message.text


def test_a_whole_number_may_be_written_as_a_fraction_and_null_means_the_default(at: Workspace) -> None:
    (at.root / "a.txt").write_text("one\ntwo\n")
    assert did(at, "read_file", path="a.txt", offset=2.0, limit=None) == "2\ttwo"


def test_a_call_that_is_not_permitted_is_not_made(at: Workspace) -> None:
    message = result(at, "write_file", {"path": "a", "content": "x"}, lambda *_: "the person said no")
    assert (message.text, message.raw.get("is_error")) == ("Error: the person said no", True)
    assert not (at.root / "a").exists()


def test_what_the_system_refuses_is_told(at: Workspace) -> None:
    (at.root / "a.txt").touch()
    assert "a.txt: File exists" in refused(at, "write_file", path="a.txt/x", content="y")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), lambda v: st.lists(v, max_size=2)
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["read_file", "patch", "list_files", "search_files", "web_extract"]),
    st.dictionaries(st.sampled_from(["path", "offset", "limit", "old", "new", "depth", "count"]), values),
)
def test_no_arguments_raise(at: Workspace, name: str, arguments: dict[str, Any]) -> None:
    assert result(at, name, json.dumps(arguments)).raw["tool_call_id"] == "call_1"


def test_a_tool_of_another_room_may_have_choices_lists_and_fields_without_a_word(at: Workspace) -> None:
    fields = {"action": {"type": "string", "enum": ["add", "read"]}, "names": {"type": "array"}}
    parameters = {"type": "object", "properties": fields, "required": ["action"]}
    schema = {"type": "function", "function": {"name": "memory", "parameters": parameters}}
    tool = Tool(schema, Risk.READS, lambda arguments, _: json.dumps(dict(arguments)))

    def said(**arguments: Any) -> str:
        return run_call(call("memory", arguments), [tool], at, lambda *_: None).text

    assert said(action="add", names=["a"]) == '{"action": "add", "names": ["a"]}'
    assert "memory: action is 'burn'; it has to be one of: add, read." in said(action="burn")
    assert said() == "Error: memory needs the field 'action'."


def test_a_missing_field_that_has_no_description_is_named(tmp_path: Path) -> None:
    from clew.agent.memory import MEMORY_TOOL, Memory

    memory = Memory(tmp_path)
    tool = Tool(MEMORY_TOOL, Risk.READS, lambda arguments, _: memory.run(arguments))
    made = ToolCall("c", "memory", "{}", {"id": "c"})
    told = run_call(made, [tool], Workspace(tmp_path), lambda *_: None).text
    assert "action" in told
    assert "needs" in told
