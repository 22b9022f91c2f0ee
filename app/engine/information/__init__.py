"""What an image tells of its parameters: Fisher matrix, Cramer-Rao bounds, what is told apart."""

from app.engine.information.accumulator import MOST_PARAMETERS, Accumulator
from app.engine.information.answer import Information, analyse
from app.engine.information.direction import Direction
from app.engine.information.errors import NoiseError, TooManyParametersError
from app.engine.information.maps import Maps
from app.engine.information.noise import Gaussian, Noise, Poisson, Variance
from app.engine.information.sums import Sums

__all__ = [
    "MOST_PARAMETERS",
    "Accumulator",
    "Direction",
    "Gaussian",
    "Information",
    "Maps",
    "Noise",
    "NoiseError",
    "Poisson",
    "Sums",
    "TooManyParametersError",
    "Variance",
    "analyse",
]
