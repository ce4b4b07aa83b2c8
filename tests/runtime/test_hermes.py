"""Engines written for Hermes load as they are: what they import is there for them, and for nobody else."""

from __future__ import annotations

import sys
import textwrap

import pytest

from clew import ContextEngine, validate_messages
from clew.runtime.plugins import BadPlugin, load
from tests.recordings import sample
from tests.runtime.bringing import FOR_HERMES, REGISTERS, close_all, folder, host, package

SUBCLASS = """
from agent.context_compressor import ContextCompressor, SUMMARY_PREFIX

class Own(ContextCompressor):
    def __init__(self):
        self.seen = []
        super().__init__(model="placeholder", config_context_length=32_000, threshold_percent=0.5, protect_last_n=4,
                         summary_target_ratio=0.2, quiet_mode=True, abort_on_summary_failure=True, tail_mode="lean")
    @property
    def name(self): return "own"
"""


@pytest.fixture(autouse=True)
def _leaves_nothing():
    yield
    close_all()


def the_engine(tmp_path, text, name="own", **more):
    folder(tmp_path, name, init=text)
    return load(name, host(tmp_path, **more)).engine


def test_the_usual_names_are_there_for_the_plugin_and_for_nobody_else(tmp_path):
    asked = []

    def call_llm(messages, max_tokens=None):
        asked.append((messages, max_tokens))
        return "answer"

    text = FOR_HERMES + textwrap.dedent("""
    import agent.redact
    import hermes_constants
    from agent import auxiliary_client
    from agent.context_engine import sanitize_memory_context, automatic_compaction_status_message
    from agent.model_metadata import estimate_tokens_rough, estimate_messages_tokens_rough
    from agent.model_metadata import estimate_request_tokens_rough, get_model_context_length
    from hermes_cli.config import get_hermes_home, load_config
    from hermes_state import DEFAULT_DB_PATH, SessionDB

    def register(ctx):
        engine = Small()
        engine.got = dict(
            home=(get_hermes_home(), hermes_constants.get_hermes_home()), config=load_config(),
            said=auxiliary_client.call_llm(task="compression", messages=[1], max_tokens=9, temperature=0.3, model=None),
            secret=agent.redact.redact_sensitive_text("OPENAI_API_KEY=sk-proj-abcdefghijklmnop1234567890"),
            weights=(estimate_tokens_rough("one two three"), estimate_tokens_rough(""),
                     estimate_messages_tokens_rough([]),
                     estimate_request_tokens_rough([], system_prompt="Be brief.") > 0),
            windows=(get_model_context_length("claude-sonnet-4-5"), get_model_context_length("nobody-knows-it")),
            memory=sanitize_memory_context("<memory-context>a</memory-context>"),
            status=automatic_compaction_status_message(engine, phase="idle", default_message="compacting"),
            database=DEFAULT_DB_PATH,
        )
        try: SessionDB(DEFAULT_DB_PATH)
        except RuntimeError as error: engine.got["no database"] = str(error)
        try: import hermes_cli.auth
        except ImportError as error: engine.got["no module"] = str(error)
        ctx.register_context_engine(engine)
    """)
    config = {"compression.threshold": 0.6, "plugins.entries": {"own": {"mode": "deep"}}}
    engine = the_engine(tmp_path, text, call_llm=call_llm, config=config)
    got = engine.got
    assert got["home"] == (tmp_path, tmp_path)
    assert (got["config"]["compression"], got["config"]["own"]) == ({"threshold": 0.6}, {"mode": "deep"})
    assert got["said"].choices[0].message.content == "answer"
    assert asked == [([1], 9)], "what the host does not take is not handed to it"
    assert got["secret"] == "OPENAI_API_KEY=[REDACTED]"
    assert got["weights"] == (3, 0, 0, True)
    assert got["windows"] == (200_000, 128_000)
    assert (got["memory"], got["status"]) == ("a", "compacting")
    assert not got["database"].exists()
    assert "clew keeps conversations in its own store" in got["no database"]
    assert got["no module"] == "clew has no module hermes_cli.auth"
    assert isinstance(engine, ContextEngine)
    assert (engine.threshold_percent, engine.protect_last_n) == (0.75, 6), "as Hermes has them"
    assert not {name for name in sys.modules if name.partition(".")[0] in ("agent", "hermes_cli", "plugins")}
    with pytest.raises(ImportError):
        import agent.context_engine  # noqa: F401


def test_a_project_with_a_package_of_its_own_called_agent_keeps_it(tmp_path, monkeypatch):
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "__init__.py").write_text("WHOSE = 'the project'\n")
    monkeypatch.syspath_prepend(tmp_path)
    engine = the_engine(tmp_path, FOR_HERMES)
    import agent

    assert agent.WHOSE == "the project"
    assert engine.name == "small"
    del sys.modules["agent"]


def test_imports_that_come_late_are_answered_too_each_by_its_own_host(tmp_path):
    text = FOR_HERMES + (
        "    def handle_tool_call(self, name, args, **more):\n"
        "        import importlib\n"
        "        from agent.auxiliary_client import call_llm\n"
        "        again = importlib.import_module('agent.auxiliary_client').call_llm\n"
        "        assert again is call_llm\n"
        "        return call_llm(messages=[]).choices[0].message.content\n"
    )
    folder(tmp_path, "late", init=text)
    one = load("late", host(tmp_path, call_llm=lambda messages: "first"))
    two = load("late", host(tmp_path, call_llm=lambda messages: "second"))
    assert [each.engine.handle_tool_call("", {}) for each in (one, two, one)] == ["first", "second", "first"]


def test_hooks_put_into_the_managers_list_by_hand_are_seen(tmp_path):
    text = FOR_HERMES + (
        "    def on_session_start(self, session_id, **more):\n"
        "        from hermes_cli.plugins import get_plugin_manager\n"
        "        get_plugin_manager()._hooks.setdefault('pre_llm_call', []).append(self.recall)\n"
        "    def recall(self, **facts): return {'context': facts['user_message']}\n"
    )
    folder(tmp_path, "recalling", init=text)
    loaded = load("recalling", host(tmp_path))
    loaded.engine.on_session_start("s1")
    assert loaded.hooks["pre_llm_call"][0](user_message="what was it?") == {"context": "what was it?"}


def test_a_package_behind_a_thin_folder_or_an_entry_point_sees_the_same_names(tmp_path, monkeypatch):
    core = FOR_HERMES + "from .parts import PART\nimport for_hermes.parts\nassert for_hermes.parts.PART is PART\n"
    package(
        tmp_path,
        "for_hermes",
        "installed = for_hermes.core:register",
        group="hermes_agent.plugins",
        init="",
        core=core + REGISTERS,
        parts="PART = object()\n",
    )
    folder(tmp_path, "thin", init="from for_hermes.core import Small, register\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert load("thin", host(tmp_path)).engine.name == "small"
    assert load("installed", host(tmp_path)).engine.compress([1, 2, 3]) == [2, 3]
    assert "for_hermes" not in sys.modules


def test_a_subclass_of_the_compressor_writes_the_summary_and_clew_does_the_rest(tmp_path):
    text = SUBCLASS + (
        "    def _generate_summary(self, turns_to_summarize, focus_topic=None):\n"  # as published: no memory_context
        "        self.seen.append((len(turns_to_summarize), focus_topic, self._previous_summary))\n"
        "        told = self._serialize_for_summary(turns_to_summarize)\n"
        "        assert '[assistant]' in told and 'ghp_' not in told\n"
        "        self._clear_compression_failure_cooldown()\n"
        "        return self._with_summary_prefix('## Goal\\nwritten by the plug-in')\n"
    )
    engine = the_engine(tmp_path, text)
    talk = sample()
    engine.update_model("m", 64_000, "http://base", "key", "provider", "chat", 4_000)
    made = engine.compress(talk, current_tokens=200_000, focus_topic="locks", force=True, memory_context="likes tea")
    assert not validate_messages(made)
    [(turns, focus, before)] = engine.seen
    assert turns > 300
    assert (focus, before) == ("locks", None)
    assert "written by the plug-in" in str(made)
    assert (engine.context_length, engine.provider, engine.compression_count) == (64_000, "provider", 1)
    assert engine._last_compression_made_progress
    assert not engine._last_summary_fallback_used
    assert str(made).count("[CONTEXT COMPACTION") == 1, "its opening is not said twice"
    after_a_restart = type(engine)()
    after_a_restart.compress([*made, *talk])
    assert "written by the plug-in" in after_a_restart.seen[0][2], "the summary so far is handed on"


def test_a_subclass_that_adds_to_the_summary_of_its_base_gets_one_from_the_host(tmp_path):
    asked = []
    text = SUBCLASS + (
        "    def _generate_summary(self, turns_to_summarize, focus_topic=None, memory_context='', **kwargs):\n"
        "        said = super()._generate_summary(turns_to_summarize, focus_topic=focus_topic,"
        " memory_context=memory_context)\n"
        "        assert said.startswith(SUMMARY_PREFIX)\n"
        "        return said + '\\n\\n## Critical Context\\nadded'\n"
    )
    engine = the_engine(tmp_path, text, call_llm=lambda messages: asked.append(messages) or "## Goal\nfrom the host")
    made = str(engine.compress(sample(), memory_context="likes tea"))
    assert "from the host" in made
    assert "added" in made
    assert "likes tea" in asked[0][0]["content"]


def test_words_without_headings_are_kept_and_the_opening_is_said_once(tmp_path):
    text = (
        SUBCLASS
        + "    def _generate_summary(self, turns): return self._with_summary_prefix('plain words of its own')\n"
    )
    made = str(the_engine(tmp_path, text).compress(sample()))
    assert (made.count("plain words of its own"), made.count("[CONTEXT COMPACTION")) == (1, 1)


def test_a_subclass_whose_summary_fails_is_told_and_rules_write_it(tmp_path):
    engine = the_engine(tmp_path, SUBCLASS + "    def _generate_summary(self, turns, **kwargs): return {}['gone']\n")
    assert len(engine.compress(sample())) < 100
    assert (engine._last_summary_error, engine._last_summary_fallback_used) == ("KeyError: 'gone'", True)


def test_a_plain_compressor_asks_the_host_and_without_a_model_rules_write(tmp_path):
    def nobody(messages):
        raise RuntimeError("no key")

    for call_llm, fell_back in ((lambda messages: "## Goal\nport the parser", False), (nobody, True)):
        engine = the_engine(tmp_path / str(fell_back), SUBCLASS, call_llm=call_llm)
        made = engine.compress(sample())
        assert not validate_messages(made)
        assert len(made) < 100, "also when abort_on_summary_failure was asked for"
        assert ("port the parser" in str(made)) is not fell_back
        assert engine._last_summary_fallback_used is fell_back
        assert (engine._last_summary_error or "").endswith("no key" if fell_back else "")


def test_the_inner_steps_that_engines_call_are_there(tmp_path):
    engine = the_engine(tmp_path, SUBCLASS)
    talk = sample()
    pruned, changed = engine._prune_old_tool_results(talk, protect_tail_count=20, protect_tail_tokens=1_000)
    assert changed > 10
    assert pruned[-20:] == [{**said} for said in talk[-20:]]
    start = engine._align_boundary_forward(talk, 3)
    cut = engine._find_tail_cut_by_tokens(talk, start)
    assert start <= engine._align_boundary_backward(talk, cut) <= cut < len(talk)
    torn = [said for said in talk if said["role"] != "tool"]
    assert validate_messages(torn)
    assert not validate_messages(engine._sanitize_tool_pairs(torn))
    assert engine.tail_token_budget == engine.budget.tail
    assert engine.should_compress_info(16_000) == (True, None)
    assert engine.select_context([]) is None
    engine._record_compression_failure_cooldown(30, "down")
    assert engine._last_summary_error == "down"
    assert engine._summary_failure_cooldown_until > 0


def test_a_cap_on_the_threshold_holds_for_every_window(tmp_path):
    engine = the_engine(tmp_path, SUBCLASS.replace("quiet_mode=True", "threshold_tokens_cap=5_000"))
    for window in (32_000, 200_000):
        engine.update_model("m", window)
        assert engine.threshold_tokens == 5_000


def test_a_module_that_clew_has_not_is_named(tmp_path):
    folder(tmp_path, "wants", init="from agent.conversation_loop import x")
    with pytest.raises(BadPlugin, match=r"clew has no module agent.conversation_loop \(__init__.py, line 1\)"):
        load("wants", host(tmp_path))
