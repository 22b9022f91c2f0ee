"""Compiling for real: the process that does it, the shelf of packages, a server that uses them."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from app.compute.compiling import (
    AHEAD,
    BACKGROUND,
    OFF,
    Compiler,
    CompileSettings,
    Job,
    Workshop,
    compile_now,
)
from app.compute.studio import Studio
from app.compute.worker import compile_next
from app.engine import (
    Method,
    Methods,
    Task,
    UncompilableError,
    find_method,
    given_to,
    key,
    sensitivity_map,
)
from renderers import Loaded, Registry, parse_subject
from renderers.disc import disc
from tests.engine.conftest import budget_for
from tests.server import Server
from tests.tolerances import COMPILED

# Seconds that a small tile may take to be compiled on a machine that does much else.
PATIENCE = 240.0


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compiled")


def settings(folder: Path, **other: object) -> CompileSettings:
    return replace(CompileSettings(mode=BACKGROUND, folder=str(folder)), **other)  # type: ignore[arg-type]


def asked(loaded: Loaded, wrt: object = "radius", side: int = 96) -> Task:
    subject = parse_subject(loaded.spec.params, wrt=wrt)
    return Task(params=loaded.spec.bind({}), subject=subject, width=side, height=side)


def job_of(loaded: Loaded, task: Task) -> tuple[Job, Method]:
    method = find_method(loaded, task)
    recording = method.recording(task)
    assert recording is not None
    given = given_to(loaded, task, method, recording)
    return Job.of(recording, given, loaded.dtype, loaded.device), method


@pytest.fixture(scope="session")
def compiled(folder: Path) -> tuple[Loaded, Task, Method]:
    """The disc's radius, compiled once for all tests."""
    loaded = disc.load("cpu", torch.float32)
    task = asked(loaded)
    return loaded, task, compile_now(loaded, task, settings(folder))


def test_a_compiled_map_is_the_recorded_one_to_rounding(
    compiled: tuple[Loaded, Task, Method],
) -> None:
    loaded, task, method = compiled
    recorded = sensitivity_map(loaded, task)
    found = sensitivity_map(loaded, task, method=method)
    assert recorded.tiles == "recorded"
    assert found.tiles == "compiled"
    for one, other in ((found.maps[0], recorded.maps[0]), (found.image, recorded.image)):
        size = float(np.abs(other).max())
        np.testing.assert_allclose(one, other, rtol=0, atol=COMPILED * size)
    assert found.certificate is not None
    assert found.certificate.judged
    assert not found.certificate.findings


@pytest.mark.parametrize("size", [(96, 96), (61, 47), (1, 1), (300, 2)])
def test_a_compiled_map_has_the_same_bits_in_any_tiling(
    compiled: tuple[Loaded, Task, Method], size: tuple[int, int]
) -> None:
    loaded, task, method = compiled
    task = replace(task, width=size[0], height=size[1])
    whole = sensitivity_map(loaded, task, method=method)
    bands = sensitivity_map(loaded, task, method=method, budget=budget_for(40 * size[0]))
    assert bands.plan.rows == 1
    assert np.array_equal(whole.maps[0], bands.maps[0])
    assert np.array_equal(whole.image, bands.image)


def test_the_memory_of_a_compiled_tile_is_known(compiled: tuple[Loaded, Task, Method]) -> None:
    loaded, _, method = compiled
    outputs = 2 * len(loaded.spec.channels) * 4
    assert method.cost.primal >= outputs + 2 * 4
    assert method.cost.band > 0


def test_it_holds_for_other_values_and_other_directions(
    compiled: tuple[Loaded, Task, Method],
) -> None:
    loaded, task, method = compiled
    params = loaded.spec.bind({"radius": 0.3, "centre": [0.2, -0.1]})
    task = replace(task, params=params)
    found = sensitivity_map(loaded, task, method=method)
    wanted = sensitivity_map(loaded, task)
    assert found.tiles == "compiled"
    size = float(np.abs(wanted.maps[0]).max())
    np.testing.assert_allclose(found.maps[0], wanted.maps[0], rtol=0, atol=COMPILED * size)


def test_what_was_compiled_is_found_again(
    compiled: tuple[Loaded, Task, Method], folder: Path
) -> None:
    loaded, task, _ = compiled
    # Without the right to compile.
    again = compile_now(loaded, task, settings(folder, mode=AHEAD))
    assert sensitivity_map(loaded, task, method=again).tiles == "compiled"
    with pytest.raises(UncompilableError, match="not compiled before"):
        compile_now(loaded, asked(loaded, "centre"), settings(folder, mode=AHEAD))
    with pytest.raises(UncompilableError):
        compile_now(loaded, task, settings(folder, mode=OFF))


def test_a_job_is_named_by_what_it_does_and_for_which_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded = disc.load("cpu", torch.float32)
    name = job_of(loaded, asked(loaded))[0].name
    assert job_of(loaded, asked(loaded, side=40))[0].name == name
    double = disc.load("cpu", torch.float64)
    others = {
        job_of(loaded, asked(loaded, "centre"))[0].name,
        job_of(double, asked(double))[0].name,
    }
    monkeypatch.setattr("app.compute.compiling.job.machine", lambda _: "another machine")
    others.add(job_of(loaded, asked(loaded))[0].name)
    assert len(others | {name}) == 4


@pytest.fixture
def shelf(compiled: tuple[Loaded, Task, Method], folder: Path, tmp_path: Path) -> Path:
    """A copy of the folder, to be spoilt."""
    copy = tmp_path / "copy"
    shutil.copytree(folder / "tiles", copy / "tiles")
    return copy


def only(shelf: Path) -> Path:
    (found,) = (each for each in (shelf / "tiles").iterdir() if not each.name.startswith("."))
    return found


def test_a_package_takes_no_more_room_than_it_needs(shelf: Path) -> None:
    names = {each.name for each in only(shelf).iterdir()}
    assert names == {"tile.pt2", "needs.json", "job.json", "said.txt"}


def test_what_was_cut_off_is_swept_away(tmp_path: Path) -> None:
    left = tmp_path / "tiles" / ".left"
    fresh = tmp_path / "tiles" / ".fresh"
    for folder in (left, fresh):
        (folder / "inductor").mkdir(parents=True)
    os.utime(left, (0, 0))
    loaded = disc.load("cpu", torch.float32)
    compiler = Compiler(settings(tmp_path))
    assert compiler.want(job_of(loaded, asked(loaded))[0])
    compiler.stop()
    assert not left.exists()
    assert fresh.exists()


def test_trouble_with_compiling_is_no_trouble_with_maps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = Studio(Registry(), torch.device("cpu"), 1 << 20, {}, settings(tmp_path))

    def raises(*_: object, **__: object) -> None:
        raise OSError("no disk")

    monkeypatch.setattr(Compiler, "look", raises)
    compile_next(studio)
    assert studio.workshop.closed
    loaded = disc.load("cpu", torch.float32)
    studio.workshop.order("disc", "float32", loaded, asked(loaded))
    assert not studio.workshop.open


def cut_short(package: Path) -> None:
    path = package / "tile.pt2"
    path.write_bytes(path.read_bytes()[:2000])


def emptied(package: Path) -> None:
    (package / "needs.json").write_text("")


def opened_to_all(package: Path) -> None:
    package.chmod(0o777)


def tried(package: Path) -> None:
    (package / "tried").write_bytes(b"..")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (cut_short, "does not run"),
        (emptied, "not compiled before"),
        (opened_to_all, "not compiled before"),
        (tried, "ended the process"),
    ],
)
def test_a_package_that_is_not_to_be_trusted_is_not_used(
    compiled: tuple[Loaded, Task, Method], shelf: Path, spoil: Callable[[Path], None], why: str
) -> None:
    loaded, task, _ = compiled
    spoil(only(shelf))
    with pytest.raises(UncompilableError, match=why):
        compile_now(loaded, task, settings(shelf, mode=AHEAD))


def test_a_package_of_another_job_is_refused(
    compiled: tuple[Loaded, Task, Method], shelf: Path
) -> None:
    loaded, _, _ = compiled
    other = asked(loaded, "softness")
    job, _ = job_of(loaded, other)
    only(shelf).rename(shelf / "tiles" / job.name)
    with pytest.raises(UncompilableError):
        compile_now(loaded, other, settings(shelf, mode=AHEAD))


def run_down(compiler: Compiler, job: Job) -> str:
    """Have a job tried until it is refused; why."""
    deadline = time.monotonic() + PATIENCE
    while job.name not in compiler.refused:
        assert time.monotonic() < deadline
        compiler.want(job)
        compiler.look(wait=True)
    return compiler.refused[job.name]


def test_compiling_has_a_time_limit_and_leaves_nothing_behind(tmp_path: Path) -> None:
    loaded = disc.load("cpu", torch.float32)
    compiler = Compiler(settings(tmp_path, seconds=1.0))
    job, _ = job_of(loaded, asked(loaded))
    assert "longer than 1 seconds" in run_down(compiler, job)
    assert list((tmp_path / "tiles").iterdir()) == []
    assert not compiler.want(job)


def test_a_graph_that_is_too_large_stays_recorded(tmp_path: Path) -> None:
    loaded = disc.load("cpu", torch.float32)
    with pytest.raises(UncompilableError, match="more than 3"):
        compile_now(loaded, asked(loaded), settings(tmp_path, operations=3))


def test_without_a_compiler_it_stays_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    loaded = disc.load("cpu", torch.float32)
    with pytest.raises(UncompilableError, match="no C\\+\\+ compiler"):
        compile_now(loaded, asked(loaded), settings(tmp_path))


def test_what_a_compiler_says_last_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", shutil.which("false") or "false")
    loaded = disc.load("cpu", torch.float32)
    compiler = Compiler(settings(tmp_path))
    job, _ = job_of(loaded, asked(loaded))
    assert run_down(compiler, job)
    assert str(tmp_path) not in compiler.refused[job.name]


def test_a_folder_that_cannot_be_written_is_no_end(tmp_path: Path) -> None:
    (tmp_path / "tiles").write_text("a file")
    loaded = disc.load("cpu", torch.float32)
    with pytest.raises(UncompilableError, match="cannot be written"):
        compile_now(loaded, asked(loaded), settings(tmp_path))


def test_a_build_ends_with_its_parent_or_when_told(tmp_path: Path) -> None:
    loaded = disc.load("cpu", torch.float32)
    compiler = Compiler(settings(tmp_path))
    job, _ = job_of(loaded, asked(loaded))
    assert compiler.want(job)
    assert compiler.busy
    compiler.stop()
    assert not compiler.busy
    assert list((tmp_path / "tiles").iterdir()) == []


def test_an_order_for_what_is_not_recorded_is_none(tmp_path: Path) -> None:
    loaded = disc.load("cpu", torch.float32)
    task = asked(loaded)
    methods: Methods = {key(task): find_method(loaded, task, limit=1)}
    workshop = Workshop(Compiler(settings(tmp_path)), lambda *_: methods)
    workshop.order("disc", "float32", loaded, task)
    assert not workshop.open


@pytest.fixture
def server(folder: Path, tmp_path: Path) -> Iterator[Server]:
    server = Server.start(
        tmp_path / "log", probe=True, compile="background", compile_folder=str(folder)
    )
    yield server.await_ready()
    server.stop()


def test_a_server_swaps_a_compiled_map_in_while_it_answers(server: Server) -> None:
    body = {"params": {"radius": 0.4}, "wrt": "radius", "width": 64, "height": 48}
    said = set()
    deadline = time.monotonic() + PATIENCE
    values = []
    while "compiled" not in said:
        assert time.monotonic() < deadline
        answer = server.map("disc", body, "json")
        assert answer.status_code == 200
        said.add(answer.headers["X-Sensmap-Tiles"])
        values.append(answer.json()["statistics"]["max"])
        time.sleep(1)
    assert said <= {"recorded", "compiled"}
    assert max(values) - min(values) <= COMPILED * abs(values[0])
