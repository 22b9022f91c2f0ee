"""A real server in a process of its own, for tests that ask it as clients do."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

ROOT = Path(__file__).resolve().parents[1]
FAULTS = Path(__file__).parent / "renderers_for_tests"
# Starting takes five seconds; on a machine that does much else, longer.
START_S = 90.0


@dataclass
class Server:
    """A running server.

    Attributes:
        process: its process.
        port: where it listens on the loopback address.
        log: the file with its output.
        client: a client of it.
    """

    process: "subprocess.Popen[bytes]"
    port: int
    log: Path
    client: httpx2.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = self.new_client()

    @classmethod
    def start(cls, log: Path, **settings: Any) -> "Server":
        """Start one with these settings (`queue=2` is `SENSMAP_QUEUE=2`); it is not ready yet."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        texts = {
            f"SENSMAP_{name.upper()}": value if isinstance(value, str) else json.dumps(value)
            for name, value in {
                "device": "cpu",
                "probe": False,
                "store_bytes": "0",
                **settings,
            }.items()
        }
        clean = {key: value for key, value in os.environ.items() if not key.startswith("SENSMAP_")}
        command = ["-m", "uvicorn", "--factory", "app.main:create_app", "--port", str(port)]
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, *command],
                cwd=ROOT,
                env={**clean, **texts},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        return cls(process, port, log)

    def new_client(self) -> httpx2.Client:
        """A client of this server, with its own connections."""
        return httpx2.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=60, trust_env=False)

    def await_answer(self, path: str, statuses: Iterable[int]) -> httpx2.Response:
        """Ask for a path until the answer has one of the statuses."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            assert self.process.poll() is None, f"the server died:\n{self.log.read_text()}"
            try:
                answer = self.client.get(path)
            except httpx2.TransportError:
                answer = None
            if answer is not None and answer.status_code in statuses:
                return answer
            time.sleep(0.05)
        raise AssertionError(f"no answer of {statuses} at {path}:\n{self.log.read_text()}")

    def await_ready(self) -> "Server":
        """Wait for the worker to be up."""
        self.await_answer("/readyz", [200])
        return self

    def map(self, renderer: str, body: Mapping[str, Any], form: str = "npy") -> httpx2.Response:
        """Ask for a map by POST."""
        return self.client.post(f"/v1/renderers/{renderer}/map?format={form}", json=dict(body))

    def raw(self, data: bytes, *, timeout: float = 5.0) -> bytes:
        """What comes back for raw bytes on a connection of their own."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as line:
            line.sendall(data)
            return read_answer(line)

    @property
    def worker(self) -> int:
        """Process id of the worker."""
        (found,) = self.children()
        return found

    def children(self) -> list[int]:
        """Process ids of the server's children."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(text) for text in path.read_text().split()]

    def descriptors(self) -> int:
        """How many file descriptors the server holds."""
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def stop(self) -> None:
        """Ask the server to stop, and wait for it."""
        self.client.close()
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


def read_answer(line: socket.socket) -> bytes:
    """One HTTP answer, or what there is of it when the line closes."""
    received = b""
    while True:
        head, separator, body = received.partition(b"\r\n\r\n")
        if separator:
            lengths = [
                int(value)
                for name, _, value in (h.partition(b":") for h in head.split(b"\r\n"))
                if name.lower() == b"content-length"
            ]
            if not lengths or len(body) >= lengths[0]:
                return received
        try:
            piece = line.recv(1 << 16)
        except ConnectionResetError:
            return received
        if not piece:
            return received
        received += piece


def resident_bytes(pid: int) -> int:
    """Resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def problem(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """The problem document of an answer, checked to be one with that status and code."""
    assert answer.status_code == status, answer.text[:400]
    assert answer.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert document["code"] == code, document
    assert document["status"] == status
    assert document["title"]
    assert document["detail"]
    return document
