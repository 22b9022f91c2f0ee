import io
import json
import zipfile
from concurrent.futures import ThreadPoolExecutor

import httpx2
import numpy as np
import pytest
from PIL import Image

from tests.closed_forms import disc_image, disc_map, positions
from tests.server import Server, problem
from tests.tolerances import CLOSED_FORM_FLOAT32, CLOSED_FORM_FLOAT64

SMALL = {"wrt": "radius", "width": 40, "height": 30, "params": {"radius": 0.6}}
GET_SMALL = "wrt=radius&width=40&height=30&radius=0.6"
TOLERANCES = {"float32": CLOSED_FORM_FLOAT32, "float64": CLOSED_FORM_FLOAT64}


def load(answer: httpx2.Response) -> np.ndarray:
    assert answer.status_code == 200, answer.text[:400]
    return np.load(io.BytesIO(answer.content), allow_pickle=False)


def assert_close(actual: np.ndarray, expected: np.ndarray, rtol: float) -> None:
    assert actual.shape == expected.shape
    assert np.isfinite(actual).all()
    assert np.abs(actual - expected).max() <= rtol * np.abs(expected).max()


@pytest.mark.parametrize(("dtype", "descr"), [("float32", "<f4"), ("float64", "<f8")])
@pytest.mark.parametrize("wrt", ["radius", "colour", "centre"])
def test_a_map_has_the_values_of_its_closed_form(
    server: Server, wrt: str, dtype: str, descr: str
) -> None:
    answer = server.map("disc", {**SMALL, "wrt": wrt, "dtype": dtype})
    values = load(answer)
    assert values.dtype.str == descr
    assert values.flags.c_contiguous
    assert_close(values, disc_map(40, 30, 0.6, wrt), TOLERANCES[dtype])


@pytest.mark.parametrize(("entry", "place"), [("colour[1]", 1), ("colour[0]", 0)])
def test_the_map_of_an_entry_is_that_entry_of_the_whole(
    server: Server, entry: str, place: int
) -> None:
    values = load(server.map("disc", {**SMALL, "wrt": entry}))
    assert_close(values, disc_map(40, 30, 0.6, "colour")[..., place], CLOSED_FORM_FLOAT32)


def test_a_map_cut_into_many_bands_has_the_values_of_its_closed_form(server: Server) -> None:
    answer = server.map("disc", {**SMALL, "width": 400, "height": 300})
    assert int(answer.headers["x-sensmap-rows"]) < 150
    assert_close(load(answer), disc_map(400, 300, 0.6), CLOSED_FORM_FLOAT32)


@pytest.mark.parametrize("stride", [2, 7])
def test_a_coarse_map_leaves_pixels_out(server: Server, stride: int) -> None:
    whole = load(server.map("disc", SMALL))
    coarse = load(server.map("disc", {**SMALL, "stride": stride}))
    assert np.array_equal(coarse, whole[::stride, ::stride])
    picture = server.map("disc", {**SMALL, "stride": stride}, "png")
    with Image.open(io.BytesIO(picture.content)) as drawn:
        assert drawn.size == coarse.shape[1::-1]


@pytest.mark.parametrize("stride", [0, 65, 1.5, True, "2"])
def test_a_stride_that_is_none_is_refused(server: Server, stride: object) -> None:
    answer = server.map("disc", {**SMALL, "stride": stride})
    assert problem(answer, 422, "invalid_field")["field"] == "stride"


def test_a_renderer_of_whole_rows_leaves_no_pixel_out(server: Server) -> None:
    answer = server.map("isp", {"wrt": "gamma", "width": 16, "height": 16, "stride": 2})
    assert problem(answer, 422, "not_sparse")["field"] == "stride"


def test_every_wrong_value_of_a_parameter_would_be_noticed(server: Server) -> None:
    values = load(server.map("disc", {**SMALL, "params": {"radius": 0.6001}}))
    with pytest.raises(AssertionError):
        assert_close(values, disc_map(40, 30, 0.6), CLOSED_FORM_FLOAT32)


def test_a_map_is_a_picture_with_a_pixel_for_a_pixel(server: Server) -> None:
    answer = server.map("disc", SMALL, "png")
    assert answer.headers["content-type"] == "image/png"
    picture = Image.open(io.BytesIO(answer.content))
    picture.load()
    assert (picture.mode, picture.size) == ("P", (40, 30))
    assert json.loads(picture.info["sensmap:request"])["wrt"] == "radius"
    assert picture.info["sensmap:strategy"] == "forward"
    assert picture.info["sensmap:rescale"] == answer.headers["x-sensmap-rescale"]


def test_a_picture_without_a_format_asked_for_is_a_png(server: Server) -> None:
    answer = server.client.post("/v1/renderers/disc/map", json=SMALL, headers={"Accept": "*/*"})
    assert answer.content.startswith(b"\x89PNG")


def test_an_archive_holds_the_map_the_image_and_the_request(server: Server) -> None:
    answer = server.map("disc", SMALL, "npz")
    assert zipfile.is_zipfile(io.BytesIO(answer.content))
    with np.load(io.BytesIO(answer.content), allow_pickle=False) as archive:
        assert_close(archive["values"], disc_map(40, 30, 0.6), CLOSED_FORM_FLOAT32)
        assert_close(archive["image"], disc_image(40, 30, 0.6), CLOSED_FORM_FLOAT32)
        assert json.loads(str(archive["metadata"]))["title"] == "d(image)/d(radius)"


def test_json_says_what_there_is_without_the_numbers(server: Server) -> None:
    document = server.map("disc", SMALL, "json").json()
    assert document["shape"] == [30, 40, 3]
    expected = disc_map(40, 30, 0.6)
    assert document["statistics"]["max"] == pytest.approx(expected.max(), rel=1e-5)


@pytest.mark.parametrize("form", ["png", "npy", "json"])
def test_an_address_answers_with_the_same_bytes_as_a_body(server: Server, form: str) -> None:
    posted = server.map("disc", SMALL, form)
    got = server.client.get(f"/v1/renderers/disc/map.{form}?{GET_SMALL}")
    assert got.status_code == 200
    assert got.content == posted.content
    assert got.headers["etag"] == posted.headers["etag"]


@pytest.mark.parametrize("form", ["png", "npy"])
def test_head_tells_the_length_and_sends_nothing(server: Server, form: str) -> None:
    address = f"/v1/renderers/disc/map.{form}?{GET_SMALL}"
    head, got = server.client.head(address), server.client.get(address)
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == str(len(got.content))
    assert head.headers["etag"] == got.headers["etag"]


def test_the_image_is_had_by_body_and_by_address(server: Server) -> None:
    fields = {"width": 40, "height": 30, "params": {"radius": 0.6}}
    posted = server.client.post("/v1/renderers/disc/image?format=npy", json=fields)
    assert_close(load(posted), disc_image(40, 30, 0.6), CLOSED_FORM_FLOAT32)
    got = server.client.get("/v1/renderers/disc/image.npy?width=40&height=30&radius=0.6")
    assert got.content == posted.content
    drawn = server.client.get("/v1/renderers/disc/image.png?width=40&height=30&radius=0.6")
    picture = Image.open(io.BytesIO(drawn.content))
    assert (picture.mode, picture.size) == ("RGB", (40, 30))


def test_an_empty_object_asks_for_the_image_at_its_defaults(server: Server) -> None:
    answer = server.client.post("/v1/renderers/disc/image?format=npy", json={})
    assert load(answer).shape == (512, 512, 3)


def test_a_body_is_read_whatever_its_declared_type(server: Server) -> None:
    answer = server.client.post(
        "/v1/renderers/disc/map?format=npy",
        content=json.dumps(SMALL),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert load(answer).shape == (30, 40, 3)


def test_an_equal_request_is_not_sent_twice(server: Server) -> None:
    address = f"/v1/renderers/disc/map.npy?{GET_SMALL}"
    tag = server.client.get(address).headers["etag"]
    assert tag.startswith('W/"')
    for condition in (tag, tag.removeprefix("W/"), f'"another", {tag}'):
        again = server.client.get(address, headers={"If-None-Match": condition})
        assert again.status_code == 304
        assert again.content == b""
        assert again.headers["etag"] == tag


def test_another_request_has_another_tag(server: Server) -> None:
    address = f"/v1/renderers/disc/map.npy?{GET_SMALL}"
    tag = server.client.get(address).headers["etag"]
    others = (
        f"{address}1",
        address.replace("npy", "png"),
        f"{address}&dtype=float64",
        address.replace("map.npy?wrt=radius&", "image.npy?"),
    )
    for other in others:
        answer = server.client.get(other, headers={"If-None-Match": tag})
        assert answer.status_code == 200
        assert answer.headers["etag"] != tag


def test_headers_say_how_a_map_was_got(server: Server) -> None:
    headers = server.map("disc", SMALL, "npy").headers
    expected = disc_map(40, 30, 0.6)
    assert headers["x-sensmap-renderer"] == "disc"
    assert headers["x-sensmap-wrt"] == "radius"
    assert headers["x-sensmap-unit"] == "per scene unit"
    assert headers["x-sensmap-strategy"] == "forward"
    assert headers["x-sensmap-shape"] == "30,40,3"
    assert (headers["x-sensmap-nan"], headers["x-sensmap-inf"]) == ("0", "0")
    assert float(headers["x-sensmap-max"]) == pytest.approx(expected.max(), rel=1e-5)
    assert float(headers["x-sensmap-mean"]) == pytest.approx(expected.mean(), rel=1e-5)
    assert float(headers["x-sensmap-rms"]) == pytest.approx(np.sqrt((expected**2).mean()), rel=1e-5)
    assert headers["content-disposition"] == 'inline; filename="disc_radius.npy"'
    stages = dict(part.split(";dur=") for part in headers["server-timing"].split(", "))
    assert set(stages) == {"plan", "compute", "certify", "encode"}
    assert all(float(took) >= 0 for took in stages.values())


def test_values_that_are_no_numbers_are_counted_and_kept(server: Server) -> None:
    answer = server.map("spotted", {"wrt": "gain", "width": 64, "height": 64})
    x, y = positions(64, 64)
    low, high = (x < -0.9), (x > 0.9)
    expected = np.where(low & (y > 0.9), np.nan, x + 2 * y)
    expected = np.where(high & (y > 0.9), np.inf, expected)
    expected = np.where(low & (y < -0.9), -np.inf, expected).astype(np.float32)[..., None]
    assert (load(answer).view(np.uint32) == expected.view(np.uint32)).all()
    assert answer.headers["x-sensmap-nan"] == str(np.isnan(expected).sum())
    assert answer.headers["x-sensmap-inf"] == str(np.isinf(expected).sum())
    assert float(answer.headers["x-sensmap-max"]) == expected[np.isfinite(expected)].max()


def test_a_pixel_that_is_no_number_is_transparent_and_no_other(server: Server) -> None:
    answer = server.map("spotted", {"wrt": "gain", "width": 64, "height": 64}, "png")
    alpha = np.array(Image.open(io.BytesIO(answer.content)).convert("RGBA"))[..., 3]
    x, y = positions(64, 64)
    assert ((alpha == 0) == ((x < -0.9) & (y > 0.9))).all()
    assert set(np.unique(alpha)) == {0, 255}


def test_json_of_values_that_are_no_numbers_is_json(server: Server) -> None:
    text = server.map("spotted", {"wrt": "gain", "width": 64, "height": 64}, "json").text
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(server: Server) -> None:
    fields = {"wrt": "gain", "width": 200, "height": 200}
    first, again, other = (
        server.map("noisy", {**fields, "seed": seed}).content for seed in (7, 7, 8)
    )
    assert first == again
    assert first != other


def test_a_picture_of_too_many_entries_is_refused_and_its_numbers_are_not(server: Server) -> None:
    fields = {"wrt": "texture", "width": 8, "height": 8}
    detail = problem(server.map("image_shaped", fields, "png"), 422, "too_many_panels")["detail"]
    assert "texture[0,0]" in detail
    assert load(server.map("image_shaped", fields, "npy")).shape == (8, 8, 1, 9, 9)


@pytest.mark.parametrize("overlay", [0, 0.5])
@pytest.mark.parametrize("wrt", ["radius", "colour"])
def test_every_style_gives_a_picture(server: Server, wrt: str, overlay: float) -> None:
    style = {"colorbar": True, "norm": "symlog", "channel": "norm", "rescale": [0, 2]}
    answer = server.map("disc", {**SMALL, "wrt": wrt, "overlay": overlay, **style}, "png")
    assert answer.status_code == 200, answer.text[:300]
    Image.open(io.BytesIO(answer.content)).load()


def test_eight_clients_with_sixty_values_each_get_what_they_asked_for(server: Server) -> None:
    def ask(client_number: int) -> float:
        worst = 0.0
        with server.new_client() as client:
            for step in range(60):
                radius = 0.1 + 0.002 * (60 * client_number + step)
                fields = {**SMALL, "params": {"radius": radius}}
                values = load(client.post("/v1/renderers/disc/map?format=npy", json=fields))
                expected = disc_map(40, 30, radius)
                worst = max(worst, np.abs(values - expected).max() / expected.max())
        return worst

    with ThreadPoolExecutor(8) as clients:
        assert max(clients.map(ask, range(8))) <= CLOSED_FORM_FLOAT32
