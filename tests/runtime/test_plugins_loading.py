"""One plug-in loaded: its code alone is run, what it registers is there, what is wrong is said."""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path

import pytest

from clew import ContextCompressor, ContextEngine
from clew.runtime.plugins import BadPlugin, UnknownPlugin, load
from clew.testing import check_engine
from tests.runtime.bringing import NATIVE, close_all, folder, host, package

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "engines"


@pytest.fixture(autouse=True)
def _leaves_nothing():
    yield
    close_all()


def test_the_example_loads_keeps_the_contract_and_answers_its_tool(tmp_path):
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "context_engine").symlink_to(EXAMPLES)
    loaded = load("trail", host(tmp_path))
    check_engine(type(loaded.engine))
    call = {"id": "1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.py"}'}}
    talk = [
        {"role": "user", "content": "Look at a.py."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "text"},
        *({"role": "assistant", "content": f"step {n}"} for n in range(20)),
    ]
    made = loaded.engine.compress(talk, focus_topic="the tests")
    assert made[0]["content"].splitlines()[1:] == [
        "Keep in mind above all: the tests",
        "Asked so far:",
        "- Look at a.py.",
        "Files touched:",
        "- a.py",
    ]
    assert loaded.engine.handle_tool_call("trail_files", {}) == '{"files": ["a.py"]}'
    fresh = type(loaded.engine)()
    fresh.compress([*made, *talk[3:]])
    assert fresh.trail == loaded.engine.trail, "a new process reads the trail from the conversation"
    loaded.close()


def test_the_built_in_asks_the_host_for_summaries(tmp_path):
    asked = []
    engine = load(
        "compressor", host(tmp_path, call_llm=lambda messages: asked.append(messages) or "## Goal\nport it")
    ).engine
    assert isinstance(engine, ContextCompressor)
    engine.update_model("m", 16_000)
    engine.compress([{"role": "user", "content": f"{n} " + "word " * 300} for n in range(60)])
    assert asked[0][0]["role"] == "user"


def test_a_folder_with_a_class_loads_and_its_neighbours_are_importable_every_way(tmp_path):
    folder(
        tmp_path,
        "many",
        init=NATIVE + "from . import one\nimport plugins.context_engine.many.one as two\n"
        "from plugins.context_engine.many import one as three\n"
        "from hermes_plugins.context_engine.many.one import HERE\n"
        "assert one is two is three and HERE is one.HERE\n"
        "import importlib\nassert importlib.import_module('plugins.context_engine.many.one') is one\n"
        "assert importlib.import_module('.one', __package__) is one\n"
        "def late():\n    import plugins.context_engine.many.one\n    return plugins.context_engine.many.one is one\n",
        one="HERE = []\n",
    )
    (tmp_path / "plugins" / "shared_by_all.py").write_text("VALUE = 7\n")
    folder(tmp_path, "sharing", init="from plugins.shared_by_all import VALUE\nassert VALUE == 7\n" + NATIVE)
    engine = load("many", host(tmp_path)).engine
    assert sys.modules[type(engine).__module__].late(), "also when it is long loaded"
    assert load("sharing", host(tmp_path)).engine.compress([1, 2, 3]) == [2, 3]


def test_only_the_one_that_is_named_is_run_and_nothing_stays_behind(tmp_path):
    folder(tmp_path, "bomb", init="raise RuntimeError('run')")
    folder(tmp_path, "good", init=NATIVE + "from .other import x\n", other="x = 1")
    before = set(sys.modules)
    one, two = load("good", host(tmp_path)), load("good", host(tmp_path))
    assert type(one.engine) is not type(two.engine), "each agent has modules of its own"
    one.close()
    late = two.engine.__class__.__module__
    assert late in sys.modules
    two.close()
    assert not {name for name in set(sys.modules) - before if "clew_plugin" in name}
    assert not [each for each in sys.meta_path if "plugins" in type(each).__module__]


def test_what_a_plugin_registers_is_there(tmp_path):
    folder(
        tmp_path,
        "full",
        kind=".",
        init=NATIVE
        + """
def register(ctx):
    ctx.register_context_engine(Small())
    ctx.register_context_engine(Small())
    ctx.register_hook("pre_compaction", lambda **facts: "not now")
    ctx.register_hook("pre_tool_call", print)
    ctx.register_command("/full", lambda raw: raw.upper(), description="shouts", args_hint="TEXT")
    ctx.register_tool("t", "set", {"name": "t", "description": "a tool"}, lambda args: "{}", emoji="x")
    ctx.register_tool("broken")
    ctx.register_skill("s", "skill.md", description="reads")
    ctx.register_platform("irc", object)
    ctx.state.set("a", 1)
    assert not getattr(ctx, "some_flag", False) and not ctx.context_engine_tool_handlers_receive_messages
    assert ctx.get_config("mode") == "deep" and ctx.get_config("in.side", 5) == 3 and ctx.get_config("no", 5) == 5
    assert ctx.llm.complete(messages=[{}, {}], purpose="x").text == "summary of 2"
    assert ctx.has_plugin("full") and not ctx.has_plugin("other")
""",
    )
    settings = {"plugins.entries": {"full": {"mode": "deep", "in": {"side": 3}}}}
    loaded = load("full", host(tmp_path, config=settings))
    assert loaded.hooks["pre_compaction"][0]() == "not now"
    assert (loaded.commands["full"].handler("x"), loaded.commands["full"].args_hint) == ("X", "TEXT")
    assert (loaded.tools["t"].description, list(loaded.tools)) == ("a tool", ["t"])
    assert loaded.skills["s"].path == Path("skill.md")
    told = "\n".join(loaded.notes)
    for words in (
        "a second engine, small, was refused",
        "its hook on pre_tool_call is never called",
        "the tool broken was refused: it has no schema",
        "ctx.register_platform() did nothing",
        "ctx.state.set() did nothing",
    ):
        assert words in told


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x = 1\ndef f(:\n", r"SyntaxError: .*\(__init__.py, line 2\)"),
        ("x = 1\n\nraise ValueError('no\\n luck')", r"ValueError: no luck \(__init__.py, line 3\)"),
        ("import sys\nsys.exit(3)", r"SystemExit: 3 \(__init__.py, line 2\)"),
        ("import frobnicate", r"No module named 'frobnicate'.*pip install frobnicate"),
        ("from .gone import x", r"No module named 'plugins.context_engine.bad.gone' \(__init__.py, line 1\). Mend"),
        ("x = 1", r"neither a subclass of ContextEngine nor a function register\(ctx\)"),
        ("from clew import ContextCompressor", "neither a subclass"),
        (
            "from clew import ContextEngine\nclass Half(ContextEngine): name = 'x'",
            "Half lacks compress, should_compress",
        ),
        ("def register(ctx): pass", "it registered no engine"),
        ("def register(ctx): ctx.register_context_engine(3)", "registered no engine; it says: int was refused"),
        ("import logging\ndef register(ctx): logging.getLogger(__name__).error('no %s', 'key')", "it says: no key"),
        (
            NATIVE + "    def is_available(self): return False\n",
            "says that it is not available; it needs SOME_KEY in the",
        ),
        ("def register(ctx): raise KeyError", r"KeyError \(__init__.py, line 1\)"),
    ],
)
def test_what_is_wrong_is_said_with_the_place_the_reason_and_what_to_do(tmp_path, text, why, monkeypatch):
    monkeypatch.delenv("SOME_KEY", raising=False)
    before = set(sys.modules)
    place = folder(tmp_path, "bad", init=text, yaml="requires_env: [SOME_KEY]")
    with pytest.raises(BadPlugin, match=why) as told:
        load("bad", host(tmp_path))
    assert str(told.value).startswith(f"the engine bad ({place}) cannot be used: ")
    assert "clew_plugin" not in str(told.value)
    assert not {name for name in set(sys.modules) - before if name.startswith("clew_plugin")}


def test_an_unknown_name_is_no_broken_plugin(tmp_path):
    with pytest.raises(UnknownPlugin, match="There is: compressor"):
        load("none", host(tmp_path))


def test_warnings_of_a_plugin_become_notes_and_do_not_reach_the_screen(tmp_path, caplog):
    folder(
        tmp_path,
        "loud",
        init=NATIVE
        + "import logging\nlog = logging.getLogger(__name__)\nlog.warning('at %s', 'start')\nlog.info('x')\n",
    )
    later = []
    loaded = load("loud", host(tmp_path, note=later.append))
    logging.getLogger(type(loaded.engine).__module__).warning("while running")
    assert (loaded.notes, later) == (("at start",), ["while running"])
    loaded.close()
    assert caplog.records == []


def test_an_installed_package_is_imported_as_ever_and_each_agent_has_an_engine_of_its_own(tmp_path, monkeypatch):
    singleton = "\nONE = Small()\ndef register(ctx): ctx.register_context_engine(ONE)\n"
    cloning = (
        "\n    def clone_for_agent(self):\n        made = Small()\n        made.cloned = True\n        return made\n"
    )
    stubborn = "\n    def __deepcopy__(self, memo): raise TypeError('has a lock')\n"
    package(tmp_path, "native_one", "copied = native_one:register", init=NATIVE + singleton)
    package(tmp_path, "native_two", "cloned = native_two", init=NATIVE + cloning + singleton)
    package(tmp_path, "native_three", "stubborn = native_three:ONE", init=NATIVE + stubborn + singleton)
    package(tmp_path, "native_four", "made = native_four:Small", init=NATIVE)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("copied", "cloned", "made"):
        one, two = load(name, host(tmp_path)), load(name, host(tmp_path))
        assert one.engine is not two.engine
        assert type(one.engine) is type(two.engine), "installed: imported once"
        assert one.notes == two.notes == ()
    assert load("cloned", host(tmp_path)).engine.cloned, "its own way comes before a copy"
    one, two = load("stubborn", host(tmp_path)), load("stubborn", host(tmp_path))
    assert one.engine is two.engine
    assert two.notes == ("two agents share this engine, because it could not be copied: TypeError: has a lock",)
    assert one.notes == ()


def test_an_engine_of_no_known_class_is_taken_in_and_lacks_nothing(tmp_path):
    folder(
        tmp_path,
        "duck",
        init="class Duck:\n    name = 'duck'\n    threshold_tokens = 5\n"
        "    def __getattr__(self, name):\n"
        "        if name == 'context_length': return 9\n"
        "        raise AttributeError(name)\n"
        "    def update_from_response(self, usage): self.last_prompt_tokens = usage['prompt_tokens']\n"
        "    def should_compress(self, prompt_tokens=None): return prompt_tokens > 5\n"
        "    def compress(self, messages, **more): return messages[:1]\n"
        "def register(ctx): ctx.register_context_engine(Duck())\n",
    )
    engine = load("duck", host(tmp_path)).engine
    assert isinstance(engine, ContextEngine)
    assert (engine.name, engine.threshold_tokens, engine.context_length) == ("duck", 5, 9)
    engine.update_from_response({"prompt_tokens": 4})
    engine.compression_count = 3
    assert (engine.should_compress(6), engine.compress([1, 2]), engine.get_tool_schemas()) == (True, [1], [])
    assert engine.get_status()["last_prompt_tokens"] == 4
    assert engine.get_status()["compression_count"] == 3
    assert not engine.should_compress_preflight([])
    engine.threshold_tokens = 50
    assert engine.get_status()["threshold_tokens"] == 50, "what is set is set on the engine itself"


def test_the_page_that_teaches_it_teaches_what_works(tmp_path):
    page = (EXAMPLES.parents[1] / "docs" / "engines.md").read_text()
    engine, contract, registering = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    place = folder(tmp_path, "last-words", init=engine, yaml=re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[0])
    loaded = load("last-words", host(tmp_path))
    assert loaded.plugin.description == "Keeps the newest messages and says how many are gone."
    exec(contract, {"LastWords": type(loaded.engine)})
    (place / "__init__.py").write_text(engine + registering)
    again = load("last-words", host(tmp_path))
    assert again.commands["last"].handler("") == "the last 10 messages stay"
    assert again.hooks["pre_compaction"][0](busy=True) == "not during a release"
    assert not again.notes
