import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from app.cli import cli

RUNNER = CliRunner()
DISC = ["disc", "--wrt", "radius", "--along", "radius"]
SMALL = ["--size", "40x30", "--from", "0.75", "--to", "0.25", "--frames", "3"]


def run(*arguments: object) -> tuple[int, str]:
    result = RUNNER.invoke(cli, [str(argument) for argument in arguments])
    return result.exit_code, result.output


def test_a_sweep_is_written_in_the_format_of_each_suffix(tmp_path: Path) -> None:
    files = [tmp_path / f"sweep.{suffix}" for suffix in ("png", "webp", "npy", "npz", "json")]
    outputs = [word for file in files for word in ("-o", file)]
    code, said = run("sweep", *DISC, *SMALL, "--milliseconds", 50, "--loop", 2, "--boomerang",
                     "--no-lines", *outputs)  # fmt: skip
    assert code == 0, said
    assert "3 frames, " in said
    for file in files[:2]:
        with Image.open(file) as picture:
            assert (picture.n_frames, picture.size, picture.info["loop"]) == (4, (40, 30), 2)
    stack = np.load(files[2], allow_pickle=False)
    assert (stack.dtype, stack.shape) == (np.float32, (3, 30, 40, 3))
    with np.load(files[3], allow_pickle=False) as archive:
        assert (archive["values"] == stack).all()
        assert archive["values_of_radius"].tolist() == [0.75, 0.5, 0.25]
    request = json.loads(files[4].read_text())["request"]
    assert (request["along"], request["values"]) == ("radius", [0.75, 0.5, 0.25])


def test_a_stack_has_the_bits_of_the_maps(tmp_path: Path) -> None:
    code, said = run("sweep", *DISC, "--size", "16x8", "--values", "0.25,0.75",
                     "-o", tmp_path / "sweep.npy")  # fmt: skip
    assert code == 0, said
    for values, radius in zip(np.load(tmp_path / "sweep.npy"), (0.25, 0.75), strict=True):
        code, said = run("map", "disc", "--wrt", "radius", "--size", "16x8",
                         "--set", f"radius={radius}", "-o", tmp_path / "map.npy")  # fmt: skip
        assert code == 0, said
        assert (values == np.load(tmp_path / "map.npy")).all()


def test_without_a_file_it_is_a_picture_along_the_parameters_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = run("sweep", *DISC, "--size", "8x8")
    assert code == 0, said
    with Image.open("disc_sweep.png") as picture:
        assert picture.n_frames == 24
        swept = json.loads(picture.info["sensmap:sweep"])
    assert (swept["values"][0], swept["values"][-1]) == (0.05, 1.5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["disc", "--wrt", "radius"], "--along"),
        (["disc", "--along", "radius"], "--wrt"),
        (["disc", "--wrt", "radius", "--along", "radus"], "Did you mean 'radius'"),
        (["disc", "--wrt", "radius", "--along", "colour"], "colour[0]"),
        ([*DISC, "--values", "0.5,two"], "numbers with commas between"),
        ([*DISC, "--values", "0.5,9"], "Frame 1: "),
        ([*DISC, "--values", "0.5,nan"], "must be finite"),
        ([*DISC, "--values", "0.5", "--from", "0.1"], "not both"),
        ([*DISC, "--from", "9"], "between 0.05 and 1.5"),
        ([*DISC, "--from", "0.5", "--to", "0.5"], "both of this one are 0.5"),
        ([*DISC, "--frames", "0"], "--frames"),
        ([*DISC, "--milliseconds", "1"], "20 to 60000"),
        ([*DISC, "-o", "sweep.gif"], "webp"),
        ([*DISC, "--set", "radius"], "NAME=VALUE"),
    ],
)
def test_what_cannot_be_done_is_said_with_status_2(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = run("sweep", *arguments)
    assert code == 2
    assert words in said
    assert "Traceback" not in said
    assert not list(tmp_path.iterdir())
