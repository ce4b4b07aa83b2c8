"""The pooled client as the network meets it: encryption, HTTP/2, proxies."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import trustme
from hypercorn.asyncio import serve
from hypercorn.config import Config

from clew.facts.exchange import Reply, Unavailable
from clew.facts.pieces import Ended, Piece, Said
from clew.runtime.http import Pool
from tests.runtime.servers import Server, proxying, serving
from tests.runtime.tiny import HELLO, asynchronous, at, event, say_ok, transport


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@asynccontextmanager
async def offering_http2(authority: trustme.CA, folder: Path) -> AsyncIterator[tuple[Server, list[Any]]]:
    """A server that speaks HTTP/2 to those who can; it notes what it heard, and who left early."""
    heard: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        heard.append(scope["http_version"])
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        await send({"type": "http.response.body", "body": event(text="Hel"), "more_body": True})
        if "hang" in scope["path"]:
            heard.append((await receive())["type"])
            return
        await send({"type": "http.response.body", "body": event(text="lo") + event(end=True)})

    issued = authority.issue_cert("localhost", "127.0.0.1")
    issued.private_key_and_cert_chain_pem.write_to_path(str(folder / "server.pem"))
    listening = socket.create_server(("127.0.0.1", 0))
    server = Server(f"https://localhost:{listening.getsockname()[1]}")
    config = Config()
    config.bind = [f"fd://{listening.detach()}"]
    config.certfile = config.keyfile = str(folder / "server.pem")
    config.loglevel = "ERROR"
    stop = asyncio.Event()
    task = asyncio.create_task(serve(app, config, shutdown_trigger=stop.wait))  # type: ignore[arg-type]
    try:
        yield server, heard
    finally:
        stop.set()
        with suppress(ssl.SSLError):  # the server still writes to clients who have said goodbye
            await task


def trusting(authority: trustme.CA, **named: Any) -> Pool:
    return Pool(certificates=authority.cert_pem.bytes(), **named)


@asynchronous
async def test_http2_is_spoken_where_it_is_offered_and_wanted(authority: trustme.CA, tmp_path: Path) -> None:
    async with offering_http2(authority, tmp_path) as (server, heard):
        for http2, version in ((True, "2"), (False, "1.1")):
            async with transport(trusting(authority, http2=http2)) as sending:
                pieces: list[Piece] = []
                await sending.call(HELLO, at(server), on_piece=pieces.append)
            assert pieces == [Said("Hel"), Said("lo"), Ended("stop")]
            assert heard.pop() == version


@asynchronous
async def test_many_streams_share_one_http2_connection(authority: trustme.CA, tmp_path: Path) -> None:
    async with offering_http2(authority, tmp_path) as (server, heard), proxying() as proxy:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HTTPS_PROXY", proxy.url)
            async with transport(trusting(authority)) as sending:
                await sending.call(HELLO, at(server))
                replies = await asyncio.gather(*(sending.call(HELLO, at(server)) for _ in range(30)))
        assert all(isinstance(reply, Reply) for reply in replies)
        assert heard == ["2"] * 31
        assert [visit.path for visit in proxy.visits] == [server.url.removeprefix("https://")]


@asynchronous
async def test_cancelling_ends_a_stream_of_http2_and_keeps_its_connection(
    authority: trustme.CA, tmp_path: Path
) -> None:
    async with offering_http2(authority, tmp_path) as (server, heard), transport(trusting(authority)) as sending:
        said = asyncio.Event()
        hanging = at(server, base_url=f"{server.url}/hang")
        calling = asyncio.create_task(sending.call(HELLO, hanging, on_piece=lambda piece: said.set()))
        await said.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        async with asyncio.timeout(3):
            while "http.disconnect" not in heard:
                await asyncio.sleep(0.01)
        assert isinstance(await sending.call(HELLO, at(server)), Reply)


@asynchronous
async def test_a_certificate_of_nobody_we_trust_is_not_taken(authority: trustme.CA, tmp_path: Path) -> None:
    async with offering_http2(authority, tmp_path) as (server, heard), transport() as sending:
        failure = await sending.call(HELLO, at(server))
    assert isinstance(failure, Unavailable)
    assert "certificate" in failure.why
    assert not heard


@asynchronous
async def test_certificates_are_also_found_by_ssl_cert_file(
    authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority.cert_pem.write_to_path(str(tmp_path / "trusted.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    async with offering_http2(authority, tmp_path) as (server, _), transport() as sending:
        assert isinstance(await sending.call(HELLO, at(server)), Reply)


@asynchronous
async def test_a_proxy_of_the_environment_is_used_but_not_for_what_it_excludes(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(say_ok) as server, proxying() as proxy:
        for set_, used in (
            ({"http_proxy": proxy.url}, True),
            ({"http_proxy": proxy.url, "no_proxy": "127.0.0.1"}, False),
            ({"ALL_PROXY": proxy.url}, True),
            ({"ALL_PROXY": proxy.url, "NO_PROXY": "example.com,127.0.0.0/8"}, False),
            ({"HTTPS_PROXY": proxy.url}, False),
        ):
            with monkeypatch.context() as patch:
                for name, value in set_.items():
                    patch.setenv(name, value)
                async with transport() as sending:
                    assert isinstance(await sending.call(HELLO, at(server)), Reply)
            assert [visit.path for visit in proxy.visits] == [f"{server.url}/v1/say"] * used, set_
            proxy.visits.clear()
