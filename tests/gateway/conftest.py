"""One gateway for all tests of the room; each test leads it to a provider of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clew.testing import ProviderSimulator
from tests.gateway.running import Running, running


@pytest.fixture(scope="session")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("gateway")) as gateway:
        yield gateway


@pytest.fixture
def provider() -> Iterator[ProviderSimulator]:
    with ProviderSimulator() as simulator:
        yield simulator


@pytest.fixture
def gateway(one: Running, provider: ProviderSimulator) -> Running:
    one.lead(provider.url)
    return one
