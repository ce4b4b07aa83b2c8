"""What is there to choose from, and under which name? Nothing of it is run."""

from __future__ import annotations

import pytest

from clew.runtime.plugins import UnknownPlugin, found, named
from tests.runtime.bringing import NATIVE, REGISTERS, folder, package

BOMB = "raise SystemExit('this code was run')\n# register_context_engine\n"
BUILT_IN_NAMES = [("compressor", "built-in"), ("lossless", "built-in")]


def names(plugins):
    return [(plugin.name, plugin.source) for plugin in plugins]


def test_all_sources_are_found_in_their_order_and_nothing_is_run(tmp_path, monkeypatch):
    folder(tmp_path, "beta", init=BOMB)
    folder(tmp_path, "alpha", init=BOMB, yaml="name: alpha\ndescription: first of all\nversion: 1.2\n")
    folder(tmp_path, "general", kind=".", init=BOMB)
    package(tmp_path / "site", "installed_pkg", "fromsite = installed_pkg:register", init=BOMB)
    monkeypatch.syspath_prepend(tmp_path / "site")
    plugins = found(tmp_path, environment={})
    assert names(plugins) == [
        *BUILT_IN_NAMES,
        ("alpha", "directory"),
        ("beta", "directory"),
        ("general", "plug-in"),
        ("fromsite", "entry point"),
    ]
    alpha, site = plugins[2], plugins[-1]
    assert (alpha.description, alpha.version, alpha.place) == (
        "first of all",
        "1.2",
        str(tmp_path / "plugins/context_engine/alpha"),
    )
    assert (site.description, site.version, site.place) == (
        "From a package.",
        "2.5",
        "installed_pkg: installed_pkg:register",
    )


def test_hidden_names_folders_without_code_and_plugins_without_an_engine_are_left_out(tmp_path):
    folder(tmp_path, "_private", init=NATIVE)
    folder(tmp_path, ".hidden", init=NATIVE)
    folder(tmp_path, "empty")
    folder(tmp_path, "weather", kind=".", init="def register(ctx): ctx.register_tool('rain')")
    assert names(found(tmp_path, environment={})) == BUILT_IN_NAMES
    assert names(found(tmp_path / "nowhere", environment={})) == BUILT_IN_NAMES


def test_a_folders_own_plugins_count_only_where_they_may(tmp_path):
    folder(tmp_path / "repo" / ".clew", "local", init=NATIVE)
    assert "local" not in dict(names(found(tmp_path, environment={})))
    assert dict(names(found(tmp_path, tmp_path / "repo", environment={})))["local"] == "directory"


def test_those_of_hermes_count_when_its_home_is_named(tmp_path):
    folder(tmp_path / "hermes", "hermes-lcm", kind=".", init=NATIVE + REGISTERS)
    assert (
        dict(names(found(tmp_path, environment={"HERMES_HOME": str(tmp_path / "hermes")})))["hermes-lcm"] == "plug-in"
    )


def test_of_two_with_one_name_the_first_counts_and_the_other_is_told(tmp_path):
    first = folder(tmp_path, "twin", init=NATIVE)
    folder(tmp_path, "twin", kind=".", init=NATIVE + REGISTERS)
    folder(tmp_path, "compressor", init=NATIVE)
    own, _, twin = found(tmp_path, environment={})
    assert (twin.place, twin.hides) == (str(first), (str(tmp_path / "plugins" / "twin"),))
    assert (own.source, own.hides) == ("built-in", (str(tmp_path / "plugins/context_engine/compressor"),))


def test_a_manifest_with_a_byte_order_mark_is_read_and_a_broken_one_is_told(tmp_path):
    marked = folder(tmp_path, "marked", init=NATIVE)
    (marked / "plugin.yaml").write_bytes(
        b"\xef\xbb\xbfdescription: |\n  two\n  lines\nrequires_env: [A_KEY, {name: B_KEY}]\n"
    )
    folder(tmp_path, "torn", init=NATIVE, yaml="description: [unclosed")
    folder(tmp_path, "odd", init=NATIVE, yaml="- a list")
    by_name = {plugin.name: plugin for plugin in found(tmp_path, environment={})}
    assert (by_name["marked"].description, by_name["marked"].needs) == ("two lines", ("A_KEY", "B_KEY"))
    assert by_name["torn"].description.startswith("plugin.yaml cannot be read: while parsing")
    assert by_name["odd"].description == ""


def test_a_name_is_that_of_the_folder_of_the_manifest_or_either_without_hermes(tmp_path):
    folder(tmp_path, "hermes-lcm", init=NATIVE)
    folder(tmp_path, "rlm", init=NATIVE, yaml="name: clew-recursive")
    folder(tmp_path, "lcm-x", init=NATIVE, yaml="name: lcm")
    plugins = found(tmp_path, environment={})
    assert [named(name, plugins).name for name in ("rlm", "clew-recursive", "recursive", "hermes-lcm")] == [
        "rlm",
        "rlm",
        "rlm",
        "hermes-lcm",
    ]
    assert named("lcm", plugins).name == "lcm-x", "a name that a manifest gives comes before a shortened one"


def test_an_unknown_name_brings_up_the_nearest_and_all_there_are(tmp_path):
    folder(tmp_path, "lossful", init=NATIVE)
    with pytest.raises(
        UnknownPlugin, match=r"no engine 'losful'. Did you mean lossful\? There is: compressor, lossless, lossful"
    ):
        named("losful", found(tmp_path, environment={}))
    with pytest.raises(UnknownPlugin, match=r"no engine 'zzz'. There is: compressor, lossless, lossful"):
        named("zzz", found(tmp_path, environment={}))
