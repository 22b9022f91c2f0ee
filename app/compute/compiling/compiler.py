"""Compiles tiles in processes of their own, one at a time, and keeps what came of it on disk."""

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.compute.compiling.job import Job
from app.engine import Needs, UncompilableError, without_paths

LOG = logging.getLogger("sensmap.compiler")
OFF, AHEAD, BACKGROUND = "off", "ahead", "background"
MODES = (OFF, AHEAD, BACKGROUND)
# Lines of a compiler's last words that are logged.
TOLD = 3
# What Inductor makes on its way to a package.
MADE = "inductor"
SCRATCH = "scratch"
# Beyond the time that a build may take, its folder is nobody's.
SPARE_S = 600.0
# How often a package may take the process with it before it is left alone.
TRIES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileSettings:
    """What is compiled, and where it is kept.

    Attributes:
        mode: `off`; `ahead`, which uses what was compiled before; `background`, which adds to it.
        folder: where packages are kept. Whoever may write there may run code here.
        seconds: how long one may take.
        operations: how many operations a tile may have.
    """

    mode: str = OFF
    folder: str = ""
    seconds: float = 900.0
    operations: int = 20_000


@dataclass(frozen=True, slots=True)
class Package:
    """A compiled tile on disk."""

    path: Path
    needs: Needs


@dataclass(slots=True)
class _Build:
    job: Job
    folder: Path
    process: "subprocess.Popen[bytes]"


@dataclass(slots=True)
class Compiler:
    """Finds packages, and has missing ones made.

    Attributes:
        refused: why a job is not compiled, by its name.
    """

    settings: CompileSettings
    refused: dict[str, str] = field(default_factory=dict)
    _build: _Build | None = None

    @property
    def active(self) -> bool:
        """Whether packages are used at all."""
        return self.settings.mode != OFF

    def find(self, job: Job) -> Package | None:
        """The package of a job, if there is one."""
        folder = self._shelf / job.name
        if not _ours(folder):
            return None
        try:
            needs = Needs(**json.loads((folder / "needs.json").read_text()))
        except (OSError, ValueError, TypeError):
            return None
        return Package(folder / "tile.pt2", needs)

    @contextmanager
    def trying(self, job: Job) -> Iterator[None]:
        """Around the first use of a package: whether it is survived is told to whoever comes next.

        Raises:
            UncompilableError: it was not, the last times.
        """
        mark = self._shelf / job.name / "tried"
        with suppress(OSError):
            tried = mark.read_bytes() if mark.exists() else b""
            if len(tried) >= TRIES:
                raise UncompilableError("Its package ended the process that tried it.")
            mark.write_bytes(tried + b".")
        yield
        with suppress(OSError):
            mark.unlink()

    def want(self, job: Job) -> bool:
        """Whether a job will be done: it is begun where nothing else is under way."""
        if self.settings.mode != BACKGROUND or job.name in self.refused:
            return False
        if self._build is None:
            self._start(job)
        return job.name not in self.refused

    def look(self, *, wait: bool = False) -> None:
        """Put what is finished on the shelf.

        Args:
            wait: whether to wait for what is under way.
        """
        if self._build is not None and wait:
            self._build.process.wait()
        if self._build is not None and self._build.process.poll() is not None:
            self._finish(self._build)

    @property
    def busy(self) -> bool:
        """Whether something is being compiled."""
        return self._build is not None

    def refuse(self, job: Job, why: str) -> None:
        """Compile it no more, nor use what was compiled."""
        self.refused[job.name] = why
        LOG.warning("not compiled: %s", why)

    def stop(self) -> None:
        """Leave what is under way."""
        if self._build is not None:
            _kill(self._build.process)
            shutil.rmtree(self._build.folder, ignore_errors=True)
            self._build = None

    @property
    def _shelf(self) -> Path:
        return Path(self.settings.folder).expanduser() / "tiles"

    def _start(self, job: Job) -> None:
        count = len(job.plain["graph"]["steps"])
        if count > self.settings.operations:
            limit = self.settings.operations
            return self.refuse(job, f"It has {count} operations, more than {limit}.")
        if shutil.which(os.environ.get("CXX", "c++")) is None and shutil.which("g++") is None:
            return self.refuse(job, "There is no C++ compiler (g++).")
        try:
            self._shelf.mkdir(parents=True, exist_ok=True, mode=0o700)
            _swept(self._shelf, self.settings.seconds + SPARE_S)
            folder = Path(tempfile.mkdtemp(prefix=".", dir=self._shelf))
            (folder / "job.json").write_text(json.dumps(job.plain))
            (self._shelf.parent / SCRATCH).mkdir(exist_ok=True, mode=0o700)
        except OSError as error:
            return self.refuse(job, f"Its folder cannot be written ({error.strerror}).")
        self._build = _Build(job, folder, _process(folder, self.settings.seconds, self._shelf))
        return None

    def _finish(self, build: _Build) -> None:
        self._build = None
        said = (build.folder / "said.txt").read_text(errors="replace").strip().splitlines()
        if build.process.returncode == 0 and (build.folder / "needs.json").exists():
            shutil.rmtree(build.folder / MADE, ignore_errors=True)
            try:
                build.folder.rename(self._shelf / build.job.name)
            except OSError:  # another process was first: its package is as good
                shutil.rmtree(build.folder, ignore_errors=True)
            return
        shutil.rmtree(build.folder, ignore_errors=True)
        late = build.process.returncode == -signal.SIGKILL
        why = f"It took longer than {self.settings.seconds:g} seconds, or too much memory."
        self.refuse(build.job, why if late else without_paths(" ".join(said[-TOLD:])))


def _swept(shelf: Path, seconds: float) -> None:
    """Take away what builds have left that were cut off."""
    for folder in shelf.glob(".*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > seconds:
                shutil.rmtree(folder, ignore_errors=True)


def _ours(folder: Path) -> bool:
    """Whether nobody else may have written there: what lies there is run."""
    try:
        there = folder.stat()
    except OSError:
        return False
    return there.st_uid == os.getuid() and not there.st_mode & 0o022


def _process(folder: Path, seconds: float, shelf: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "app.compute.compiling.builder", str(folder), str(seconds)]
    # Headers that are compiled once stay in our own folder: what lies in `/tmp`, others may write.
    environment = {**os.environ, "TMPDIR": str(shelf.parent / SCRATCH),
                   "TORCHINDUCTOR_CACHE_DIR": str(folder / MADE)}  # fmt: skip
    with (folder / "said.txt").open("wb") as said:
        return subprocess.Popen(  # noqa: S603 - of our own making
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment,
            process_group=0,
        )  # fmt: skip


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """With the compilers that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
