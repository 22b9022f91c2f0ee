"""What can be found wrong or doubtful with a map: stable codes, and words to act on."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

CODES: Mapping[str, str] = MappingProxyType(
    {
        "tangent_lost": (
            "The image moves with the parameter, but the derivative that torch carries is zero: "
            "look for `.item()`, `float()`, `.detach()`, `torch.tensor(parameter)`, `round` or a "
            "cast to integers on the way, and keep the parameter a tensor."
        ),
        "partly_detached": (
            "The derivative that torch carries differs smoothly from differences: a part of the "
            "computation is detached, rounded, or has a wrong hand-written derivative."
        ),
        "edges_suspected": (
            "The image has hard edges that move with the parameter; no automatic derivative sees "
            "what they contribute. Soften them over a pixel, or ask for `strategy=edge`."
        ),
        "edges_lost": (
            "Some hard edges could not be followed, and what they contribute is missing from the "
            "map: they appear or vanish just at this value of the parameter, where there is no "
            "derivative, or there are too many of them."
        ),
        "tile_dependent": (
            "A pixel's colour depends on which other pixels it is asked with (a maximum, a mean or "
            "a normalisation over the tile), so the frame was computed whole. Compute such "
            "quantities from the parameters, or declare a frame renderer."
        ),
        "halo_too_small": (
            "Rows of the image depend on rows that lie further away than the declared `halo`, or "
            "on the window that they are asked with (a wider blur; a maximum, a mean or random "
            "numbers over the window), so the frame was computed whole. Declare a `halo` of as "
            "many rows as the widest kernel reaches to one side, or none."
        ),
        "not_deterministic": (
            "The same request gives different images. Declare `random=True` and draw from the seed."
        ),
        "precision": (
            "The float32 map differs notably from the float64 one. Ask for `dtype=float64`, or "
            "reorder the computation where large numbers cancel."
        ),
        "non_finite": "Some values of the map are NaN or infinite.",
        "quantised_output": (
            "The image is quantised, which has no derivative: return the values before rounding."
        ),
        "non_smooth_point": (
            "The image has a kink in the parameter at this value: the derivatives from either side "
            "differ, and the map holds one of them."
        ),
        "modes_differ": (
            "Forward and reverse mode differ: a part is under `no_grad`, which stops reverse mode "
            "alone. The map is that of forward mode, which differences confirm."
        ),
        "backward_differs": (
            "Only reverse mode knows this renderer, and it gives another derivative than the "
            "differences that the map holds: look for a mistake in its `backward`."
        ),
        "broken_derivative": (
            "The derivative that torch carries is NaN or infinite where the image moves smoothly, "
            "as that of `sqrt` or `norm` at 0 is even where `clamp` or `where` throws it away: add "
            "a small number inside. The map is by differences where `auto` chose."
        ),
        "estimated": (
            "The values are an estimate from random vectors; their standard error says how far "
            "off they may be. More passes make it smaller, as does a smaller image that can be "
            "computed entry by entry."
        ),
        "rows_depend": (
            "Rows of the field depend on each other (a mean or a normalisation over the batch), so "
            "that a row's divergence counts what its own entries do to it and not what other rows "
            "do. Evaluate the field so that each row is its own."
        ),
        "left_out": (
            "Pixels whose image or derivative is NaN or infinite were left out of the Fisher "
            "matrix: where they would have told something, the bounds are too wide."
        ),
        "no_light": (
            "The image moves at pixels where it is zero or less. Under Poisson noise without "
            "background no photon is expected there, and a single one would tell everything, so "
            "they were not counted: give the `background` that the camera has."
        ),
        "unsure_bounds": (
            "What tells these parameters apart is nearly lost in the error of the derivatives, so "
            "their bounds are rough. Ask for `dtype=float64`, or fix a parameter."
        ),
        "unverified": "The map could not be compared with differences.",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing found.

    Attributes:
        code: one of `CODES`.
        detail: what was measured, in words; may be empty.
        pixels: some of the pixels that show it, as (row, column).
    """

    code: str
    detail: str = ""
    pixels: tuple[tuple[int, int], ...] = ()

    @property
    def message(self) -> str:
        """What it means and what to do, with what was measured."""
        return " ".join(filter(None, (CODES[self.code], self.detail)))

    def describe(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "code": self.code,
            "message": self.message,
            "pixels": [list(p) for p in self.pixels],
        }
