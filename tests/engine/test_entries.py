"""Rows and single entries of a Jacobian beside all of it, of renderers and of functions."""

from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.func import jacrev

from app.engine.entries import block, rows
from app.engine.errors import EngineError, RegionError
from app.engine.jacobian import jacobian_block, jacobian_columns, jacobian_rows
from renderers import Loaded, ParameterError, Pixels, Renderer, param, parse_wrt, renderer
from renderers.sphere import sphere
from tests.engine.probed import HEIGHT, MADE, WIDTH, blurred, bound, off, picture, whole_image
from tests.tolerances import PROBE, PROBE_BY_DIFFERENCES

F64 = torch.float64
OUTPUTS = [(11, 8, 0), (3, 2, 0), (22, 17, 0), (3, 2, 0)]
SIZE = {"width": WIDTH, "height": HEIGHT}


def jacobian(loaded: Loaded) -> dict[str, np.ndarray]:
    """All of it, `(height, width, channels, *parameter)`."""
    found = jacrev(lambda some: whole_image(loaded, some))(bound(loaded))
    return {name: each.detach().numpy() for name, each in found.items()}


@pytest.mark.parametrize("source", [*MADE, sphere], ids=lambda source: source.spec.name)
def test_rows_are_those_of_the_whole(source: Renderer) -> None:
    loaded = source.load("cpu", F64)
    found = rows(loaded, bound(loaded), OUTPUTS, **SIZE)
    image = whole_image(loaded, bound(loaded))
    for number, (x, y, channel) in enumerate(OUTPUTS):
        assert found.values[number] == pytest.approx(float(image[y, x, channel]))
    for name, whole in jacobian(loaded).items():
        right = np.stack([whole[y, x, channel] for x, y, channel in OUTPUTS])
        assert off(found.gradients[name], right) < PROBE["float64"]


@pytest.mark.parametrize(
    ("source", "entries", "strategy"),
    [
        (sphere, ["radius", "light[2]", "light[0]"], "forward"),
        (sphere, ["light", "radius", "albedo", "centre[1]"], "reverse"),
        (picture, ["texels[3,4,0]", "gain"], "forward"),
        (picture, ["gain", "texels[3]"], "reverse"),
        (blurred, ["texels[1]", "a"], "forward"),
    ],
)
def test_a_block_is_got_by_whatever_is_fewer(
    source: Renderer, entries: list[str], strategy: str
) -> None:
    loaded = source.load("cpu", F64)
    found = block(loaded, bound(loaded), OUTPUTS, entries, **SIZE)
    whole, columns = jacobian(loaded), []
    for text in entries:
        wrt = parse_wrt(text, loaded.spec.params)
        part = whole[wrt.name][(slice(None), slice(None), slice(None), *wrt.index)]
        columns.append(part.reshape(HEIGHT, WIDTH, -1, wrt.size))
    every = np.concatenate(columns, axis=-1)
    right = np.stack([every[y, x, channel] for x, y, channel in OUTPUTS])
    assert off(found.values, right) < PROBE["float64"]
    assert {choice.strategy for choice in found.choices.values()} == {strategy}
    assert len(found.labels) == right.shape[1]
    assert found.labels[-1].startswith(entries[-1].rstrip("]"))
    assert found.findings == ()


def test_an_entry_that_is_named_twice_stands_twice() -> None:
    loaded = sphere.load("cpu", F64)
    found = block(loaded, bound(loaded), OUTPUTS, ["light[1]", "light", "light[1]"], **SIZE)
    assert found.labels == ("light[1]", "light[0]", "light[1]", "light[2]", "light[1]")
    assert np.array_equal(found.values[:, 0], found.values[:, 2])
    assert np.array_equal(found.values[:, 0], found.values[:, 4])
    assert not np.array_equal(found.values[:, 0], found.values[:, 1])


@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad")
def test_a_block_does_not_take_a_lost_derivative_for_one() -> None:
    @renderer(channels="grey")
    def detached(pixels: Pixels, a: Tensor = param((2.0, 1.0))) -> Tensor:
        return 3 * a[0] + a[0].detach() ** 2 + a[1] * pixels.x

    loaded = detached.load("cpu", F64)
    outputs = [(3, 4, 0), (5, 6, 0)]
    for entries in (["a[0]"], ["a"]):
        found = block(loaded, bound(loaded), outputs, entries, **SIZE)
        assert off(found.values[:, 0], np.array([7.0, 7.0])) < PROBE_BY_DIFFERENCES
        assert {finding.code for finding in found.findings} == {"partly_detached"}
    alone = block(loaded, bound(loaded), outputs, ["a[1]"], **SIZE)
    assert alone.choices["a"].strategy == "forward"


def test_outputs_and_entries_that_are_not_there_are_refused() -> None:
    loaded = sphere.load("cpu", F64)
    params = bound(loaded)
    refused: list[tuple[list[tuple[int, int, int]], list[str], str]] = [
        ([], ["radius"], "empty_region"),
        ([(WIDTH, 0, 0)], ["radius"], "outside_frame"),
        ([(0, 0, 3)], ["radius"], "unknown_channel"),
        ([(0, 0, 0)], [], "empty_entries"),
    ]
    for outputs, entries, code in refused:
        with pytest.raises(EngineError) as error:
            block(loaded, params, outputs, entries, **SIZE)
        assert error.value.code == code
    with pytest.raises(ParameterError) as entry:
        block(loaded, params, [(0, 0, 0)], ["light[3]"], **SIZE)
    assert entry.value.code == "unknown_entry"


# --- any function ---------------------------------------------------------------------------------


def network() -> nn.Module:
    torch.manual_seed(0)
    layers = (nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 7))
    return nn.Sequential(*layers).to(F64)


def unfriendly(x: Tensor) -> Tensor:
    """Something that `vmap` refuses: an in-place write into what it does not know."""
    out = torch.zeros(7, dtype=x.dtype)
    out[:5] = x**2
    out[5:] = x[:2].exp()
    return out


@pytest.mark.parametrize("outputs", [[0, 6, 3], [2]])
@pytest.mark.parametrize("inputs", [[1], [4, 0], [0, 1, 2, 3, 4, 4]])
@pytest.mark.parametrize("function", [network(), unfriendly], ids=["network", "unfriendly"])
def test_single_entries_of_a_function(
    function: nn.Module, outputs: list[int], inputs: list[int]
) -> None:
    x = torch.linspace(-1, 1, 5, dtype=F64)
    right = torch.autograd.functional.jacobian(function, x)[outputs][:, inputs]
    found, mode = jacobian_block(function, x, outputs, inputs)
    assert mode == ("forward" if len(inputs) <= len(outputs) else "reverse")
    assert off(found.detach().numpy(), right.numpy()) < PROBE["float64"]


def test_one_vector_gives_a_column_of_every_sample_at_once() -> None:
    net, batch = network(), torch.randn(6, 5, dtype=F64)
    full = torch.autograd.functional.jacobian(net, batch)
    ones = torch.zeros_like(batch)
    ones[:, 3] = 1.0
    found = jacobian_columns(net, batch, ones[None])[0]
    right = torch.stack([full[n, :, n, 3] for n in range(6)])
    assert off(found.detach().numpy(), right.numpy()) < PROBE["float64"]


def test_rows_and_columns_are_transposes_of_each_other() -> None:
    net, x = network(), torch.randn(3, 5, dtype=F64)
    u, v = torch.randn(4, 3, 7, dtype=F64), torch.randn(2, 3, 5, dtype=F64)
    columns = torch.einsum("inm,jnm->ij", u, jacobian_columns(net, x, v))
    transposed = torch.einsum("ink,jnk->ij", jacobian_rows(net, x, u), v)
    assert off(columns.detach().numpy(), transposed.numpy()) < PROBE["float64"]


def test_vectors_and_positions_that_do_not_fit_are_refused() -> None:
    net, x = network(), torch.randn(5, dtype=F64)
    for bad in (torch.ones(2, 4, dtype=F64), torch.ones(0, 5, dtype=F64), torch.ones(2, 5)):
        with pytest.raises(RegionError) as error:
            jacobian_columns(net, x, bad)
        assert (error.value.code, error.value.field) == ("invalid_shape", "directions")
    with pytest.raises(RegionError) as shape:
        jacobian_rows(net, x, torch.ones(2, 5, dtype=F64))
    assert (shape.value.code, shape.value.field) == ("invalid_shape", "cotangents")
    positions = [([7], [0], "outputs"), ([0], [5], "inputs"), ([], [0], "outputs"),
                 ([0], [], "inputs"), ([0], [-1], "inputs")]  # fmt: skip
    for (outputs, inputs, field), extra in product(positions, ([], [1])):
        with pytest.raises(RegionError) as unknown:
            jacobian_block(net, x, outputs, [*inputs, *(extra if inputs else [])])
        assert (unknown.value.code, unknown.value.field) == ("unknown_entry", field)
    with pytest.raises(RegionError) as lost:
        jacobian_rows(lambda value: value.detach() * 2, x, torch.ones(1, 5, dtype=F64))
    assert lost.value.code == "unconnected"
