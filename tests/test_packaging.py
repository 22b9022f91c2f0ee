"""What an installation and an image are made of: what can be known without a Docker engine."""

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from fnmatch import fnmatchcase
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from app.settings import Settings

ROOT = Path(__file__).parents[1]
Step = tuple[str, str]


def steps(dockerfile: str) -> list[Step]:
    """The instructions with their arguments; comments gone, continued lines joined."""
    text = re.sub(r"^#.*\n", "", dockerfile, flags=re.MULTILINE).replace("\\\n", " ")
    return [(word, rest.strip()) for word, _, rest in
            (line.strip().partition(" ") for line in text.splitlines()) if word]  # fmt: skip


STEPS = steps((ROOT / "Dockerfile").read_text())


def arguments(instruction: str) -> list[str]:
    return [rest for word, rest in STEPS if word == instruction]


def is_sent(path: str, ignore: str) -> bool:
    """Whether a path is in Docker's build context: the last pattern of .dockerignore that fits it,
    or a folder above it, decides."""
    parts = path.split("/")
    prefixes = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    sent = True
    for pattern in filter(None, map(str.strip, ignore.splitlines())):
        plain = pattern.removeprefix("!").strip("/")
        if any(fits(prefix, plain) for prefix in prefixes):
            sent = pattern.startswith("!")
    return sent


def fits(path: str, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return any(fits(path.split("/", n)[-1], pattern[3:]) for n in range(path.count("/") + 1))
    names, wanted = path.split("/"), pattern.split("/")
    return len(names) == len(wanted) and all(map(fnmatchcase, names, wanted))


def copied() -> Iterator[Path]:
    """Every file that the Dockerfile copies out of the build context."""
    for rest in arguments("COPY"):
        words = [word for word in rest.split() if not word.startswith("--chown")]
        if words[0].startswith("--from"):
            continue
        for word in words[:-1]:
            source = ROOT / word
            assert source.exists(), f"the Dockerfile copies {word}, which is not there"
            yield from (f for f in ([source] if source.is_file() else source.rglob("*"))
                        if f.is_file() and f.suffix != ".pyc")  # fmt: skip


def test_what_the_image_copies_is_there_and_is_sent_to_the_engine() -> None:
    ignore = (ROOT / ".dockerignore").read_text()
    files = [path.relative_to(ROOT).as_posix() for path in copied()]
    assert {"pyproject.toml", "constraints.txt", "app/web/index.html"} <= set(files)
    assert [name for name in files if not is_sent(name, ignore)] == []


@pytest.mark.parametrize(
    "name", [".git/config", ".venv/bin/python", "tests/server.py", "demo/map.png", ".env",
             "app/engine/__pycache__/frame.cpython-311.pyc", "scenes/mine.py"],
)  # fmt: skip
def test_what_the_image_does_not_need_is_not_sent(name: str) -> None:
    assert not is_sent(name, (ROOT / ".dockerignore").read_text())


@pytest.mark.parametrize(
    ("path", "ignore", "expected"),
    [
        ("app/main.py", "*\n!app", True),
        ("app/main.py", "*\n!app\napp/main.py", False),
        ("app/a/__pycache__/x", "*\n!app\n**/__pycache__", False),
        ("__pycache__/x", "**/__pycache__", False),
        ("notes/app/main.py", "*\n!app", False),
        ("app/web/vendor/x.js", "vendor", True),
    ],
)
def test_the_reading_of_dockerignore_is_docker_s(path: str, ignore: str, expected: bool) -> None:
    assert is_sent(path, ignore) is expected


def test_what_the_package_needs_to_be_built_is_copied_before_it_is_installed() -> None:
    given: set[str] = set()
    for word, rest in STEPS:
        if word == "COPY":
            given |= set(rest.split()[:-1])
        if word == "RUN" and re.search(r"pip install .* \.$", rest):
            break
    else:
        pytest.fail("the Dockerfile does not install the package")
    # The readme and the licence are read by the build; the packages are what is built.
    assert {"pyproject.toml", "README.md", "LICENSE", "app", "renderers"} <= given


def test_every_installation_in_the_image_is_held_to_what_was_tested() -> None:
    commands = [part for rest in arguments("RUN") for part in rest.split("&&")]
    installs = [command for command in commands if "pip install " in command]
    assert len(installs) == 3
    assert all("-c constraints.txt" in part and "dev" not in part for part in installs)


def test_the_image_runs_without_privileges_and_listens_to_the_outside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert arguments("USER")[-1].isdigit()
    assert f"--uid {arguments('USER')[-1]} " in arguments("RUN")[-1]
    for word in shlex.split(arguments("ENV")[-1]):
        name, _, value = word.partition("=")
        if name != "PATH":
            monkeypatch.setenv(name, value)
    settings = Settings()
    assert settings.host == "0.0.0.0"
    assert str(settings.port) == arguments("EXPOSE")[-1]
    assert arguments("CMD") == ['["sensmap", "serve"]']


class Answer(BaseHTTPRequestHandler):
    status: ClassVar[int]

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/readyz" else 404)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def health(port: int) -> int:
    """Run the image's health check as the image would, and give its exit status."""
    command = re.search(r"CMD\s+(\[.*\])$", arguments("HEALTHCHECK")[0])
    assert command
    words = json.loads(command[1])
    assert words[0] == "python"
    # A proxy of the host's must not be asked for the container's own address.
    surroundings = {**os.environ, "SENSMAP_PORT": str(port), "http_proxy": "http://127.0.0.1:9"}
    return subprocess.run([sys.executable, *words[1:]], env=surroundings, check=False,
                          stderr=subprocess.DEVNULL).returncode  # fmt: skip


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
def test_the_health_check_asks_whether_the_server_is_ready(status: int, healthy: bool) -> None:
    handler = type("Fixed", (Answer,), {"status": status})
    with HTTPServer(("127.0.0.1", 0), handler) as listener:
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        try:
            assert (health(listener.server_port) == 0) is healthy
        finally:
            listener.shutdown()


def test_the_health_check_fails_where_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        assert health(free.getsockname()[1]) != 0


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads docker-compose.yml")
    found: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    return found


def test_compose_serves_on_the_cpu_unless_the_gpu_is_asked_for(services: dict[str, Any]) -> None:
    assert [name for name, service in services.items() if "profiles" not in service] == ["cpu"]
    assert services["cpu"]["environment"]["SENSMAP_DEVICE"] == "cpu"
    assert "deploy" not in services["cpu"]
    assert services["gpu"]["profiles"] == ["gpu"]
    assert services["gpu"]["environment"]["SENSMAP_DEVICE"] == "cuda"


def test_compose_reserves_one_gpu(services: dict[str, Any]) -> None:
    (device,) = services["gpu"]["deploy"]["resources"]["reservations"]["devices"]
    assert device == {"driver": "nvidia", "count": 1, "capabilities": ["gpu"]}


def test_compose_builds_each_service_with_the_torch_of_its_device(services: dict[str, Any]) -> None:
    (default,) = [rest for rest in arguments("ARG") if rest.startswith("TORCH_INDEX=")]
    assert default.strip('"').endswith("/cpu")
    assert services["cpu"]["build"] == "."
    given = services["gpu"]["build"]["args"]
    assert set(given) == {"TORCH_INDEX"}
    assert not given["TORCH_INDEX"].endswith("/cpu")


@pytest.mark.parametrize("name", ["cpu", "gpu"])
def test_compose_gives_a_container_no_more_than_it_needs(
    services: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = services[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    # One folder may be written, and is the image's own user's: what is compiled is kept there.
    (folder,) = [word.partition("=")[2] for word in shlex.split(arguments("ENV")[-1])
                 if word.startswith("SENSMAP_COMPILE_FOLDER=")]  # fmt: skip
    written = [volume for volume in service["volumes"] if not volume.endswith(":ro")]
    assert written == [f"compiled:{folder}"]
    assert f"-m 0700 {folder}" in arguments("RUN")[-1]
    assert service["ports"] == [f"127.0.0.1:8000:{arguments('EXPOSE')[-1]}"]
    known = {f"SENSMAP_{field.upper()}" for field in Settings.model_fields}
    assert set(service["environment"]) <= known
    for setting, value in service["environment"].items():
        monkeypatch.setenv(setting, value)
    assert Settings().device == service["environment"]["SENSMAP_DEVICE"]


def test_a_wheel_holds_all_that_a_server_needs(tmp_path: Path) -> None:
    pytest.importorskip("pip", reason="this environment was made without pip")
    made = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", tmp_path, ROOT],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if re.search(r"No matching distribution found for hatchling", made.stderr):
        pytest.skip("the build backend cannot be fetched here")
    assert made.returncode == 0, made.stderr
    with zipfile.ZipFile(next(tmp_path.glob("sensmap-*.whl"))) as wheel:
        held = set(wheel.namelist())
        metadata = next(wheel.read(n).decode() for n in held if n.endswith(".dist-info/METADATA"))
        scripts = next(wheel.read(n).decode() for n in held if n.endswith("entry_points.txt"))
    wanted = {
        path.relative_to(ROOT).as_posix()
        for folder in ("app", "renderers")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "app/web/index.html" in wanted
    assert {name for name in held if ".dist-info/" not in name} == wanted
    assert "sensmap = app.cli:main" in scripts
    assert not re.search(r"^Requires-Dist: pytest(?!.*extra == .dev.)", metadata, re.MULTILINE)
