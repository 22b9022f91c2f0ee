"""Which combinations of parameters an image tells of, and how surely: eigenvectors with an error.

Units are arbitrary, so nothing here depends on them: the Fisher matrix is scaled to a diagonal of
ones, `C = D^-1 F D^-1` with `D = diag(F)^(1/2)`. Its condition number is within a factor `n` of the
least that any choice of units gives (van der Sluis, Numerische Mathematik 14, 14, 1969).

How small an eigenvalue may be before it is rounding: `C = A^T A` for a matrix `A` with columns of
length 1. Where derivatives have a relative error `a`, `A` is off by a matrix of norm `a sqrt(n)` at
most, and so is each of its singular values `s = sqrt(l)`: the error is relative to the *root* of
the eigenvalue (Weyl; Golub and Van Loan, Matrix Computations, 8.6). Summing in float64 puts `l`
itself off by `n` times a few eps.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Error of an entry of `C` by summation: a random walk over thousands of partial sums.
SUMMED = 64 * float(np.finfo(np.float64).eps)
# Relative error of a singular value from which on it is not known to be there at all.
LOST = 0.5
# Parts of a null vector larger than this are there, however blurred the vector is.
MOST_BLUR = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """The scaled Fisher matrix taken apart.

    Attributes:
        lengths: root of each parameter's own information, `D`, `(n,)`; 0 where nothing moves.
        moving: indices of the `m` parameters that move something.
        values: eigenvalues of `C` of those, from the smallest, `(m,)`; their sum is `m`.
        vectors: eigenvectors, a column each, `(m, m)`.
        errors: relative error of the root of each eigenvalue, `(m,)`; infinite where it has none.
    """

    lengths: Floats
    moving: NDArray[np.intp]
    values: Floats
    vectors: Floats
    errors: Floats

    @property
    def lost(self) -> int:
        """How many of the smallest eigenvalues cannot be told from zero."""
        return int((self.errors > LOST).sum())

    @property
    def blur(self) -> float:
        """How far off a part of a null vector may be: less is not told from zero."""
        sure = self.errors[self.lost :]
        return min(MOST_BLUR, max(SUMMED * len(self.values), float(sure.max(initial=0.0))))


def spectrum(matrix: Floats, accuracy: float) -> Spectrum:
    """Take a Fisher matrix apart.

    Args:
        matrix: symmetric, finite, `(n, n)`.
        accuracy: relative error of the derivatives that it was summed from.
    """
    lengths = np.sqrt(np.diag(matrix))
    moving = np.flatnonzero(lengths)
    scale = lengths[moving]
    scaled = matrix[np.ix_(moving, moving)] / scale[:, None] / scale
    values, vectors = np.linalg.eigh((scaled + scaled.T) / 2)
    positive = np.where(values > 0, values, np.nan)
    count = len(moving)
    errors = np.sqrt(count) * accuracy / np.sqrt(positive) + count * SUMMED / (2 * positive)
    return Spectrum(lengths, moving, values, vectors, np.nan_to_num(errors, nan=np.inf))


def null_vectors(found: Spectrum) -> Floats:
    """Directions in which the image stays the same, `(lost, m)`, each of as few parts as may be.

    Eigenvectors of equal eigenvalues are mixed at will. Elimination gives each direction one
    parameter that no other has, so that two pairs stay two pairs.
    """
    rows = found.vectors[:, : found.lost].T.copy()
    for row in range(len(rows)):
        column = int(np.abs(rows[row]).argmax())
        rows[row] /= rows[row, column]
        others = rows[:, column].copy()
        others[row] = 0.0
        rows -= np.outer(others, rows[row])
    rows[np.abs(rows) < found.blur * np.abs(rows).max(axis=1, initial=0.0, keepdims=True)] = 0.0
    return rows


def undetermined(found: Spectrum) -> NDArray[np.bool_]:
    """Which of the moving parameters take part in a direction that is lost, `(m,)`."""
    share = np.linalg.norm(found.vectors[:, : found.lost], axis=1)
    return np.asarray(share > found.blur)


def covariance(found: Spectrum) -> Floats:
    """Inverse of `C` on what is determined, `(m, m)`; NaN where a parameter is not."""
    kept = found.vectors[:, found.lost :]
    inverse = (kept / found.values[found.lost :]) @ kept.T
    without = undetermined(found)
    inverse[without] = np.nan
    inverse[:, without] = np.nan
    return np.asarray(inverse)


def uncertainty(found: Spectrum) -> Floats:
    """Relative error of each bound, `(m,)`: those of the directions that make it up, weighted."""
    kept, errors = found.vectors[:, found.lost :], found.errors[found.lost :]
    parts = kept**2 / found.values[found.lost :]
    total = parts.sum(axis=1)
    # A parameter that is wholly lost has no part in what is kept.
    return np.asarray((parts @ errors) / np.where(total > 0, total, 1.0))
