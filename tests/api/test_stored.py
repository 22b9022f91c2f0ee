"""A finished map is drawn again without being computed again."""

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import numpy as np
import pytest

from tests.server import Server

ASKED = {"wrt": "radius", "width": 40, "height": 30, "params": {"radius": 0.6}}


@pytest.fixture(scope="module")
def keeping(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server.start(tmp_path_factory.mktemp("keeping") / "log", store_bytes="1MiB")
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
    # How long it took to compute is told, not how long it took to find.
    assert again.headers["server-timing"].split(", encode")[0] in first.headers["server-timing"]


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


def test_an_uncertified_map_is_computed_each_time(keeping: Server) -> None:
    for _ in range(2):
        assert origin(keeping.map("disc", {**ASKED, "certify": False})) == "computed"


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
