"""Settings: read once, checked whole, overridden by the environment, written without touching a comment."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from clew.facts.model import Policy, ResultLimits
from clew.runtime import config
from clew.runtime.settings import SETTINGS, BadSettings, Settings

OWN = """\
# my own
model:
  default: claude-opus-5   # the big one
compression:
  threshold: 0.6
  protect_last_n: 12
store:
  url: notes.db
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(OWN)
    return path


def test_without_a_file_everything_is_as_it_is_by_default(tmp_path: Path) -> None:
    settings = config.read(tmp_path / "none.yaml", {})
    assert settings == Settings({}, {})
    assert settings.policy == Policy()
    assert settings.limits == ResultLimits()
    assert settings["prompt_caching.cache_ttl"] == "5m"


def test_the_file_is_overridden_by_the_environment_and_each_value_says_where_it_is_from(file: Path) -> None:
    settings = config.read(file, {"CLEW_COMPRESSION_THRESHOLD": "0.7", "CLEW_COMPRESSION_ENABLED": "off"})
    assert settings.policy == Policy(threshold=0.7, protect_last_n=12, enabled=False)
    assert settings["compression.enabled"] is False
    assert settings.sources["compression.threshold"] == "CLEW_COMPRESSION_THRESHOLD"
    assert settings.sources["model.default"] == str(file)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("compresion:\n  enabled: true", "no setting compresion.*"),
        ("compression:\n  treshold: 0.5", r"no setting compression\.treshold; did you mean compression\.threshold\?"),
        ("compression:\n  threshold: 2", r"compression\.threshold is 2; it has to lie between 0\.05 and 0\.95"),
        ("compression:\n  threshold: half", r"compression\.threshold is 'half'; it has to be a number"),
        ("compression:\n  enabled: 1", r"compression\.enabled is 1; it has to be true or false"),
        ("compression:\n  protect_last_n: 2.5", "it has to be a whole number"),
        ("compression: strong", "compression is a section"),
        ("prompt_caching:\n  cache_ttl: 2h", r"it has to be one of 5m, 1h"),
        ("model:\n  api_key: sk-1234", r"model\.api_key looks like a secret.*ANTHROPIC_API_KEY"),
        ("- a\n- b", "has to hold sections"),
        ("model: [", "is not YAML"),
        ("\x00", "is not YAML"),
    ],
)
def test_what_cannot_be_is_refused_with_the_file_the_key_and_what_would_do(
    tmp_path: Path, text: str, told: str
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(BadSettings, match=told) as refused:
        config.read(file, {})
    assert str(file) in str(refused.value)
    assert "sk-1234" not in str(refused.value)


def test_writing_one_setting_leaves_comments_and_the_rest(file: Path) -> None:
    config.write("compression.threshold", 0.4, file)
    config.write("auxiliary.compression.model", "small", file)
    config.write("store.url", None, file)
    assert file.read_text().startswith("# my own\nmodel:\n  default: claude-opus-5   # the big one\n")
    settings = config.read(file, {})
    assert settings["compression.threshold"] == 0.4
    assert settings["auxiliary.compression.model"] == "small"
    assert settings["store.url"] is None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["config.yaml"]


def test_a_place_that_cannot_hold_a_file_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("a file, not a folder")
    with pytest.raises(BadSettings, match="cannot be read: Not a directory"):
        config.write("store.url", "x", tmp_path / "blocked" / "config.yaml")


def test_every_setting_has_a_default_that_it_would_take_itself() -> None:
    from clew.runtime.settings import checked

    for setting in SETTINGS:
        assert checked(setting, setting.default, "here") == setting.default
        assert setting.told
