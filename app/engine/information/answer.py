"""What an image tells of its parameters: bounds, correlations, and what it cannot tell apart.

The Cramer-Rao bound: no unbiased estimate of parameter `i` from such an image has a standard
deviation below `sqrt((F^-1)_ii)` where all parameters are sought together, nor below
`1 / sqrt(F_ii)` where all others are known (Kay, Fundamentals of Statistical Signal Processing I,
section 3.7). All of it is to first order, at the given values of the parameters.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.engine.findings import Finding
from app.engine.information.direction import Direction, direction
from app.engine.information.errors import NoiseError
from app.engine.information.spectrum import (
    Floats,
    Spectrum,
    covariance,
    null_vectors,
    spectrum,
    uncertainty,
)
from app.engine.information.sums import Sums
from app.engine.information.words import findings, words

# Matrices of more parameters than these do not go into JSON, and no more directions than these.
MOST_DESCRIBED = 64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Information:
    """What an image tells of `n` parameters.

    Attributes:
        sums: what it was found from: the parameters, the noise model, how many pixels.
        fisher: the Fisher matrix, in one over the parameters' units, `(n, n)`.
        bounds: least standard deviation of each parameter when all are sought together, in its
            unit, `(n,)`; None where it is not determined.
        bounds_alone: the same when all others are known; None where it moves nothing.
        uncertainty: relative error of each of `bounds` through the error of the derivatives.
        correlations: of the errors of estimates that reach the bounds, `(n, n)`; NaN where a
            parameter is not determined.
        eigenvalues: of the Fisher matrix scaled to a diagonal of ones, from the smallest, `(n,)`;
            zero for a parameter that moves nothing. They do not depend on units.
        condition: the largest of them over the smallest; None where that is none but rounding.
        null: directions along which the image stays the same, to first order and to the accuracy
            of the derivatives: any combination of them may be added to an estimate.
        weakest: of the other directions the one that is told least of, each parameter measured by
            how much it moves the image alone; None where nothing moves.
        words: the answer in sentences.
        findings: what was met on the way that keeps it from being the whole truth.
    """

    sums: Sums
    fisher: Floats
    bounds: tuple[float | None, ...]
    bounds_alone: tuple[float | None, ...]
    uncertainty: tuple[float | None, ...]
    correlations: Floats
    eigenvalues: Floats
    condition: float | None
    null: tuple[Direction, ...]
    weakest: Direction | None
    words: tuple[str, ...]
    findings: tuple[Finding, ...]

    def describe(self) -> dict[str, Any]:
        """Plain data for JSON: no NaN and no infinity in it; large matrices are left out."""
        small = len(self.sums.labels) <= MOST_DESCRIBED
        return {
            "parameters": list(self.sums.labels),
            "scales": list(self.sums.scales),
            "noise": self.sums.noise,
            "bounds": list(self.bounds),
            "bounds_alone": list(self.bounds_alone),
            "uncertainty": list(self.uncertainty),
            "fisher": _finite(self.fisher) if small else None,
            "correlations": _finite(self.correlations) if small else None,
            "eigenvalues": self.eigenvalues.tolist(),
            "condition": self.condition,
            "null": [each.describe() for each in self.null[:MOST_DESCRIBED]],
            "null_directions": len(self.null),
            "weakest": None if self.weakest is None else self.weakest.describe(),
            "words": list(self.words),
            "findings": [finding.describe() for finding in self.findings],
            "pixels": self.sums.pixels,
            "left_out": self.sums.left_out,
            "unweighted": self.sums.unweighted,
        }


def analyse(sums: Sums) -> Information:
    """What sums over the pixels say of the parameters.

    Raises:
        NoiseError: the information is beyond float64.
    """
    if not np.isfinite(sums.matrix).all():
        raise NoiseError(
            "The information in this image is beyond float64: its noise is too small for what the "
            "parameters move. Give a larger one."
        )
    n, scales = len(sums.labels), np.array(sums.scales)
    found = spectrum(sums.matrix, sums.accuracy)
    inverse = covariance(found)
    correlations = _correlations(inverse, found, n)
    bounds = _in_units(np.sqrt(np.diag(inverse)), found, scales)
    null, weakest = _null(found, sums), _weakest(found, sums)
    unsure = _spread(uncertainty(found), found, n)
    return Information(
        sums=sums,
        fisher=_fisher(sums.matrix, scales),
        bounds=bounds,
        bounds_alone=_in_units(np.ones(len(found.moving)), found, scales),
        uncertainty=tuple(
            None if bound is None else float(error)
            for bound, error in zip(bounds, unsure, strict=True)
        ),
        correlations=correlations,
        eigenvalues=np.concatenate([np.zeros(n - len(found.values)), found.values.clip(min=0.0)]),
        condition=_condition(found, n),
        null=null,
        weakest=weakest,
        words=words(sums, found, bounds, correlations, null, weakest),
        findings=findings(sums, bounds, unsure),
    )


def _fisher(matrix: Floats, scales: Floats) -> Floats:
    """In the parameters' own units."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray((matrix + matrix.T) / 2 / scales[:, None] / scales)


def _correlations(inverse: Floats, found: Spectrum, n: int) -> Floats:
    """Of all parameters, `(n, n)`; NaN where one is not determined, its own with itself too."""
    deviations = np.sqrt(np.diag(inverse))
    whole = np.full((n, n), np.nan)
    whole[np.ix_(found.moving, found.moving)] = inverse / deviations[:, None] / deviations
    np.fill_diagonal(whole, np.where(np.isnan(np.diag(whole)), np.nan, 1.0))
    return whole.clip(-1.0, 1.0)


def _spread(values: Floats, found: Spectrum, n: int) -> Floats:
    """Values of the moving parameters among all, `(n,)`; NaN for the others."""
    whole = np.full(n, np.nan)
    whole[found.moving] = values
    return whole


def _in_units(deviations: Floats, found: Spectrum, scales: Floats) -> tuple[float | None, ...]:
    """Standard deviations, from units of each parameter's own information."""
    moving = deviations / found.lengths[found.moving] * scales[found.moving]
    whole = _spread(moving, found, len(scales))
    return tuple(float(each) if np.isfinite(each) else None for each in whole)


def _condition(found: Spectrum, n: int) -> float | None:
    if found.lost or len(found.values) < n:
        return None
    return float(found.values[-1] / found.values[0])


def _null(found: Spectrum, sums: Sums) -> tuple[Direction, ...]:
    """First what moves nothing, then what moves nothing together."""
    n, scales = len(sums.labels), np.array(sums.scales)
    still = np.flatnonzero(found.lengths == 0)
    alone = (direction(sums.labels, scales, np.eye(n)[index]) for index in still)
    together = (
        direction(sums.labels, scales, _amounts(vector, found, n)) for vector in null_vectors(found)
    )
    return (*alone, *together)


def _weakest(found: Spectrum, sums: Sums) -> Direction | None:
    at = found.lost
    if at >= len(found.values):
        return None
    amounts = _amounts(found.vectors[:, at], found, len(sums.labels))
    return direction(sums.labels, np.array(sums.scales), amounts, float(found.values[at]))


def _amounts(vector: Floats, found: Spectrum, n: int) -> Floats:
    """A vector of the scaled matrix as amounts of all parameters, in units of their scales."""
    amounts = np.zeros(n)
    amounts[found.moving] = vector / found.lengths[found.moving]
    return amounts


def _finite(matrix: NDArray[np.float64]) -> list[list[float | None]]:
    return [[each if np.isfinite(each) else None for each in row] for row in matrix.tolist()]
