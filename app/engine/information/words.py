"""What an image tells of its parameters, in sentences."""

from collections.abc import Iterator, Sequence

import numpy as np

from app.engine.findings import Finding
from app.engine.information.direction import Direction, joined
from app.engine.information.spectrum import Floats, Spectrum
from app.engine.information.sums import Sums

# Correlations from which on two parameters are spoken of, and said not to be told apart: errors
# are then 3 and 22 times those that each would have if the other were known.
HARD, APART = 0.95, 0.999
# A direction is spoken of where the image moves less along it than this part of what the
# parameters move it by apart.
WEAK = 0.1
# Sentences of a kind; the rest is counted.
MOST = 8
# Relative error of a bound through the derivatives' that is told.
NOTABLE = 0.05


def words(
    sums: Sums,
    found: Spectrum,
    bounds: Sequence[float | None],
    correlations: Floats,
    null: Sequence[Direction],
    weakest: Direction | None,
) -> tuple[str, ...]:
    """The answer in sentences: what is lost, what is nearly lost, or that all is well."""
    if not sums.pixels:
        return ("No pixel could be used: nothing is known of any parameter.",)
    n = len(sums.labels)
    still = n - len(found.moving)
    said = [
        *_shortened(list(_still(sums, found)), "more parameters are not determined."),
        *_shortened([_alike(each) for each in null[still:]], "more directions are lost."),
        *_shortened(list(_pairs(sums.labels, correlations)), "more pairs are hard to tell apart."),
    ]
    if weakest is not None and len(found.moving) > 1:
        said.extend(_weak(weakest, float(found.values[found.lost])))
    if n == 1 and bounds[0] is not None:
        said.append(f"`{sums.labels[0]}` can be known to {bounds[0]:.3g} (one standard deviation).")
    return tuple(said) or (f"All {n} parameters can be told apart.",)


def _still(sums: Sums, found: Spectrum) -> Iterator[str]:
    """Parameters that carry no information."""
    for label, length, hidden in zip(sums.labels, found.lengths, sums.hidden, strict=True):
        if length > 0:
            continue
        if hidden or sums.left_out:
            yield f"`{label}` does not move the image at any pixel that could be used."
        else:
            yield f"`{label}` does not move the image at all."


def _alike(lost: Direction) -> str:
    return (
        f"{lost.names} cannot be told apart at all: along {lost.words} the image stays the same, "
        "to the accuracy of the derivatives."
    )


def _pairs(labels: Sequence[str], correlations: Floats) -> Iterator[str]:
    """Pairs that are strongly correlated, the strongest first."""
    sizes = np.nan_to_num(np.abs(np.triu(correlations, 1)))
    first, second = np.nonzero(sizes >= HARD)
    for k in np.argsort(-sizes[first, second], kind="stable"):
        i, j = int(first[k]), int(second[k])
        size = float(sizes[i, j])
        how = "cannot be told apart" if size >= APART else "are hard to tell apart"
        value = _correlation(float(correlations[i, j]))
        yield f"`{labels[i]}` and `{labels[j]}` {how}: correlation {value}."


def _correlation(value: float) -> str:
    """With as many digits as tell it from one."""
    left = max(1.0 - abs(value), 1e-15)
    return f"{value:.{int(np.clip(np.ceil(-np.log10(left)), 2, 15))}f}"


def _weak(weakest: Direction, value: float) -> Iterator[str]:
    part = value**0.5
    if part < WEAK:
        yield (
            f"The weakest direction is {weakest.words}: along it the image moves by {part:.2g} of "
            "what its parts would move it by if they moved different pixels."
        )


def _shortened(sentences: Sequence[str], rest: str) -> list[str]:
    if len(sentences) <= MOST:
        return list(sentences)
    return [*sentences[:MOST], f"{len(sentences) - MOST} {rest}"]


def findings(
    sums: Sums, bounds: Sequence[float | None], uncertainty: Floats
) -> tuple[Finding, ...]:
    """What keeps the answer from being the whole truth."""
    found = []
    if sums.left_out:
        total = sums.pixels + sums.left_out
        found.append(Finding(code="left_out", detail=f"{sums.left_out} of {total} pixels."))
    if sums.finding and sums.unweighted:
        found.append(Finding(code=sums.finding, detail=f"{sums.unweighted} pixels."))
    unsure = [
        f"`{label}` ({100 * error:.0f}%)"
        for label, bound, error in zip(sums.labels, bounds, uncertainty, strict=True)
        if bound is not None and error > NOTABLE
    ]
    if unsure:
        found.append(Finding(code="unsure_bounds", detail=f"Bounds: {joined(unsure)}."))
    return tuple(found)
