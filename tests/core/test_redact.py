"""No credential passes, and nothing else changes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.redact import PLACEHOLDER, redact
from tests.core.redact_corpus import HARMLESS, Forge, keys, planted

PLANTED = list(planted(seed=7))
