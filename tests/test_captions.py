import numpy as np

from app.captions import captioned
from app.imaging import MIXED_UNITS, Maps
from renderers import load, parse_subject

SPEC = load(plugins=False).get("sphere").spec


def words(second: str = "", **asked: object) -> Maps:
    subject = parse_subject(SPEC.params, **asked)  # type: ignore[arg-type]
    image = np.ones((4, 5, len(SPEC.channels)), "f4")
    arrays = {
        name: np.ones((*image.shape, *shape), "f4")
        for name, shape in zip(subject.names, subject.shapes, strict=True)
    }
    return captioned({**arrays, "image": image}, SPEC, subject, second=second)


def test_maps_are_captioned_by_what_was_asked() -> None:
    maps = words(wrt=["radius", "light", "light[2]"])
    assert maps.title == "d(image)/d(radius, light, light[2])"
    assert maps.labels == ("radius", "light[0]", "light[1]", "light[2]", "light[2]")
    assert maps.unit == MIXED_UNITS


def test_one_map_has_its_own_title_and_unit() -> None:
    maps = words(wrt="radius")
    assert maps.title == maps.entries[0].title == "d(image)/d(radius)"
    assert maps.unit == "per scene unit"


def test_a_normalised_map_tells_of_a_change_of_another_size() -> None:
    assert words(wrt="radius", normalise={"radius": 1.4}).unit == "per 1.4 scene unit"
    assert words(wrt="*", normalise=True).unit == "per range of the parameter"


def test_a_direction_says_how_far_it_goes() -> None:
    maps = words(direction={"radius": 2, "ambient": -0.5})
    assert maps.title == "d(image)/d(2 radius - 0.5 ambient)"
    assert maps.unit == "per unit of the direction"


def test_a_direction_names_the_entries_that_move() -> None:
    assert words(direction={"light[1]": 1}).title == "d(image)/d(light[1])"
    mixture = {"light": [1, 1, 1], "albedo": [-2, 1, 1]}
    assert words(direction=mixture).title == "d(image)/d(light + albedo)"


def test_a_second_derivative_names_both() -> None:
    assert words(second="light[0]", wrt="radius").title == "d²(image)/d(light[0])d(radius)"


def test_of_many_parameters_some_are_named() -> None:
    assert words(wrt="*").title.endswith("frequency, ...)") or words(wrt="*").title.count(",") == 8
