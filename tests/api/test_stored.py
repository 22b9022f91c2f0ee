"""A finished map is drawn again without being computed again."""

import io
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import numpy as np
import pytest

from tests.server import Server

ASKED = {"wrt": "radius", "width": 40, "height": 30, "params": {"radius": 0.6}}

UNSEEDED = """
import torch
from renderers import param, renderer

@renderer(channels=("v",))
def unseeded(pixels, level=param(0.5)):
    return (level * torch.rand_like(pixels.x))[..., None]
"""


@pytest.fixture(scope="module")
def keeping(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("keeping")
    (folder / "unseeded.py").write_text(UNSEEDED)
    server = Server.start(
        folder / "log", store_bytes="1MiB", renderers=[f"{folder / 'unseeded.py'}:unseeded"]
    )
    yield server.await_ready()
    server.stop()


def origin(answer: httpx2.Response) -> str:
    assert answer.status_code == 200, answer.text[:400]
    found: str = answer.headers["x-sensmap-origin"]
    return found


def test_another_form_or_style_of_a_map_is_not_computed(keeping: Server) -> None:
    first = keeping.map("disc", ASKED)
    assert origin(first) == "computed"
    for form in ("npy", "npz", "png", "json"):
        assert origin(keeping.map("disc", ASKED, form)) == "stored"
    for style in (
        {"colormap_name": "viridis"},
        {"rescale": [-1, 1]},
        {"channel": "r"},
        {"overlay": 0.5},
        {"colorbar": True, "norm": "symlog"},
    ):
        assert origin(keeping.map("disc", {**ASKED, **style}, "png")) == "stored"
    again = keeping.map("disc", ASKED)
    assert again.content == first.content
    assert "compute" in first.headers["server-timing"]
    assert again.headers["server-timing"].startswith("encode"), "nothing was computed for it"


def test_other_numbers_are_computed(keeping: Server) -> None:
    keeping.map("disc", ASKED)
    for other in (
        {"params": {"radius": 0.61}},
        {"width": 41},
        {"dtype": "float64"},
        {"wrt": "centre"},
        {"strategy": "double_vjp"},
        {"stride": 2},
    ):
        assert origin(keeping.map("disc", {**ASKED, **other})) == "computed"


def test_the_same_written_in_another_way_is_the_same(keeping: Server) -> None:
    asked = {**ASKED, "params": {"radius": 1}}
    assert origin(keeping.map("disc", asked)) == "computed"
    assert origin(keeping.map("disc", {**ASKED, "params": {"radius": 1.0}})) == "stored"


def test_an_image_and_an_uncertified_map_are_kept_by_themselves(keeping: Server) -> None:
    for origins in ("computed", "stored"):
        assert origin(keeping.map("disc", {**ASKED, "certify": False})) == origins
        image = {name: ASKED[name] for name in ("width", "height", "params")}
        assert origin(keeping.client.post("/v1/renderers/disc/image", json=image)) == origins


@pytest.mark.parametrize("what", ["image", "map"])
def test_what_draws_anew_is_neither_kept_nor_called_unchanged(keeping: Server, what: str) -> None:
    wrt = "&wrt=level" if what == "map" else ""
    address = f"/v1/renderers/unseeded/{what}.npy?width=20&height=20{wrt}"
    first, second = (keeping.client.get(address) for _ in range(2))
    assert [origin(each) for each in (first, second)] == ["computed", "computed"]
    assert "etag" not in first.headers
    if what == "image":
        assert first.content != second.content


def test_a_worker_that_comes_up_anew_is_asked_anew(tmp_path: Path) -> None:
    """Its renderers are read again, and may be other code under the same names."""
    file = tmp_path / "mine.py"
    code = (
        "from renderers import param, renderer\n"
        '@renderer(channels=("v",))\n'
        "def mine(pixels, level=param(0.5)):\n"
        "    return (FACTOR * level * pixels.x)[..., None]\n"
    )
    file.write_text(code.replace("FACTOR", "1.0"))
    server = Server.start(tmp_path / "log", store_bytes="1MiB", renderers=[f"{file}:mine"])
    try:
        server.await_ready()
        address = "/v1/renderers/mine/map.npy?wrt=level&width=8&height=8"
        first = server.client.get(address)
        assert origin(server.client.get(address)) == "stored"
        tag = {"If-None-Match": first.headers["etag"]}
        assert server.client.get(address, headers=tag).status_code == 304
        file.write_text(code.replace("FACTOR", "2.0"))
        os.kill(server.worker, signal.SIGKILL)
        server.await_answer("/readyz", [503])
        server.await_ready()
        again = server.client.get(address, headers=tag)
        assert origin(again) == "computed"
        np.testing.assert_allclose(
            np.load(io.BytesIO(again.content)), 2 * np.load(io.BytesIO(first.content))
        )
    finally:
        server.stop()


def test_equal_requests_at_once_have_equal_bytes(keeping: Server) -> None:
    asked = {**ASKED, "width": 200, "height": 200, "params": {"radius": 0.33}}
    with ThreadPoolExecutor(20) as pool:

        def post(_: int) -> httpx2.Response:
            with keeping.new_client() as client:
                return client.post("/v1/renderers/disc/map?format=npy", json=asked)

        answers = list(pool.map(post, range(20)))
    assert [origin(each) for each in answers].count("computed") == 1
    assert len({each.content for each in answers}) == 1


def test_what_is_kept_is_bounded(keeping: Server) -> None:
    # Three of these are more than is kept.
    large = {**ASKED, "width": 150, "height": 150}
    for radius in (0.3, 0.4, 0.5, 0.6):
        asked = {**large, "params": {"radius": radius}}
        assert origin(keeping.map("disc", asked)) == "computed"
    assert origin(keeping.map("disc", {**large, "params": {"radius": 0.6}})) == "stored"
    assert origin(keeping.map("disc", {**large, "params": {"radius": 0.3}})) == "computed"
    values = np.load(io.BytesIO(keeping.map("disc", {**large, "params": {"radius": 0.3}}).content))
    assert np.isfinite(values).all()
