"""A device that is asked for is the device that is got, or an error that says why not."""

from collections.abc import Callable

import pytest
import torch
from typer.testing import CliRunner

from app.cli import cli
from app.engine import DeviceError, device, open_device

See = Callable[..., None]


@pytest.fixture
def see(monkeypatch: pytest.MonkeyPatch) -> See:
    """Let torch see so many CUDA devices; nothing is computed on them."""

    def pretend(count: int, *, built_for: str | None = "12.8") -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
        monkeypatch.setattr(torch.version, "cuda", built_for)
        monkeypatch.setattr(torch.version, "hip", None)
        monkeypatch.setattr(device, "_try", lambda _: None)

    return pretend


def test_the_cpu_is_given_even_where_there_is_more(see: See) -> None:
    see(2)
    assert open_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "cuda:1"])
@pytest.mark.parametrize(
    ("built_for", "why"), [("12.8", "sees no CUDA device"), (None, "built for the CPU alone")]
)
def test_cuda_where_there_is_none_is_an_error_that_says_why(
    see: See, name: str, built_for: str | None, why: str
) -> None:
    see(0, built_for=built_for)
    with pytest.raises(DeviceError, match=f"'{name}' was asked for.*{why}"):
        open_device(name)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_this_machine_without_cuda_says_so_too() -> None:
    with pytest.raises(DeviceError, match="was asked for"):
        open_device("cuda")
    assert open_device("auto") == torch.device("cpu")


@pytest.mark.parametrize(
    ("name", "expected"), [("cuda", "cuda"), ("cuda:0", "cuda:0"), ("cuda:1", "cuda:1")]
)
def test_the_device_that_is_asked_for_is_given(see: See, name: str, expected: str) -> None:
    see(2)
    assert open_device(name) == torch.device(expected)


@pytest.mark.parametrize(("count", "expected"), [(0, "cpu"), (1, "cuda"), (4, "cuda")])
def test_auto_takes_cuda_where_torch_sees_it(see: See, count: int, expected: str) -> None:
    see(count)
    assert open_device("auto") == torch.device(expected)


# torch keeps one byte of a device's number: 256 would be the first device.
@pytest.mark.parametrize("index", [2, 3, 127, 128, 255, 256, 257, 512, 99999])
def test_a_device_beyond_the_last_is_an_error_and_never_another(see: See, index: int) -> None:
    see(2)
    with pytest.raises(DeviceError, match=rf"'cuda:{index}' was asked for, but torch sees 2"):
        open_device(f"cuda:{index}")


@pytest.mark.parametrize(
    "name",
    ["", "gpu", "CPU", "cuda:", "cuda:-1", "cuda:x", "cuda:0:1", "cuda:٣", "cuda:1\n", " cpu",
     "cpu:1", "mps", "meta", "xpu", "cuda:" + "9" * 5000, "\ud800"],
)  # fmt: skip
def test_a_name_of_no_device_is_refused_with_the_names_there_are(see: See, name: str) -> None:
    see(2)
    with pytest.raises(DeviceError, match="cpu, cuda, cuda:N or auto"):
        open_device(name)


def test_a_device_that_is_seen_but_cannot_compute_is_an_error(
    see: See, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = device._try
    see(1)
    monkeypatch.setattr(device, "_try", real)

    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("CUDA error: no kernel image is available\nFor debugging consider ...")

    monkeypatch.setattr(torch, "ones", refuse)
    for name in ("cuda", "cuda:0", "auto"):
        with pytest.raises(DeviceError, match=r"cannot be used: CUDA error.*available$"):
            open_device(name)


@pytest.mark.parametrize("command", [["map", "disc", "--wrt", "radius"], ["check", "disc"]])
def test_the_command_line_refuses_a_device_that_is_absent(see: See, command: list[str]) -> None:
    see(0)
    result = CliRunner().invoke(cli, [*command, "--device", "cuda"])
    assert result.exit_code != 0
    assert "'cuda' was asked for" in " ".join(result.output.split())


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_a_real_device_is_opened() -> None:
    assert open_device("cuda:0") == torch.device("cuda:0")
    assert open_device("auto").type == "cuda"
    with pytest.raises(DeviceError, match="was asked for"):
        open_device(f"cuda:{torch.cuda.device_count()}")
