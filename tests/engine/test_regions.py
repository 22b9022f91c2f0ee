"""Regions: what they weigh, and what is refused."""

import math

import pytest
import torch

from app.engine.errors import RegionError
from app.engine.regions import EACH, SUM, Area, Mask, Points, Rectangle, Region, weighted
from renderers.disc import disc

WIDTH, HEIGHT = 7, 5


def dense(region: Region) -> torch.Tensor:
    """The weights of a region on the whole frame, `(height, width, channels)`."""
    (found,) = weighted([region], disc.spec, WIDTH, HEIGHT)
    image = torch.zeros(HEIGHT * WIDTH, dtype=torch.float64)
    for row in range(HEIGHT):
        index, weight = found.area.within(row, row + 1, WIDTH)
        assert ((index >= row * WIDTH) & (index < (row + 1) * WIDTH)).all()
        image.index_add_(0, index, weight * found.factor)
    counts = found.area.rows(HEIGHT)
    whole, _ = found.area.within(0, HEIGHT, WIDTH)
    assert torch.equal(torch.bincount(whole // WIDTH, minlength=HEIGHT), counts)
    return image.reshape(HEIGHT, WIDTH, 1) * torch.tensor(found.channels, dtype=torch.float64)


def test_x_counts_columns_to_the_right_and_y_rows_from_the_top() -> None:
    image = dense(Region(area=Points(((2, 1),)), channel=0))
    assert image[1, 2, 0] == 1
    assert image.sum() == 1


def test_a_rectangle_leaves_its_last_column_and_row_out() -> None:
    image = dense(Region(area=Rectangle(1, 2, 4, 5), channel="g", reduce=SUM))
    expected = torch.zeros(HEIGHT, WIDTH, 3, dtype=torch.float64)
    expected[2:5, 1:4, 1] = 1
    assert torch.equal(image, expected)


def test_a_mean_is_over_pixels_and_channels_by_their_weights() -> None:
    mask = torch.zeros(HEIGHT, WIDTH)
    mask[0, 3], mask[4, 6] = 1.0, 3.0
    image = dense(Region(area=Mask(mask), weight=2.0))
    assert image[0, 3].tolist() == pytest.approx([2 / 4 / 3] * 3)
    assert image[4, 6].tolist() == pytest.approx([2 * 3 / 4 / 3] * 3)
    assert float(image.sum()) == pytest.approx(2.0)


def test_a_mask_is_what_its_pixels_are() -> None:
    mask = torch.zeros(HEIGHT, WIDTH, dtype=torch.bool)
    mask[1, 2] = mask[3, 0] = True
    points = Points(((0, 3), (2, 1)))
    assert torch.equal(dense(Region(area=Mask(mask))), dense(Region(area=points)))
    box = torch.zeros(HEIGHT, WIDTH, dtype=torch.bool)
    box[1:3, 2:6] = True
    rectangle = Rectangle(2, 1, 6, 3)
    assert torch.equal(dense(Region(area=Mask(box))), dense(Region(area=rectangle)))


def test_a_pixel_that_is_named_twice_counts_twice() -> None:
    image = dense(Region(area=Points(((1, 1), (2, 2), (1, 1))), reduce=SUM, channel=0))
    assert image[1, 1, 0] == 2
    assert image[2, 2, 0] == 1


def test_weights_go_with_their_pixels_whatever_the_order() -> None:
    image = dense(Region(area=Points(((6, 4), (0, 0)), weights=(2.0, -1.0)), reduce=SUM, channel=2))
    assert image[4, 6, 2] == 2
    assert image[0, 0, 2] == -1


def test_each_channel_makes_a_region_of_its_own() -> None:
    region = Region(area=Points(((0, 0),)), name="corner", channel=EACH)
    found = weighted([region], disc.spec, WIDTH, HEIGHT)
    assert [each.name for each in found] == ["corner, r", "corner, g", "corner, b"]
    assert [each.channels for each in found] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


NAN = torch.full((HEIGHT, WIDTH), math.nan)
SIGNED = torch.zeros(HEIGHT, WIDTH)
SIGNED[0, 0], SIGNED[0, 1] = 1.0, -1.0

REFUSED: list[tuple[Area, str]] = [
    (Points(()), "empty_region"),
    (Rectangle(3, 1, 3, 4), "empty_region"),
    (Rectangle(3, 4, 5, 1), "empty_region"),
    (Mask(torch.zeros(HEIGHT, WIDTH)), "empty_region"),
    (Points(((7, 0),)), "outside_frame"),
    (Points(((0, 5),)), "outside_frame"),
    (Points(((-1, 0),)), "outside_frame"),
    (Rectangle(0, 0, 8, 5), "outside_frame"),
    (Rectangle(-1, 0, 3, 3), "outside_frame"),
    (Mask(torch.ones(WIDTH, HEIGHT)), "mask_size"),
    (Mask(torch.ones(HEIGHT, WIDTH, 3)), "mask_size"),
    (Mask(NAN), "invalid_weights"),
    (Mask(SIGNED), "invalid_weights"),
    (Mask(torch.ones(HEIGHT, WIDTH, dtype=torch.complex64)), "invalid_weights"),
    (Points(((0, 0), (1, 1)), weights=(1.0,)), "weights_mismatch"),
    (Points(((0, 0), (1, 1)), weights=(1.0, math.inf)), "invalid_weights"),
    (Points(((0, 0), (1, 1)), weights=(1.0, -1.0)), "invalid_weights"),
]


@pytest.mark.parametrize(("area", "code"), REFUSED)
def test_what_cannot_be_looked_at_is_refused_with_its_name(area: Area, code: str) -> None:
    good = Region(area=Points(((0, 0),)))
    with pytest.raises(RegionError, match=r"sky: ") as refused:
        weighted([good, Region(area=area, name="sky")], disc.spec, WIDTH, HEIGHT)
    assert (refused.value.code, refused.value.field) == (code, "regions")


def test_signed_weights_may_be_summed() -> None:
    image = dense(Region(area=Mask(SIGNED), reduce=SUM, channel=0))
    assert image[0, 0, 0] == 1
    assert image[0, 1, 0] == -1


@pytest.mark.parametrize("channel", [3, -1, True, "red", ""])
def test_an_unknown_channel_is_answered_with_those_there_are(channel: str | int) -> None:
    region = Region(area=Points(((0, 0),)), channel=channel)
    with pytest.raises(RegionError, match=r"each, g, mean, r, sum") as refused:
        weighted([region], disc.spec, WIDTH, HEIGHT)
    assert refused.value.code == "unknown_channel"


def test_no_region_two_of_one_name_and_unknown_ways_are_refused() -> None:
    point = Points(((0, 0),))
    with pytest.raises(RegionError) as none:
        weighted([], disc.spec, WIDTH, HEIGHT)
    assert none.value.code == "empty_region"
    with pytest.raises(RegionError) as twice:
        weighted([Region(area=point, name="a")] * 2, disc.spec, WIDTH, HEIGHT)
    assert twice.value.code == "region_named_twice"
    with pytest.raises(RegionError, match="median"):
        weighted([Region(area=point, reduce="median")], disc.spec, WIDTH, HEIGHT)
    with pytest.raises(RegionError) as weight:
        weighted([Region(area=point, weight=math.nan)], disc.spec, WIDTH, HEIGHT)
    assert weight.value.code == "invalid_weights"
