"""What the whole suite shares: one real server, with renderers that go wrong beside the shipped."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server import FAULTS, Server

BROKEN = (
    "raises_at_import.py",
    "exits_at_import.py",
    "segfaults_at_import.py",
    "segfaults_when_placed.py",
    "declares_nothing.py",
    "missing.py",
)


@pytest.fixture(scope="session")
def marker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file by which `dies_once` knows that it has died; without it, it dies again."""
    return tmp_path_factory.mktemp("marker") / "died"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, marker: Path) -> Iterator[Server]:
    """A server that is ready. Its bands are small, so that small frames have many."""
    running = Server.start(
        tmp_path_factory.mktemp("server") / "log.txt",
        renderers=[str(FAULTS / "faults.py"), *(str(FAULTS / name) for name in BROKEN)],
        options={"dies_once": {"marker": str(marker)}},
        memory_budget="1MiB",
        timeout_s=20,
    )
    try:
        yield running.await_ready()
    finally:
        running.stop()
